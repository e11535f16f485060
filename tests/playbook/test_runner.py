"""Runs over actions that are made up: which steps are taken, when it ends, what it concludes."""

from collections.abc import Mapping

from netdiag.playbook.document import Confidence, Item, Outcome, Step
from netdiag.playbook.runner import End, Taken, filled, missing, run, variables_of
from tests.playbook.examples import TEXT, playbook

CLOSED = Item(of="cells", fields={"verdict": "bootstrap: refused", "port": "9092"})
MAYBE = Item(of="findings", fields={"rule": "maybe-this"})
CRASH = Item(of="findings", fields={"rule": "crash"})
HOLES = {"host": "kafka", "port": "9092"}


class Actions:
    """Gives what it is told to, and remembers what it was asked."""

    def __init__(self, **outcomes: Outcome) -> None:
        self.outcomes = outcomes
        self.asked: list[tuple[str, Mapping[str, str]]] = []

    def perform(self, step: Step, arguments: Mapping[str, str]) -> Outcome:
        self.asked.append((step.id, arguments))
        return self.outcomes.get(step.id, Outcome())


def test_nothing_wrong() -> None:
    actions = Actions()
    told: list[Taken] = []
    made = run(playbook(), {**HOLES, "files": "a.yml"}, actions.perform, live=True, tell=told.append)
    assert made.end is End.NO_CAUSE
    assert actions.asked == [("files", {"files": "a.yml"}), ("live", {})]
    assert [each.skipped != "" for each in made.taken] == [False, False, True]
    assert tuple(told) == made.taken


def test_a_proven_cause_ends_the_run() -> None:
    actions = Actions(files=Outcome(items=(MAYBE,)), live=Outcome(items=(CLOSED, CRASH)))
    made = run(playbook(), HOLES, actions.perform, live=True)
    assert made.end is End.CAUSE
    assert [step for step, _ in actions.asked] == ["files", "live"]
    assert [one.confidence for one in made.reached] == [Confidence.PROVEN, Confidence.POSSIBLE]
    assert (made.reached[0].cause, made.reached[0].repair) == ("kafka refuses", "publish 9092")
    assert made.reached[0].evidence == (CLOSED,)


def test_what_no_log_line_told_is_named_in_capitals() -> None:
    actions = Actions(live=Outcome(items=(CLOSED,)))
    for variables in ({}, {"host": "", "port": ""}):
        made = run(playbook(), variables, actions.perform, live=True)
        assert (made.reached[0].cause, made.reached[0].repair) == ("HOST refuses", "publish PORT")


def test_a_step_may_wait_for_what_another_saw() -> None:
    actions = Actions(live=Outcome(items=(CRASH,)))
    run(playbook(), HOLES, actions.perform, live=True)
    assert [step for step, _ in actions.asked] == ["files", "live", "log"]


def test_without_live_nothing_that_runs_is_asked() -> None:
    actions = Actions()
    made = run(playbook(), HOLES, actions.perform, live=False)
    assert [step for step, _ in actions.asked] == ["files"]
    assert made.end is End.INCOMPLETE


def test_a_step_that_could_not_look_leaves_it_open_whether_something_is_wrong() -> None:
    made = run(playbook(), HOLES, Actions(live=Outcome(why_not="no engine")).perform, live=True)
    assert made.end is End.INCOMPLETE


def test_a_likely_cause_stands_though_a_step_could_not_look() -> None:
    outcomes = {"files": Outcome(items=(MAYBE,)), "live": Outcome(why_not="no engine")}
    assert run(playbook(), HOLES, Actions(**outcomes).perform, live=True).end is End.CAUSE


def test_variables() -> None:
    book = playbook()
    assert variables_of(book, HOLES, {})["bootstrap"] == "kafka:9092"
    assert "bootstrap" not in variables_of(book, {"host": "kafka"}, {})
    assert variables_of(book, HOLES, {"bootstrap": "b:1"})["bootstrap"] == "b:1"
    assert missing(book, variables_of(book, HOLES, {})) == ("other",)
    assert filled("{a} and {b}", {"a": "{b}", "c": "d"}) == "{b} and "


def test_a_note_proves_nothing() -> None:
    book = playbook(TEXT.replace("confidence: possible", "confidence: proven"))
    for severity, confidence in [("note", Confidence.LIKELY), ("warning", Confidence.PROVEN)]:
        found = Outcome(items=(Item(of="findings", fields={"rule": "maybe-x", "severity": severity}),))
        made = run(book, HOLES, Actions(files=found).perform, live=True)
        assert [one.confidence for one in made.reached] == [confidence]
        assert len(made.taken) == (1 if confidence is Confidence.PROVEN else 3)
