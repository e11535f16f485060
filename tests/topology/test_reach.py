"""Who reaches a listener: every place that matters, and one elsewhere."""

from dataclasses import replace
from time import process_time

from netdiag.linux.ruleset import Ruleset
from netdiag.topology.graph import PathEnd
from netdiag.topology.path.name_lookup import Resolution
from netdiag.topology.path.reach import ELSEWHERE, MOST_PATHS, with_reach
from tests.topology.five_brokers import crowd, five_brokers


def names(netns: int, name: str) -> Resolution:
    """localhost, and the brokers by their service."""
    if name == "localhost":
        return Resolution(addresses=("127.0.0.1",), because="hosts file")
    number = name.removeprefix("broker-")
    if number.isdecimal() and netns > 0:
        return Resolution(addresses=(f"172.18.0.{int(number) + 1}",), because="the engine's name server")
    return Resolution(addresses=(), because=f"nobody knows {name}")


def test_every_listener_from_every_place_by_every_address() -> None:
    topology = with_reach(five_brokers(), names)
    assert topology.reach_note == ""
    sources = {one.source for one in topology.reach}
    assert {"host", ELSEWHERE, "shop-client-1", "shop-ui-1", *(f"shop-broker-{n}-1" for n in range(1, 6))} <= sources
    external = [one for one in topology.reach if one.listener == "broker-1/EXTERNAL"]
    assert {(one.destination, one.port, one.advertised) for one in external} == {
        ("localhost", 9091, True),
        ("192.168.8.133", 9091, False),
    }
    ends = {(one.source, one.destination): one.path.end for one in external}
    assert ends["host", "localhost"] is PathEnd.CONNECTED
    assert ends["shop-client-1", "localhost"] is PathEnd.REFUSED
    assert ends[ELSEWHERE, "localhost"] is PathEnd.REFUSED
    assert ends[ELSEWHERE, "192.168.8.133"] is PathEnd.CONNECTED
    internal = {one.source: one.path.end for one in topology.reach if one.listener == "broker-1/INTERNAL"}
    assert internal["shop-client-1"] is PathEnd.CONNECTED
    assert internal[ELSEWHERE] is PathEnd.UNRESOLVED


def test_controllers_have_no_clients() -> None:
    assert not any("CONTROLLER" in one.listener for one in with_reach(five_brokers(), names).reach)


def test_five_brokers_take_less_than_a_second() -> None:
    topology = five_brokers()
    began = process_time()
    assert len(with_reach(topology, names).reach) > 100
    assert process_time() - began < 1


def test_a_crowd_is_stood_for() -> None:
    made = crowd(200)
    # These rules are text only: what each of 200 that nobody understands would do is not the question here.
    bare = {inode: replace(facts, ruleset=Ruleset()) for inode, facts in made.inventory.namespaces.items()}
    topology = replace(made, inventory=replace(made.inventory, namespaces=bare))
    began = process_time()
    found = with_reach(topology, names)
    assert process_time() - began < 20
    assert "10 containers represent 200" in found.reach_note
    assert len({one.source for one in found.reach}) > 12
    assert MOST_PATHS / 2 < len(found.reach) <= MOST_PATHS * 1.2
    assert {one.listener for one in found.reach} == {one.key for one in found.listeners if not one.controller}
