"""Whatever a stranger's playbook or bundle holds: it is used, or refused in one line, in bounded time and memory."""

import io
import random
import time
import tracemalloc
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from netdiag.app.playbook import playbook_view
from netdiag.cli.playbook import DiagnosisFormat, document
from netdiag.errors import NetdiagError
from netdiag.io.files.playbooks import read_bundle, shipped, text_of
from netdiag.playbook.bundle import recorded, to_json
from netdiag.playbook.document import ACTIONS, Item, Outcome, Step, recognised
from netdiag.playbook.load import load
from netdiag.playbook.runner import Perform, run, variables_of
from netdiag.render.playbooks import playbook_page
from netdiag.render.screen import Screen
from tests.figures import Report

_DEEP = 3000
# What a value is replaced by: wrong types, other versions, much of something, what would be something elsewhere.
_VALUES: tuple[Any, ...] = (
    None,
    True,
    -1,
    2**70,
    1.5,
    float("inf"),
    "",
    " ",
    "x" * 5000,
    "\x1b[2J\x07",
    "{" * 50,
    "{host}{port}",
    "{...}" * 40,
    "(a+)+$",
    ".*" * 200,
    "*a" * 200,
    ">=",
    ">=nan",
    "<1e999",
    "shell",
    "../../etc/passwd",
    "\u202e\u0000\ufeff",
    [],
    {},
    [[]],
    [None] * 300,
    {"all": []},
    {"none": {"none": {"none": {"of": "findings"}}}},
    {"of": "findings", "where": {"rule": ["*"] * 300}},
    {str(number): number for number in range(300)},
)
# Documents that no mutation would find.
DOCUMENTS: dict[str, bytes] = {
    "a bomb of aliases": b"a: &a [x,x,x,x,x,x,x,x,x]\n"
    + b"".join(b"%c: &%c [%s]\n" % (98 + n, 98 + n, b",".join([b"*%c" % (97 + n)] * 9)) for n in range(9)),
    "an alias of itself": b"playbook: 1\ntitle: &a [*a]\n",
    "merges without end": b"x: &x {<<: *x}\n",
    "lists in lists": b"[" * _DEEP,
    "mappings in mappings": b"{a: " * _DEEP,
    "blocks in blocks": b"\n".join(b" " * n + b"a:" for n in range(300)),
    "conditions in conditions": b"{none: " * _DEEP,
    "too large": b"#" + b"x" * 70_000,
    "many documents": b"---\na\n" * 5000,
    "a tag": b"!!python/object/apply:os.system ['true']\n",
    "another tag": b"playbook: !!binary AAAA\n",
    "directives": b"%YAML 9.9\n%TAG ! tag:x,2000:\n---\nplaybook: 1\n",
    "utf-16": "playbook: 1\n".encode("utf-16"),
    "no text": bytes(range(256)),
    "a zero": b"playbook: 1\0\n",
    "a key that is a list": b"? [a, b]\n: c\n",
    "the next version": b"playbook: 2\ntitle: from the future\nsteps: {}\n",
    "a version beyond all": b"playbook: 99999999999999999999999999999999999999\n",
    "a version that is none": b"playbook: [1]\n",
    "quotes without end": b'playbook: "1',
    "one long line": b"a: " + b"- " * 30_000,
    "many keys": b"".join(b"k%d: 1\n" % n for n in range(2500)),
}


def mutant(text: bytes, chance: random.Random) -> bytes:
    """A document with one to four things changed, in its bytes or in what it says."""
    return _of_bytes(text, chance) if chance.random() < 0.4 else _of_values(text, chance)


def zips(good: bytes) -> dict[str, bytes]:
    """Archives that are no bundles, or more than that; `good` is the document of a good one."""
    made = {
        "a bomb": _zip({"bundle.json": b" " * (40 << 20)}),
        "a bomb of brackets": _zip({"bundle.json": b"[" * (5 << 20)}),
        "a bomb beside it": _zip({"bundle.json": good, "x": b"\0" * (40 << 20)}),
        "paths that climb": _zip({"../../bundle.json": good, "/etc/passwd": b"x", "bundle.json": good}),
        "only paths that climb": _zip({"../bundle.json": good}),
        "no document": _zip({"bundle.jsn": good}),
        "a folder": _zip({"bundle.json/": b""}),
        "many members": _zip({f"{number}.json": b"" for number in range(3000)}),
        "a long number": _zip({"bundle.json": good.replace(b'"version": 1', b'"version": ' + b"1" * 100_000)}),
        "a number that is none": _zip({"bundle.json": good.replace(b'"seconds": 0.0', b'"seconds": NaN')}),
        "a number without end": _zip({"bundle.json": good.replace(b'"seconds": 0.0', b'"seconds": 1e999')}),
        "another version": _zip({"bundle.json": good.replace(b'"version": 1', b'"version": 7')}),
        "surrogates": _zip({"bundle.json": good.replace(b'"lines": [', b'"lines": ["\\ud800", ')}),
        "nothing": b"",
        "an empty archive": _zip({}),
    }
    whole = _zip({"bundle.json": good})
    made |= {f"cut at {share}": whole[: len(whole) * share // 10] for share in range(1, 10)}
    return made


def damaged(data: bytes, chance: random.Random) -> bytes:
    """Bytes with a few of them changed, gone or doubled."""
    return _of_bytes(data, chance)


def _zip(members: dict[str, bytes]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return made.getvalue()


def _of_bytes(text: bytes, chance: random.Random) -> bytes:
    made = bytearray(text)
    for _ in range(chance.randint(1, 4)):
        at = chance.randrange(len(made)) if made else 0
        match chance.randrange(4):
            case 0:
                made[at : at + 1] = bytes([chance.randrange(256)])
            case 1:
                del made[at : at + chance.randint(1, 60)]
            case 2:
                made[at:at] = made[at : at + chance.randint(1, 200)] * chance.randint(1, 4)
            case _:
                made[at:at] = chance.choice([b"{", b"[", b"*a", b"&a ", b"!!x ", b"\x00", b"<<: ", b"\t", b"\xff"])
    return bytes(made)


def _of_values(text: bytes, chance: random.Random) -> bytes:
    document = YAML(typ="safe", pure=True).load(text)
    for _ in range(chance.randint(1, 4)):
        _change(document, chance)
    out = io.BytesIO()
    YAML(typ="safe", pure=True).dump(document, out)
    return out.getvalue()


def _change(document: Any, chance: random.Random) -> None:
    """One value somewhere in a document: replaced, gone, doubled, put under another key."""
    here = document
    while True:
        keys = list(here) if isinstance(here, dict) else list(range(len(here)))
        if not keys:
            return
        key = chance.choice(keys)
        inner = here[key]
        if not (isinstance(inner, dict | list) and inner) or chance.random() < 0.15:
            break
        here = inner
    match chance.randrange(4):
        case 0 | 1:
            here[key] = chance.choice(_VALUES)
        case 2:
            del here[key]
        case _ if isinstance(here, dict):
            here[f"{key}{chance.choice(('s', '', ' ', '-'))}"] = here.pop(key)
        case _:
            here.extend(here[: 300 // len(here) + 1])


BOOKS = shipped()
TEXTS = {book.name: text_of(book.name, book) for book in BOOKS}
LINES = ["Connection to node " * 200, "a" * 4000, "{host}:{port}" * 300, "(" * 4000, "\x1b[2J\0", "1" * 4000]


def seen(step: Step, arguments: Mapping[str, str]) -> Outcome:
    """One of everything that an action gives."""
    return Outcome(
        items=tuple(
            Item(of=of, fields=dict.fromkeys(fields, "7" * 600)) for of, fields in ACTIONS[step.action].gives.items()
        )
    )


def used(data: bytes) -> str | None:
    """Do everything with a playbook that can be done; the line that refuses it."""
    try:
        book = load("a-name", "a-name.yml", data)
    except NetdiagError as error:
        return str(error)
    found = recognised([symptom.example for symptom in book.symptoms] + LINES, [book])
    made = run(book, variables_of(book, found[0].values if found else {}, {}), seen, live=True)
    for form in DiagnosisFormat:
        document(form, found, [made])
    playbook_page(playbook_view(book), Screen())
    to_json(found, [recorded(made, data, live=True)])
    return None


def replayed(path: Path, data: bytes) -> str | None:
    """The same with a bundle."""
    path.write_bytes(data)
    try:
        for one in read_bundle(str(path)).runs:
            book = load(one.name, "b.zip", one.text.encode("utf-8", "replace"))
            made = run(book, one.variables, _from(one.outcomes), live=True)
            for form in DiagnosisFormat:
                document(form, (), [made]).encode()
    except NetdiagError as error:
        return str(error)
    return None


def _from(outcomes: Mapping[str, Outcome]) -> Perform:
    return lambda step, arguments: outcomes.get(step.id, Outcome(why_not="it is not in the bundle"))


def bundle() -> bytes:
    """The document of a good one."""
    made = run(BOOKS[0], variables_of(BOOKS[0], {}, {}), seen, live=True)
    return to_json((), [recorded(made, TEXTS[BOOKS[0].name], live=True)]).encode()


def is_one_line(refusal: str) -> bool:
    """As it stands on the terminal."""
    shown = Screen().visible(refusal)
    return bool(shown) and shown.isprintable() and len(shown) < 1000


@pytest.mark.parametrize("name", DOCUMENTS)
def test_documents_of_no_good(name: str) -> None:
    tracemalloc.start()
    try:
        refusal = used(DOCUMENTS[name])
        assert tracemalloc.get_traced_memory()[1] < 200 << 20
    finally:
        tracemalloc.stop()
    assert refusal is not None
    assert is_one_line(refusal), refusal


def tried(count: int, seed: int) -> tuple[int, float]:
    """How many of so many mutants were refused, and the longest that one took of the processor, in seconds."""
    chance = random.Random(seed)
    refused, longest = 0, 0.0
    for _ in range(count):
        data = mutant(TEXTS[chance.choice(sorted(TEXTS))], chance)
        begun = time.process_time()
        refusal = used(data)
        longest = max(longest, time.process_time() - begun)
        refused += refusal is not None
        assert refusal is None or is_one_line(refusal), (refusal, data)
    return refused, longest


def test_mutants_of_what_is_shipped() -> None:
    refused, _ = tried(60, 8)
    assert 20 < refused < 60


@pytest.mark.bar("playbooks", long=True)
def test_many_mutants(figure: Report) -> None:
    refused, longest = tried(4000, 9)
    figure("mutants of shipped playbooks without a crash", f"4000, {refused} of them refused in one line each")
    figure("longest of them", round(longest, 2), "s of CPU")


def test_bundles_of_no_good(tmp_path: Path) -> None:
    path, good = tmp_path / "b.zip", bundle()
    fine = ("a bomb beside it", "paths that climb")
    for name, data in zips(good).items():
        refusal = replayed(path, data)
        assert (refusal is None) is (name in fine), (name, refusal)
        assert refusal is None or is_one_line(refusal), (name, refusal)
    assert [each.name for each in tmp_path.iterdir()] == ["b.zip"]


def test_damaged_bundles(tmp_path: Path) -> None:
    chance, path, good = random.Random(10), tmp_path / "b.zip", zips(bundle())["paths that climb"]
    refusals = [replayed(path, damaged(good, chance)) for _ in range(60)]
    refused = [each for each in refusals if each is not None]
    assert len(refused) > 20
    assert all(map(is_one_line, refused))
