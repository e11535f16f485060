"""Which engine is meant: the order of the docker command line."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from netdiag.errors import EngineError, InputError
from netdiag.io.engine.address import DEFAULT_URL, find_engine, normalised


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
