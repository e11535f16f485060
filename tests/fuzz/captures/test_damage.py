"""The first damaged captures, and whether the oracle can complain at all."""

import resource
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from netdiag.render.screen import Run
from netdiag.traffic.column import Kind
from netdiag.traffic.engine import run
from netdiag.traffic.engine.account import Account
from netdiag.traffic.engine.assemble import Answer, Asked, Context, exchange_row
from netdiag.traffic.engine.frames import Framer
from netdiag.traffic.engine.losses import Losses
from netdiag.traffic.engine.packet import Packet, Undecoded
from netdiag.traffic.rows import ExchangeRow
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
        verdict = judged(one.data, seed)
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


def _raises(packet: Packet) -> Undecoded:
    raise IndexError("of a packet")


def _too_large(context: Context, asked: Asked | None, answer: Answer | None, outcome: str) -> ExchangeRow:
    return exchange_row(context, asked, answer, outcome)._replace(error_code=40_000)


@pytest.mark.parametrize(
    ("owner", "name", "broken", "complaint"),
    [
        (oracle, "decode_packet", _raises, "a defect: IndexError: of a packet"),
        (oracle, "SECONDS", 0.0, "took "),
        (Framer, "note", lambda *words: None, "a connection of "),
        (Account, "lose", lambda *words: None, "a file of "),
        (Losses, "drain", lambda losses: [], "losses tell of 0 bytes "),
        (run, "exchange_row", _too_large, "no int16 in error_code"),
        (oracle, "_TYPES", {**oracle._TYPES, Kind.STRING: bytes}, "no string in client"),
        (oracle, "exchange_line", lambda *words: (Run("\x1b[2J"),), "holds a control character"),
        (oracle, "json_lines", lambda *words: ["{}\x1b\n"], "cannot be printed"),
    ],
)
def test_a_defect_is_a_complaint(
    owner: object, name: str, broken: object, complaint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The capture ends within a record, and every seventh packet is missing."""
    capture = originals()[TOPICS]
    left = tuple(record for number, record in enumerate(capture.records) if number % 7)
    data = pcap(replace(capture, records=left))[:-100]
    assert judged(data).complaints == ()
    monkeypatch.setattr(owner, name, broken)
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
