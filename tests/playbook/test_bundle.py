"""A bundle holds what a run saw and no secret, and what is none is refused in one line."""

import json
import random

import pytest

from netdiag.errors import InputError
from netdiag.playbook.bundle import from_json, recorded, to_json
from netdiag.playbook.document import Item, Outcome, recognised
from netdiag.playbook.runner import run
from tests.playbook.examples import TEXT, playbook

SECRET = "hunter2"
BOOK = playbook()
FOUND = recognised([f"cannot connect to kafka:9092 password={SECRET}"], [BOOK])
SEEN = Outcome(
    items=(Item(of="findings", fields={"rule": "maybe-x", "message": f'sasl.jaas.config password="{SECRET}"'}),),
    notes=(f"http://me:{SECRET}@host/",),
)
MADE = run(BOOK, {"api_token": SECRET, "host": "kafka"}, lambda step, arguments: SEEN, live=True)
TEXT_OF_BUNDLE = to_json(FOUND, [recorded(MADE, TEXT.encode(), live=True)])


def test_what_was_seen_comes_back() -> None:
    bundle = from_json(TEXT_OF_BUNDLE.encode(), "b.zip")
    (one,) = bundle.runs
    assert (one.name, one.text, one.live) == ("closed-port", TEXT, True)
    assert set(one.outcomes) == {"files", "live"}
    assert one.outcomes["files"].items[0].fields["rule"] == "maybe-x"
    assert bundle.lines[0].startswith("cannot connect to kafka:9092")
    again = run(BOOK, one.variables, lambda step, arguments: one.outcomes[step.id], live=True)
    assert [each.conclusion.id for each in again.reached] == [each.conclusion.id for each in MADE.reached] == ["maybe"]


def test_no_secret_is_in_it() -> None:
    assert SECRET not in TEXT_OF_BUNDLE
    assert "[hidden]" in TEXT_OF_BUNDLE


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        "[" * 100_000,
        '{"format": "netdiag-bundle", "version": 2}',
        '{"format": "netdiag-bundle", "version": 1, "lines": 3, "runs": []}',
        '{"format": "netdiag-bundle", "version": 1, "lines": [], "runs": [{}]}',
        TEXT_OF_BUNDLE.replace('"seconds": 0.0', '"seconds": true'),
        TEXT_OF_BUNDLE.replace('"rule": "maybe-x"', '"rule": 3'),
    ],
)
def test_what_is_none(text: str) -> None:
    with pytest.raises(InputError) as caught:
        from_json(text.encode(), "b.zip")
    assert "\n" not in str(caught.value)


def test_a_damaged_one_is_refused_or_read_never_a_crash() -> None:
    random.seed(5)
    data = TEXT_OF_BUNDLE.encode()
    refused = 0
    for _ in range(500):
        made = bytearray(data)
        made[random.randrange(len(made))] = random.randrange(256)
        refused += _is_refused(bytes(made))
    assert refused > 20


def _is_refused(data: bytes) -> bool:
    try:
        json.dumps([one.name for one in from_json(data, "b.zip").runs])
    except InputError:
        return True
    return False
