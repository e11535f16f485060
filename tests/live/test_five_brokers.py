"""The live check of five real brokers: complete, in agreement with the prediction, fast, and without a trace."""

import os
import threading
import time
from collections.abc import Iterator

import pytest

from netdiag.deployment.model.contact import Address, Answered
from netdiag.deployment.model.deployment import State
from netdiag.io.kernel.netns import open_namespace
from tests.figures import Report
from tests.lab.lab import Lab
from tests.lab.processes import run
from tests.lab.stack import Stack
from tests.lab.vantages import default_bridge, other_network, same_network
from tests.live.stacks import SCENARIOS, Check, check

# Held to seconds, so nothing else may run beside them: these are not for make test.
TIMED = {name: pytest.mark.bar(name, long=True) for name in ("live-time", "black-hole")}


@pytest.fixture(
    scope="module", params=["kraft", pytest.param("zookeeper", marks=pytest.mark.bar("live-time", long=True))]
)
def stack(request: pytest.FixtureRequest, lab: Lab) -> Iterator[Stack]:
    with lab.up(SCENARIOS / "S01-reference" / f"{request.param}.yml") as up:
        same_network(up)
        other_network(up)
        default_bridge(up)
        yield up


@pytest.fixture(scope="module")
def checked(stack: Stack) -> Check:
    check(stack)
    return check(stack)


def test_every_vantage_is_taken(checked: Check, stack: Stack) -> None:
    labels = [each.vantage.label for each in checked.live.vantages]
    assert labels[:6] == ["docker host", *(f"inside broker-{n}" for n in range(1, 6))]
    assert sum(each.vantage.kind.value == "C" for each in checked.live.vantages) >= 1
    assert sum(each.vantage.kind.value == "O" for each in checked.live.vantages) == 2
    assert labels[-1] == f"netns:{stack.engine.record.lan_netns}"
    assert checked.observed.skipped == checked.live.skipped == ()
    assert checked.observed.notes == ()


def test_prediction_and_observation_agree(checked: Check, figure: Report) -> None:
    figure("live cells of five brokers, predicted = observed", len(checked.cells))
    assert checked.disagreements == []
    assert len(checked.cells) >= 120


def test_the_classic_cells(checked: Check) -> None:
    host = checked.words("docker host")
    assert {host[f"localhost:909{n}"] for n in range(1, 6)} == {"ok"}
    assert host["broker-1:29092"] == "bootstrap: unresolved"
    inside = checked.words("inside broker-2")
    assert inside["localhost:29092"] == inside["broker-1:29092"] == "ok"
    assert inside["localhost:9092"] == "partial 1/5"
    assert inside["localhost:9091"] == "bootstrap: refused"
    lan = checked.words(checked.live.vantages[-1].vantage.label)
    assert lan["192.168.8.133:9091"] == "advertised: refused"


@pytest.mark.alone
@TIMED["live-time"]
def test_it_is_fast(checked: Check, figure: Report) -> None:
    figure("live check of five brokers, all vantages", checked.seconds, "s")
    assert checked.seconds < 5


def test_what_the_engine_told(checked: Check) -> None:
    deployment = checked.live.deployment
    assert [b.name for b in deployment.brokers] == [f"broker-{n}" for n in range(1, 6)]
    assert {b.member.state for b in deployment.brokers} == {State.RUNNING}
    assert deployment.host_addresses == ("192.168.8.133",)
    assert deployment.platform.userland_proxy is True
    assert checked.live.stopped == {}


def test_the_brokers_own_sockets(checked: Check) -> None:
    for number in range(1, 6):
        ports = {s.port for s in checked.live.sockets[f"broker-{number}"] if s.on_all_addresses}
        assert {29092, 9090 + number} <= ports


def test_a_broker_says_who_it_is_and_on_which_listener(checked: Check) -> None:
    cell = next(c for c in checked.cells if c.vantage == "docker host" and str(c.bootstrap) == "localhost:9093")
    assert cell.observed is not None
    contact = cell.observed.bootstrap
    assert isinstance(contact, Answered)
    assert (contact.node_id, contact.listener, contact.ip) == (3, "EXTERNAL", "127.0.0.1")
    assert contact.cluster_id
    assert [outcome.outcome for outcome in cell.observed.endpoints] == ["ok"] * 5


def test_nothing_is_left_behind(stack: Stack) -> None:
    def traces() -> tuple[object, ...]:
        inside = stack.engine.docker("top", stack.container("broker-1"))
        links = run(["ip", "-n", stack.engine.record.host_netns, "-o", "link"]).stdout
        rules = run(stack.engine.host.argv(["iptables-save"])).stdout.splitlines()
        listed = stack.engine.docker("ps", "-a", "--format", "{{.ID}} {{.State}}")
        # Other labs of this machine come and go.
        named = [name for name in run(["ip", "netns"]).stdout.split() if not name.startswith("nd")]
        return (
            len(inside.splitlines()),
            links,
            [line for line in rules if not line.startswith((":", "#"))],
            listed,
            named,
            threading.active_count(),
            len(os.listdir("/proc/self/fd")),
        )

    check(stack)
    before = traces()
    check(stack)
    assert traces() == before


def test_the_order_of_networks_is_the_resolvers(stack: Stack) -> None:
    """A name on two networks: the engine answers with the first network in our order, internal ones last."""
    docker = stack.engine.docker
    made = [f"{stack.project}-{name}" for name in ("a-inside", "m-plain", "z-plain")]
    client, broker = f"{stack.project}-two", stack.container("broker-1")
    try:
        docker("network", "create", "--internal", made[0])
        docker("network", "create", made[1])
        docker("network", "create", made[2])
        docker("run", "-d", "--init", "--name", client, "--network", made[2], "netdiag-lab/client:1")
        for network in made[:2]:
            docker("network", "connect", network, client)
        for network in made:
            docker("network", "connect", "--alias", "twice", network, broker)
        checked = check(stack, names=(client,), addresses=(Address(host="twice", port=29092),))
        cell = next(c for c in checked.cells if c.vantage == f"container {client}")
        member = next(m for m in checked.live.deployment.members if m.name == client)
        owner = next(m for m in checked.live.deployment.members if m.name == "broker-1")
        first = owner.on(member.attachments[0].network)
        assert [a.network for a in member.attachments] == [made[1], made[2], made[0]]
        assert cell.observed is not None
        assert isinstance(cell.observed.bootstrap, Answered)
        assert first is not None
        assert cell.observed.bootstrap.ip == first.addresses[0]
    finally:
        for network in made:
            docker("network", "disconnect", "-f", network, broker, check=False)
        docker("rm", "-f", client, check=False)
        docker("network", "rm", *made, check=False)


@pytest.mark.alone
@TIMED["black-hole"]
def test_a_frozen_cluster_is_silence_within_the_time(stack: Stack, figure: Report) -> None:
    names = [stack.container(f"broker-{n}") for n in range(1, 6)]
    stack.engine.docker("pause", *names)
    try:
        checked = check(stack)
    finally:
        stack.engine.docker("unpause", *names)
    figure("live check of five frozen brokers, --timeout 4", checked.seconds, "s")
    assert checked.words("docker host")["localhost:9091"] == "bootstrap: timeout"
    assert checked.words("inside broker-2")["broker-1:29092"] == "bootstrap: timeout"
    assert {b.member.state for b in checked.live.deployment.brokers} == {State.PAUSED}
    assert checked.seconds < 6


@pytest.mark.alone
@TIMED["black-hole"]
def test_a_cluster_that_is_all_black_hole_takes_timeout_and_two_seconds(stack: Stack, figure: Report) -> None:
    entrances = [each.entrance for each in check(stack).live.vantages]
    spaces = [open_namespace(entrance) for entrance in entrances]
    rule = ["-p", "tcp", "-m", "multiport", "--dports", "29092,9091:9095", "-j", "DROP"]
    try:
        for space in spaces:
            space.run(lambda: run(["iptables", "-I", "OUTPUT", *rule]))
            space.run(lambda: run(["iptables", "-I", "INPUT", *rule]))
        begin = time.perf_counter()
        checked = check(stack)
        taken = time.perf_counter() - begin
    finally:
        for space in spaces:
            space.run(lambda: run(["iptables", "-D", "OUTPUT", *rule], check=False))
            space.run(lambda: run(["iptables", "-D", "INPUT", *rule], check=False))
            space.close()
    figure("live check of five brokers, every endpoint a black hole, --timeout 4", taken, "s")
    reached = {word for c in checked.cells if (word := str(c.observed)) not in ("bootstrap: unresolved",)}
    assert reached == {"bootstrap: timeout"}
    assert taken < 6
