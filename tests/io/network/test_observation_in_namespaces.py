"""Observing from other namespaces: what is dropped, what has no neighbour, what has no route."""

import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from netdiag.deployment.model.contact import Address, Failed
from netdiag.deployment.model.vantage import Vantage, VantageKind
from netdiag.deployment.observation.live_view import netns_vantage
from netdiag.io.kernel.netns import open_namespace
from netdiag.io.network.observation import Observed, observe
from netdiag.linux.netns import NamedNamespace
from tests.figures import Report
from tests.io.namespaces import FAR, NOBODY, SWALLOWED, Pair, joined_namespaces
from tests.io.network.hostile import ScriptedBroker, serving

pytestmark = pytest.mark.bar("black-hole")


@pytest.fixture(scope="module")
def pair() -> Iterator[Pair]:
    with joined_namespaces() as made:
        yield made


def look(pair: Pair, *addresses: Address, timeout: float = 4.0) -> Observed:
    return observe([netns_vantage(pair.near)], addresses, timeout=timeout)


def words(observed: Observed) -> list[str]:
    return [str(cell.observed) for cell in observed.cells]


@pytest.mark.alone
def test_each_kind_of_dead_end_has_its_word(pair: Pair) -> None:
    begin = time.perf_counter()
    observed = look(
        pair,
        Address(host=FAR, port=9092),
        Address(host=NOBODY, port=9092),
        Address(host=SWALLOWED.format(1), port=9092),
        Address(host="10.99.0.1", port=9092),
        Address(host="192.0.2.1", port=9092),
        Address(host="2001:db8::1", port=9092),
    )
    taken = time.perf_counter() - begin
    assert words(observed) == [
        "bootstrap: refused",
        # Nobody has the address: the failed ARP takes the kernel 3.05 s and is no time-out.
        "bootstrap: unreachable",
        "bootstrap: timeout",
        "bootstrap: unreachable",
        "bootstrap: unreachable",
        "bootstrap: unreachable",
    ]
    assert taken < 6


@pytest.mark.alone
def test_black_holes_take_no_longer_for_being_many(pair: Pair, figure: Report) -> None:
    addresses = [Address(host=SWALLOWED.format(n % 250 + 1), port=9000 + n) for n in range(600)]
    begin = time.perf_counter()
    observed = look(pair, *addresses)
    taken = time.perf_counter() - begin
    figure("600 cells that all black-hole, --timeout 4", taken, "s")
    assert set(words(observed)) == {"bootstrap: timeout"}
    assert taken < 6


@pytest.mark.alone
def test_advertised_black_holes_fit_into_the_same_time(pair: Pair) -> None:
    broker = ScriptedBroker(node_id=0, brokers=[(n, SWALLOWED.format(n + 1), 9092) for n in range(200)])
    with open_namespace(NamedNamespace(name=pair.far)) as far, serving(broker, address=FAR, namespace=far) as port:
        begin = time.perf_counter()
        observed = look(pair, Address(host=FAR, port=port))
        taken = time.perf_counter() - begin
    assert words(observed) == ["advertised: timeout"]
    assert taken < 6


@pytest.mark.alone
def test_one_swallowed_target_is_not_stormed_and_not_serial(pair: Pair, figure: Report) -> None:
    stances = [
        replace(netns_vantage(pair.near), vantage=Vantage(kind=VantageKind.LAN, label=f"{n}")) for n in range(80)
    ]
    begin = time.perf_counter()
    observed = observe(stances, [Address(host=SWALLOWED.format(1), port=9092)])
    taken = time.perf_counter() - begin
    figure("80 vantages at one target that black-holes, --timeout 4", taken, "s")
    assert words(observed) == ["bootstrap: timeout"] * 80
    assert taken < 6


def test_a_namespace_that_is_not_there_is_a_skipped_vantage(pair: Pair) -> None:
    observed = observe([netns_vantage("netdiag-typo"), netns_vantage(pair.near)], [Address(host=FAR, port=1)])
    assert words(observed) == ["bootstrap: refused"]
    (skipped,) = observed.skipped
    assert skipped.vantage.label == "netns:netdiag-typo"
    assert not skipped.rights


def test_its_own_hosts_file_is_used(pair: Pair) -> None:
    folder = Path("/etc/netns", pair.near)
    folder.mkdir(parents=True)
    try:
        (folder / "hosts").write_text(f"{FAR} kafka.test\n")
        (folder / "resolv.conf").write_text(f"nameserver {FAR}\n")
        observed = look(pair, Address(host="kafka.test", port=1), Address(host="other.test", port=1))
    finally:
        for path in folder.iterdir():
            path.unlink()
        folder.rmdir()
    assert words(observed) == ["bootstrap: refused", "bootstrap: unresolved"]
    contact = observed.cells[1].observed.bootstrap if observed.cells[1].observed else None
    assert isinstance(contact, Failed)
    assert contact.because == f'"other.test" has no address here: name server {FAR}: Connection refused'


@pytest.mark.alone
def test_a_black_hole_among_the_addresses_of_a_name_costs_a_head_start_only(pair: Pair) -> None:
    folder = Path("/etc/netns", pair.near)
    broker = ScriptedBroker(node_id=1, brokers=[])
    folder.mkdir(parents=True)
    try:
        (folder / "hosts").write_text(f"{SWALLOWED.format(1)} both.test\n{FAR} both.test\n")
        with open_namespace(NamedNamespace(name=pair.far)) as far, serving(broker, address=FAR, namespace=far) as port:
            broker.brokers = [(1, "both.test", port)]
            begin = time.perf_counter()
            observed = look(pair, Address(host="both.test", port=port))
            taken = time.perf_counter() - begin
    finally:
        (folder / "hosts").unlink()
        folder.rmdir()
    assert words(observed) == ["ok"]
    assert taken < 2
