"""Record what the clients of `clients` say to their brokers, in a network of their own where nothing else is.

Needs root, or a kernel that lets users make networks of their own, and tcpdump or dumpcap. No packet leaves: in that
network there is a loopback interface and nothing else. Its MTU is that of a wire, and segments are cut to it.
"""

import array
import contextlib
import fcntl
import os
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.house.tree import ROOT

_MTU = 1500
_SET_MTU, _GET_FLAGS, _SET_FLAGS, _ETHTOOL = 0x8922, 0x8913, 0x8914, 0x8946
_UP = 1
# ETHTOOL_STSO, ETHTOOL_SGSO, ETHTOOL_SGRO
_OFFLOADS = (0x1F, 0x24, 0x2C)
_FLUSHED = 2.0
_INSIDE = "--inside"
# of tcpdump, of dumpcap
_DROPPED = re.compile(r"(\d+) packets? dropped by kernel|dropped on interface 'lo': \d+/(\d+)")


class CannotRecord(Exception):
    """This machine does not let us; says what is missing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """The ports of the brokers, and how many packets the recorder did not keep up with."""

    ports: tuple[int, ...]
    dropped: int


def record(path: Path, mix: str, seconds: int) -> Recording:
    """Record a mix for so long."""
    command = [sys.executable, "-m", "tests.bench.recording", _INSIDE, _recorder(), str(path), mix, str(seconds)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}
    done = subprocess.run([*apart(), *command], cwd=ROOT, capture_output=True, text=True, env=environment)
    ports = done.stdout.split()
    if done.returncode or not ports:
        raise CannotRecord(f"the recording failed: {done.stderr.strip()[-400:]}")
    dropped = _DROPPED.search(done.stderr)
    return Recording(ports=tuple(int(port) for port in ports), dropped=int(dropped[1] or dropped[2]) if dropped else 0)


def apart() -> Sequence[str]:
    """The command that runs another one in a new network, with its children killed when it ends."""
    unshare = shutil.which("unshare")
    if unshare is None:
        raise CannotRecord("no command 'unshare' (package util-linux)")
    kinds = [[unshare, "--net"], [unshare, "--user", "--map-current-user", "--keep-caps", "--net"]]
    for kind in kinds:
        if subprocess.run([*kind, "true"], stderr=subprocess.DEVNULL, check=False).returncode == 0:
            return kind
    raise CannotRecord("neither root nor a kernel that lets users make networks of their own")


def _recorder() -> str:
    for name in ("tcpdump", "dumpcap"):
        if found := shutil.which(name):
            return found
    raise CannotRecord("neither tcpdump nor dumpcap is installed")


def _inside(recorder: str, path: str, mix: str, seconds: str) -> int:
    loopback_like_a_wire()
    dumpcap = Path(recorder).name == "dumpcap"
    # as root, tcpdump would become another user, who may not write here
    stay = ["-Z", "root"] if os.geteuid() == 0 else []
    options = ["-q", "-P", "-f", "tcp", "-B", "256"] if dumpcap else ["-s", "0", "-B", "262144", *stay, "tcp"]
    recording = subprocess.Popen(
        [recorder, "-i", "lo", "-w", path, *options], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    try:
        time.sleep(1)
        talk = [sys.executable, "-m", "tests.bench.clients", mix, seconds]
        status = subprocess.run(talk, check=False, stderr=subprocess.DEVNULL).returncode
        time.sleep(_FLUSHED)
    finally:
        recording.send_signal(signal.SIGINT)
        told = recording.communicate()[1]
    print(told, file=sys.stderr)
    return status or recording.returncode


def loopback_like_a_wire() -> None:
    """Make the loopback of this network pass on packets as a wire would, not larger ones."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        fcntl.ioctl(one, _SET_MTU, struct.pack("16si", b"lo", _MTU))
        for setting in _OFFLOADS:
            value = array.array("I", [setting, 0])
            # an old kernel that cannot switch one of them off records larger packets
            with contextlib.suppress(OSError):
                fcntl.ioctl(one, _ETHTOOL, struct.pack("16sP", b"lo", value.buffer_info()[0]))
        flags = struct.unpack("16sh", fcntl.ioctl(one, _GET_FLAGS, struct.pack("16sh", b"lo", 0)))[1]
        fcntl.ioctl(one, _SET_FLAGS, struct.pack("16sh", b"lo", flags | _UP))


if __name__ == "__main__":
    if sys.argv[1:2] == [_INSIDE]:
        sys.exit(_inside(*sys.argv[2:]))
