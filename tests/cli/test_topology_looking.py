"""What was seen, in every format, and the status that it earns."""

import gc
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from netdiag.cli.console import Console
from netdiag.cli.exit_status import ExitStatus
from netdiag.cli.topology_looking import (
    Order,
    TopologyFormat,
    drawn,
    in_one_go,
    judged,
    judged_and_drawn,
    look_at,
    status_of,
)
from netdiag.errors import UsageError
from netdiag.findings import Finding, Severity, TopologyLocation
from netdiag.linux.netns import Netns
from netdiag.render.screen import Screen
from netdiag.rules.rule import rule_page
from netdiag.rules.topology import topology_forwarding_off
from netdiag.topology.graph import Topology
from netdiag.topology.inventory import Inventory, NamespaceFacts
from tests.house.tree import ROOT
from tests.render.topology.topologies import cluster
from tests.rules.topology_recorded import Recorded
from tests.topology.five_brokers import crowd, five_brokers

CAPTURE = ROOT / "compose/scenarios/S08-single-listener-localhost/client.pcapng"


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """The machine that is looked at has five brokers."""
    monkeypatch.setattr("netdiag.io.topology.look", lambda **_: five_brokers())


@pytest.mark.usefixtures("machine")
def test_reach_is_worked_out_unless_it_is_not_wanted() -> None:
    assert look_at(Order(), Console()).reach
    assert not look_at(Order(reach=False), Console()).reach


@pytest.mark.usefixtures("machine")
def test_a_narrowed_topology_keeps_who_reaches_what_is_left() -> None:
    seen = look_at(Order(services=("broker-2",)), Console())
    assert {reach.listener for reach in seen.reach} == {"broker-2/INTERNAL", "broker-2/EXTERNAL"}


@pytest.mark.usefixtures("machine")
def test_a_capture_is_laid_over_it() -> None:
    """Its client and its broker had the addresses of two of the five brokers."""
    seen = look_at(Order(captures=(str(CAPTURE),)), Console())
    assert seen.traffic
    assert "Kafka: " in drawn(Order(), seen, (), Screen())


@pytest.mark.parametrize("form", TopologyFormat)
def test_every_format_is_drawn(form: TopologyFormat) -> None:
    seen = five_brokers()
    text = drawn(Order(form=form), seen, judged(seen), Screen())
    assert "shop" in text
    assert text.endswith("\n")


def test_the_configuration_says_which_rules_speak(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = Recorded(rule_page(topology_forwarding_off.__doc__ or "").bad).topology
    monkeypatch.chdir(tmp_path)
    assert [finding.severity for finding in judged(broken)] == [Severity.ERROR]
    Path("netdiag.toml").write_text('[severity]\ntopology-forwarding-off = "note"\n')
    assert [finding.severity for finding in judged(broken)] == [Severity.NOTE]
    Path("netdiag.toml").write_text('ignore = ["topology-"]\n')
    assert judged(broken) == ()
    Path("netdiag.toml").write_text('ignore = ["topology-nothing"]\n')
    with pytest.raises(UsageError, match="no rule is called"):
        judged(broken)


@pytest.mark.parametrize(
    ("text", "heard"),
    [
        ('[project]\nname = "netdiag"\n', False),
        ("tool = 'netdiag'\n", False),
        ('[tool.netdiag]\nignore = ["topology-"]\n', True),
        ('tool.netdiag.ignore = ["topology-"]\n', True),
    ],
)
def test_a_shared_file_counts_with_a_table_of_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, heard: bool
) -> None:
    broken = Recorded(rule_page(topology_forwarding_off.__doc__ or "").bad).topology
    monkeypatch.chdir(tmp_path)
    Path("pyproject.toml").write_text(text)
    assert (judged(broken) == ()) is heard


def test_a_shared_file_that_is_not_understood_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = Recorded(rule_page(topology_forwarding_off.__doc__ or "").bad).topology
    monkeypatch.chdir(tmp_path)
    Path("pyproject.toml").write_text("netdiag = [")
    with pytest.raises(UsageError):
        judged(broken)


class Played(AbstractContextManager["Played"]):
    """A second process that works in this one, for a copy of a test run with threads is not safe; `fails` at will."""

    fails = False
    begun = 0

    def __init__(self, work: Callable[[], str]) -> None:
        self._work = work
        type(self).begun += 1

    def __exit__(self, *raised: object) -> None:
        return None

    def result(self) -> str | None:
        return None if self.fails else self._work()


@pytest.mark.parametrize(("able", "fails", "begun"), [(True, False, 1), (True, True, 1), (False, False, 0)])
def test_a_large_one_is_drawn_by_two_processes_as_by_one(
    monkeypatch: pytest.MonkeyPatch, able: bool, fails: bool, begun: int
) -> None:
    monkeypatch.setattr("netdiag.io.kernel.beside.Beside", Played)
    monkeypatch.setattr("netdiag.io.kernel.beside.possible", lambda: able)
    monkeypatch.setattr(Played, "fails", fails)
    monkeypatch.setattr(Played, "begun", 0)
    seen = crowd(60)
    order = Order(form=TopologyFormat.JSON)
    alone = drawn(order, seen, judged(seen), Screen())
    assert judged_and_drawn(order, seen, Screen()) == (judged(seen), alone)
    assert Played.begun == begun


def test_garbage_is_looked_for_again_afterwards() -> None:
    with in_one_go():
        assert not gc.isenabled()
    assert gc.isenabled()


def test_the_status() -> None:
    bad = Finding(rule="r", severity=Severity.WARNING, message="m", location=TopologyLocation(place="host"))
    nothing = Topology(inventory=Inventory(namespaces={}, own=0), places=())
    bare = Inventory(namespaces={7: NamespaceFacts(netns=Netns(inode=7))}, own=7)
    assert status_of(cluster(), [bad], Severity.ERROR) is ExitStatus.CLEAN
    assert status_of(cluster(), [bad], Severity.WARNING) is ExitStatus.FINDINGS
    assert status_of(nothing, [], Severity.ERROR) is ExitStatus.NOTHING_TO_CHECK
    assert status_of(Topology(inventory=bare, places=()), [], Severity.ERROR) is ExitStatus.NOTHING_TO_CHECK
