"""What rules at random would do, predicted, and what they do to real connections.

The prediction is that of `netdiag.linux.filtering.traversal` alone.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import pytest

from netdiag.io.kernel.packet_filter import addresses
from netdiag.linux.filtering.packet import ConnectionState, NamespaceView, Packet
from netdiag.linux.filtering.traversal import Traversal, Verdict, traverse
from netdiag.linux.ruleset import Origin, RuleAddress, Ruleset
from tests.figures import Report
from tests.lab.errors import LabError
from tests.netlab.filtering import counters_of, inside, ruleset_of
from tests.netlab.filtering_world import (
    CLIENT,
    CLIENT_SIDE,
    IN,
    OPEN,
    OUT,
    SERVER,
    SERVER_SIDE,
    SERVER_TOO,
    Attempt,
    Outcome,
    World,
    made_world,
)
from tests.netlab.random_rules import attempts, iptables_rules, nft_rules

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


KINDS = ("iptables-legacy", "iptables-nft", "nft", "both")
_FIXED = 7


@dataclass(slots=True)
class Tally:
    """How often the predicted came true; `unknown` are those that were not predicted."""

    agreed: int = 0
    unknown: int = 0
    counted: int = 0
    ways: dict[str, int] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_predicted_comes_true(kind: str, figure: Report) -> None:
    tally = measured(kind, rulesets=4, connections=14, seed=_FIXED)
    _report(tally, kind, figure)
    assert tally.agreed >= 28


@pytest.mark.bar("filtering-truth", long=True)
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_predicted_comes_true_at_length(kind: str, figure: Report) -> None:
    tally = measured(kind, rulesets=60, connections=24, seed=random.SystemRandom().randrange(1 << 32))
    _report(tally, kind, figure)


def _report(tally: Tally, kind: str, figure: Report) -> None:
    total = tally.agreed + len(tally.wrong)
    figure(
        f"{kind}: connections as predicted", f"{tally.agreed} of {total}, {tally.unknown} not predicted, {tally.ways}"
    )
    figure(f"{kind}: dropped where the rules that count it were predicted", tally.counted)
    assert not tally.wrong, "\n".join(tally.wrong)
    assert tally.unknown * 5 <= total + tally.unknown


def measured(kind: str, *, rulesets: int, connections: int, seed: int) -> Tally:
    """So many rulesets, one after the other, and so many connections through each."""
    tally = Tally()
    with made_world() as world:
        for number in range(rulesets):
            chance = random.Random(f"{seed} {kind} {number}")
            loaded(world, kind, chance)
            ruleset = ruleset_of(world.router)
            assert ruleset.unread == ()
            tried = attempts(chance, world, connections)
            predictions = [predicted(ruleset, attempt) for attempt in tried]
            outcomes = world.dial(tried)
            for attempt, prediction, outcome in zip(tried, predictions, outcomes, strict=True):
                if not _true(prediction, outcome):
                    # the machine may have been too busy: once more, alone
                    attempt = replace(attempt, source_port=world.source_port())
                    prediction, (outcome,) = predicted(ruleset, attempt), world.dial([attempt])
                _counted(tally, f"seed {seed} ruleset {number}: {attempt}", prediction, outcome)
            _watched(
                tally,
                world,
                ruleset,
                [one for one, told in zip(tried, predictions, strict=True) if told.hits and told.word == "dropped"],
            )
            emptied(world)
    return tally


def _watched(tally: Tally, world: World, ruleset: Ruleset, ending: Sequence[Attempt]) -> None:
    """Of one that gets no further than the router: the rules that are predicted count it, and no others.

    Where legacy iptables and nf_tables are mixed, or rules decide by chance, only what is certain is predicted.
    On a busy machine something else may still be on its way, so what counts three times in a row is meant.
    """
    mixed = len({table.origin is Origin.IPTABLES_LEGACY for table in ruleset.tables}) > 1
    mixed = mixed or any("statistic" in rule.text for rule in addresses(ruleset))
    for one in ending[:1]:
        always: set[str] | None = None
        for _ in range(3):
            again = replace(one, source_port=world.source_port())
            prediction = predicted(ruleset, again)
            before = counters_of(world.router, ruleset)
            world.dial([again])
            after = counters_of(world.router, ruleset)
            moved = {str(rule) for rule, count in after.items() if count != before[rule]}
            always = moved if always is None else always & moved
            hits = {str(rule) for rule in prediction.hits if rule in after}
            if prediction.word == "unknown" or always == hits:
                break
        if always == hits or (mixed and hits <= (always or set())):
            tally.counted += 1
        elif prediction.word != "unknown":
            tally.wrong.append(f"{again}: predicted {sorted(hits)}, but counted {sorted(always or ())}")


def _true(prediction: Prediction, outcome: Outcome) -> bool:
    told = not prediction.reached or (prediction.reached, prediction.seen) == (outcome.reached, outcome.seen)
    return prediction.word in ("unknown", "nowhere") or (prediction.word == outcome.word and told)


def _counted(tally: Tally, where: str, prediction: Prediction, outcome: Outcome) -> None:
    if prediction.word in ("unknown", "nowhere"):
        tally.unknown += 1
    elif _true(prediction, outcome):
        tally.agreed += 1
        tally.ways[outcome.word] = tally.ways.get(outcome.word, 0) + 1
    else:
        tally.wrong.append(f"{where}: {prediction}, but {outcome}")


def loaded(world: World, kind: str, chance: random.Random) -> None:
    """Rules of one kind, or of all three at once."""
    if kind in ("iptables-legacy", "iptables-nft", "both"):
        for command in ("iptables-legacy", "iptables-nft") if kind == "both" else (kind,):
            text = "".join(
                "\n".join([f"*{table}", *lines, "COMMIT", ""]) for table, lines in iptables_rules(chance).items()
            )
            inside(world.router, f"{command}-restore", stdin=text)
    if kind in ("nft", "both"):
        for _ in range(20):
            try:
                inside(world.router, "nft", "-f", "-", stdin=nft_rules(chance))
            except LabError:
                # some combinations of conditions make no sense to nft
                continue
            return
        raise AssertionError("no ruleset that nft would take")


def emptied(world: World) -> None:
    """No rules any more."""
    inside(world.router, "nft", "flush", "ruleset")
    for table in ("raw", "mangle", "nat", "filter"):
        text = inside(world.router, "iptables-legacy-save")
        if f"*{table}\n" in text:
            chains = [line for line in text.split(f"*{table}\n")[1].split("COMMIT")[0].splitlines() if line[:1] == ":"]
            own = [line for line in chains if line.split()[1] == "-"]
            policies = [f"{line.split()[0]} ACCEPT [0:0]" for line in chains if line not in own]
            inside(world.router, "iptables-legacy-restore", stdin="\n".join([f"*{table}", *policies, "COMMIT", ""]))
