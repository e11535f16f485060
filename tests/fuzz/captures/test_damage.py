"""The first damaged captures, and whether the oracle can complain at all."""

import resource
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from netdiag.render.screen import Run
from netdiag.traffic.tables import Kind
from tests.figures import Report
from tests.fuzz.captures import oracle
from tests.fuzz.captures.__main__ import main
from tests.fuzz.captures.mutations import (
    CHANGING,
    FORMS,
    LOSING,
    SPOILING,
    Damaged,
    damaged,
    originals,
    pcap,
    read,
)
from tests.fuzz.captures.oracle import Verdict, invented, judged
from tests.native.reading import Rows, rows_of_files

SEEDS = 300
PART = 25
TOPICS = "kafka3.9.1-topics-broker-1"


@cache
def whole(name: str) -> Verdict:
    """What is said of a capture that is not damaged."""
    return judged(pcap(originals()[name]))


@pytest.mark.parametrize("first", range(0, SEEDS, PART))
def test_damaged_captures(first: int) -> None:
    wrong = []
    for seed in range(first, first + PART):
        one = damaged(seed)
        verdict = judged(one.data)
        complaints = (*verdict.complaints, *invented(one, verdict, whole(one.name)))
        wrong += [f"{seed}: {one.name}, {', '.join(one.ways)}: {complaint}" for complaint in complaints]
    assert wrong == []


def test_the_seeds_do_everything() -> None:
    ways = {way for seed in range(SEEDS) for way in damaged(seed).ways}
    assert ways == {*LOSING, *CHANGING, *FORMS, *SPOILING}
    assert damaged(1) == damaged(1)
    assert {damaged(seed).name for seed in range(SEEDS)} == set(originals())
    assert 50 < sum(damaged(seed).only_lost for seed in range(SEEDS)) < 200


@pytest.mark.parametrize("name", sorted(originals()))
def test_an_undamaged_capture_is_the_same_in_every_form(name: str, figure: Report) -> None:
    capture = originals()[name]
    assert whole(name).complaints == ()
    assert whole(name).found
    assert all(judged(form(capture)).found == whole(name).found for form in FORMS.values())
    assert read(pcap(capture)) == capture
    figure(f"{name}: exchanges", whole(name).exchanges)


def test_what_is_no_capture_is_one_line() -> None:
    assert judged(b"\x1b[31mno capture").complaints == ()
    assert not judged(b"").is_capture


def test_a_message_that_nobody_sent_is_a_complaint() -> None:
    verdict = whole(TOPICS)._replace(found={(3, 12, 7, 40): ("a:1", "b:2")})
    lost = Damaged(TOPICS, (), b"", True)
    assert next(invented(lost, verdict, whole(TOPICS))).startswith("messages that nobody sent: ")
    assert not list(invented(lost._replace(only_lost=False), verdict, whole(TOPICS)))
    assert not list(invented(lost, verdict, whole(TOPICS)._replace(unsure=frozenset([("a:1", "b:2")]))))


def _raises(*words: object, **options: object) -> Rows:
    raise IndexError("of a packet")


def _changed(name: str, change: Callable[[list[Any]], list[Any]]) -> Callable[..., Rows]:
    """A reading in which the rows of a table are others."""

    def read(*files: Path, **options: Any) -> Rows:
        rows = rows_of_files(*files, **options)
        return {**rows, name: change(list(rows[name]))} if name in rows else rows

    return read


@pytest.mark.parametrize(
    ("name", "broken", "complaint"),
    [
        ("rows_of_files", _raises, "a defect: IndexError: of a packet"),
        ("SECONDS", 0.0, "took "),
        (
            "rows_of_files",
            _changed("connections", lambda rows: [row._replace(client_bytes=7) for row in rows]),
            "a connection of ",
        ),
        ("rows_of_files", _changed("losses", lambda rows: []), "of a file of "),
        ("rows_of_files", _changed("packets", lambda rows: rows[:5]), "of a file of "),
        (
            "rows_of_files",
            _changed("exchanges", lambda rows: [row._replace(error_code=40_000) for row in rows]),
            "no int16 in error_code",
        ),
        ("_TYPES", {**oracle._TYPES, Kind.STRING: bytes}, "no string in client"),
        ("exchange_line", lambda *words: (Run("\x1b[2J"),), "holds a control character"),
        ("texts_of", lambda path: [("names", "a\x1b\n", "{}\n")], "cannot be printed"),
        ("texts_of", lambda path: [("names", "a,b\n", "{}\n")], "cannot be read again"),
    ],
)
def test_a_defect_is_a_complaint(name: str, broken: object, complaint: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The capture ends within a record, and every seventh packet is missing."""
    capture = originals()[TOPICS]
    left = tuple(record for number, record in enumerate(capture.records) if number % 7)
    data = pcap(replace(capture, records=left))[:-100]
    assert judged(data).complaints == ()
    monkeypatch.setattr(oracle, name, broken)
    assert [said for said in judged(data).complaints if said.startswith(complaint)]


def test_a_memory_that_grows_and_a_complaint_fail_the_bar(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr(resource, "setrlimit", lambda *words: None)
    monkeypatch.delenv("NETDIAG_FIGURES", raising=False)
    assert main(["--count", "3"]) == 0
    assert "complaints: 0" in capsys.readouterr().out
    monkeypatch.setattr(oracle, "SECONDS", 0.0)
    assert main(["--count", "3", "--keep", str(tmp_path)]) == 1
    assert len(list(tmp_path.iterdir())) == 3
    monkeypatch.setattr(oracle, "SECONDS", 3.0)
    monkeypatch.setattr("tests.fuzz.captures.__main__.MEMORY", -1)
    assert main(["--count", "1"]) == 1
