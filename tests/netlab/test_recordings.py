"""Kinds of devices that few kernels have, from recordings: everything that iproute2 printed there is in our values."""

import pytest

from netdiag.linux.netlink.link_kinds import KINDS, PORTS
from tests.netlab.compare import compare
from tests.netlab.dumps import facts
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
