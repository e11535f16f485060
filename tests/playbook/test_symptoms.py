"""Lines that users quoted, and lines that clients really print, lead to the right playbook first."""

import pytest

from netdiag.io.playbooks import shipped
from netdiag.playbook.recognise import recognised
from tests.figures import Report
from tests.playbook.healthy_clients import logs_of_clients, mock_cluster
from tests.playbook.symptoms import QUOTED

BOOKS = shipped()


def first(line: str) -> str:
    """The playbook that comes first."""
    found = recognised([line], BOOKS)
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
        for one in (*recognised(log, BOOKS), *(one for line in log for one in recognised([line], BOOKS)))
    ]
    figure("lines of clients that are well, at their most talkative", f"{lines}, {len(found)} recognised")
    assert all(len(log) > 200 for log in logs.values()), {name: len(log) for name, log in logs.items()}
    assert found == []
