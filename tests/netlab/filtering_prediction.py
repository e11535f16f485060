"""What rules would make of a connection through the small world, by `netdiag.linux.filtering.traversal` alone."""

from dataclasses import dataclass, replace

from netdiag.linux.filtering.packet import ConnectionState, NamespaceView, Packet
from netdiag.linux.filtering.traversal import Traversal, Verdict, traverse
from netdiag.linux.ruleset import RuleAddress, Ruleset
from tests.netlab.filtering_world import CLIENT, CLIENT_SIDE, IN, OPEN, OUT, SERVER, SERVER_SIDE, SERVER_TOO, Attempt

_LOCAL = (CLIENT_SIDE, SERVER_SIDE, "127.0.0.1")
_ADDRESSES = {IN: CLIENT_SIDE, OUT: SERVER_SIDE}
AROUND = NamespaceView(
    is_local=lambda address: address in _LOCAL, address_of=_ADDRESSES.__getitem__, ifindexes={"lo": 1}
)
_SYN_ACK, _ACK = 0x12, 0x10


@dataclass(frozen=True, slots=True, kw_only=True)
class Prediction:
    """The word of an outcome, or "unknown"; `reached` and `seen` where somebody accepts and can say so.

    `hits` are the rules that the first packet meets, if it gets no further than the router.
    """

    word: str
    reached: str = ""
    seen: str = ""
    because: str = ""
    hits: tuple[RuleAddress, ...] = ()


def predicted(ruleset: Ruleset, attempt: Attempt) -> Prediction:
    """Out, to a socket, and back."""
    sent = Packet(
        family=4,
        protocol="tcp",
        source=CLIENT,
        destination=attempt.address,
        source_port=attempt.source_port,
        destination_port=attempt.port,
        in_link=IN,
    )
    ended, arrived = _out(ruleset, sent)
    if ended is not None:
        return ended
    where = "router" if arrived.destination in _LOCAL else "server"
    if where == "server" and arrived.destination not in (SERVER, SERVER_TOO):
        return Prediction(word="nowhere")
    # A reset is an answer, too, and may be dropped on its way.
    opened = arrived.destination_port in OPEN
    back = _back(ruleset, sent, arrived, local=where == "router", flags=_SYN_ACK if opened else 0x14)
    if back is not None:
        return back
    if not opened:
        return Prediction(word="refused")
    known = replace(sent, state=ConnectionState.ESTABLISHED, tcp_flags=_ACK, mark=0)
    heard = _established(ruleset, known, arrived)
    if not heard:
        return Prediction(word="connected")
    reached = f"{arrived.destination}:{arrived.destination_port}"
    return Prediction(word="connected", reached=reached, seen=arrived.source)


def _out(ruleset: Ruleset, packet: Packet) -> tuple[Prediction | None, Packet]:
    hits: list[RuleAddress] = []
    for hook in ("prerouting", "", "postrouting"):
        local = packet.destination in _LOCAL
        if hook == "postrouting" and local:
            # an address of the router itself: translations of the source take place in input
            return None, packet
        name = hook or ("input" if local else "forward")
        if name != "prerouting":
            packet = replace(packet, in_link="" if name == "postrouting" else IN, out_link="" if local else OUT)
        found = traverse(ruleset, name, packet, namespace=AROUND)
        hits += found.hits
        ended = _ended(found)
        if ended is not None:
            return replace(ended, hits=tuple(hits)), packet
        packet = found.packet
    return None, packet


def _ended(found: Traversal) -> Prediction | None:
    match found.verdict:
        case Verdict.ACCEPT:
            return None
        case Verdict.DROP:
            return Prediction(word="dropped", because=found.because)
        case Verdict.REJECT:
            # a destination or a protocol that cannot be reached ends a connection attempt as a refused port does
            refusing = ("tcp reset", "icmp port-unreachable", "icmp prot-unreachable", "icmpx port-unreachable")
            word = "refused" if found.kind in refusing else "unreachable"
            return Prediction(word=word, because=found.because)
        case Verdict.UNKNOWN:
            return Prediction(word="unknown", because=found.because)


def _back(ruleset: Ruleset, sent: Packet, arrived: Packet, *, local: bool, flags: int) -> Prediction | None:
    """The answer, whose addresses are those of the packet that arrived, the other way round."""
    answer = Packet(
        family=4,
        protocol="tcp",
        source=arrived.destination,
        source_port=arrived.destination_port,
        destination=arrived.source,
        destination_port=arrived.source_port,
        state=ConnectionState.UNTRACKED if arrived.state is ConnectionState.UNTRACKED else ConnectionState.ESTABLISHED,
        reply=True,
        tcp_flags=flags,
        connection_mark=arrived.connection_mark,
        original_destination=arrived.original_destination,
        original_destination_port=arrived.original_destination_port,
        original_source=arrived.original_source,
        original_source_port=arrived.original_source_port,
    )
    ways = (
        (("output", "", IN), ("postrouting", "", IN))
        if local
        else (
            ("prerouting", OUT, ""),
            ("forward", OUT, IN),
            ("postrouting", "", IN),
        )
    )
    for hook, in_link, out_link in ways:
        if hook == "forward":
            answer = replace(answer, destination=sent.source, destination_port=sent.source_port)
        found = traverse(ruleset, hook, replace(answer, in_link=in_link, out_link=out_link), namespace=AROUND)
        ended = _ended(found)
        if ended is not None:
            # what rejects an answer tells the server, and the client hears nothing
            return ended if ended.word == "unknown" else Prediction(word="dropped", because=ended.because)
        answer = found.packet
    return None


def _established(ruleset: Ruleset, known: Packet, arrived: Packet) -> bool:
    """Whether the client's next packet certainly gets through."""
    known = replace(
        known,
        connection_mark=arrived.connection_mark,
        original_destination=arrived.original_destination,
        original_destination_port=arrived.original_destination_port,
        original_source=arrived.original_source,
        original_source_port=arrived.original_source_port,
    )
    for hook in ("prerouting", "input" if arrived.destination in _LOCAL else "forward", "postrouting"):
        if hook == "postrouting" and arrived.destination in _LOCAL:
            break
        if hook != "prerouting":
            known = replace(known, destination=arrived.destination, destination_port=arrived.destination_port)
            known = replace(known, out_link="" if arrived.destination in _LOCAL else OUT)
        found = traverse(ruleset, hook, known, namespace=AROUND)
        if found.verdict is not Verdict.ACCEPT:
            return False
        known = found.packet
    return True
