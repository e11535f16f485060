"""What is wrong, where, since when."""

import re
from dataclasses import replace

from netdiag.findings import FileLocation, Severity
from netdiag.render.analysis.page import facts_list, finding_cards, finding_marks, headline, since_text, worst_first
from tests.render.analysis_page.pages import T0, S, broken, calm, empty, finding

NOTE = finding("n", rule="note", severity=Severity.NOTE, second=1)


def test_the_first_line_counts() -> None:
    assert headline(broken()) == "7 errors and 1 warning"
    assert headline(replace(broken(), findings=(NOTE, finding(), replace(NOTE, severity=Severity.WARNING)))) == (
        "1 error, 1 warning and 1 note"
    )
    assert headline(calm()) == "Nothing wrong was found"
    assert headline(empty()) == "There is no Kafka here that can be read"


def test_since_when_is_that_of_the_worst() -> None:
    assert since_text(broken()) == "since 2023-11-14 22:16:40.000 UTC, 3 min into the capture"
    assert since_text(replace(broken(), findings=(NOTE,))).endswith(", 1.0 s into the capture")
    assert since_text(calm()) == ""


def test_those_of_a_rule_stand_together_the_worst_first() -> None:
    found = worst_first(broken().findings)
    assert [one.message for one in found] == [
        *(f"orders-{number} has moved" for number in range(6)),
        "localhost:9092 is told to 10.0.0.2",
        "g rebalances",
    ]
    assert [(one.number, one.time) for one in finding_marks(found)] == [
        (1, (T0 + 200 * S) // 1000),
        (7, (T0 + 210 * S) // 1000),
        (8, (T0 + 220 * S) // 1000),
    ]


def test_a_rule_that_speaks_often_is_one_card() -> None:
    text = "\n".join(finding_cards(worst_first(broken().findings)))
    cards = re.findall(r'<li class="(error|warning)"><h3><span class="badge" id="finding-(\d+)">', text)
    assert cards == [("error", "1"), ("error", "7"), ("warning", "8")]
    assert text.count("<b>Do:</b> ask again") == 1
    assert "<summary>3 more like this</summary>" in text
    assert text.count('class="badge"') == 8
    assert '<time datetime="2023-11-14T22:16:40.000Z">2023-11-14 22:16:40.000</time>, packet 1,234 of' in text


def test_many_kinds_are_folded() -> None:
    found = [finding(f"m{number}", rule=f"r{number}", second=number) for number in range(9)]
    text = "\n".join(finding_cards(found))
    head, _, rest = text.partition("<summary>4 more, of 4 other kinds</summary>")
    assert (head.count("<h3>"), rest.count("<h3>")) == (5, 4)


def test_a_finding_of_a_file_has_no_moment() -> None:
    place = FileLocation(path="compose.yml", line=1, column=1, end_line=1, end_column=2, start=0, end=1)
    declared = replace(finding(), location=place)
    assert finding_marks([declared]) == ()
    assert since_text(replace(calm(), findings=(declared,))) == ""
    assert "localhost:9092" in "\n".join(finding_cards([declared]))


def test_figures_say_what_was_looked_at() -> None:
    text = "\n".join(facts_list(broken()))
    told = dict(re.findall(r"<dt>(.*?)</dt><dd>(.*?)<small>", text))
    assert told == {
        "span": "10 min",
        "exchanges": "100,000",
        "with errors": "16,000",
        "unanswered": "240",
        "connections": "1,200",
        "decoded in full": "99 %",
    }
    assert "<small>320 not opened</small>" in text
    assert "<small>5.0 MB not decoded</small>" in text


def test_nearly_all_does_not_look_like_all() -> None:
    analysis = broken()
    coverage = analysis.answers["coverage"]
    rows = ({**coverage.rows[0], "exchanges": 10**7}, {**coverage.rows[1], "exchanges": 1})
    text = "\n".join(facts_list(replace(analysis, answers={"coverage": replace(coverage, rows=rows)})))
    assert ">over 99.99 %<" in text
