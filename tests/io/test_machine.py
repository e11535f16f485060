"""The facts of this machine, against what other programs say of it."""

import os
import platform
import shutil
import socket
import subprocess
import threading
from importlib import metadata
from pathlib import Path

import pytest

from netdiag.io.machine import TOOLS, read_machine
from netdiag.machine import Trouble

NOBODY = {"DOCKER_HOST": "unix:///nonexistent/docker.sock", "PATH": os.environ["PATH"]}


def test_what_others_say_as_well() -> None:
    machine = read_machine(None, NOBODY)
    assert machine.kernel == platform.release()
    assert machine.is_root == (os.geteuid() == 0)
    assert machine.tools == {name: shutil.which(name) for name in TOOLS}
    assert machine.libraries["cryptography"] == metadata.version("cryptography")
    assert 0 < machine.memory_bytes <= os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    printed = subprocess.run(["df", "-B1", "--output=avail", machine.temporary], capture_output=True, check=True)
    free = int(printed.stdout.split()[-1])
    assert abs(machine.free_bytes - free) < 16 << 30


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may enter namespaces and open packet sockets")
def test_root_may_look() -> None:
    machine = read_machine(None, NOBODY)
    assert machine.namespaces.is_there
    assert machine.packet_socket.is_there
    assert {"NET_RAW", "SYS_ADMIN"} <= machine.rights


def test_no_engine() -> None:
    found = read_machine(None, NOBODY).engine
    assert not found.is_there
    assert found.trouble is Trouble.NOBODY
    assert "/nonexistent/docker.sock" in found.why_not


def test_something_that_is_no_engine(tmp_path: Path) -> None:
    path = str(tmp_path / "odd.sock")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(path)
        server.listen()

        def answer() -> None:
            while True:
                try:
                    channel, _ = server.accept()
                except OSError:
                    return
                with channel:
                    channel.recv(4096)
                    channel.sendall(b"I am no engine\x1b[2J\r\n\r\n")

        threading.Thread(target=answer, daemon=True).start()
        found = read_machine(f"unix://{path}", {}).engine
        server.shutdown(socket.SHUT_RDWR)
    assert not found.is_there
    assert found.trouble is Trouble.OTHER
