"""Containers that mean harm, on a real engine: files, labels, log, services, one frozen, one that dies when asked."""

import os
import socket
import threading
import unicodedata
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from netdiag.io.kernel.netns import open_namespace
from netdiag.linux.netns import ProcessNamespace
from tests.figures import Report
from tests.io.network.hostile import serving
from tests.io.network.test_hostile import ESCAPES, SERVICES
from tests.lab.image_set import CLIENT, CP_KAFKA
from tests.lab.lab import Lab
from tests.lab.stack import Stack
from tests.live.engine_log import EngineLog, between
from tests.live.many_containers import ManyContainers
from tests.live.runs import measured, traces
from tests.live.test_many_containers import listening

pytestmark = [pytest.mark.alone, pytest.mark.bar("live-hostile", long=True)]

CONTAINERS = ManyContainers(brokers=2, clients=1, first_port=22001)
CRASH = f"#!/bin/sh\nprintf '%s' '[main] ERROR ConfigException: {ESCAPES.replace(chr(10), '')}'\nexit 1\n"
STAY = "#!/bin/sh\nexec sleep 1000\n"
FIRST = 9001


@pytest.fixture(scope="module")
def stack(lab: Lab, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    folder = tmp_path_factory.mktemp("hostile")
    made: list[str] = []
    with lab.up(CONTAINERS.write(folder), wait="none") as up:
        listening(up, CONTAINERS.brokers)
        docker = up.engine.docker

        def add(name: str, *words: str, image: str) -> None:
            made.append(f"{up.project}-{name}")
            docker("run", "-d", "--name", made[-1], "--network", f"{up.project}_net-1", *words, image)

        try:
            for name, script in (("crash", CRASH), ("stay", STAY)):
                (folder / name).write_text(script)
                (folder / name).chmod(0o755)
            os.mkfifo(folder / "fifo")
            with (folder / "large").open("wb") as file:
                file.truncate(100 * 1024 * 1024)
            files = ("-v", f"{folder}/fifo:/etc/resolv.conf", "-v", f"{folder}/large:/etc/hosts")
            add("files", *files, image=CLIENT)
            service = ("--label", f"com.docker.compose.service=evil{ESCAPES}", "--label", f"{ESCAPES}={ESCAPES}")
            run = "/etc/confluent/docker/run:ro"
            add("crash", *service, "-v", f"{folder}/crash:{run}", *_environment(1), image=CP_KAFKA)
            add("lies", "-v", f"{folder}/stay:{run}", *_environment(len(SERVICES)), image=CP_KAFKA)
            add("dies", "-v", f"{folder}/stay:{run}", *_environment(1), image=CP_KAFKA)
            docker("pause", up.container("broker-2"))
            yield up
        finally:
            docker("unpause", up.container("broker-2"), check=False)
            docker("rm", "-f", "-v", *made, check=False)


def _environment(count: int) -> list[str]:
    listeners = [f"L{n}://0.0.0.0:{FIRST + n}" for n in range(count)]
    advertised = [f"L{n}://here{n}:{FIRST + n}" for n in range(count)]
    settings = {
        "KAFKA_BROKER_ID": "9",
        "KAFKA_ZOOKEEPER_CONNECT": f"zookeeper:2181{ESCAPES}",
        "KAFKA_LISTENERS": ",".join(listeners),
        "KAFKA_ADVERTISED_LISTENERS": ",".join(advertised),
        "KAFKA_LISTENER_SECURITY_PROTOCOL_MAP": ",".join(f"L{n}:PLAINTEXT" for n in range(count)),
        "KAFKA_INTER_BROKER_LISTENER_NAME": "L0",
        "KAFKA_EVIL": ESCAPES,
    }
    return [word for name, value in settings.items() for word in ("-e", f"{name}={value}")]


@pytest.mark.parametrize("form", ["text", "json"])
def test_it_ends_small_and_plain_and_the_engine_is_only_read(
    stack: Stack, tmp_path: Path, figure: Report, form: str
) -> None:
    docker = stack.engine.docker
    lies, dies = f"{stack.project}-lies", f"{stack.project}-dies"

    def kill(channel: socket.socket, over: threading.Event) -> None:
        channel.recv(100)
        docker("kill", dies, check=False)

    before = traces(stack)
    with ExitStack() as servers:
        for name, behaviours in ((lies, list(SERVICES.values())), (dies, [kill])):
            pid = int(docker("inspect", "--format", "{{.State.Pid}}", name))
            there = servers.enter_context(open_namespace(ProcessNamespace(pid=pid)))
            for n, behaviour in enumerate(behaviours):
                servers.enter_context(serving(behaviour, address="0.0.0.0", port=FIRST + n, namespace=there))
        with between(stack.engine.record.socket, EngineLog(tmp_path / "engine")) as log:
            done = measured("check-listeners", "--live", "--host", log.url, "--format", form)
    docker("start", dies)
    # What was killed has another cable now; all else is as it was.
    assert {**traces(stack), "docker host": ""} == {**before, "docker host": ""}
    assert done.status in (0, 1), done.errors
    assert "Traceback" not in done.errors
    assert "internal error" not in done.out + done.errors
    assert {c for c in done.out if unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp")} <= {"\n"}
    assert log.asked
    assert log.changing == []
    figure(f"among hostile containers, {form}: the whole process, --timeout 4", done.seconds, "s")
    figure(f"among hostile containers, {form}: peak memory", done.peak, "MiB")
    assert done.peak < 150
    if form == "json":
        notes = " ".join(done.document["notes"])
        assert "/etc/resolv.conf: not a regular file" in notes
        assert "/etc/hosts: larger than 64 KiB" in notes
