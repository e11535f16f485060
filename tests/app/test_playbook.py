"""What is shown of a run: a sentence for its end, a few things for evidence."""

from pathlib import Path

import pytest

from netdiag.app.playbook import playbook_view, run_view, step_view, symptom_view
from netdiag.app.playbook_actions import Actions, Subject
from netdiag.app.progress import SILENT
from netdiag.playbook.document import ActionName, Item, Outcome, Step, recognised
from netdiag.playbook.runner import Taken, run
from tests.cli.shell import BROKEN, CLEAN
from tests.io.network.hostile import ScriptedBroker, serving
from tests.playbook.examples import playbook

CELL = Item(of="cells", fields={"vantage": "C", "bootstrap": "k:9092", "verdict": "bootstrap: refused", "port": "9092"})


def test_a_cause() -> None:
    book = playbook()
    outcome = Outcome(items=(CELL,) * 9, seconds=1.23456)
    made = run(book, {"host": "k", "port": "9092"}, lambda step, arguments: outcome, live=True)
    view = run_view(made)
    assert (view.end, view.summary) == ("cause", "k refuses")
    assert view.reached[0].evidence == ("C at k:9092: bootstrap: refused",) * 5 + ("and 4 more",)
    assert (view.steps[0].state, view.steps[0].result, view.steps[0].seconds) == ("done", "9 cells", 1.235)


def test_the_other_ends() -> None:
    book = playbook()
    assert run_view(run(book, {}, lambda step, arguments: Outcome(), live=True)).end == "no cause"
    view = run_view(run(book, {}, lambda step, arguments: Outcome(), live=False))
    assert view.end == "incomplete"
    assert view.summary.endswith("needs --live")
    assert (view.steps[1].state, view.steps[1].fix) == ("failed", "run again with --live")


def test_steps_and_playbooks_and_lines() -> None:
    book = playbook()
    assert step_view(Taken(step=book.steps[0], arguments={}, skipped="no use")).state == "skipped"
    assert step_view(Taken(step=book.steps[0], arguments={}, outcome=Outcome())).result == "nothing amiss"
    assert playbook_view(book).steps[1] == ("what runs", "matrix", True)
    (one,) = recognised([" cannot connect to a:1 "], [book])
    assert symptom_view(one).line == "cannot connect to a:1"


def look(action: ActionName, subject: Subject, **arguments: str) -> Outcome:
    return Actions(subject, SILENT).perform(Step(id="x", title="X", action=action), arguments)


def test_files(tmp_path: Path) -> None:
    broken, clean = tmp_path / "broken.yml", tmp_path / "clean.yml"
    broken.write_text(BROKEN)
    clean.write_text(CLEAN)
    rules = [item.fields["rule"] for item in look(ActionName.LINT, Subject(), files=f"{clean}\n{broken}").items]
    known = [item.fields["rule"] for item in look(ActionName.LINT, Subject(), files=str(clean)).items]
    assert rules == [*known, "listener-bound-to-foreign-address"]


def test_the_files_of_this_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert look(ActionName.LINT, Subject()).notes == ("no Compose file in this folder: name one",)
    (tmp_path / "compose.yml").write_text(BROKEN)
    assert [item.fields["rule"] for item in look(ActionName.LINT, Subject()).items] == [
        "listener-bound-to-foreign-address"
    ]


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    outcome = look(ActionName.LINT, Subject(), files=str(tmp_path / "none.yml"))
    assert not outcome.looked
    assert "none.yml" in outcome.why_not


@pytest.mark.parametrize("action", [ActionName.MATRIX, ActionName.MESH, ActionName.LOG])
def test_no_engine(action: ActionName, tmp_path: Path) -> None:
    outcome = look(action, Subject(host=f"unix://{tmp_path}/no.sock"))
    assert not outcome.looked
    assert "no engine answers there" in outcome.why_not


def test_a_probe_tells_its_steps() -> None:
    with serving(ScriptedBroker(node_id=4, brokers=[])) as port:
        outcome = look(ActionName.PROBE, Subject(timeout=2), bootstrap=f"127.0.0.1:{port}")
    assert outcome.looked, outcome
    steps = [item.fields["step"] for item in outcome.items if item.of == "steps"]
    assert steps[:3] == ["resolve", "connect", "ask"]
    (cell,) = [item for item in outcome.items if item.of == "cells"]
    assert cell.fields["verdict"] == "advertised: no-brokers"


@pytest.mark.parametrize(("action", "argument"), [(ActionName.PROBE, "bootstrap"), (ActionName.TRACE, "to")])
def test_what_is_no_address(action: ActionName, argument: str) -> None:
    outcome = look(action, Subject(), **{argument: "nonsense"})
    assert not outcome.looked
    assert "is not an address with a port" in outcome.why_not
