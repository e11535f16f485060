"""The client layer: Python's Kafka client and the lab's server for the Java console tools."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from tests.debian import find
from tests.lab.cache import digest, entry
from tests.lab.jars import KAFKA_3, compiler_jar, kafka_jars
from tests.lab.layers import Item
from tests.lab.processes import run

PYTHON_CLIENTS = ("kafka-python==3.0.12",)
HOME = "opt/lab"


def client_items(cache: Path, inputs: Path) -> list[Item]:
    """Everything under /opt/lab of the client image."""
    packages = entry(cache, "python", digest(*PYTHON_CLIENTS), lambda folder: _install_python(folder))
    classes = entry(
        cache,
        "classes",
        digest(KAFKA_3, *sorted(inputs.glob("*.java"))),
        lambda folder: _compile(cache, inputs, folder),
    )
    scripts = [path for path in sorted(inputs.iterdir()) if path.suffix != ".java"]
    return [
        *(Item(path=f"{HOME}/{path.name}", source=path) for path in scripts),
        *_tree(classes, f"{HOME}/classes"),
        *_tree(packages, f"{HOME}/python"),
    ]


def _install_python(folder: Path) -> None:
    # Pure Python, so the version of this interpreter does not matter to the image's.
    run(
        [
            sys.executable,
            "-m",
            "pip",
            "install",
            "--quiet",
            "--no-compile",
            "--no-deps",
            "--only-binary=:all:",
            f"--target={folder}",
            *PYTHON_CLIENTS,
        ],
        timeout=300,
    )
    shutil.rmtree(folder / "bin", ignore_errors=True)


def _compile(cache: Path, inputs: Path, folder: Path) -> None:
    jars = ":".join(str(jar) for jar in sorted(kafka_jars(cache, KAFKA_3).glob("*.jar")))
    sources = [str(path) for path in sorted(inputs.glob("*.java"))]
    java = find("java") or "java"
    run(
        [
            java,
            "-jar",
            compiler_jar(cache),
            "-17",
            "-nowarn",
            "-cp",
            jars,
            "-d",
            folder,
            *sources,
        ],
        timeout=300,
    )


def _tree(folder: Path, under: str) -> list[Item]:
    return [
        Item(path=f"{under}/{path.relative_to(folder)}", source=path)
        for path in sorted(folder.rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    ]
