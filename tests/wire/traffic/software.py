"""The clients that make traffic: Python packages, Kafka's own Java clients of both releases, a Java member.

They run on this machine's Python and Java, from inside the lab's namespaces; what they need is kept in the lab's cache.
"""

import os
import sys
from pathlib import Path

from tests.debian import find
from tests.lab.cache import digest, entry
from tests.lab.jars import KAFKA_3, compiler_jar, kafka_jars
from tests.lab.processes import run

PROGRAMS = Path(__file__).parent / "programs"
_PACKAGES = (
    "kafka-python==3.0.12",
    "aiokafka==0.14.0",
    "async-timeout",
    "confluent-kafka==2.16.1",
    "lz4",
    "zstandard",
    "python-snappy",
    "cramjam",
    "packaging",
    "typing-extensions",
)
_TOOLS = Path(__file__).parents[2] / "lab" / "images" / "client"
_JVM = ("-Xmx192m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData", "-Xshare:auto")


def python_packages(cache: Path) -> Path:
    """A folder for PYTHONPATH: librdkafka, kafka-python and aiokafka with every codec."""

    def build(folder: Path) -> None:
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-compile", "--no-deps"]
        run([*pip, "--only-binary=:all:", f"--target={folder}", *_PACKAGES], timeout=300)

    return entry(cache, "wire-python", digest(sys.version, *_PACKAGES), build)


def java_classes(cache: Path) -> Path:
    """The server for console tools (of the lab) and the group member, compiled."""
    sources = [*sorted(_TOOLS.glob("*.java")), *sorted(PROGRAMS.glob("*.java"))]

    def build(folder: Path) -> None:
        jars = ":".join(str(jar) for jar in sorted(kafka_jars(cache, KAFKA_3).glob("*.jar")))
        compiler: list[str | Path] = [_java(), "-jar", compiler_jar(cache), "-17", "-nowarn", "-cp", jars, "-d", folder]
        run([*compiler, *sources], timeout=300)

    return entry(cache, "wire-classes", digest(KAFKA_3, *sources), build)


def java_command(cache: Path, version: str, main: str, *arguments: str) -> list[str]:
    """A Java program with the jars of Kafka `version` on its class path."""
    jars = sorted(kafka_jars(cache, version).glob("*.jar"))
    path = ":".join(str(part) for part in (*jars, java_classes(cache), PROGRAMS))
    logging = f"-Dlog4j.configuration=file:{_TOOLS / 'log4j.properties'}"
    quiet = f"-Dlog4j2.configurationFile={PROGRAMS / 'log4j2.properties'}"
    return [_java(), *_JVM, logging, quiet, "-cp", path, main, *arguments]


def python_command(program: str, *arguments: str) -> list[str]:
    """A Python program of the folder `programs`."""
    return [sys.executable, str(PROGRAMS / f"{program}.py"), *arguments]


def environment(cache: Path) -> dict[str, str]:
    """What the programs need in their environment."""
    return {**os.environ, "PYTHONPATH": str(python_packages(cache)), "PYTHONUNBUFFERED": "1", "LC_ALL": "C.UTF-8"}


def _java() -> str:
    return find("java") or "java"
