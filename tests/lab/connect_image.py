"""Stand-ins for the images of Kafka Connect: real workers, made of Kafka's own jars.

Tests that start workers load them; in other stacks, a container that only stays stands for a worker.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Mapping
from pathlib import Path

from tests.lab.cache import digest, entry
from tests.lab.engine import Engine, load_images
from tests.lab.jars import KAFKA_3
from tests.lab.layers import APPUSER, Image, Item, write_layer
from tests.lab.processes import run
from tests.lab.rootfs import rootfs_tar
from tests.lab.stack import Stack

CP_CONNECT = "confluentinc/cp-kafka-connect:7.9.2"
_INPUTS = Path(__file__).parent / "connect"
_POM = _INPUTS / "pom.xml"
_COPY = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies"
_LABELS = {"org.netdiag.lab": "stand-in"}
JOINED = "Finished starting connectors and tasks"
# On a machine that does much else, a worker takes minutes to start.
LIMIT = 300.0


def load_connect_image(engine: Engine) -> None:
    """Give an engine the image if it lacks it."""
    there = engine.docker("images", "--format", "{{.Repository}}:{{.Tag}}").split()
    if CP_CONNECT not in there:
        load_images(engine, [_image(engine.cache)])


def wait_for_workers(stack: Stack, before: Mapping[str, int]) -> None:
    """Wait until each worker has joined its group more often than before."""
    deadline = time.monotonic() + LIMIT
    while any(stack.logs(name).count(JOINED) <= times for name, times in before.items()):
        assert time.monotonic() < deadline, "".join(stack.logs(name)[-2000:] for name in before)
        time.sleep(0.5)


def _image(cache: Path) -> Image:
    found = entry(cache, "jars", f"connect-{KAFKA_3}-{digest(_POM, _COPY)}", _fetch)
    jars = sorted(found.glob("*.jar"))
    home = "etc/confluent/docker"
    items = [
        Item(path="opt/connect", mode=0o755),
        Item(path="opt/connect/libs", mode=0o755),
        *(Item(path=f"opt/connect/libs/{jar.name}", source=jar) for jar in jars),
        Item(path="etc/kafka-connect", mode=0o755, uid=APPUSER),
        Item(path="etc/kafka-connect/log4j.properties", source=_INPUTS / "log4j.properties"),
        Item(path="usr/bin/connect-distributed", source=_INPUTS / "connect-distributed", mode=0o755),
        Item(path=f"{home}/run", source=_INPUTS / "run", mode=0o755),
    ]
    key = f"connect-{KAFKA_3}-{digest(_INPUTS, *(jar.name for jar in jars))}"
    layer = entry(cache, "layers", key, lambda folder: write_layer(folder / "layer.tar", items)) / "layer.tar"
    return Image(
        tags=(CP_CONNECT,),
        layers=(rootfs_tar(cache), layer),
        command=("/etc/confluent/docker/run",),
        user="appuser",
        exposed=("8083/tcp",),
        labels=_LABELS,
    )


def _fetch(folder: Path) -> None:
    """The jars of a worker with what they load at run time, its clients included."""
    # A folder of its own for Maven's work: it must not leave a target/ beside the pom.
    work = folder / ".maven"
    work.mkdir()
    shutil.copy(_POM, work / "pom.xml")
    options = ["-DincludeScope=runtime", f"-DoutputDirectory={folder}", f"-Dkafka.version={KAFKA_3}"]
    run(["mvn", "-q", "-B", _COPY, *options], cwd=work, timeout=900)
    shutil.rmtree(work)
