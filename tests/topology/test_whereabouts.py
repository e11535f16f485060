"""Words for places."""

import pytest

from netdiag.errors import InputError
from netdiag.topology.whereabouts import find_place
from tests.topology.five_brokers import five_brokers


@pytest.mark.parametrize(
    ("word", "name"),
    [
        ("host", "host"),
        ("shop-client-1", "shop-client-1"),
        ("container:shop-client-1", "shop-client-1"),
        ("container:/shop-broker-1-1", "shop-broker-1-1"),
        ("broker-3", "shop-broker-3-1"),
        ("netns:lan", "lan"),
        ("pid:5010", "shop-broker-1-1"),
    ],
)
def test_a_place_has_many_names(word: str, name: str) -> None:
    topology = five_brokers()
    place = topology.named(name)
    assert place is not None
    assert find_place(topology, word) == place.netns


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("shop-clent-1", "did you mean shop-client-1"),
        ("netns:nowhere", "ip netns"),
        ("pid:999999", "no process"),
        ("pid:x", "no process"),
        ("container:", "no container"),
        ("shop-init-1", "not running"),
    ],
)
def test_what_is_not_there_is_told(word: str, said: str) -> None:
    with pytest.raises(InputError) as raised:
        find_place(five_brokers(), word)
    assert said in f"{raised.value} {raised.value.hint}"
