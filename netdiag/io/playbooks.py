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


def find(name: str, playbooks: Sequence[Playbook]) -> Playbook:
    """The playbook of that name, or in the file of that path; InputError where there is none."""
    for each in playbooks:
        if each.name == name:
            return each
    path = Path(name)
    if path.suffix in _SUFFIXES or path.exists():
        return load(path.stem, name, read_file(name, limit=MOST_BYTES))
    near = ", ".join(each.name for each in playbooks if name and (name in each.name or each.name in name))
    hint = f"perhaps {near}" if near else "netdiag playbook list names them"
    raise InputError(f"there is no playbook '{name}'", hint=hint)
