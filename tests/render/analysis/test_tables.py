"""An analysis as text and as JSON: findings on top, bounded tables, nothing that moves a cursor."""

import json
from dataclasses import replace
from typing import Any

import jsonschema
import pytest

from netdiag.render.analysis.tables import SECTIONS, SHOWN, analysis_json, analysis_text, duration, moment, size
from netdiag.render.screen import Screen
from netdiag.traffic.analysis import Analysis, Seen
from netdiag.traffic.tables import aggregate, aggregate_names, stored_aggregate_names
from tests.render.analysis.analyses import T0, analysis, answer, finding
from tests.render.schemas import strict_schema

SCREEN = Screen(width=100)
COVERAGE = answer("coverage", {"exchanges": 990, "decoded": "full"}, {"exchanges": 10, "decoded": "header"})


def test_findings_come_first_then_what_was_looked_at() -> None:
    losses = answer("loss_kinds", {"kind": "gap", "bytes": 4096, "times": 3})
    text = analysis_text(replace(analysis(coverage=COVERAGE, loss_kinds=losses), findings=(finding(),)), SCREEN)
    lines = text.splitlines()
    assert "localhost:9092 is told to 10.0.0.2" in lines[0]
    head = lines[lines.index("") + 1 :]
    assert head == [
        "captures    a.pcap, 12.3 MB, 98,765 packets",
        "span        2023-11-14 22:13:20.123 to 2023-11-14 22:14:50.123 UTC, 90.0 s",
        "connections 3 (2 kafka, 1 tls)",
        "exchanges   1,000, 99.0 % decoded in full (10 header)",
        "not decoded gap 4.1 kB (3 times)",
    ]


def test_a_table_is_bounded_and_says_what_it_leaves_out() -> None:
    rows = [{"by": "client_id", "value": f"app-{number}", "requests": 100 - number} for number in range(12)]
    rows.append({"by": "api", "value": "Fetch", "requests": 5})
    lines = analysis_text(analysis(rates=answer("rates", *rows)), SCREEN, top=3).splitlines()
    begin = lines.index("clients")
    assert lines[begin + 1].split() == ["client.id", "requests", "out", "in", "req/s"]
    assert [line.split()[:2] for line in lines[begin + 2 : begin + 5]] == [
        ["app-0", "100"],
        ["app-1", "99"],
        ["app-2", "98"],
    ]
    assert lines[begin + 5] == "  … and 9 more"


def test_what_was_cut_before_counts_as_left_out() -> None:
    text = analysis_text(analysis(lag=answer("lag", {"group": "g"}, total=8000)), SCREEN)
    assert "… and 7,999 more" in text


def test_what_was_cut_of_rows_for_several_tables_is_not_counted_for_each() -> None:
    rows = [{"by": "client_id", "value": f"app-{number}", "requests": 1} for number in range(5)]
    rows.append({"by": "broker", "value": "10.0.0.1:9092", "requests": 5})
    lines = analysis_text(analysis(rates=answer("rates", *rows, total=8000)), SCREEN, top=3).splitlines()
    assert lines[lines.index("clients") + 5] == "  … and at least 2 more"
    assert lines[lines.index("brokers") + 3] == "  … and perhaps others with less"


def test_lag_in_time_or_a_bound_of_it() -> None:
    lag = answer(
        "lag",
        {"group": "a", "lag_records": 5, "lag_ms": 85_000.0},
        {"group": "b", "lag_records": 5, "lag_at_least_ms": 8_000_000.0},
        {"group": "c"},
    )
    lines = analysis_text(analysis(lag=lag), SCREEN).splitlines()
    begin = lines.index("lag")
    assert [line.split()[-1] for line in lines[begin + 2 : begin + 5]] == ["s", "min", "-"]
    assert "over 2 h 13 min" in lines[begin + 3]


def test_foreign_text_is_harmless_and_long_text_is_cut() -> None:
    evil = answer("topics", {"topic": "\x1b[2Jevil\u202e\n" + "x" * 300})
    text = analysis_text(analysis(topics=evil), SCREEN)
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert "\\x1b[2Jevil" in text
    assert max(map(len, text.splitlines())) < 160


def test_the_text_is_made_of_the_answers_that_are_asked_for_it() -> None:
    rows: dict[str, dict[str, Any]] = {
        "rates": {"by": "broker"},
        "tcp_health": {"resets": 1},
        "coverage": {"exchanges": 1},
    }
    every = {name: answer(name, rows.get(name, {})) for name in aggregate_names()}
    text = analysis_text(analysis(**every), SCREEN)
    assert text == analysis_text(analysis(**{name: every[name] for name in SHOWN}), SCREEN)
    for name in SHOWN:
        rest = {other: each for other, each in every.items() if other != name}
        assert text != analysis_text(analysis(**rest), SCREEN), name


def test_nothing_found_is_short() -> None:
    lines = analysis_text(analysis(), SCREEN).splitlines()
    assert lines[-2:] == ["exchanges   none", "not decoded nothing"]


def test_only_paths_with_trouble_are_shown() -> None:
    health = answer("tcp_health", {"client": "well"}, {"client": "ill", "retransmissions": 3})
    text = analysis_text(analysis(tcp_health=health), SCREEN)
    assert "ill" in text
    assert "well" not in text


SCHEMA = strict_schema("analyze.v1.json")
EMPTY = {name: answer(name) for name in aggregate_names()}


def parsed(value: Analysis) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(analysis_json(value))
    jsonschema.Draft202012Validator(SCHEMA).validate(document)
    return document


def test_the_schema_is_one() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("name", [*aggregate_names(), *stored_aggregate_names()])
def test_the_schema_has_every_column(name: str) -> None:
    row = SCHEMA["properties"]["answers"]["properties"][name]["properties"]["rows"]["items"]
    assert tuple(row["properties"]) == tuple(row["required"]) == aggregate(name).names
    assert [entry["description"] for entry in row["properties"].values()] == [c.doc for c in aggregate(name).columns]


def test_a_document_keeps_the_schema() -> None:
    answers = {name: answer(name, {}) for name in aggregate_names()}
    found = parsed(replace(analysis(**answers), findings=(finding(),)))
    assert found["first_time"] == "2023-11-14T22:13:20.123456789Z"
    assert found["protocols"] == {"kafka": 2, "tls": 1}
    assert found["findings"][0]["rule"] == "wire-told-loopback"
    assert found["answers"]["timeline"]["rows"][0]["time"] == "2023-11-14T22:13:20.123456789Z"
    assert found["answers"]["lag"] == {"total": 1, "rows": [found["answers"]["lag"]["rows"][0]]}


def test_an_empty_one_does_too() -> None:
    found = parsed(replace(analysis(**EMPTY), seen=Seen()))
    assert (found["first_time"], found["packets"]) == (None, 0)


def test_foreign_text_stays_inside_its_string() -> None:
    evil = analysis(**{**EMPTY, "topics": answer("topics", {"topic": '"}\x1b\ud800'})})
    text = analysis_json(evil)
    assert text.isascii()
    assert parsed(evil)["answers"]["topics"]["rows"][0]["topic"] == '"}\x1b\ufffd'


@pytest.mark.parametrize(
    ("count", "text"),
    [(None, "-"), (0, "0 B"), (999, "999 B"), (1000, "1.0 kB"), (123_456, "123 kB"), (5e15, "5000 TB")],
)
def test_sizes(count: float | None, text: str) -> None:
    assert size(count) == text


@pytest.mark.parametrize(
    ("ms", "text"),
    [
        (None, "-"),
        (0.128, "0.13 ms"),
        (12.6, "13 ms"),
        (1500, "1.5 s"),
        (600_000, "10 min"),
        (7_500_000, "2 h 5 min"),
    ],
)
def test_durations(ms: float | None, text: str) -> None:
    assert duration(ms) == text


def test_moments() -> None:
    assert moment(T0) == "2023-11-14 22:13:20.123"


@pytest.mark.parametrize("section", SECTIONS, ids=lambda section: section.title)
def test_a_section_writes_rows_of_its_answer(section: object) -> None:
    from netdiag.render.analysis.tables import Section

    assert isinstance(section, Section)
    (empty,) = answer(section.answer, {}).rows
    assert all(isinstance(column.value(empty), str) for column in section.columns)
    section.keep(empty)
    assert aggregate(section.answer)
