"""Services, name servers and places of a stranger in one look: it ends, small, and prints plain text.

A place is a process whose root directory belongs to somebody with bad intentions.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import stat
import struct
import subprocess
import sys
import threading
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import dns.flags
import dns.message
import dns.rdatatype
import dns.rrset
import pytest

from netdiag.io.kernel.netns import Namespace, open_namespace
from netdiag.linux.netns import ProcessNamespace
from tests.cli.shell import ROOT, environment
from tests.figures import Report
from tests.io.namespaces import needs_root
from tests.io.network import hostile
from tests.io.network.hostile import Behaviour, Lying, ScriptedBroker, serving

# A network namespace of its own with nothing but loopback, a root directory of the test's making, and no exec in it.
_STAND = """
import ctypes, os, signal, socket, sys
libc = ctypes.CDLL(None, use_errno=True)
if libc.unshare(0x40000000):
    raise OSError(ctypes.get_errno(), "unshare")
os.system("ip link set lo up")
# Every address of this namespace is a name server that never answers.
pit = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
pit.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
pit.bind(("0.0.0.0", 53))
os.chroot(sys.argv[1])
os.chdir("/")
print("waiting", flush=True)
signal.pause()
"""

Etc = Callable[[Path], None]


@contextlib.contextmanager
def waiting_process(root: Path) -> Iterator[int]:
    """The pid of a process in a namespace of its own with this root directory."""
    process = subprocess.Popen([sys.executable, "-c", _STAND, str(root)], stdout=subprocess.PIPE)
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == b"waiting\n"
        yield process.pid
    finally:
        process.kill()
        process.wait()
        assert process.stdout is not None
        process.stdout.close()


def text(name: str, content: str) -> Etc:
    """A file with this content."""

    def make(etc: Path) -> None:
        (etc / name).write_bytes(content.encode("utf-8", "surrogateescape"))

    return make


def fifo(name: str) -> Etc:
    """A pipe that nobody writes to."""
    return lambda etc: os.mkfifo(etc / name)


def link(name: str, target: str) -> Etc:
    """A link out of the tree, or in a circle."""
    return lambda etc: os.symlink(target, etc / name)


def hundred_megabytes(name: str) -> Etc:
    """A file that is large, and a line without an end."""

    def make(etc: Path) -> None:
        with (etc / name).open("wb") as file:
            file.write(b"nameserver 127.0.0.53 ")
            file.truncate(100 * 1024 * 1024)

    return make


def endless(name: str) -> Etc:
    """/dev/zero under another name."""
    return lambda etc: os.mknod(etc / name, 0o666 | stat.S_IFCHR, os.makedev(1, 5))


def folder(name: str) -> Etc:
    """A folder."""
    return lambda etc: (etc / name).mkdir()


def nothing(etc: Path) -> None:
    """No file at all."""


SECRET = "the-secret-of-the-host"
LINES = "".join(f"nameserver 127.{n // 65536 % 256}.{n // 256 % 256}.{n % 254 + 1}\n" for n in range(10_000))
PIT = "nameserver 127.0.0.9\n"
RESOLV_CONF_ESCAPES = "nameserver \x1b[2J\n127.0.0.1 \x1b]0;x\x07 \u202ekafka\nsearch \x1b[31m\n"
WAYS: dict[str, Callable[[str], Etc]] = {
    "a pipe": fifo,
    "100 MB": hundred_megabytes,
    "/dev/zero": endless,
    "a folder": folder,
    "a link in a circle": lambda name: link(name, name),
    "a link to a magic link": lambda name: link(name, f"/proc/self/root/etc/{name}"),
    "a link out of the tree": lambda name: link(name, f"../../../../../../etc/{name}"),
    "escapes": lambda name: text(name, RESOLV_CONF_ESCAPES),
    "no text": lambda name: text(name, "\udcff\udcfe\x00" * 9000),
}
ATTACKS: dict[str, tuple[Etc, ...]] = {
    "nothing there": (nothing,),
    **{f"{title}: {name}": (attack(name),) for name in ("resolv.conf", "hosts") for title, attack in WAYS.items()},
    "10,000 name servers": (text("resolv.conf", LINES),),
    "a name server for ever": (
        text("resolv.conf", "nameserver 127.0.0.9\noptions attempts:999999999 timeout:999999999\n"),
    ),
    "thousands of search domains": (
        text("resolv.conf", f"{PIT}search " + " ".join(f"d{n}.example" for n in range(5000)) + "\n"),
    ),
    "endless dots": (text("resolv.conf", f"{PIT}options ndots:999999999\nsearch " + "a." * 30000),),
    "10,000 addresses of a name": (
        text("hosts", "".join(f"127.1.{n // 250}.{n % 250 + 1} kafka.test\n" for n in range(3000))),
    ),
    "a name of 60 kB": (text("hosts", "127.0.0.1 " + "x" * 60_000 + " kafka.test\n"),),
    "addresses that are none": (text("hosts", "999.1.1.1 kafka.test\n::::: kafka.test\n\x1b[2J kafka.test\n"),),
}


pytestmark = pytest.mark.bar("live-hostile")

ESCAPES = "\x1b[2J\x1b]0;owned\x07\u202ekafka\n\r\x9b31m"
SERVICES: dict[str, Behaviour] = {
    **{
        one.__name__: one
        for one in (
            hostile.garbage,
            hostile.two_gigabytes,
            hostile.announced_and_withheld,
            hostile.one_byte_a_second,
            hostile.immediate_close,
            hostile.reset,
            hostile.silence,
            hostile.tls_alert,
            hostile.tls_that_closes,
            hostile.http,
            hostile.slow_close,
            hostile.endless_frames,
            hostile.wrong_correlation_id,
            hostile.negative_size,
            hostile.escapes,
            hostile.endless_line,
        )
    },
    "counts that lie": Lying(node_id=1, brokers=[]),
    "100,000 brokers": ScriptedBroker(node_id=1, brokers=[(n, f"b{n}.example", 9) for n in range(100_000)]),
    "names of 32 kB": ScriptedBroker(node_id=1, brokers=[(n, f"{n}" + "x" * 32_000, 9) for n in range(300)]),
    "escapes in a name": ScriptedBroker(node_id=1, brokers=[(1, ESCAPES, 9), (2, "\ud7ff\u200b\u2028", 9)]),
    "names that are none": ScriptedBroker(
        node_id=1, brokers=[(1, "", 9), (2, "..", 9), (3, "a..b", 9), (4, "-" * 200, 9), (5, "%s%n", 9), (6, "*", 9)]
    ),
    "ports that are none": ScriptedBroker(
        node_id=1, brokers=[(1, "127.0.0.1", 0), (2, "127.0.0.1", -1), (3, "127.0.0.1", 2**31 - 1)]
    ),
    "node ids that are none": ScriptedBroker(node_id=-5, brokers=[(-1, "127.0.0.1", 9), (-(2**31), "127.0.0.1", 9)]),
    "nobody else": ScriptedBroker(node_id=1, brokers=[]),
    "the same 1000 times": ScriptedBroker(node_id=1, brokers=[(1, "127.0.0.1", 9)] * 1000),
}

WORDS = {
    "itself, under many numbers": "partial 1/500",
    "nobody else": "advertised: no-brokers",
    "the same 1000 times": "advertised: refused",
    "ports that are none": "advertised: unreachable",
    "negative_size": "not-kafka",
    "escapes": "not-kafka",
    "two_gigabytes": "not-kafka",
    "immediate_close": "bootstrap: closed",
    "tls_alert": "tls",
}


def _garbage(query: dns.message.Message, data: bytes) -> bytes:
    return data[:2] + bytes(range(200))


def _pointer_circle(query: dns.message.Message, data: bytes) -> bytes:
    # An answer whose name points to itself.
    return data[:2] + struct.pack(">HHHHH", 0x8180, 1, 1, 0, 0) + data[12:] + b"\xc0" + bytes([len(data)]) * 20


def _cname_circle(query: dns.message.Message, data: bytes) -> bytes:
    response = dns.message.make_response(query)
    name = query.question[0].name
    response.answer.append(dns.rrset.from_text(name, 60, "IN", "CNAME", "round.example."))
    response.answer.append(dns.rrset.from_text("round.example.", 60, "IN", "CNAME", name.to_text()))
    return response.to_wire()


def _giant(query: dns.message.Message, data: bytes) -> bytes:
    response = dns.message.make_response(query)
    addresses = [f"127.{n // 62500}.{n // 250 % 250}.{n % 250 + 1}" for n in range(4000)]
    response.answer.append(dns.rrset.from_text(query.question[0].name, 60, "IN", "A", *addresses))
    return response.to_wire(max_size=65535)[:65000]


def _many(query: dns.message.Message, data: bytes) -> bytes:
    response = dns.message.make_response(query)
    addresses = [f"127.9.9.{n}" for n in range(1, 200)]
    response.answer.append(dns.rrset.from_text(query.question[0].name, 60, "IN", "A", *addresses))
    return response.to_wire()


def _cut(query: dns.message.Message, data: bytes) -> bytes:
    response = dns.message.make_response(query)
    response.flags |= dns.flags.TC
    return response.to_wire()


def _other(query: dns.message.Message, data: bytes) -> bytes:
    other = dns.message.make_query("other.example", dns.rdatatype.A, id=query.id)
    return dns.message.make_response(other).to_wire()


def _counts(query: dns.message.Message, data: bytes) -> bytes:
    return data[:2] + struct.pack(">HHHHH", 0x8180, 1, 65535, 65535, 65535) + data[12:]


def _a_thousand(query: dns.message.Message, data: bytes) -> list[bytes]:
    return [bytes(12), data[:2] + b"\x00", data] * 300


Answerer = Callable[[dns.message.Message, bytes], bytes | list[bytes]]
SERVERS: dict[str, Answerer] = {
    "garbage": _garbage,
    "a name that points to itself": _pointer_circle,
    "aliases in a circle": _cname_circle,
    "4000 addresses": _giant,
    "200 addresses": _many,
    "always cut short": _cut,
    "the answer to another question": _other,
    "counts that lie": _counts,
    "900 datagrams for one": _a_thousand,
}

_LOOK = """
import json, re, sys, time
from netdiag.deployment.model.verdict import Address
from netdiag.deployment.observation.live_view import LiveVantage
from netdiag.deployment.model.vantage import Vantage, VantageKind
from netdiag.io.network.observation import observe
from netdiag.linux.netns import ProcessNamespace
from netdiag.render.formats import json as as_json, text
from netdiag.render.matrix.watch import change_line, change_lines, changes_between
from netdiag.render.report import Input, Matrix, Report
from netdiag.render.screen import Screen, paint

given = json.load(sys.stdin)
begin = time.monotonic()
places = [
    LiveVantage(vantage=Vantage(kind=VantageKind.LAN, label=title), entrance=ProcessNamespace(pid=pid))
    for title, pid in given["places"].items()
]
seen = observe(places, [Address(host=host, port=port) for host, port in given["addresses"]], timeout=given["timeout"])
matrix = Matrix(input="engine", vantages=tuple(one.vantage for one in places), cells=seen.cells)
report = Report(inputs=(Input(name="engine", kind="engine", brokers=("k",)),), matrices=(matrix,))
told = {
    "seconds": time.monotonic() - begin,
    "cells": {f"{cell.vantage} {cell.bootstrap}": str(cell.observed) for cell in seen.cells},
    "text": text.render(report, Screen(colour=False)),
    "json": as_json.render(report),
    "changes": paint(change_lines(changes_between(None, report), Screen(), "00:00:00", full=True), Screen()),
    "lines": "".join(change_line(change, "") for change in changes_between(None, report)),
    "peak": int(re.search(r"VmHWM:\\s+(\\d+) kB", open("/proc/self/status").read())[1]) // 1024,
}
print(json.dumps(told))
"""


@contextmanager
def answering(namespace: Namespace, answerer: Answerer) -> Iterator[None]:
    """A name server on 127.0.0.9 of a namespace."""
    channel = namespace.run(lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
    # Nearer than the one that never answers, on all addresses.
    channel.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    channel.bind(("127.0.0.9", 53))
    channel.settimeout(0.1)
    over = threading.Event()

    def serve() -> None:
        while not over.is_set():
            try:
                data, client = channel.recvfrom(4096)
                said = answerer(dns.message.from_wire(data), data)
                for datagram in said if isinstance(said, list) else [said]:
                    channel.sendto(datagram, client)
            except OSError:
                continue

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
        channel.close()


def looked(places: dict[str, int], addresses: list[tuple[str, int]], *, timeout: float = 2) -> dict[str, Any]:
    """One look as a process of its own; what must hold of all is asserted."""
    done = subprocess.run(
        [sys.executable, "-c", _LOOK],
        input=json.dumps({"places": places, "addresses": addresses, "timeout": timeout}),
        env=environment(),
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    assert done.stderr == ""
    told: dict[str, Any] = json.loads(done.stdout)
    assert len(told["cells"]) == len(places) * len(addresses)
    for form in ("text", "json", "changes", "lines"):
        assert {c for c in told[form] if unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp")} <= {"\n"}, form
        assert len(told[form]) < 2_000_000, form
    assert told["peak"] < 150
    return told


def test_services_that_lie(tmp_path: Path, figure: Report) -> None:
    needs_root()
    (tmp_path / "etc").mkdir()
    with ExitStack() as stack:
        pid = stack.enter_context(waiting_process(tmp_path))
        there = stack.enter_context(open_namespace(ProcessNamespace(pid=pid)))
        ports = {n: stack.enter_context(serving(one, namespace=there)) for n, one in SERVICES.items()}
        itself = ScriptedBroker(node_id=1, brokers=[])
        ports["itself, under many numbers"] = stack.enter_context(serving(itself, namespace=there))
        itself.brokers = [(n, "127.0.0.1", ports["itself, under many numbers"]) for n in range(500)]
        told = looked({"there": pid}, [("127.0.0.1", port) for port in ports.values()])
        quick = looked({"there": pid}, [("127.0.0.1", ports[title]) for title in WORDS], timeout=20)
    figure("hostile services contacted in one look", len(ports))
    figure("that look, --timeout 2", told["seconds"], "s")
    figure("its peak memory", told["peak"], "MiB")
    assert "ok" not in told["cells"].values()
    # Those that do not make one wait, with as much time as a busy machine may need.
    assert dict(zip(WORDS, quick["cells"].values(), strict=True)) == WORDS


def test_name_servers_that_lie(tmp_path: Path, figure: Report) -> None:
    needs_root()
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc/resolv.conf").write_text(PIT)
    with ExitStack() as stack:
        pids = {title: stack.enter_context(waiting_process(tmp_path)) for title in SERVERS}
        for title, answerer in SERVERS.items():
            there = stack.enter_context(open_namespace(ProcessNamespace(pid=pids[title])))
            stack.enter_context(answering(there, answerer))
        told = looked(pids, [("kafka.example", 9), ("kafka.example", 10), ("other.test", 9)])
    figure("hostile name servers asked in one look", len(SERVERS))
    figure("that look, --timeout 2", told["seconds"], "s")
    figure("its peak memory", told["peak"], "MiB")
    words = told["cells"]
    assert "ok" not in words.values()
    assert {word for cell, word in words.items() if "addresses" not in cell} <= {"bootstrap: unresolved", "unknown"}


UNREADABLE = {
    "a pipe": "not a regular file",
    "/dev/zero": "not a regular file",
    "a folder": "not a regular file",
    "100 MB": "larger than 64 KiB",
    "a link in a circle": "symbolic links",
}
_LOOK_FROM = """
import json, re, sys, time
from netdiag.deployment.model.verdict import Address
from netdiag.deployment.observation.live_view import LiveVantage
from netdiag.deployment.model.vantage import Vantage, VantageKind
from netdiag.io.network.observation import observe
from netdiag.linux.netns import ProcessNamespace

def peak():
    return int(re.search(r"VmHWM:\\s+(\\d+) kB", open("/proc/self/status").read())[1]) // 1024

ADDRESSES = [Address(host=host, port=9092) for host in ("kafka.test", "localhost", "kafka", "a.b.c.d", "x" * 300)]
places = [
    LiveVantage(vantage=Vantage(kind=VantageKind.LAN, label=title), entrance=ProcessNamespace(pid=pid))
    for title, pid in json.load(sys.stdin).items()
]
for group in [[one] for one in places] if sys.argv[1] == "apart" else [places]:
    begin, before = time.monotonic(), peak()
    seen = observe(group, ADDRESSES, timeout=1)
    assert not seen.skipped
    for one in group:
        label = one.vantage.label
        told = {
            "title": label,
            "seconds": time.monotonic() - begin,
            "grown": peak() - before,
            "cells": [[str(cell.observed), repr(cell.observed)] for cell in seen.cells if cell.vantage == label],
            "notes": [note for note in seen.notes if note.startswith(f"{label}: cannot read /etc")],
        }
        print(json.dumps(told), flush=True)
print(json.dumps({"title": "peak", "grown": peak()}))
"""


def test_files_of_strangers_neither_hang_nor_mislead(tmp_path: Path, figure: Report) -> None:
    told, peak = looked_from(tmp_path, "together")
    figure("attacks on resolv.conf and hosts, all in one look", len(told))
    figure("that look, --timeout 1", max(seen["seconds"] for seen in told.values()), "s")
    figure("its peak memory", peak, "MiB")


@pytest.mark.bar("live-hostile", long=True)
def test_each_of_them_alone(tmp_path: Path, figure: Report) -> None:
    told, peak = looked_from(tmp_path, "apart")
    for title, seen in told.items():
        figure(f"{title} (--timeout 1)", f"{seen['seconds']:.2f} s, {seen['grown']} MiB more")
    figure("peak memory", peak, "MiB")


def looked_from(tmp_path: Path, how: str) -> tuple[dict[str, Any], int]:
    """What is seen from the place of each attack, and the peak memory in MiB; what must hold of all is asserted."""
    needs_root()
    with ExitStack() as stack:
        pids = {title: stack.enter_context(waiting_process(_made(tmp_path, n))) for n, title in enumerate(ATTACKS)}
        done = subprocess.run(
            [sys.executable, "-c", _LOOK_FROM, how],
            input=json.dumps(pids),
            env=environment(),
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
            timeout=300,
        )
    told = {line["title"]: line for line in map(json.loads, done.stdout.splitlines())}
    peak = told.pop("peak")["grown"]
    assert list(told) == list(ATTACKS)
    for title, seen in told.items():
        assert len(seen["cells"]) == 5, title
        assert SECRET not in json.dumps(seen)
        assert {word.split(":")[0] for word, _ in seen["cells"]} <= {"bootstrap", "unknown"}, title
    for name in ("resolv.conf", "hosts"):
        for attack, because in UNREADABLE.items():
            (note,) = told[f"{attack}: {name}"]["notes"]
            assert because in note
    assert peak < 100
    return told, peak


def _made(parent: Path, number: int) -> Path:
    """A root directory with the files of one attack; the tree above it holds what must not be read."""
    root = parent / f"root-{number}"
    (root / "etc").mkdir(parents=True)
    outside = parent / "etc"
    outside.mkdir(exist_ok=True)
    for name in ("hosts", "resolv.conf"):
        (outside / name).write_text(f"127.0.0.1 {SECRET} kafka.test\n")
    for make in list(ATTACKS.values())[number]:
        make(root / "etc")
    return root
