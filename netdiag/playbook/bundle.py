"""The results of runs in a file, to be evaluated elsewhere: outcomes and the playbook, as JSON, without secrets.

A bundle has no payload of a capture and no file of the machine, only what conditions compare, and the pasted lines.
Secrets are masked when the bundle is made, so that you can give it to others.
"""

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from netdiag import __version__
from netdiag.deployment.observation.recording import masked, masked_text
from netdiag.errors import InputError
from netdiag.playbook.document import Item, Outcome, Recognised
from netdiag.playbook.runner import Run
from netdiag.values import dataclass

FORMAT = "netdiag-bundle"
VERSION = 1
LARGEST = 16 * 1024 * 1024
_MOST = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """One run: the text of its playbook, what was told, and what each step saw by its id."""

    name: str
    text: str
    variables: Mapping[str, str]
    live: bool
    outcomes: Mapping[str, Outcome]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bundle:
    """The runs in a bundle, and the lines that led to them."""

    lines: tuple[str, ...]
    runs: tuple[Recorded, ...]


def recorded(run: Run, text: bytes, *, live: bool) -> Recorded:
    """A run with the text of its playbook, secrets hidden."""
    return Recorded(
        name=run.playbook.name,
        text=text.decode("utf-8", "replace"),
        variables={name: masked(name, value) for name, value in run.variables.items()},
        live=live,
        outcomes={each.step.id: _hidden(each.outcome) for each in run.taken if each.outcome is not None},
    )


def to_json(found: Sequence[Recognised], runs: Sequence[Recorded]) -> str:
    """The document."""
    document = {
        "format": FORMAT,
        "version": VERSION,
        "netdiag": __version__,
        "lines": [masked_text(one.line.strip()) for one in found],
        "runs": [
            {
                "playbook": run.name,
                "text": run.text,
                "variables": dict(run.variables),
                "live": run.live,
                "outcomes": {step: _outcome(outcome) for step, outcome in run.outcomes.items()},
            }
            for run in runs
        ],
    }
    return json.dumps(document, indent=1, ensure_ascii=True) + "\n"


def from_json(text: bytes, where: str) -> Bundle:
    """The bundle in a document; InputError if it is not one."""
    try:
        document: Any = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError("is not a bundle of netdiag: not JSON", where=where) from error
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise InputError("is not a bundle of netdiag", where=where, hint="use a file that --bundle wrote")
    if document.get("version") != VERSION:
        said = str(document.get("version"))[:20]
        raise InputError(f"has version {said}, but this netdiag reads version {VERSION}", where=where)
    try:
        return Bundle(
            lines=tuple(_text(line) for line in _list(document["lines"])),
            runs=tuple(_recorded(run) for run in _list(document["runs"])),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"is damaged: {error}", where=where) from error


def _hidden(outcome: Outcome) -> Outcome:
    return Outcome(
        items=tuple(
            Item(of=item.of, fields={name: masked_text(value) for name, value in item.fields.items()})
            for item in outcome.items
        ),
        notes=tuple(map(masked_text, outcome.notes)),
        why_not=masked_text(outcome.why_not),
        fix=masked_text(outcome.fix),
        seconds=outcome.seconds,
    )


def _outcome(outcome: Outcome) -> dict[str, Any]:
    return {
        "items": [{"of": item.of, **item.fields} for item in outcome.items],
        "notes": list(outcome.notes),
        "why_not": outcome.why_not,
        "fix": outcome.fix,
        "seconds": round(outcome.seconds, 3),
    }


def _recorded(document: Any) -> Recorded:
    outcomes = _mapping(document["outcomes"])
    return Recorded(
        name=_text(document["playbook"]),
        text=_text(document["text"]),
        variables={name: _text(value) for name, value in _mapping(document["variables"]).items()},
        live=document["live"] is True,
        outcomes={step: _read(outcome) for step, outcome in outcomes.items()},
    )


def _read(document: Any) -> Outcome:
    items = []
    for item in _list(document["items"]):
        fields = {name: _text(value) for name, value in _mapping(item).items()}
        items.append(Item(of=fields.pop("of"), fields=fields))
    seconds = document["seconds"]
    if not isinstance(seconds, int | float) or isinstance(seconds, bool) or not math.isfinite(seconds):
        raise TypeError("seconds is not a number")
    return Outcome(
        items=tuple(items),
        notes=tuple(_text(note) for note in _list(document["notes"])),
        why_not=_text(document["why_not"]),
        fix=_text(document["fix"]),
        seconds=float(seconds),
    )


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{str(value)[:40]!r} is not a text")
    # Half a character cannot be written anywhere.
    value.encode()
    return value


def _list(value: Any) -> list[Any]:
    if not isinstance(value, list) or len(value) > _MOST:
        raise TypeError("a list is missing or too long")
    return value


def _mapping(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict) or len(value) > _MOST:
        raise TypeError("a mapping is missing or too long")
    return value
