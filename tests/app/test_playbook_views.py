"""What is shown of a run: a sentence for its end, a few things for evidence."""

from netdiag.app.playbook import playbook_view, run_view, step_view, symptom_view
from netdiag.playbook.document import Item, Outcome, recognised
from netdiag.playbook.runner import Taken, run
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
    assert view.end == "could not look"
    assert view.summary.endswith("needs --live")
    assert (view.steps[1].state, view.steps[1].fix) == ("could not look", "run again with --live")


def test_steps_and_playbooks_and_lines() -> None:
    book = playbook()
    assert step_view(Taken(step=book.steps[0], arguments={}, skipped="no use")).state == "skipped"
    assert step_view(Taken(step=book.steps[0], arguments={}, outcome=Outcome())).result == "nothing amiss"
    assert playbook_view(book).steps[1] == ("what runs", "matrix", True)
    (one,) = recognised([" cannot connect to a:1 "], [book])
    assert symptom_view(one).line == "cannot connect to a:1"
