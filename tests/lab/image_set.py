"""The images of the lab: stand-ins under the very tags that users' compose files name.

No image can be pulled where the tests run, so the brokers' images are rebuilt from Debian
packages and Kafka's own jars. They carry the label `org.netdiag.lab=stand-in`.
"""

from __future__ import annotations

from pathlib import Path

from tests.lab.cache import digest, entry
from tests.lab.client_layer import client_items
from tests.lab.jars import KAFKA_3, KAFKA_4, jar_items, kafka_jars
from tests.lab.layers import APPUSER, Image, Item, write_layer
from tests.lab.processes import run
from tests.lab.rootfs import rootfs_tar
from tests.lab.shared_classes import Mode, archive_items

CP_KAFKA = "confluentinc/cp-kafka:7.9.2"
CP_ZOOKEEPER = "confluentinc/cp-zookeeper:7.9.2"
APACHE_3 = f"apache/kafka:{KAFKA_3}"
APACHE_4 = f"apache/kafka:{KAFKA_4}"
CLIENT = "netdiag-lab/client:1"

_INPUTS = Path(__file__).parent / "images"
_LABELS = {"org.netdiag.lab": "stand-in"}
_MODULES = ("image_set", "layers", "client_layer", "shared_classes", "rootfs", "jars")


def image_key() -> str:
    """Changes whenever anything the images are made of changes."""
    here = Path(__file__).parent
    return digest(_INPUTS, *(here / f"{name}.py" for name in _MODULES))


def client_root(cache: Path) -> Path:
    """The client image unpacked: clients run from it in any network namespace, without an engine."""

    def build(folder: Path) -> None:
        for layer in _client_layers(cache):
            run(["tar", "-xf", layer, "-C", folder, "--numeric-owner"], timeout=300)
        # The two files that every place lays its own over; a mount needs something to cover.
        for name in ("hosts", "resolv.conf"):
            (folder / "etc" / name).touch()

    return entry(cache, "client-root", image_key(), build)


def images(cache: Path) -> list[Image]:
    """All images, layers shared; building what is absent."""
    base = rootfs_tar(cache)
    cp = (base, _jar_layer(cache, KAFKA_3), _cp_layer(cache))
    kafka_4 = _jar_layer(cache, KAFKA_4)
    return [
        Image(
            tags=(CP_KAFKA,),
            layers=cp,
            command=("/etc/confluent/docker/run",),
            user="appuser",
            # Empty, not absent: the real image declares them from unset build arguments.
            environment=(
                "COMPONENT=kafka",
                "KAFKA_ZOOKEEPER_CONNECT=",
                "KAFKA_ADVERTISED_LISTENERS=",
                "CLUSTER_ID=",
            ),
            exposed=("9092/tcp",),
            volumes=("/var/lib/kafka/data", "/etc/kafka/secrets"),
            labels=_LABELS,
        ),
        Image(
            tags=(CP_ZOOKEEPER,),
            layers=cp,
            command=("/etc/confluent/docker/run",),
            user="appuser",
            environment=("COMPONENT=zookeeper",),
            exposed=("2181/tcp", "2888/tcp", "3888/tcp"),
            volumes=("/var/lib/zookeeper/data", "/var/lib/zookeeper/log", "/etc/zookeeper/secrets"),
            labels=_LABELS,
        ),
        _apache(APACHE_3, (base, _jar_layer(cache, KAFKA_3), _apache_layer(cache, KAFKA_3))),
        _apache(APACHE_4, (base, kafka_4, _apache_layer(cache, KAFKA_4))),
        Image(
            tags=(CLIENT,),
            layers=tuple(_client_layers(cache)),
            # A vantage, and the stand-in for web UIs: it only has to stay.
            command=("sleep", "infinity"),
            labels=_LABELS,
        ),
    ]


def _apache(tag: str, layers: tuple[Path, ...]) -> Image:
    return Image(
        tags=(tag,),
        layers=layers,
        command=("/etc/kafka/docker/run",),
        user="appuser",
        exposed=("9092/tcp",),
        volumes=("/etc/kafka/secrets", "/var/lib/kafka/data", "/mnt/shared/config"),
        labels=_LABELS,
    )


def _client_layers(cache: Path) -> list[Path]:
    return [
        rootfs_tar(cache),
        _jar_layer(cache, KAFKA_3),
        _layer(
            cache,
            "client",
            [
                *client_items(cache, _INPUTS / "client"),
                *archive_items(cache, KAFKA_3, Mode.KRAFT),
            ],
        ),
    ]


def _jar_layer(cache: Path, version: str) -> Path:
    return _layer(cache, f"jars-{version}", jar_items(kafka_jars(cache, version)))


def _cp_layer(cache: Path) -> Path:
    inputs = _INPUTS / "cp"
    home = "etc/confluent/docker"
    items = [
        *(_owned(path) for path in ("etc/kafka", "etc/kafka/secrets", "etc/zookeeper/secrets")),
        *(_owned(f"var/lib/{path}") for path in ("kafka/data", "zookeeper/data", "zookeeper/log")),
        Item(path=f"{home}/run", source=inputs / "run", mode=0o755),
        *(Item(path=f"{home}/{path.name}", source=path) for path in sorted(inputs.iterdir()) if path.name != "run"),
        *archive_items(cache, KAFKA_3, Mode.ZOOKEEPER),
    ]
    return _layer(cache, "cp", items)


def _apache_layer(cache: Path, version: str) -> Path:
    inputs = _INPUTS / "apache"
    files = sorted((inputs / version[0]).iterdir())
    home = "etc/kafka/docker"
    folders = ("etc/kafka", "etc/kafka/secrets", "var/lib/kafka/data", "mnt/shared/config")
    items = [
        *(_owned(path) for path in (*folders, "opt/kafka/config", "opt/kafka/logs")),
        Item(path=f"{home}/run", source=inputs / "run", mode=0o755),
        *(Item(path=f"{home}/{path.name}", source=path) for path in files),
        # The wrapper truncates the final file and refuses to make it.
        *(
            Item(path=f"opt/kafka/config/{path.name}", source=path, uid=APPUSER)
            for path in files
            if path.suffix in (".properties", ".yaml")
        ),
        *archive_items(cache, version, Mode.KRAFT),
    ]
    return _layer(cache, f"apache-{version}", items)


def _owned(path: str) -> Item:
    return Item(path=path, mode=0o755, uid=APPUSER)


def _layer(cache: Path, name: str, items: list[Item]) -> Path:
    """One layer file, named by the content of its items."""
    parts: list[str | Path] = []
    for item in items:
        parts.append(f"{item.path} {item.mode} {item.uid}")
        parts.append(item.source or item.text or "")
    key = f"{name}-{digest(*parts)}"
    return entry(cache, "layers", key, lambda f: write_layer(f / "layer.tar", items)) / "layer.tar"
