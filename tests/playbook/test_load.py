"""A playbook is read strictly: every error has its line; what it may do is a closed set, and the schema agrees."""

import json
import random
import re
import string
from pathlib import Path

import jsonschema
import pytest
from ruamel.yaml import YAML

import netdiag.playbook
from netdiag.compose.positions import Source
from netdiag.compose.yaml_tree import load_nodes
from netdiag.errors import InputError, NetdiagError
from netdiag.playbook.document import ACTIONS, ActionName, Confidence, There
from netdiag.playbook.load import LONGEST_TEXT, MOST_BYTES, MOST_ITEMS, Field, load
from netdiag.playbook.pattern import LONGEST_LINE, Malformed, match, parse_pattern
from tests.each import each
from tests.house.tree import ROOT
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


WRONG = [
    ("playbook: 1", "playbook: 2", "1:11: 'playbook' is 2, but this netdiag reads version 1"),
    ("playbook: 1\n", "", "needs 'playbook'"),
    ("title: A port is closed\n", "", "a playbook needs 'title'"),
    ("title: A port is closed", "title: [a]", "'title' must be a non-empty text"),
    ("title: A port is closed", "title: &a b\nreading: *a", "must be a list"),
    ("title: A port is closed", "title: A\ntitel: B", "3:1: 'titel' is not a key of a playbook"),
    ("means: Nobody listens.", "means: ''", "'means' must be a non-empty text"),
    ('line: "cannot connect to {host}:{port}"', 'line: "{host"', "is not a placeholder"),
    ('example: "cannot connect to kafka:9092"', "example: another line", "does not match 'line'"),
    ("bootstrap: {about", "files: {about", "is a variable that every run has"),
    ('default: "{host}:{port}"', 'default: "{hots}"', "names '{hots}', which is not a variable"),
    ("action: lint", "action: shell", "'action' cannot be 'shell'"),
    ('with: {files: "{files}"}', "with: {command: rm}", "'command' is not a key of 'with'"),
    ("action: matrix", "action: capture\n    with: {seconds: 61}", "'seconds' must be a number from 1 to 60"),
    ("action: matrix", 'action: capture\n    with: {seconds: "{host}"}', "'seconds' must be a number from 1 to 60"),
    (
        "action: matrix",
        "action: analyze\n    with: {capture: files}",
        "'files' is not an earlier step with the action capture",
    ),
    (
        "action: matrix",
        "action: analyze\n    with: {capture: live}",
        "'live' is not an earlier step with the action capture",
    ),
    ("action: matrix", "action: matrix\n    with: {a: b}", "matrix takes no arguments"),
    ("id: live", "id: files", "'files' is already used"),
    ("id: live", "id: Live!", "must have only lower-case letters"),
    ("step: live, of: findings", "step: log, of: findings", "'log' is not an earlier step"),
    ("step: live, of: findings", "step: live, of: hops", "'hops' is not a result of step 'live'"),
    ('where: {rule: "maybe-*"}', "where: {colour: red}", "'colour' is not a key of 'where'"),
    ('port: ">9000"', 'port: ">many"', "does not compare with a number"),
    ("confidence: proven", "confidence: certain", "'confidence' cannot be 'certain'"),
    ("cause: perhaps {host}", "cause: perhaps {who}", "names '{who}'"),
    ("  - id: maybe\n", "  - id: maybe\n    shell: rm\n", "'shell' is not a key"),
    ("conclusions:", "conclusions: []\nreading:", "must not be empty"),
]


@each(("said", "instead", "message"), WRONG)
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
    with pytest.raises(InputError, match="is nested too deeply"):
        playbook(TEXT.replace('{of: findings, where: {rule: "maybe-*"}}', deep))


def test_a_name_that_is_none() -> None:
    with pytest.raises(InputError, match="lower-case letters"):
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


def place(text: str) -> Field:
    source = Source("x.yml", text)
    return Field(source, load_nodes(source)[0], "it")


def test_texts() -> None:
    assert place("a\n  b").text() == "a b"
    assert place("|\n  a\n  b\n").literal() == "a\nb"
    for wrong in ("[a]", "''", "a: b", "x" * (LONGEST_TEXT + 1)):
        with pytest.raises(InputError):
            place(wrong).text()


def test_numbers() -> None:
    assert place("7").number(1, 9) == 7
    for wrong in ("0", "10", "-1", "x", "1e1", "٣", "99999999999999999999"):
        with pytest.raises(InputError, match="from 1 to 9"):
            place(wrong).number(1, 9)


def test_lists() -> None:
    assert place("[a, b]").all(Field.text) == ("a", "b")
    assert place("a").all(Field.text) == ("a",)
    with pytest.raises(InputError, match="must be a list"):
        place("a: b").all(Field.text)
    with pytest.raises(InputError, match=f"more than {MOST_ITEMS}"):
        place("[" + "a, " * (MOST_ITEMS + 1) + "]").all(Field.text)


def test_mappings() -> None:
    assert list(place("a: 1\nb: 2").mapping(("a", "b", "c"), ("a",))) == ["a", "b"]
    for wrong, message in [("[a]", "mapping"), ("a: 1\na: 2", "twice"), ("b: 1", "needs 'a'"), ("z: 1", "x.yml:1:1")]:
        with pytest.raises(InputError, match=message):
            place(wrong).mapping(("a", "b"), ("a",))


def test_every_action_is_described() -> None:
    assert set(ACTIONS) == set(ActionName)
    for action in ACTIONS.values():
        assert action.gives
        assert all(fields and len(set(fields)) == len(fields) for fields in action.gives.values())


def test_only_files_are_read_without_live() -> None:
    assert [name for name, action in ACTIONS.items() if not action.live] == [ActionName.LINT, ActionName.ANALYZE]


SCHEMA = json.loads((Path(netdiag.playbook.__file__).parent / "schema" / "playbook.v1.json").read_text("utf-8"))
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)


@each("path", sorted((ROOT / "playbooks").glob("*.yml")), ids=lambda path: path.stem)
def test_shipped_playbooks_follow_it(path: Path) -> None:
    VALIDATOR.validate(YAML(typ="safe").load(path.read_text("utf-8")))


def test_it_refuses_what_is_none() -> None:
    VALIDATOR.validate(YAML(typ="safe").load(TEXT))
    for said, instead in [
        ("playbook: 1", "playbook: 2"),
        ("action: lint", "action: shell"),
        ("of: cells", "of: money"),
    ]:
        assert not VALIDATOR.is_valid(YAML(typ="safe").load(TEXT.replace(said, instead)))


def test_its_words_are_ours() -> None:
    step = SCHEMA["properties"]["steps"]["items"]["properties"]
    assert step["action"]["enum"] == list(ActionName)
    things = {of for action in ACTIONS.values() for of in action.gives}
    assert set(SCHEMA["$defs"]["condition"]["oneOf"][3]["properties"]["of"]["enum"]) == things


CASES = [
    (
        "Connection to node -1 ({host}/{ip}:{port})",
        "WARN Connection to node -1 (a/1.2.3.4:9092) could",
        "a 1.2.3.4 9092",
    ),
    (
        "Connection to node {node} ({host}/{ip}:{port})",
        "Connection  to\tNODE 2147483646 (b/::1:9)",
        "2147483646 b ::1 9",
    ),
    (
        "{host}:{port}/{node}: Failed to resolve",
        "[thrd:kafka:9092/1]: kafka:9092/1: Failed to resolve 'x'",
        "kafka 9092 1",
    ),
    ("UnknownHostException: {container_id}", "java.net.UnknownHostException: 5c1a0d9be2f4", "5c1a0d9be2f4"),
    ("UnknownHostException: {container_id}", "java.net.UnknownHostException: kafka", None),
    ("UnknownHostException: {host}", "UnknownHostException: kafka: Name or service not known", "kafka"),
    ("failed in {...} of {port} seconds", "it failed in the middle of 12 seconds", "12"),
    ("failed in {...} of {port} seconds", "it failed in the middle of a few seconds", None),
    ("address already in use", "Address Already In Use", ""),
    ("address already in use", "address in use already", None),
    ("lookup {host} on {...}: no such host", "dial tcp: lookup kafka on 127.0.0.53:53: no such host", "kafka"),
]


@pytest.mark.parametrize(("pattern", "line", "values"), CASES)
def test_what_fits(pattern: str, line: str, values: str | None) -> None:
    parsed = parse_pattern(pattern)
    found = match(parsed, line)
    if values is None:
        assert found is None
    else:
        assert found is not None
        assert " ".join(found[name] for name in parsed.holes) == values


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("short", "fewer than 8"),
        ("{...} cannot be resolved", "begins with {...}"),
        ("a line with {host}{port} holes", "two adjacent placeholders"),
        ("a line with {} in it", "is not a placeholder"),
        ("a line with {host in it", "is not a placeholder"),
        ("x" * 401, "longer than 400"),
        ("literal " + "{a} ".join("bcdefghijk"), "more than 8 placeholders"),
        ("a line with {söme} hole", "is not a placeholder"),
    ],
)
def test_what_is_no_pattern(text: str, why: str) -> None:
    with pytest.raises(Malformed, match=re.escape(why)):
        parse_pattern(text)


def test_a_sure_pattern_weighs_more() -> None:
    texts = ["Connection to node {node} (", "Connection to node {host} (", "Connection to node -1 ("]
    general, vague, special = [parse_pattern(text).weight for text in texts]
    assert vague < general < special


def test_the_work_is_bounded_whatever_the_line_is(monkeypatch: pytest.MonkeyPatch) -> None:
    from netdiag.playbook import pattern as module

    tried = 0
    fits = module._fits

    def counted(hole: module.Hole, value: str) -> str | None:
        nonlocal tried
        tried += 1
        return fits(hole, value)

    monkeypatch.setattr(module, "_fits", counted)
    hostile = parse_pattern("aaaaaaaa{x}a{y}a{z}a{u}a{v}ab")
    assert match(hostile, "a" * 1_000_000) is None
    assert tried < 5 * module.MOST_TRIES


def test_a_line_as_re_would_match_it() -> None:
    # The oracle is a regular expression of the same meaning, on lines short enough for it.
    random.seed(7)
    pattern = parse_pattern("begin of {port}: {host} is {...} gone")
    oracle = re.compile(r"begin of (-?[0-9]+): ([^\s\"'()\[\]{}<>,;=]*[^\s\"'()\[\]{}<>,;=.:])[.:]* is .* gone")
    words = ["begin of ", "9092", ": ", "kafka", " is ", "long", " gone", "(", "x.", string.whitespace]
    hits = 0
    for _ in range(20_000):
        made = ["begin of ", "9092", ": ", "kafka", " is ", "long", " gone"]
        for _ in range(random.randint(0, 3)):
            made.insert(random.randrange(8), random.choice(words))
            if random.random() < 0.3:
                del made[random.randrange(len(made))]
        line = "".join(made)
        found = match(pattern, line)
        expected = oracle.search(re.sub(r"\s+", " ", line))
        assert (found is None) == (expected is None), line
        hits += found is not None
    assert 2000 < hits < 18_000


def test_a_longer_line_is_cut() -> None:
    assert match(parse_pattern("at the end"), " " + "x" * LONGEST_LINE + "at the end") is None
