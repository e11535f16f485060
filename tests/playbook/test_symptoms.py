"""Lines are recognised as what says most of them; general symptoms do not hide special ones."""

import json

import pytest

from netdiag.io.files.playbooks import shipped
from netdiag.playbook.document import MOST_LINES, recognised
from tests.figures import Report
from tests.house.tree import ROOT
from tests.playbook.examples import TEXT, playbook
from tests.playbook.healthy_clients import logs_of_clients, mock_cluster
from tests.playbook.symptoms import QUOTED

GENERAL = playbook()
LONGER = TEXT.replace('{host}:{port}"', '{host}:{port} for ever"', 1).replace("kafka:9092", "kafka:9092 for ever", 1)
SPECIAL = playbook(LONGER, "for-ever")
BOOKS = (GENERAL, SPECIAL)


def test_the_special_one_comes_first() -> None:
    lines = ["nothing", "cannot connect to a:1", "cannot connect to b:2 for ever", "cannot connect to c:3"]
    found = recognised(lines, BOOKS)
    assert [(one.playbook.name, one.number, one.times) for one in found] == [("for-ever", 3, 1), ("closed-port", 2, 2)]
    assert found[0].values == {"host": "b", "port": "2"}


def test_nothing() -> None:
    assert recognised(["all is well"], BOOKS) == ()
    assert recognised([], BOOKS) == ()


def test_only_so_many_lines_are_read() -> None:
    lines = ["x"] * MOST_LINES + ["cannot connect to a:1"]
    assert recognised(iter(lines), BOOKS) == ()


def test_what_programs_that_are_well_write_too_counts_when_it_comes_often() -> None:
    book = playbook(TEXT.replace('kafka:9092"\n', 'kafka:9092"\n    often: 5\n', 1))
    line = "cannot connect to a:1"
    assert [one.times for one in recognised([line], [book])] == [1]
    quiet = ["all is well"] * 30
    assert recognised([*quiet, *[line] * 4], [book]) == ()
    assert [one.times for one in recognised([*quiet, *[line] * 5], [book])] == [5]


SYMPTOMS_BOOKS = shipped()
AT_FAULT = ROOT / "tests" / "data" / "clients_at_fault.json"
# A client that is hung up on sees the same whoever does so, and why: the playbooks for it look for all of these causes.
_HUNG_UP = ("accepted-then-closed", "tls-against-plaintext")
FIT = {
    "bootstrap-refused": ("bootstrap-refused",),
    "bootstrap-unresolved": ("bootstrap-unresolved", "advertised-unresolved"),
    "advertised-refused": ("advertised-refused",),
    "advertised-unresolved": ("advertised-unresolved",),
    "accepted-then-closed": _HUNG_UP,
    "invalid-receive-size": ("invalid-receive-size", *_HUNG_UP),
    "tls-against-plaintext": _HUNG_UP,
    "plaintext-against-tls": _HUNG_UP,
}


def first(line: str) -> str:
    """The playbook that comes first."""
    found = recognised([line], SYMPTOMS_BOOKS)
    return found[0].playbook.name if found else ""


@pytest.mark.bar("playbooks")
def test_what_users_quoted(figure: Report) -> None:
    wrong = [(number, line, first(line)) for number, book, line in QUOTED if first(line) != book]
    figure("quoted lines of the symptom table, right playbook first", f"{len(QUOTED) - len(wrong)} of {len(QUOTED)}")
    assert len(wrong) * 20 <= len(QUOTED), wrong


@pytest.mark.bar("playbooks")
def test_what_clients_that_are_well_log_is_no_symptom(figure: Report) -> None:
    with mock_cluster() as bootstrap:
        logs = logs_of_clients(bootstrap)
    lines = sum(map(len, logs.values()))
    found = [
        (name, one.playbook.name, one.line)
        for name, log in logs.items()
        for one in (
            *recognised(log, SYMPTOMS_BOOKS),
            *(one for line in log for one in recognised([line], SYMPTOMS_BOOKS)),
        )
    ]
    figure("lines of clients that are well, at their most talkative", f"{lines}, {len(found)} recognised")
    assert all(len(log) > 200 for log in logs.values()), {name: len(log) for name, log in logs.items()}
    assert found == []


@pytest.mark.bar("playbooks")
def test_what_clients_print_at_a_fault(figure: Report) -> None:
    said: dict[str, dict[str, list[str]]] = json.loads(AT_FAULT.read_text("utf-8"))
    sessions = [(fault, client, log) for fault, clients in said.items() for client, log in clients.items()]
    assert len(sessions) == 72
    found = [
        (fault, client, [one.playbook.name for one in recognised(log, SYMPTOMS_BOOKS)])
        for fault, client, log in sessions
    ]
    wrong = [
        (fault, client, names) for fault, client, names in found if names[:1] not in [[each] for each in FIT[fault]]
    ]
    figure("sessions of nine clients at eight faults, right playbook first", f"{72 - len(wrong)} of 72")
    assert len(wrong) * 20 <= 72, wrong
