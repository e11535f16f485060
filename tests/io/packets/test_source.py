"""The ring of one place as a source: names of links, the end of its links."""

from collections.abc import Iterator

import pytest

from netdiag.errors import InputError
from netdiag.io.packets.filters import of_expression
from netdiag.io.packets.places import Place, named
from netdiag.io.packets.source import RingSource
from tests.io.namespaces import Pair, ip, joined_namespaces


@pytest.fixture(scope="module")
def pair() -> Iterator[Pair]:
    with joined_namespaces() as made:
        yield made


def source(place: Place, links: tuple[str, ...], told: list[tuple[str, str, int]]) -> RingSource:
    def numbered(*link: object) -> int:
        told.append(link)  # type: ignore[arg-type]
        return len(told) - 1

    return RingSource(place, of_expression(""), numbered, snaplen=256, links=links, megabytes=4)


def test_links_that_are_up_are_named_at_once(pair: Pair) -> None:
    place = Place(named(pair.near))
    told: list[tuple[str, str, int]] = []
    source(place, (), told).close()
    assert sorted(told) == [(pair.near, "eth0", 1), (pair.near, "lo", 1)]
    place.close()


def test_without_its_links_a_source_is_over(pair: Pair) -> None:
    ip("-n", pair.near, "link", "add", "brief", "type", "bridge")
    place = Place(named(pair.near))
    made = source(place, ("brief",), [])
    assert made.failure() is None
    ip("-n", pair.near, "link", "delete", "brief")
    assert made.notes() == [f"{pair.near}:brief is gone"]
    assert "no interface is left" in str(made.failure())
    made.close()
    with pytest.raises(InputError, match="has no interface 'nope'"):
        source(place, ("nope",), [])
    place.close()
