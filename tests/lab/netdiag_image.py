"""netdiag's own image on the lab's engine: as the Dockerfile makes it, of what is here instead of what is downloaded.

The lab's client image brings Debian's Python; netdiag and the libraries of its extra `live` come from this environment.
"""

from __future__ import annotations

import io
import re
import sys
import tarfile
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import metadata
from pathlib import Path

import docker

from tests.lab.engine import Engine
from tests.lab.errors import LabImpossible
from tests.lab.image_set import CLIENT

_TOP = Path(__file__).resolve().parents[2]
_HOME = "opt/netdiag"
# That of Debian 12, for which the compiled parts must be made.
_PYTHON = (3, 11)
_WHEN = 1_700_000_000
_DOCKERFILE = f"""
FROM {CLIENT}
COPY {_HOME} /{_HOME}
COPY usr /usr
ENV PYTHONPATH=/{_HOME}
ENTRYPOINT ["python", "-m", "netdiag"]
USER 65534:65534
"""


@contextmanager
def netdiag_image(engine: Engine, tag: str, *, version: str | None = None) -> Iterator[str]:
    """The image under that tag for the block; `version` is another one that it shall say it is."""
    if sys.version_info[:2] != _PYTHON:
        raise LabImpossible("the lab cannot run here: netdiag's image in the lab needs Python 3.11")
    client = docker.APIClient(base_url=engine.docker_host, version="auto", timeout=300)
    try:
        said = list(client.build(fileobj=_context(version), custom_context=True, tag=tag, rm=True, decode=True))
        errors = [each["error"] for each in said if "error" in each]
        assert not errors, errors
        yield tag
    finally:
        engine.docker("rmi", "-f", tag, check=False)
        client.close()


def _context(version: str | None) -> io.BytesIO:
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w") as tar:
        _add(tar, "Dockerfile", _DOCKERFILE.encode())
        _add(tar, "usr/local/bin/python", b'#!/bin/sh\nexec python3 "$@"\n', mode=0o755)
        for path, name in _files():
            data = path.read_bytes()
            if version is not None and name == f"{_HOME}/netdiag/__init__.py":
                data = re.sub(rb'__version__ = ".*"', f'__version__ = "{version}"'.encode(), data)
            _add(tar, name, data)
    target.seek(0)
    return target


def _files() -> Iterator[tuple[Path, str]]:
    # In a checkout the data are links to folders beside the package.
    for home in (_TOP / "netdiag", *sorted((_TOP / "netdiag" / "data").iterdir())):
        for path in sorted(home.rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                yield path, f"{_HOME}/{path.relative_to(_TOP)}"
    for name in sorted(_needed()):
        for file in metadata.files(name) or ():
            path = Path(str(file.locate()))
            if ".." not in file.parts and path.suffix != ".pyc" and path.is_file():
                yield path, f"{_HOME}/{file}"


def _needed() -> set[str]:
    """The distributions that netdiag with its extra `live` has here, without netdiag itself."""
    project = tomllib.loads((_TOP / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    todo = [*project["dependencies"], *project["optional-dependencies"]["live"]]
    found: set[str] = set()
    while todo:
        name = re.split(r"[^\w.-]", todo.pop())[0]
        if name in found:
            continue
        try:
            wanted = metadata.requires(name) or []
        except metadata.PackageNotFoundError:
            # for another system or another Python
            continue
        found.add(name)
        todo += [each for each in wanted if "extra ==" not in each]
    return found


def _add(tar: tarfile.TarFile, name: str, data: bytes, *, mode: int = 0o644) -> None:
    info = tarfile.TarInfo(name)
    info.size, info.mode, info.mtime = len(data), mode, _WHEN
    tar.addfile(info, io.BytesIO(data))
