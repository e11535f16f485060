"""Who answers for an address."""

import pytest

from netdiag.linux.kernel_settings import KernelSettings
from netdiag.linux.neighbour import Neighbour
from netdiag.topology.hops import End
from netdiag.topology.inventory import LinkId
from netdiag.topology.neighbours import Found, Missing, find_neighbour
from netdiag.topology.terrain import Terrain
from tests.topology.wires import Wires, two_on_a_bridge


def ask(made: Wires, address: str, asker: str = "10.0.0.1") -> Found | Missing:
    return find_neighbour(Terrain(made.inventory), LinkId(netns=made.netns("a"), ifindex=2), address, asker=asker)


def remember(made: Wires, lladdr: str, *states: str) -> None:
    made.spaces["a"].neighbours.append(Neighbour(ifindex=2, address="10.0.0.2", lladdr=lladdr, states=states))


def test_the_owner_answers() -> None:
    made = two_on_a_bridge()
    found = ask(made, "10.0.0.2")
    assert isinstance(found, Found)
    assert found.lladdr == made.spaces["b"].links[2].address


def test_nobody_answers() -> None:
    found = ask(two_on_a_bridge(), "10.0.0.77")
    assert isinstance(found, Missing)
    assert found.end is End.NO_NEIGHBOUR


def test_why_the_owner_is_not_heard() -> None:
    found = ask(two_on_a_bridge(isolated=True), "10.0.0.2")
    assert isinstance(found, Missing)
    assert found.end is End.NO_NEIGHBOUR
    assert "isolated" in found.because


@pytest.mark.parametrize(("state", "end"), [("STALE", End.DROPPED), ("FAILED", None)])
def test_what_the_table_says_counts_while_it_is_in_force(state: str, end: End | None) -> None:
    made = two_on_a_bridge()
    remember(made, "02:dd:dd:dd:dd:dd", state)
    found = ask(made, "10.0.0.2")
    assert (found.end if isinstance(found, Missing) else None) is end


def test_an_entry_that_holds_needs_no_answer() -> None:
    made = two_on_a_bridge(bcast_flood=False)
    assert isinstance(ask(made, "10.0.0.2"), Missing)
    remember(made, made.spaces["b"].links[2].address, "PERMANENT")
    assert isinstance(ask(made, "10.0.0.2"), Found)


def test_two_that_answer_are_not_chosen_from() -> None:
    made = two_on_a_bridge()
    made.space("c")
    made.bridged("c", "10.0.0.2/24", "host", LinkId(netns=made.netns("host"), ifindex=2))
    found = ask(made, "10.0.0.2")
    assert isinstance(found, Missing)
    assert found.end is End.UNKNOWN
    assert "several answer" in found.because


def test_beyond_what_can_be_seen_somebody_may_answer_unless_the_table_says_no() -> None:
    made = two_on_a_bridge()
    port = made.device("host", "eth9")
    made.change(port, master=2, port={"state": "forwarding"})
    found = ask(made, "10.0.0.77")
    assert isinstance(found, Missing)
    assert found.end is End.UNKNOWN
    made.spaces["a"].neighbours.append(Neighbour(ifindex=2, address="10.0.0.77", lladdr="", states=("FAILED",)))
    failed = ask(made, "10.0.0.77")
    assert isinstance(failed, Missing)
    assert failed.end is End.NO_NEIGHBOUR


def test_a_namespace_answers_for_an_address_of_another_device_unless_it_disbelieves_the_asker() -> None:
    made = two_on_a_bridge()
    made.device("b", "dummy0", "dummy", "10.5.0.1/32")
    assert isinstance(ask(made, "10.5.0.1"), Found)
    made.spaces["b"].settings = KernelSettings(rp_filter=(("all", 1),))
    assert isinstance(ask(made, "10.5.0.1"), Found)
    made.spaces["b"].routes = [r for r in made.spaces["b"].routes if r.type == "local"]
    assert isinstance(ask(made, "10.5.0.1"), Missing)
