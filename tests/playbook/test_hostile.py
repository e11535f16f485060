"""Whatever a stranger's playbook or bundle holds: it is used, or refused in one line, in bounded time and memory."""

import random
import time
import tracemalloc
from collections.abc import Mapping
from pathlib import Path

import pytest

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
from tests.playbook.hostile import DOCUMENTS, damaged, mutant, zips

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
