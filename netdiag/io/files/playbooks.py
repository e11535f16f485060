"""Playbooks and bundles from files: what comes with netdiag, what a stranger wrote, and what `diagnose` packs."""

import io
import zipfile
import zlib
from collections.abc import Sequence
from functools import cache
from importlib import resources
from pathlib import Path

from netdiag.errors import InputError
from netdiag.io.files import read_file, write_file
from netdiag.playbook.bundle import LARGEST, Bundle, from_json
from netdiag.playbook.document import Playbook
from netdiag.playbook.load import MOST_BYTES, load

_FOLDER = "playbooks"
_SUFFIXES = (".yml", ".yaml")
_NAME = "bundle.json"
_PAGE = "diagnosis.md"
# The same bundle is the same bytes, whenever it was written.
_WHEN = (1980, 1, 1, 0, 0, 0)


@cache
def shipped() -> tuple[Playbook, ...]:
    """The playbooks that come with netdiag, by name."""
    folder = resources.files("netdiag.data").joinpath(_FOLDER)
    files = sorted((each for each in folder.iterdir() if each.name.endswith(".yml")), key=lambda each: each.name)
    return tuple(load(each.name.removesuffix(".yml"), each.name, each.read_bytes()) for each in files)


def text_of(name: str, playbook: Playbook) -> bytes:
    """The bytes of a playbook that `find` gave for a name."""
    if _is_path(name):
        return read_file(name, limit=MOST_BYTES)
    return resources.files("netdiag.data").joinpath(_FOLDER).joinpath(f"{playbook.name}.yml").read_bytes()


def find(name: str, playbooks: Sequence[Playbook]) -> Playbook:
    """The playbook of that name, or in the file of that path; InputError where there is none."""
    for each in playbooks:
        if each.name == name:
            return each
    if _is_path(name):
        return load(Path(name).stem, name, read_file(name, limit=MOST_BYTES))
    near = ", ".join(each.name for each in playbooks if name and (name in each.name or each.name in name))
    hint = f"perhaps {near}" if near else "netdiag playbook list shows the names"
    raise InputError(f"there is no playbook '{name}'", hint=hint)


def _is_path(name: str) -> bool:
    return Path(name).suffix in _SUFFIXES or Path(name).exists()


def write_bundle(path: str, document: str, page: str) -> None:
    """Write a bundle: the document, and the same to be read."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name, text in ((_NAME, document), (_PAGE, page)):
            entry = zipfile.ZipInfo(name, _WHEN)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, text)
    write_file(path, made.getvalue())


def read_bundle(path: str) -> Bundle:
    """The bundle in a file; InputError where there is none."""
    data = read_file(path, limit=LARGEST)
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive, archive.open(_NAME) as entry:
            text = entry.read(LARGEST + 1)
    except KeyError as error:
        raise InputError(f"holds no {_NAME}", where=path, hint="give a file that --bundle wrote") from error
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, NotImplementedError, ValueError) as error:
        raise InputError("is not a bundle of netdiag", where=path, hint="use a file that --bundle wrote") from error
    if len(text) > LARGEST:
        raise InputError(f"unfolds to more than {LARGEST >> 20} MiB", where=path)
    return from_json(text, path)
