"""Kinds of devices that few kernels have, from recordings: everything that iproute2 printed there is in our values."""

import os

import pytest

from netdiag.io.kernel.netlink import ROUTE, Channel
from netdiag.linux.netlink.link_kinds import KINDS, PORTS
from netdiag.linux.netlink.links import UNASSIGNED, decode_nsid, request_nsid
from tests.netlab.compare import compare
from tests.netlab.dumps import facts, inside, read_facts
from tests.netlab.lab import netlab
from tests.netlab.recipes import RECIPES
from tests.netlab.record import Recording, recordings

RECORDED = tuple(recordings())


@pytest.mark.parametrize("one", RECORDED, ids=lambda one: f"{one.kernel.partition('-')[0]}-{one.recipe}")
def test_the_same_as_iproute2(one: Recording) -> None:
    result = compare(facts(one.dumps), one.said)
    assert result.equal, str(result)
    assert result.compared.total() > 20
    assert result.fields > 150


def test_every_recipe_was_taken_by_the_kernel_of_a_recording() -> None:
    taken = {one.recipe for one in RECORDED if not one.lacking}
    assert taken == {recipe.name for recipe in RECIPES}


def test_every_kind_that_we_decode_was_recorded() -> None:
    links = [link for one in RECORDED for link in facts(one.dumps).links]
    told = {link.kind for link in links if link.details} | {link.port_kind for link in links if link.port}
    assert {*KINDS, *PORTS} - told == {"ip6erspan", "vti6"}, "these two are read as their siblings"


def test_a_kind_that_we_do_not_decode_is_told_as_it_came() -> None:
    (link,) = [link for one in RECORDED for link in facts(one.dumps).links if link.kind == "macsec"]
    assert link.details == {}
    assert link.undecoded["info_data/3"] == "10"


def nsids(*others: int) -> list[int]:
    """The numbers that the namespace of this thread has for these."""
    with Channel(ROUTE) as channel:
        return [decode_nsid(channel.ask(request_nsid(other))[1]) for other in others]


def test_the_hub_numbers_every_namespace_that_it_has_a_veth_to() -> None:
    with netlab(5) as lab:
        hub, *others = descriptors = [room.open() for room in lab.rooms]
        try:
            links = {link.ifname: link for link in read_facts(hub).links}
            numbers = inside(hub, lambda: nsids(*others))
            backwards = inside(others[0], lambda: nsids(others[1]))
        finally:
            for descriptor in descriptors:
                os.close(descriptor)
    assert numbers == [links[f"port{number}"].link_netnsid for number in range(1, len(others) + 1)]
    assert len(set(numbers)) == len(others)
    # two of the others are joined to the hub only: neither has a number for the other, and asking gave it none
    assert backwards == [UNASSIGNED]
