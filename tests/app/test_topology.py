"""Looking at a machine: what is asked for, what the rules say of it, and what changes."""

import os
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from itertools import islice
from pathlib import Path

import pytest

from netdiag.app.probe import named_and_advertised
from netdiag.app.progress import SILENT, Listener
from netdiag.app.topology import (
    TopologyOptions,
    TopologyRound,
    changes_since,
    command_for_the_rest,
    json_report,
    look_at,
    topology_findings,
    watch_topology,
)
from netdiag.deployment.model.verdict import Address
from netdiag.errors import EngineError, InputError, UsageError
from netdiag.findings import Severity
from netdiag.io.network.probe import Question, probe
from netdiag.linux.netns import OwnNamespace
from netdiag.render.screen import Screen
from netdiag.render.topology.json import json_text, topology_document
from netdiag.render.topology.tree import tree_text
from netdiag.rules.rule import rule_page
from netdiag.rules.topology import topology_forwarding_off
from netdiag.topology.graph import Topology
from tests.app.checks import Recorder
from tests.house.tree import ROOT
from tests.io.network.hostile import ScriptedBroker, serving
from tests.render.topology.topologies import cluster
from tests.rules.topology_recorded import Recorded
from tests.topology.five_brokers import crowd, five_brokers

CAPTURE = ROOT / "compose/scenarios/S08-single-listener-localhost/client.pcapng"


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """The machine that is looked at has five brokers."""
    monkeypatch.setattr("netdiag.io.topology.read_topology", lambda **_: five_brokers())


@pytest.mark.usefixtures("machine")
def test_reach_is_worked_out_unless_it_is_not_wanted() -> None:
    assert look_at(TopologyOptions()).reach
    assert not look_at(TopologyOptions(reach=False)).reach


@pytest.mark.usefixtures("machine")
def test_a_narrowed_topology_keeps_who_reaches_what_is_left() -> None:
    seen = look_at(TopologyOptions(services=("broker-2",)))
    assert {reach.listener for reach in seen.reach} == {"broker-2/INTERNAL", "broker-2/EXTERNAL"}


@pytest.mark.usefixtures("machine")
def test_a_capture_is_laid_over_it() -> None:
    """Its client and its broker had the addresses of two of the five brokers."""
    seen = look_at(TopologyOptions(captures=(str(CAPTURE),)))
    assert seen.traffic
    assert "Kafka: " in tree_text(seen, Screen(), ())


def test_the_configuration_says_which_rules_speak(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = Recorded(rule_page(topology_forwarding_off.__doc__ or "").bad).topology
    monkeypatch.chdir(tmp_path)
    assert [finding.severity for finding in topology_findings(broken)] == [Severity.ERROR]
    Path("netdiag.toml").write_text('[severity]\ntopology-forwarding-off = "note"\n')
    assert [finding.severity for finding in topology_findings(broken)] == [Severity.NOTE]
    Path("netdiag.toml").write_text('ignore = ["topology-"]\n')
    assert topology_findings(broken) == ()
    Path("netdiag.toml").write_text('ignore = ["topology-nothing"]\n')
    with pytest.raises(UsageError, match="no rule is called"):
        topology_findings(broken)


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
    assert (topology_findings(broken) == ()) is heard


def test_a_shared_file_that_is_not_understood_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = Recorded(rule_page(topology_forwarding_off.__doc__ or "").bad).topology
    monkeypatch.chdir(tmp_path)
    Path("pyproject.toml").write_text("netdiag = [")
    with pytest.raises(UsageError):
        topology_findings(broken)


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
    monkeypatch.setattr("netdiag.io.kernel.child_process.ChildProcess", Played)
    monkeypatch.setattr("netdiag.io.kernel.child_process.possible", lambda: able)
    monkeypatch.setattr(Played, "fails", fails)
    monkeypatch.setattr(Played, "begun", 0)
    seen = crowd(60)
    alone = json_text(topology_document(seen, topology_findings(seen)))
    assert json_report(seen) == (topology_findings(seen), alone)
    assert Played.begun == begun


def rounds(count: int, listener: Listener = SILENT) -> list[TopologyRound]:
    return list(islice(watch_topology(TopologyOptions(), listener, every=0), count))


def test_a_watch_gives_the_first_look_and_then_what_differs(monkeypatch: pytest.MonkeyPatch) -> None:
    looks = iter([cluster(1), cluster(2), cluster(2), cluster(1)])
    monkeypatch.setattr("netdiag.io.topology.read_topology", lambda **_: next(looks))
    first, more, less = rounds(3)
    assert (first.first, first.changes) == (True, ())
    assert {change.name for change in more.changes} == {change.name for change in less.changes}
    assert more.changes
    assert not more.first


def test_trouble_is_reported_once_and_the_watch_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[Topology | EngineError] = [EngineError("gone"), EngineError("gone"), cluster(1), cluster(2)]

    def look(**_: object) -> Topology:
        now = looks.pop(0)
        if isinstance(now, EngineError):
            raise now
        return now

    monkeypatch.setattr("netdiag.io.topology.read_topology", look)
    heard = Recorder()
    assert [each.first for each in rounds(2, heard)] == [True, False]
    assert [str(error) for error in heard.warnings] == ["gone"]


@pytest.mark.usefixtures("machine")
def test_changes_since_a_report_that_was_written(tmp_path: Path) -> None:
    (tmp_path / "before.json").write_text(json_report(look_at(TopologyOptions()))[1], encoding="utf-8")
    assert changes_since(str(tmp_path / "before.json"), TopologyOptions()) == ()
    assert changes_since(str(tmp_path / "before.json"), TopologyOptions(services=("broker-2",)))
    (tmp_path / "before.json").write_text("{}", encoding="utf-8")
    with pytest.raises(InputError):
        changes_since(str(tmp_path / "before.json"), TopologyOptions())


def test_what_hides_is_seen_by_another_command(monkeypatch: pytest.MonkeyPatch) -> None:
    argv, elsewhere = ("/x/netdiag", "topology"), replace(cluster(1), host="")
    assert command_for_the_rest(elsewhere, argv, None) == "/x/netdiag topology --via container"
    assert command_for_the_rest(elsewhere, (), None) is None
    hidden = cluster(1)
    hidden = replace(hidden, host="host", inventory=replace(hidden.inventory, complete=False))
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert command_for_the_rest(hidden, argv, "tcp://h:1") == "sudo /x/netdiag topology --host tcp://h:1"
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert command_for_the_rest(hidden, argv, None) is None


def test_the_addresses() -> None:
    broker = ScriptedBroker(node_id=1, brokers=[])
    with serving(broker) as port:
        broker.brokers = [(2, "127.0.0.1", 1), (1, "127.0.0.1", port)]
        named = (Address(host="127.0.0.1", port=port), Address(host="127.0.0.1", port=2))
        story = probe("host", OwnNamespace(), Question(bootstraps=named, group="shop"))
    assert named_and_advertised(story) == (*named, Address(host="127.0.0.1", port=1))
