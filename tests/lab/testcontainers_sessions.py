"""Sessions of Testcontainers, by the real libraries for Java and Python, on the lab's engine.

The program of a session (`testcontainers/Session.java`, `session.py`) is given a plan, and runs on the docker host, as
tests do. The reaper is switched off: its image cannot be pulled. Images have the names that the libraries expect; what
their start scripts need beside what the lab's own stand-ins have is added (`testcontainers/cp`).
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.debian import find
from tests.lab.cache import digest, entry
from tests.lab.engine import Engine
from tests.lab.errors import LabError
from tests.lab.image_set import APACHE_3, CLIENT, CP_KAFKA
from tests.lab.jars import compiler_jar
from tests.lab.processes import run, tail
from tests.lab.relay_images import load_relay_images

JAVA, PYTHON = "java", "python"
# The name that the library for Python looks for by itself.
CP_FOR_PYTHON = "confluentinc/cp-kafka:7.6.0"
SSHD_IMAGE = "testcontainers/sshd:1.3.0"
IMAGES = {JAVA: APACHE_3, PYTHON: CP_FOR_PYTHON}

_INPUTS = Path(__file__).parent / "testcontainers"
_LIBRARY = "testcontainers==4.15.0"
_COPY = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies"
_LIMIT = 180.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """One container of a plan.

    A client joins one network, a broker all of them in their order before it starts; a name that begins with a slash is
    the id of one that is there. `listeners` lead from a listener to what it advertises, "" for the same; PORT there and
    in `environment` (for Java) is the mapped port. `fails`: nobody waits for it. `exposes_port`: containers that are
    made with `reaches_host` reach its mapped port at host.testcontainers.internal.
    """

    name: str
    image: str = CLIENT
    kafka: bool = False
    networks: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    listeners: Mapping[str, str] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)
    fails: bool = False
    reuse: bool = False
    reaches_host: bool = False
    exposes_port: bool = False
    first_host_only: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """A session that runs: the ids of its containers and the bootstrap addresses of its brokers, by planned names."""

    engine: Engine
    ids: Mapping[str, str]
    bootstraps: Mapping[str, str]
    process: subprocess.Popen[str]

    def container(self, name: str) -> str:
        """What the engine calls a container."""
        return self.engine.docker("inspect", "--format", "{{.Name}}", self.ids[name]).strip().removeprefix("/")


@contextmanager
def session(
    engine: Engine,
    library: str,
    plan: Sequence[Planned],
    *,
    host: str = "localhost",
    home: Path | None = None,
) -> Iterator[Session]:
    """A session for the block; `host` is what the library calls the docker host, `home` the folder of its settings.

    The libraries take the lab's docker host for a container of its own where the tests run in one: so they are told.
    """
    argv = [*_program(engine.cache, library), json.dumps({"containers": [_as_json(one) for one in plan]})]
    before = _there(engine)
    with TemporaryDirectory() as folder:
        environment = {
            **os.environ,
            **engine.environment,
            "HOME": str(home or folder),
            "TESTCONTAINERS_RYUK_DISABLED": "true",
            "TESTCONTAINERS_HOST_OVERRIDE": host,
        }
        if library == PYTHON:
            environment["PYTHONPATH"] = str(_python(engine.cache))
            environment["TESTCONTAINERS_CONNECTION_MODE"] = "docker_host"
        errors = Path(folder, "errors")
        with errors.open("w") as log:
            process = subprocess.Popen(
                engine.host.argv(argv),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                env=environment,
                cwd=folder,
            )
        try:
            lines = list(_until_ready(process, errors))
            yield Session(
                engine=engine,
                ids={name: identifier for name, identifier, _ in lines},
                bootstraps={name: bootstrap for name, _, bootstrap in lines if bootstrap != "-"},
                process=process,
            )
        finally:
            _end(process)
            if not any(one.reuse for one in plan):
                _remove(engine, _there(engine) - before)


def load_testcontainers_images(engine: Engine) -> None:
    """Give an engine the images that it lacks: cp-kafka with more of its scripts, and the relay to the docker host."""
    there = set(engine.docker("images", "--format", "{{.Repository}}:{{.Tag}}").split())
    if CP_FOR_PYTHON not in there:
        _commit_cp(engine)
    if SSHD_IMAGE not in there:
        load_relay_images(engine)
        _commit_sshd(engine)


def _commit_cp(engine: Engine) -> None:
    # As in the image of Confluent, whose shell is bash and whose scripts may be changed by the user it runs as.
    prepare = "ln -sf bash /bin/sh && chown -R 1000 /etc/confluent/docker && mkdir -p /home/appuser && chown 1000 $_"
    made = engine.docker("create", "--user", "root", CP_KAFKA, "bash", "-c", prepare).strip()
    engine.docker("cp", f"{_INPUTS / 'cp'}/.", f"{made}:/etc/confluent/docker/")
    for tool in ("kafka-storage", "zookeeper-server-start"):
        engine.docker("cp", str(_INPUTS / "cp" / tool), f"{made}:/usr/bin/{tool}")
    engine.docker("start", "--attach", made)
    changes = ('CMD ["/etc/confluent/docker/run"]', "USER appuser", "WORKDIR /home/appuser")
    engine.docker("commit", *(word for one in changes for word in ("--change", one)), made, CP_FOR_PYTHON)
    engine.docker("rm", "-v", made)


def _commit_sshd(engine: Engine) -> None:
    # As testcontainers/sshd: root logs in with the password of a variable, and may forward ports of all addresses.
    script = (
        "echo root:$PASSWORD | chpasswd && mkdir -p /run/sshd && exec /usr/sbin/sshd -D -o PermitRootLogin=yes "
        "-o PasswordAuthentication=yes -o AllowTcpForwarding=yes -o GatewayPorts=yes "
        "-o HostKeyAlgorithms=+ssh-rsa -o KexAlgorithms=+diffie-hellman-group14-sha1 -o MACs=+hmac-sha1"
    )
    made = engine.docker("create", "netdiag-lab/relays:1", "true").strip()
    command = json.dumps(["sh", "-c", script])
    engine.docker("commit", "--change", f"CMD {command}", "--change", "EXPOSE 22", made, SSHD_IMAGE)
    engine.docker("rm", made)


def _as_json(planned: Planned) -> dict[str, Any]:
    return {
        name: dict(value) if isinstance(value, Mapping) else value
        for name in planned.__slots__
        if (value := getattr(planned, name))
    }


def _program(cache: Path, library: str) -> list[str]:
    if library == PYTHON:
        return [sys.executable, str(_INPUTS / "session.py")]
    classes, jars = _java(cache)
    return [_java_command(), "-Xmx128m", "-XX:TieredStopAtLevel=1", "-cp", f"{classes}:{jars}/*", "Session"]


def _java_command() -> str:
    java = find("java")
    if java is None:
        raise LabError("no java")
    return java


def _java(cache: Path) -> tuple[Path, Path]:
    """The compiled program, and the jars of the library."""
    pom = _INPUTS / "pom.xml"
    jars = entry(cache, "jars", f"testcontainers-{digest(pom, _COPY)}", _fetch)
    source = _INPUTS / "Session.java"

    def compile_it(folder: Path) -> None:
        on_path = ":".join(map(str, sorted(jars.glob("*.jar"))))
        compiler = str(compiler_jar(cache))
        run([_java_command(), "-jar", compiler, "-17", "-nowarn", "-cp", on_path, "-d", folder, str(source)])

    return entry(cache, "classes", f"testcontainers-{digest(pom, source)}", compile_it), jars


def _fetch(folder: Path) -> None:
    # A folder of its own for Maven's work: it must not leave a target/ beside the pom.
    work = folder / ".maven"
    work.mkdir()
    shutil.copy(_INPUTS / "pom.xml", work / "pom.xml")
    run(["mvn", "-q", "-B", _COPY, "-DincludeScope=runtime", f"-DoutputDirectory={folder}"], cwd=work, timeout=900)
    shutil.rmtree(work)


def _python(cache: Path) -> Path:
    """The library with what it needs, beside the packages of the tests."""

    def install(folder: Path) -> None:
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-compile", "--only-binary=:all:"]
        run([*pip, f"--target={folder}", _LIBRARY, "packaging"], timeout=600)

    return entry(cache, "python", f"testcontainers-{digest(_LIBRARY)}", install)


def _until_ready(process: subprocess.Popen[str], errors: Path) -> Iterator[tuple[str, str, str]]:
    assert process.stdout is not None
    deadline = time.monotonic() + _LIMIT
    for line in process.stdout:
        words = line.split()
        if words == ["ready"]:
            return
        if len(words) == 3 and words[0] != "failed":
            yield words[0], words[1], words[2]
        if time.monotonic() > deadline:
            break
    raise LabError(f"the session did not start: {tail(errors.read_text(errors='replace'))}")


def _end(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    with contextlib.suppress(BrokenPipeError):
        process.stdin.close()
    try:
        process.wait(timeout=30)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _there(engine: Engine) -> set[str]:
    containers = engine.docker("ps", "-aq", "--no-trunc", "--filter", "label=org.testcontainers=true").split()
    return {*containers, *engine.docker("network", "ls", "-q", "--no-trunc").split()}


def _remove(engine: Engine, left: set[str]) -> None:
    """What the library has left, as it does where a start fails."""
    if left:
        engine.docker("rm", "-fv", *left, check=False)
        engine.docker("network", "rm", *left, check=False)
