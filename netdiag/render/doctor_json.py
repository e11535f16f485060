"""What a machine lets netdiag do, as JSON, version 1."""

import json
from collections.abc import Sequence

from netdiag import __version__
from netdiag.machine.abilities import Ability
from netdiag.machine.facts import Machine

FORMAT = "netdiag-doctor"
VERSION = 1


def doctor_json(machine: Machine, abilities: Sequence[Ability]) -> str:
    """The document and a line break."""
    document = {
        "format": FORMAT,
        "version": VERSION,
        "netdiag": __version__,
        "system": machine.system,
        "kernel": machine.kernel,
        "python": machine.python,
        "root": machine.is_root,
        "rights": sorted(machine.rights),
        "tools": dict(machine.tools),
        "libraries": dict(machine.libraries),
        "abilities": [
            {
                "name": each.name,
                "state": each.state.value,
                "told": each.told,
                "serves": each.serves,
                "fix": each.fix or None,
            }
            for each in abilities
        ],
    }
    return json.dumps(document, indent=2, ensure_ascii=True) + "\n"
