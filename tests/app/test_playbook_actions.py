"""Actions without an engine: files are judged, what cannot be looked at is an outcome that says so."""

from pathlib import Path

import pytest

from netdiag.app.playbook_actions import Actions, Subject
from netdiag.app.progress import SILENT
from netdiag.playbook.document import ActionName, Outcome, Step
from tests.cli.shell import BROKEN, CLEAN
from tests.io.network.hostile import ScriptedBroker, serving


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
