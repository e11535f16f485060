"""What changed between two topologies: what appeared, what went, what is otherwise than it was."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from netdiag.errors import InputError
from netdiag.topology.snapshot import snapshot_of

FORMAT = "netdiag-topology"
VERSION = 1

_HINT = "write it with netdiag topology --format json --out FILE"


class Turn(StrEnum):
    """What became of a thing; the value is the word users see."""

    APPEARED = "appeared"
    GONE = "gone"
    CHANGED = "changed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """One fact of a thing, before and after; "" where it was not there."""

    name: str
    before: str
    after: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One thing that is not as it was. `kind` is a word ("link"), `name` holds no number that a restart changes."""

    turn: Turn
    kind: str
    name: str
    facts: tuple[Fact, ...] = ()


def differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> tuple[Change, ...]:
    """The changes between two documents of `netdiag topology`, in the order of the later one; what went is last."""
    old, new = snapshot_of(before), snapshot_of(after)
    changes: list[Change] = []
    for (kind, name), facts in new.items():
        if (kind, name) not in old:
            told = tuple(Fact(name=key, before="", after=word) for key, word in facts.items() if word)
            changes.append(Change(turn=Turn.APPEARED, kind=kind, name=name, facts=told))
        elif facts != old[kind, name]:
            changes.append(Change(turn=Turn.CHANGED, kind=kind, name=name, facts=tuple(_facts(old[kind, name], facts))))
    gone = [Change(turn=Turn.GONE, kind=kind, name=name) for kind, name in old if (kind, name) not in new]
    return (*changes, *gone)


def load_document(data: bytes, where: str) -> Mapping[str, Any]:
    """The document that a file holds, if it is one that can be compared; InputError in one line otherwise."""
    try:
        document = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise InputError("is no JSON", where=where, hint=_HINT) from error
    if not isinstance(document, Mapping) or document.get("format") != FORMAT:
        raise InputError("is no document of netdiag topology", where=where, hint=_HINT)
    version = document.get("version")
    if version != VERSION:
        told = version if isinstance(version, int) and abs(version) < 1_000_000 else "of another kind"
        raise InputError(
            f"is version {told} of the document, and this netdiag reads version {VERSION}",
            where=where,
            hint="write both with the same netdiag",
        )
    # Compared with nothing, everything would seem to have come.
    damaged = [name for name in ("places", "namespaces") if not isinstance(document.get(name), list)]
    if damaged:
        raise InputError(f"has no list of {damaged[0]}", where=where, hint=_HINT)
    return document


def _facts(old: Mapping[str, str], new: Mapping[str, str]) -> list[Fact]:
    names = dict.fromkeys((*old, *new))
    return [
        Fact(name=name, before=old.get(name, ""), after=new.get(name, ""))
        for name in names
        if old.get(name, "") != new.get(name, "")
    ]
