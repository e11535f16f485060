"""What tshark reads in the headers of every packet: an oracle for the first stages of the engine."""

import shutil
import subprocess
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path

import pytest

# In the order of the columns; of nested headers the last one is the innermost.
_FIELDS = (
    "frame.number",
    "frame.time_epoch",
    "frame.len",
    "frame.cap_len",
    "frame.protocols",
    "ip.src",
    "ip.dst",
    "ip.id",
    "ipv6.src",
    "ipv6.dst",
    "tcp.srcport",
    "tcp.dstport",
    "tcp.seq_raw",
    "tcp.ack_raw",
    "tcp.flags",
    "tcp.window_size_value",
    "tcp.len",
    "tcp.options.wscale.shift",
    "tcp.payload",
)
_SETTINGS = ("ip.defragment:FALSE", "ipv6.defragment:FALSE", "tcp.desegment_tcp_streams:FALSE")


@dataclass(frozen=True, slots=True, kw_only=True)
class Tcp:
    """The headers of a segment; `identification` is -1 for IPv6, `window_scale` without the option."""

    source: bytes
    destination: bytes
    source_port: int
    destination_port: int
    sequence: int
    acknowledgement: int
    flags: int
    window: int
    length: int
    identification: int
    window_scale: int
    payload: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """A packet: its time in nanoseconds, its lengths, the names of its layers, and its segment if it carries one."""

    number: int
    time: int
    length: int
    kept: int
    protocols: tuple[str, ...]
    tcp: Tcp | None


@pytest.fixture(scope="session")
def tshark() -> str:
    """Where it is."""
    found = shutil.which("tshark")
    if found is None:
        pytest.skip("no command 'tshark'")
    return found


def frames(tshark: str, file: Path) -> list[Frame]:
    """All packets of a file."""
    command = [tshark, "-n", "-r", str(file), "-T", "fields", "-E", "occurrence=l", "-E", "separator=/t"]
    # The port of Linux and flannel, which tshark does not know as VXLAN.
    command += ["-d", "udp.port==8472,vxlan"]
    for setting in _SETTINGS:
        command += ["-o", setting]
    for field in _FIELDS:
        command += ["-e", field]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    # 2: the file is cut in the middle of a packet; all before it was read.
    assert done.returncode in (0, 2), done.stderr
    return [_frame(line) for line in done.stdout.splitlines()]


def unreachables(tshark: str, file: Path) -> list[tuple[int | str, ...] | None]:
    """Of each packet, if it is an ICMP error about TCP: reporter, source, destination, ports, type and code."""
    names = ["icmp.type", "icmp.code", "icmpv6.type", "icmpv6.code", "tcp.srcport", "tcp.dstport"]
    names += ["ip.src", "ip.dst", "ipv6.src", "ipv6.dst"]
    command = [tshark, "-n", "-r", str(file), "-T", "fields", "-E", "separator=/t", "-E", "occurrence=a"]
    done = subprocess.run(
        [*command, *(word for name in names for word in ("-e", name))],
        capture_output=True,
        text=True,
        timeout=600,
        check=True,
    )
    found: list[tuple[int | str, ...] | None] = []
    for line in done.stdout.splitlines():
        values = dict(zip(names, line.split("\t"), strict=True))
        version, icmp = ("ip", "icmp") if values["icmp.type"] else ("ipv6", "icmpv6")
        sources, destinations = values[f"{version}.src"].split(","), values[f"{version}.dst"].split(",")
        # A redirect is no error.
        if not values["tcp.srcport"] or len(sources) < 2 or values["icmp.type"] == "5":
            found.append(None)
            continue
        ports = int(values["tcp.srcport"]), int(values["tcp.dstport"])
        told = int(values[f"{icmp}.type"]), int(values[f"{icmp}.code"])
        found.append((sources[0], sources[-1], destinations[-1], *ports, *told))
    return found


def _frame(line: str) -> Frame:
    values = dict(zip(_FIELDS, line.split("\t"), strict=True))
    seconds, _, fraction = values["frame.time_epoch"].partition(".")
    protocols = tuple(values["frame.protocols"].split(":"))
    return Frame(
        number=int(values["frame.number"]),
        time=int(seconds or 0) * 10**9 + int(fraction.ljust(9, "0")[:9]),
        length=int(values["frame.len"]),
        kept=int(values["frame.cap_len"]),
        protocols=protocols,
        tcp=_tcp(values, protocols),
    )


def _tcp(values: dict[str, str], protocols: tuple[str, ...]) -> Tcp | None:
    # What an ICMP error quotes is no segment; what a fragment or a cut header holds has no flags or window.
    if not values["tcp.window_size_value"] or {"icmp", "icmpv6"} & set(protocols):
        return None
    inner = [name for name in protocols[: len(protocols) - protocols[::-1].index("tcp")] if name in ("ip", "ipv6")][-1]
    return Tcp(
        source=ip_address(values[f"{inner}.src"]).packed,
        destination=ip_address(values[f"{inner}.dst"]).packed,
        source_port=int(values["tcp.srcport"]),
        destination_port=int(values["tcp.dstport"]),
        sequence=int(values["tcp.seq_raw"]),
        acknowledgement=int(values["tcp.ack_raw"]),
        flags=int(values["tcp.flags"], 16) & 0xFF,
        window=int(values["tcp.window_size_value"]),
        length=int(values["tcp.len"] or 0),
        identification=int(values["ip.id"], 16) if inner == "ip" else -1,
        window_scale=int(values["tcp.options.wscale.shift"] or -1),
        payload=bytes.fromhex(values["tcp.payload"]),
    )
