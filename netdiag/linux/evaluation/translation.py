"""What address translation makes of a packet."""

import ipaddress
from dataclasses import replace

from netdiag.linux.evaluation.packet import Packet
from netdiag.linux.evaluation.situation import Decision, Situation
from netdiag.values import dataclass

_DESTINATION_HOOKS = ("prerouting", "output")


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """Where to: addresses "" and ports 0 stay as they are; None is not known."""

    destination: bool
    first: str | None = ""
    last: str | None = ""
    first_port: int | None = 0
    last_port: int | None = 0
    netmap: bool = False


def translate(situation: Situation, target: Target) -> Decision:
    """Translate, or say that the result is not known."""
    if target.netmap:
        return Decision(word="unknown", because="translation of a whole network")
    if target.first is None or target.last is None or target.first_port is None or target.last_port is None:
        return Decision(word="unknown", because="translation to an address that is not known")
    if target.destination:
        return _to(situation, target)
    address = target.first if target.first == target.last else ""
    if target.first != target.last:
        return Decision(word="unknown", because=f"translation to one of {target.first} to {target.last}")
    if address:
        _from(situation, address, target.first_port)
    situation.translated = True
    return Decision(word="accept")


def masquerade(situation: Situation) -> Decision:
    """From the address of the device it leaves by; "" where that is not known."""
    find = situation.surroundings.address_of
    _from(situation, find(situation.packet.out_link) if find else "", 0)
    situation.translated = True
    return Decision(word="accept")


def redirect(situation: Situation, first: int | None, last: int | None) -> Decision:
    """To this machine itself: to loopback where it comes from, else to the address of the device it came by."""
    packet = situation.packet
    if situation.hook == "output":
        address = "127.0.0.1" if packet.family == 4 else "::1"
    else:
        find = situation.surroundings.address_of
        address = find(packet.in_link) if find else ""
        if not address:
            return Decision(word="unknown", because=f"redirected to an address of {packet.in_link} that is not known")
    return translate(situation, Target(destination=True, first=address, last=address, first_port=first, last_port=last))


def network_map(situation: Situation, network: str, *, destination: bool) -> Decision:
    """NETMAP: the network's part from `network`, the host's part as it is."""
    packet = situation.packet
    try:
        target = ipaddress.ip_network(network, strict=False)
        old = int(ipaddress.ip_address(packet.destination if destination else packet.source))
    except ValueError:
        return Decision(word="unknown", because="translation of an address that is not known")
    host = old & int(target.hostmask)
    made = type(target.network_address)(int(target.network_address) | host)
    return translate(situation, Target(destination=destination, first=str(made), last=str(made)))


def _to(situation: Situation, target: Target) -> Decision:
    packet = situation.packet
    if target.first != target.last:
        return Decision(word="unknown", because=f"translation to one of {target.first} to {target.last}")
    port = packet.destination_port
    if target.first_port and target.first_port == target.last_port:
        port = target.first_port
    elif target.first_port and (port is None or not target.first_port <= port <= (target.last_port or 0)):
        return Decision(
            word="unknown", because=f"translation to one of the ports {target.first_port} to {target.last_port}"
        )
    situation.packet = _before(
        packet, replace(packet, destination=target.first or packet.destination, destination_port=port)
    )
    situation.translated = True
    return Decision(word="accept")


def _before(old: Packet, new: Packet) -> Packet:
    """Remember what the client dialled; a translation that changes nothing is none."""
    if new == old:
        return old
    return replace(
        new,
        original_destination=old.original_destination or old.destination,
        original_destination_port=old.original_destination_port if old.original_destination else old.destination_port,
    )


def _from(situation: Situation, address: str, port: int) -> None:
    packet = situation.packet
    if address == packet.source and port in (0, packet.source_port):
        return
    situation.packet = replace(
        packet,
        source=address,
        source_port=port or packet.source_port,
        original_source=packet.original_source or packet.source,
        original_source_port=packet.original_source_port if packet.original_source else packet.source_port,
    )
