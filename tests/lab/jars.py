"""The Kafka jars of one version with what they load at run time, fetched by Maven."""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.lab.cache import digest, entry
from tests.lab.layers import Item
from tests.lab.processes import run

KAFKA_3 = "3.9.1"
KAFKA_4 = "4.3.1"
_POM = Path(__file__).parent / "images" / "pom.xml"
_SHELL_POM = Path(__file__).parent / "shell" / "pom.xml"
# The binding must be of the same version as the log4j-core that Kafka brings.
_BINDING = ("-Plog4j2",)
_PLUGIN = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1"


def kafka_jars(cache: Path, version: str) -> Path:
    """The folder of jars of Kafka `version`."""
    return entry(cache, "jars", f"{version}-{digest(_POM, _PLUGIN)}", lambda folder: _fetch(folder, version))


def compiler_jar(cache: Path) -> Path:
    """A Java compiler that runs on a JRE."""

    def fetch(folder: Path) -> None:
        _copy(folder, ("-Pcompiler", "-DincludeArtifactIds=ecj"))

    folder = entry(cache, "jars", f"ecj-{digest(_POM, _PLUGIN)}", fetch)
    return next(folder.glob("ecj-*.jar"))


def shell_jars(cache: Path, version: str) -> Path:
    """The folder of jars of kafka-metadata-shell of Kafka `version`."""
    key = f"shell-{version}-{digest(_SHELL_POM, _PLUGIN)}"
    return entry(cache, "jars", key, lambda folder: _copy(folder, (f"-Dkafka.version={version}",), _SHELL_POM))


def jar_items(folder: Path) -> list[Item]:
    """Kafka's jars and the class path that names them in one fixed order."""
    jars = sorted(folder.glob("*.jar"))
    path = ":".join(f"/opt/kafka/libs/{jar.name}" for jar in jars)
    return [
        Item(path="opt/kafka", mode=0o755),
        Item(path="opt/kafka/libs", mode=0o755),
        *(Item(path=f"opt/kafka/libs/{jar.name}", source=jar) for jar in jars),
        Item(path="opt/kafka/classpath", text=path),
    ]


def _fetch(folder: Path, version: str) -> None:
    chosen = (f"-Dkafka.version={version}",)
    _copy(folder, chosen)
    core = next(folder.glob("log4j-core-*.jar"), None)
    if core is not None:
        log4j = core.stem.removeprefix("log4j-core-")
        _copy(folder, (*chosen, *_BINDING, f"-Dlog4j.version={log4j}"))


def _copy(folder: Path, options: tuple[str, ...], pom: Path = _POM) -> None:
    # A folder of its own for Maven's work: it must not leave a target/ beside the pom.
    work = folder / ".maven"
    work.mkdir()
    shutil.copy(pom, work / "pom.xml")
    run(
        [
            "mvn",
            "-q",
            "-B",
            f"{_PLUGIN}:copy-dependencies",
            "-DincludeScope=runtime",
            f"-DoutputDirectory={folder}",
            *options,
        ],
        cwd=work,
        timeout=900,
    )
    shutil.rmtree(work)
