"""Registers, and what address translation does to a packet."""

from netdiag.linux.filtering.packet import (
    NOTHING_KNOWN,
    Bits,
    Evaluation,
    NamespaceView,
    Packet,
    Target,
    known,
    masquerade,
    network_map,
    redirect,
    translate,
    unknown,
)


def test_a_register_is_four_small_ones() -> None:
    packet = Packet(family=4, protocol="tcp", source="10.0.0.1", destination="10.0.0.2")
    evaluation = Evaluation(packet=packet, hook="input", namespace=NOTHING_KNOWN)
    evaluation.load(2, known(b"abcdef"))
    assert evaluation.read(12, 4) == known(b"abcd")
    assert evaluation.read(13, 4) == known(b"ef\0\0")
    assert evaluation.read(14, 1) == unknown(1)
    evaluation.load(9, Bits(b"x", b"\xff"))
    assert evaluation.read(9, 4).complete
    assert evaluation.read(500, 4) == unknown(4)


PACKET = Packet(
    family=4, protocol="tcp", source="10.0.0.1", destination="10.0.0.2", destination_port=80, in_link="a", out_link="b"
)
HERE = NamespaceView(address_of=lambda link: {"a": "10.0.0.9", "b": "10.0.1.9"}.get(link, ""))


def evaluation(hook: str = "prerouting", namespace: NamespaceView = HERE) -> Evaluation:
    return Evaluation(packet=PACKET, hook=hook, namespace=namespace)


def test_a_destination_keeps_its_port_unless_told() -> None:
    here = evaluation()
    assert translate(here, Target(destination=True, first="1.2.3.4", last="1.2.3.4")).word == "accept"
    assert (here.packet.destination, here.packet.destination_port) == ("1.2.3.4", 80)
    assert (here.packet.original_destination, here.packet.original_destination_port) == ("10.0.0.2", 80)


def test_a_translation_that_changes_nothing_is_none() -> None:
    here = evaluation()
    translate(here, Target(destination=True, first="10.0.0.2", last="10.0.0.2", first_port=80, last_port=80))
    translate(here, Target(destination=False, first="10.0.0.1", last="10.0.0.1"))
    assert (here.packet, here.translated) == (PACKET, True)


def test_a_choice_of_the_kernel_is_not_known() -> None:
    for target in (
        Target(destination=True, first="1.2.3.4", last="1.2.3.9"),
        Target(destination=False, first="1.2.3.4", last="1.2.3.9"),
        Target(destination=True, first="1.2.3.4", last="1.2.3.4", first_port=90, last_port=99),
        Target(destination=True, first=None),
        Target(destination=True, netmap=True),
    ):
        assert translate(evaluation(), target).word == "unknown"
    inside = Target(destination=True, first="1.2.3.4", last="1.2.3.4", first_port=70, last_port=99)
    assert translate(evaluation(), inside).word == "accept"


def test_masquerade_takes_the_address_of_the_device() -> None:
    here = evaluation("postrouting")
    masquerade(here)
    assert (here.packet.source, here.packet.original_source) == ("10.0.1.9", "10.0.0.1")


def test_redirect_goes_to_the_device_or_to_loopback() -> None:
    for hook, address in (("prerouting", "10.0.0.9"), ("output", "127.0.0.1")):
        here = evaluation(hook)
        assert redirect(here, 8080, 8080).word == "accept"
        assert (here.packet.destination, here.packet.destination_port) == (address, 8080)
    assert redirect(evaluation(namespace=NOTHING_KNOWN), 1, 1).word == "unknown"


def test_a_whole_network() -> None:
    here = evaluation()
    network_map(here, "192.168.7.0/24", destination=True)
    assert here.packet.destination == "192.168.7.2"
    assert network_map(here, "no network", destination=True).word == "unknown"
