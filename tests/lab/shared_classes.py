"""Class data archives of Kafka: what a JVM would parse at every start, parsed once.

Five brokers start on two cores at the same time, and most of the work is loading classes.
The archives are recorded as the official image does: by running the real thing once, here in the
unpacked file system and without a network, and stopping it.
"""

from __future__ import annotations

import shutil
from enum import Enum
from pathlib import Path

from tests.lab.cache import digest, entry
from tests.lab.jars import jar_items, kafka_jars
from tests.lab.layers import Item, write_layer
from tests.lab.processes import run
from tests.lab.rootfs import rootfs_tar

_INPUTS = Path(__file__).parent / "images"
_SCRIPT = _INPUTS / "record-classes"

_ALONE = """
ip link set lo up && mount -t proc proc "$1/proc" && mount --bind /dev "$1/dev" || exit 125
exec chroot "$@"
"""


class Mode(Enum):
    """With what a broker keeps its metadata."""

    ZOOKEEPER = "zookeeper"
    KRAFT = "kraft"


def archive_items(cache: Path, version: str, mode: Mode) -> list[Item]:
    """The archives of Kafka `version` as items of a layer, next to the jars."""
    folder = _recorded(cache, version, mode)
    return [Item(path=f"opt/kafka/{path.name}", source=path) for path in sorted(folder.glob("*.jsa"))]


def _recorded(cache: Path, version: str, mode: Mode) -> Path:
    base, jars = rootfs_tar(cache), kafka_jars(cache, version)
    configuration = _INPUTS / "apache" / version[0]
    key = digest(base.parent.name, jars.name, configuration, _SCRIPT, _ALONE)

    def build(folder: Path) -> None:
        root = folder / "root"
        root.mkdir()
        try:
            _unpack(root, base, jars, configuration)
            _record(root, mode)
            for path in root.glob("opt/kafka/*.jsa"):
                shutil.move(path, folder / path.name)
        finally:
            shutil.rmtree(root)

    return entry(cache, "shared-classes", f"{version}-{mode.value}-{key}", build)


def _unpack(root: Path, base: Path, jars: Path, configuration: Path) -> None:
    layer = root.parent / "jars.tar"
    # Through a layer, so the jars have the very times that they have in the image.
    write_layer(layer, jar_items(jars))
    for tar in (base, layer):
        run(["tar", "-xf", tar, "-C", root, "--numeric-owner"], timeout=300)
    layer.unlink()
    shutil.copytree(configuration, root / "etc" / "kafka")
    shutil.copy(_SCRIPT, root / "tmp")


def _record(root: Path, mode: Mode) -> None:
    if (root / "etc/kafka/log4j2.yaml").exists():
        logging = "-Dlog4j2.configurationFile=/etc/kafka/log4j2.yaml"
    else:
        logging = "-Dlog4j.configuration=file:/etc/kafka/log4j.properties"
    # Everything in there ends with the first process, so a failed recording leaves no JVM.
    alone = ["unshare", "--net", "--mount", "--pid", "--fork", "--kill-child"]
    inside = ["/bin/bash", f"/tmp/{_SCRIPT.name}", mode.value, logging]
    run([*alone, "sh", "-c", _ALONE, "lab", root, *inside], timeout=400)
