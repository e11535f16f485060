"""Which engine is meant: the order of the docker command line."""

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from netdiag.engine.container import PortBinding
from netdiag.errors import EngineError, InputError
from netdiag.io.engine.address import DEFAULT_URL, EngineAddress, find_engine, normalised
from netdiag.io.engine.probe_vantage import probe_vantage
from netdiag.io.engine.same_kernel import OtherKernel, SameKernel, has_userland_proxy, locate
from netdiag.linux.netns import NamedNamespace, OwnNamespace, ProcessNamespace
from tests.deployment.test_engine_source import EXITED, container
from tests.io.engine.fake_engine import fake_engine


def with_context(home: Path, name: str, document: object, *, current: bool = False) -> None:
    identifier = hashlib.sha256(name.encode()).hexdigest()
    meta = home / ".docker/contexts/meta" / identifier
    meta.mkdir(parents=True)
    (meta / "meta.json").write_text(json.dumps(document))
    if current:
        (home / ".docker/config.json").write_text(json.dumps({"currentContext": name, "auths": {}}))


def endpoint(url: str) -> dict[str, object]:
    return {"Name": "x", "Endpoints": {"docker": {"Host": url, "SkipTLSVerify": True}}}


@pytest.mark.parametrize(
    ("host", "environment", "url", "said_by"),
    [
        (None, {}, "unix:///current.sock", 'docker context "current" (the current docker context)'),
        (None, {"DOCKER_CONTEXT": "other"}, "tcp://other:2376", 'docker context "other" (DOCKER_CONTEXT)'),
        (None, {"DOCKER_CONTEXT": "default"}, DEFAULT_URL, "the default"),
        (None, {"DOCKER_CONTEXT": "other", "DOCKER_HOST": "tcp://h:1"}, "tcp://h:1", "DOCKER_HOST"),
        ("unix:///flag.sock", {"DOCKER_HOST": "tcp://h:1"}, "unix:///flag.sock", "--host"),
        (None, {"DOCKER_CONFIG": "/nonexistent"}, DEFAULT_URL, "the default"),
        ("context://other", {"DOCKER_HOST": "tcp://h:1"}, "tcp://other:2376", 'docker context "other" (--context)'),
        ("context://default", {}, DEFAULT_URL, "the default"),
        ("context://default", {"DOCKER_HOST": "tcp://h:1"}, "tcp://h:1", "DOCKER_HOST"),
    ],
)
def test_precedence(tmp_path: Path, host: str | None, environment: Mapping[str, str], url: str, said_by: str) -> None:
    with_context(tmp_path, "current", endpoint("unix:///current.sock"), current=True)
    with_context(tmp_path, "other", endpoint("tcp://other:2376"))
    found = find_engine(host, environment, tmp_path)
    assert (found.url, found.said_by) == (url, said_by)


def test_nothing_is_said(tmp_path: Path) -> None:
    found = find_engine(None, {"DOCKER_HOST": "", "DOCKER_CONTEXT": ""}, tmp_path)
    assert found.unix_socket == "/var/run/docker.sock"


def test_the_certificates_of_a_context(tmp_path: Path) -> None:
    with_context(tmp_path, "tls", endpoint("tcp://h:2376"), current=True)
    folder = tmp_path / ".docker/contexts/tls" / hashlib.sha256(b"tls").hexdigest() / "docker"
    folder.mkdir(parents=True)
    (folder / "ca.pem").touch()
    tls = find_engine(None, {}, tmp_path).tls
    assert tls is not None
    assert (tls.ca, tls.certificate, tls.verify) == (str(folder / "ca.pem"), None, False)


def test_the_certificates_of_the_environment(tmp_path: Path) -> None:
    (tmp_path / "cert.pem").touch()
    environment = {"DOCKER_HOST": "tcp://h:1", "DOCKER_TLS_VERIFY": "1", "DOCKER_CERT_PATH": str(tmp_path)}
    tls = find_engine(None, environment, tmp_path).tls
    assert tls is not None
    assert tls.certificate == str(tmp_path / "cert.pem")
    assert find_engine(None, environment | {"DOCKER_TLS_VERIFY": ""}, tmp_path).tls is None


@pytest.mark.parametrize(
    ("document", "says"),
    [
        ("{", "cannot be read"),
        ('{"Endpoints": []}', "has no engine address"),
        ("[]", "has no engine address"),
    ],
)
def test_a_context_that_is_none(tmp_path: Path, document: str, says: str) -> None:
    with_context(tmp_path, "bad", {}, current=True)
    (path,) = tmp_path.rglob("meta.json")
    path.write_text(document)
    with pytest.raises(EngineError, match=says):
        find_engine(None, {}, tmp_path)


def test_a_context_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(EngineError, match='there is no docker context "gone"'):
        find_engine(None, {"DOCKER_CONTEXT": "gone"}, tmp_path)


def test_a_configuration_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / ".docker").mkdir()
    (tmp_path / ".docker/config.json").write_text("{nonsense")
    with pytest.raises(EngineError, match=r"config\.json"):
        find_engine(None, {}, tmp_path)


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("unix://", DEFAULT_URL),
        ("/run/x.sock", "unix:///run/x.sock"),
        ("h:2375", "tcp://h:2375"),
        ("ssh://me@h", "ssh://me@h"),
    ],
)
def test_short_forms(url: str, expected: str) -> None:
    assert normalised(url) == expected


def test_another_scheme() -> None:
    with pytest.raises(InputError, match='"ftp" is not a known scheme'):
        normalised("ftp://h")


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


def test_places_that_need_no_engine(tmp_path: Path) -> None:
    nowhere = {"DOCKER_HOST": f"unix://{tmp_path}/no.sock"}
    assert probe_vantage("host", environment=nowhere, home=tmp_path).entrance == OwnNamespace()
    assert probe_vantage("netns:lan", environment=nowhere, home=tmp_path).entrance == NamedNamespace(name="lan")
    own = probe_vantage(f"pid:{os.getpid()}", environment=nowhere, home=tmp_path)
    assert own.entrance == ProcessNamespace(pid=os.getpid())
    assert own.place == f"pid:{os.getpid()}"


@pytest.mark.parametrize("word", ["pid:", "pid:0", "pid:-1", "pid:1x", "pid:٣"])
def test_what_is_no_process(word: str, tmp_path: Path) -> None:
    with pytest.raises(InputError):
        probe_vantage(word, environment={}, home=tmp_path)
