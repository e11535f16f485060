"""Whether an engine runs on this kernel: a pid alone proves nothing."""

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from netdiag.engine.container import PortBinding
from netdiag.io.engine.address import EngineAddress
from netdiag.io.engine.same_kernel import OtherKernel, SameKernel, has_userland_proxy, locate
from tests.deployment.test_engine_source import EXITED, container
from tests.io.engine.fake_engine import fake_engine


def test_a_pid_alone_is_no_proof(tmp_path: Path) -> None:
    mine = container(state=replace(container().state, pid=os.getpid()))
    with fake_engine(tmp_path / "s", {}) as url:
        found = locate(EngineAddress(url=url, said_by="--host"), [mine])
    assert isinstance(found, OtherKernel)
    assert "another machine" in found.because


def test_the_process_behind_the_socket_must_be_an_engine(tmp_path: Path) -> None:
    with fake_engine(tmp_path / "s", {}) as url:
        assert isinstance(locate(EngineAddress(url=url, said_by="--host"), []), OtherKernel)


def test_a_remote_engine_without_containers(tmp_path: Path) -> None:
    stopped = container(state=EXITED)
    assert isinstance(locate(EngineAddress(url="tcp://127.0.0.1:1", said_by="--host"), [stopped]), OtherKernel)
    assert isinstance(locate(EngineAddress(url=f"unix://{tmp_path}/none", said_by="--host"), []), OtherKernel)


def test_without_a_published_port_nobody_knows_about_the_proxy() -> None:
    kernel = SameKernel(docker_host=None)
    assert has_userland_proxy(kernel, [container()]) is None
    udp = (PortBinding(target=1, protocol="udp", host_ip="", published=1),)
    assert has_userland_proxy(kernel, [container(ports=udp)]) is None


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        (["dockerd", "--userland-proxy=false", "-p", "x"], False),
        (["dockerd", "--userland-proxy"], True),
        (["dockerd", "--userland-proxy=true", "--userland-proxy=0"], False),
        (["dockerd", "--userland-proxy-path=/x"], None),
        (["dockerd"], None),
    ],
)
def test_the_engine_s_own_command_line_says_it(command: list[str], expected: bool | None) -> None:
    """A process with such a command line stands for the engine."""
    script = "import time; print(flush=True); time.sleep(600)"
    with subprocess.Popen([sys.executable, "-c", script, *command], stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout
            process.stdout.readline()
            assert has_userland_proxy(SameKernel(docker_host=process.pid), [container()]) is expected
        finally:
            process.kill()
