"""Playbooks from files: those that come with netdiag, and those of a stranger."""

from collections.abc import Sequence
from importlib import resources
from pathlib import Path

from netdiag.errors import InputError
from netdiag.io.files import read_file
from netdiag.playbook.document import Playbook
from netdiag.playbook.load import MOST_BYTES, load

_FOLDER = "playbooks"
_SUFFIXES = (".yml", ".yaml")


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
