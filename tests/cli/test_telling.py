"""What is told of a run: a sentence for its end, a few things for evidence."""

from netdiag.cli.telling import told_playbook, told_run, told_step, told_symptom
from netdiag.playbook.outcome import Item, Outcome
from netdiag.playbook.recognise import recognised
from netdiag.playbook.runner import Taken, run
from tests.playbook.examples import playbook

CELL = Item(of="cells", fields={"vantage": "C", "bootstrap": "k:9092", "verdict": "bootstrap: refused", "port": "9092"})


def test_a_cause() -> None:
    book = playbook()
    outcome = Outcome(items=(CELL,) * 9, seconds=1.23456)
    made = run(book, {"host": "k", "port": "9092"}, lambda step, arguments: outcome, live=True)
    told = told_run(made)
    assert (told.end, told.summary) == ("cause", "k refuses")
    assert told.reached[0].evidence == ("C at k:9092: bootstrap: refused",) * 5 + ("and 4 more",)
    assert (told.steps[0].state, told.steps[0].told, told.steps[0].seconds) == ("looked", "9 cells", 1.235)


def test_the_other_ends() -> None:
    book = playbook()
    assert told_run(run(book, {}, lambda step, arguments: Outcome(), live=True)).end == "nothing wrong"
    told = told_run(run(book, {}, lambda step, arguments: Outcome(), live=False))
    assert told.end == "could not look"
    assert told.summary.endswith("asks what runs")
    assert (told.steps[1].state, told.steps[1].fix) == ("could not look", "run again with --live")


def test_steps_and_playbooks_and_lines() -> None:
    book = playbook()
    assert told_step(Taken(step=book.steps[0], arguments={}, passed_over="no use")).state == "passed over"
    assert told_step(Taken(step=book.steps[0], arguments={}, outcome=Outcome())).told == "nothing amiss"
    assert told_playbook(book).steps[1] == ("what runs", "matrix", True)
    (one,) = recognised([" cannot connect to a:1 "], [book])
    assert told_symptom(one).line == "cannot connect to a:1"
