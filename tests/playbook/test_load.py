"""Playbooks from YAML: all of what they say, and one clear line for whatever is wrong."""

import random

import pytest

from netdiag.errors import InputError, NetdiagError
from netdiag.playbook.actions import ActionName
from netdiag.playbook.conditions import There
from netdiag.playbook.document import Confidence
from netdiag.playbook.load import MOST_BYTES, load
from tests.playbook.examples import TEXT, playbook


def test_what_it_says() -> None:
    book = playbook()
    assert (book.name, book.title, book.means) == ("closed-port", "A port is closed", "Nobody listens.")
    assert [symptom.who for symptom in book.symptoms] == ["clients"]
    assert book.variables["bootstrap"].default == "{host}:{port}"
    assert book.variables["other"].default is None
    assert [step.action for step in book.steps] == [ActionName.LINT, ActionName.MATRIX, ActionName.LOG]
    assert book.steps[2].when == There(step="live", of="findings", where={"rule": ("crash",)})
    assert [one.confidence for one in book.conclusions] == [Confidence.POSSIBLE, Confidence.PROVEN]
    assert not book.is_offline


WRONG = [
    ("playbook: 1", "playbook: 2", "1:11: 'playbook' is 2, and this netdiag reads 1"),
    ("playbook: 1\n", "", "needs 'playbook'"),
    ("title: A port is closed\n", "", "a playbook needs 'title'"),
    ("title: A port is closed", "title: [a]", "'title' must be a text"),
    ("title: A port is closed", "title: &a b\nreading: *a", "must be a list"),
    ("title: A port is closed", "title: A\ntitel: B", "3:1: 'titel' is no key of a playbook"),
    ("means: Nobody listens.", "means: ''", "'means' must be a text"),
    ('line: "cannot connect to {host}:{port}"', 'line: "{host"', "is no hole"),
    ('example: "cannot connect to kafka:9092"', "example: another line", "is no line of this symptom"),
    ("bootstrap: {about", "files: {about", "is a variable of every run"),
    ('default: "{host}:{port}"', 'default: "{hots}"', "names '{hots}', which nobody tells"),
    ("action: lint", "action: shell", "'action' cannot be 'shell'"),
    ('with: {files: "{files}"}', "with: {command: rm}", "'command' is no key of 'with'"),
    ("action: matrix", "action: capture\n    with: {seconds: 61}", "'seconds' must be a number from 1 to 60"),
    ("action: matrix", 'action: capture\n    with: {seconds: "{host}"}', "'seconds' must be a number from 1 to 60"),
    (
        "action: matrix",
        "action: analyze\n    with: {capture: files}",
        "'files' is no step before this that does capture",
    ),
    ("action: matrix", "action: analyze\n    with: {capture: live}", "'live' is no step before this that does capture"),
    ("action: matrix", "action: matrix\n    with: {a: b}", "tells matrix something"),
    ("id: live", "id: files", "'files' is taken"),
    ("id: live", "id: Live!", "must be small letters"),
    ("step: live, of: findings", "step: log, of: findings", "'log' is no step before this"),
    ("step: live, of: findings", "step: live, of: hops", "'hops' is nothing that step 'live' gives"),
    ('where: {rule: "maybe-*"}', "where: {colour: red}", "'colour' is no key of 'where'"),
    ('port: ">9000"', 'port: ">many"', "compares with no number"),
    ("confidence: proven", "confidence: certain", "'confidence' cannot be 'certain'"),
    ("cause: perhaps {host}", "cause: perhaps {who}", "names '{who}'"),
    ("  - id: maybe\n", "  - id: maybe\n    shell: rm\n", "'shell' is no key"),
    ("conclusions:", "conclusions: []\nreading:", "must not be empty"),
]


@pytest.mark.parametrize(("said", "instead", "message"), WRONG)
def test_what_is_wrong_is_one_line(said: str, instead: str, message: str) -> None:
    assert said in TEXT
    with pytest.raises(InputError) as caught:
        playbook(TEXT.replace(said, instead, 1))
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
    assert str(caught.value).startswith("closed-port.yml")


@pytest.mark.parametrize(
    "data",
    [b"", b"a: [", b"\xff\xfe", b"---\na: 1\n---\nb: 2\n", b"x" * (MOST_BYTES + 1), b"[" * 5000, b"- 1", b"null"],
)
def test_what_is_no_playbook_at_all(data: bytes) -> None:
    with pytest.raises(InputError) as caught:
        load("closed-port", "closed-port.yml", data)
    assert "\n" not in str(caught.value)


def test_conditions_do_not_go_down_for_ever() -> None:
    deep = "{of: findings}"
    for _ in range(20):
        deep = f"{{all: [{deep}]}}"
    with pytest.raises(InputError, match="lies too deep"):
        playbook(TEXT.replace('{of: findings, where: {rule: "maybe-*"}}', deep))


def test_a_name_that_is_none() -> None:
    with pytest.raises(InputError, match="small letters"):
        playbook(name="Closed port")


def test_whatever_happens_to_its_bytes_it_is_read_or_refused_in_one_line() -> None:
    random.seed(11)
    data = TEXT.encode()
    refused = 0
    for _ in range(600):
        made = bytearray(data)
        for _ in range(random.randint(1, 6)):
            at = random.randrange(len(made))
            match random.randrange(4):
                case 0:
                    made[at] = random.randrange(256)
                case 1:
                    del made[at : at + random.randint(1, 30)]
                case 2:
                    made[at:at] = made[random.randrange(len(made)) :][: random.randint(1, 40)]
                case _:
                    made[at:at] = random.choice(
                        [b"{", b"[", b"*a", b"&a ", b"!!python/name:os.system ", b"\x00", b"<<: "]
                    )
        refusal = _refusal(bytes(made))
        refused += refusal is not None
        assert "\n" not in (refusal or "")
    assert refused > 100


def _refusal(data: bytes) -> str | None:
    try:
        load("closed-port", "closed-port.yml", data)
    except NetdiagError as error:
        return str(error)
    return None
