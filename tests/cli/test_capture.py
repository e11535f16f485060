"""`netdiag capture` as a user runs it, in a namespace of the test's."""

import os
import pty
import re
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from netdiag.cli.exit_status import ExitStatus
from tests.cli.shell import CLEAN, NETDIAG, environment, netdiag
from tests.io.namespaces import FAR, Pair, ip, joined_namespaces, needs_root
from tests.io.packets.traffic import SENDER, dwelling, fields, packets_of, python
from tests.tools import tool


@pytest.fixture(scope="module")
def pair() -> Iterator[Pair]:
    with joined_namespaces() as made:
        yield made


def begun(tmp_path: Path, *words: str) -> "subprocess.Popen[bytes]":
    """The command, once it captures."""
    process = subprocess.Popen(
        [*NETDIAG, "capture", *words],
        cwd=tmp_path,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stderr is not None
    while b"Ctrl-C" not in (line := process.stderr.readline()):
        assert line, "it ended"
    time.sleep(0.3)
    return process


def ended(process: "subprocess.Popen[bytes]", number: int = signal.SIGINT) -> tuple[int, str]:
    process.send_signal(number)
    said = process.communicate(timeout=30)[1].decode()
    return process.returncode, said


@pytest.mark.parametrize("engine", ["scapy", "tcpdump", "dumpcap"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_well(pair: Pair, tmp_path: Path, engine: str, number: int) -> None:
    tool(engine) if engine != "scapy" else needs_root()
    process = begun(tmp_path, "--from", f"netns:{pair.near}", "--filter", "udp port 9092", "--engine", engine)
    python(pair.near, SENDER, FAR, 9092, 40)
    status, said = ended(process, number)
    assert status == ExitStatus.CLEAN
    assert re.search(r"^netdiag: 40 packets \(.* kB\) in .* s, 0 lost$", said, re.MULTILINE)
    (path,) = tmp_path.iterdir()
    assert re.fullmatch(rf"netdiag-{pair.near}-\d{{8}}-\d{{6}}\.pcapng", path.name)
    assert [packet.interface for packet in packets_of(path)] == [f"{pair.near}:eth0"] * 40


def test_the_ports_of_a_compose_file(pair: Pair, tmp_path: Path) -> None:
    (tmp_path / "compose.yml").write_text(CLEAN)
    words = ("--from", f"netns:{pair.near}", "--count", "1", "--duration", "20s", "-o", "x.pcapng")
    for how in ((), ("--file", "compose.yml")):
        with subprocess.Popen(
            [*NETDIAG, "capture", *how, *words], cwd=tmp_path, env=environment(), stderr=subprocess.PIPE
        ) as process:
            assert process.stderr is not None
            assert b"capturing TCP 9092, DNS and ICMP unreachable" in process.stderr.readline()
            process.stderr.readline()
            time.sleep(0.5)
            python(pair.near, SENDER, FAR, 53, 1)
            assert process.wait(timeout=30) == 0
        assert fields(tmp_path / "x.pcapng", "udp.dstport") == [("53",)]


def test_to_standard_output(pair: Pair, tmp_path: Path) -> None:
    process = begun(tmp_path, "--from", f"netns:{pair.near}", "--filter", "udp", "-o", "-", "--engine", "scapy")
    python(pair.near, SENDER, FAR, 9092, 10)
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    out, said = process.communicate(timeout=20)
    (tmp_path / "x.pcapng").write_bytes(out)
    assert len(packets_of(tmp_path / "x.pcapng")) == 10
    assert b"10 packets" in said


def test_live_counters_on_a_terminal(pair: Pair, tmp_path: Path) -> None:
    master, slave = pty.openpty()
    words = ("--from", f"netns:{pair.near}", "--filter", "udp", "--duration", "2", "-o", "x.pcapng")
    process = subprocess.Popen(
        [*NETDIAG, "capture", *words], cwd=tmp_path, env=environment(), stdout=slave, stderr=slave
    )
    os.close(slave)
    time.sleep(1.0)
    python(pair.near, SENDER, FAR, 9092, 25)
    said = b""
    try:
        while piece := os.read(master, 4096):
            said += piece
    except OSError:
        pass
    os.close(master)
    assert process.wait(timeout=20) == 0
    assert said.count(b"\r\x1b[K") > 3
    assert b" lost\r\x1b[Knetdiag: " in said
    assert b"\x1b[K\r\n" not in said


def test_bad_interfaces_filters_and_places_are_one_line(pair: Pair, tmp_path: Path) -> None:
    needs_root()
    near = f"netns:{pair.near}"
    for words, status, said in (
        (["--from", near, "--filter", "", "-i", "nope0"], 3, "has no interface 'nope0'"),
        (["--from", near, "--filter", "tcp prt 1"], 3, "--filter: "),
        (["--from", "netns:absent", "--filter", ""], 3, "no namespace has that name"),
        (["--from", near, "--filter", "", "-o", "absent/x.pcapng"], 3, "absent"),
        (["--from", near, "--filter", "", "--rotate", "1MB", "-o", "absent/"], 3, "absent/: the folder does not exist"),
        (["--from", near], 2, "the ports of the brokers are unknown"),
        (["--from", "container:\x1b[31mx", "--host", "unix:///absent.sock", "--port", "1"], 3, "absent.sock"),
    ):
        done = netdiag("capture", *words, cwd=tmp_path, env={"DOCKER_HOST": "unix:///absent.sock"})
        lines = done.stderr.decode().splitlines()
        assert (done.returncode, lines[0].startswith("netdiag: ")) == (status, True), lines
        assert said in lines[0]
        assert all(line.startswith("  fix: ") for line in lines[1:])
        assert "\x1b" not in done.stderr.decode()
    assert not list(tmp_path.iterdir())


def test_without_rights_the_sudo_line_is_said(tmp_path: Path) -> None:
    needs_root()
    tmp_path.chmod(0o777)
    for folder in (tmp_path.parent, tmp_path.parent.parent):
        folder.chmod(0o755)
    done = subprocess.run(
        ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", *NETDIAG, "capture", "--port", "9092"],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 3
    assert re.fullmatch(
        r"netdiag: .*CAP_NET_RAW\n  fix: run it as root: sudo .* capture --port 9092\n", done.stderr.decode()
    )


def test_a_process_that_ends_is_told_and_the_file_is_whole(pair: Pair, tmp_path: Path) -> None:
    with dwelling(pair.near) as dweller:
        process = begun(tmp_path, "--from", f"pid:{dweller.pid}", "--filter", "udp", "-o", "x.pcapng")
        python(pair.near, SENDER, FAR, 9092, 10)
        dweller.kill()
        said = process.communicate(timeout=20)[1].decode()
    assert process.returncode == ExitStatus.COULD_NOT_LOOK
    assert f"process {dweller.pid}: it is gone" in said
    assert len(packets_of(tmp_path / "x.pcapng")) == 10


def test_a_full_disk_is_one_line_and_a_whole_file(pair: Pair, tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", disk], check=True)
    try:
        process = begun(tmp_path, "--from", f"netns:{pair.near}", "--filter", "udp", "--full", "-o", "disk/x.pcapng")
        python(pair.near, SENDER, FAR, 9092, 400)
        said = process.communicate(timeout=20)[1].decode()
        assert process.returncode == ExitStatus.COULD_NOT_LOOK
        assert "disk/x.pcapng: no room for more packets" in said
        assert "Traceback" not in said
        assert [path.name for path in disk.iterdir()] == ["x.pcapng"]
        assert len(packets_of(disk / "x.pcapng")) > 50
    finally:
        subprocess.run(["umount", disk], check=True)


def test_a_namespace_whose_name_is_taken_away(tmp_path: Path) -> None:
    needs_root()
    ip("netns", "add", "ndt-fleeting")
    process = begun(tmp_path, "--from", "netns:ndt-fleeting", "--filter", "", "-o", "x.pcapng")
    ip("netns", "delete", "ndt-fleeting")
    said = process.communicate(timeout=20)[1].decode()
    assert process.returncode == ExitStatus.COULD_NOT_LOOK
    assert "it is gone" in said
    assert packets_of(tmp_path / "x.pcapng") == []


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--from", "docker:x"], "is not a place to capture"),
        (["--ring", "3"], "--ring requires --rotate"),
        (["--rotate", "100"], "neither a size nor a duration"),
        (["--rotate", "1MB", "-o", "-"], "--rotate needs files"),
        (["--filter", "tcp", "--port", "1"], "--filter excludes --file"),
        (["--headers", "--full"], "exclude each other"),
        (["--port", "0"], "--port"),
        (["--snaplen", "8"], "--snaplen"),
    ],
)
def test_what_contradicts_itself(tmp_path: Path, words: list[str], said: str) -> None:
    done = netdiag("capture", *words, cwd=tmp_path)
    assert done.returncode == 2
    assert said in done.stderr.decode()
    assert not list(tmp_path.iterdir())
