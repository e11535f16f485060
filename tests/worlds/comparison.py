"""A random world on a real engine: predicted from its file before it is up and from inspect, and then looked at.

What netdiag observes is not believed alone: a sample of its cells is tried by plain sockets of our own.
"""

from __future__ import annotations

import errno
import ipaddress
import shutil
import socket
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

from netdiag.compose.load import load
from netdiag.compose.positions import Source
from netdiag.deployment.model.deployment import Deployment, Firewall, Platform, generation_of
from netdiag.deployment.model.vantage import Vantage, VantageKind
from netdiag.deployment.model.verdict import Address, Cell, Failed, Verdict, Word
from netdiag.deployment.observation.live_view import LiveVantage
from netdiag.deployment.prediction.reachability import predict
from netdiag.deployment.sources.compose import from_compose
from netdiag.io.engine.live_deployment import Live, OtherVantages, read_live
from netdiag.io.network.observation import observe
from netdiag.linux.netns import ProcessNamespace
from netdiag.rules.declared import check_deployment, failing_to_start
from tests.lab.containers import Container
from tests.lab.engine import HOST_ADDRESS
from tests.lab.errors import LabError
from tests.lab.kafka_wire import within
from tests.lab.lab import Lab
from tests.lab.stack import Stack
from tests.worlds.random_world import STUB, World

_START_LIMIT = 60.0
_CONNECT_LIMIT = 4.5
_SAMPLE = 12
# The kernel gives up on a neighbour after three questions, one a second.
_NEIGHBOUR = 2.0
_ERRNO = {
    errno.ECONNREFUSED: "refused",
    errno.EHOSTUNREACH: "unreachable",
    errno.ENETUNREACH: "unreachable",
    errno.ETIMEDOUT: "timeout",
    errno.EAGAIN: "timeout",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Miss:
    """A cell that came out otherwise than predicted; `why` are the reasons that both sides give."""

    source: str
    vantage: str
    address: str
    predicted: str
    seen: str
    why: str

    def __str__(self) -> str:
        return f"{self.vantage} -> {self.address}: {self.predicted} from {self.source}, seen {self.seen} ({self.why})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """Cells that were predicted with a yes or no, and those of them that came out otherwise; the unknown apart."""

    source: str
    decided: int
    unknown: int
    misses: tuple[Miss, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """What one world gave."""

    seed: int
    tallies: tuple[Tally, ...]
    sampled: int
    contradicted: tuple[str, ...]


def compare_world(
    lab: Lab, world: World, folder: Path, *, userland_proxy: bool, firewall: Firewall = Firewall.IPTABLES
) -> Comparison:
    """Foretell, bring up, look, compare, take down."""
    file = folder / "compose.yml"
    file.write_text(world.text)
    shutil.copyfile(Path(__file__).with_name("stub.py"), folder / STUB)
    (folder / STUB).chmod(0o755)
    release = lab.engine.docker("version", "--format", "{{.Server.Version}}").strip()
    platform = Platform(generation=generation_of(release), userland_proxy=userland_proxy, firewall=firewall)
    project = load(Source(str(file), file.read_bytes()), environ={}, profiles=())
    declared = replace(from_compose(project, host_addresses=(HOST_ADDRESS,)), platform=platform)
    with lab.up(file, project=f"world{world.seed}", wait="none") as stack:
        wait_until_listening(stack)
        if world.stopped:
            stack.run_compose("kill", world.stopped)
        everywhere = OtherVantages(netns=(lab.engine.record.lan_netns,), everywhere=True)
        live = read_live(host=lab.engine.docker_host, project=stack.project, vantages=everywhere)
        addresses = (*world.addresses, *_numbers(live, world))
        with ThreadPoolExecutor(_SAMPLE) as pool:
            sample = _Sample(live, stack, addresses, world.seed, pool)
            seen = observe(live.vantages, addresses).cells
        known = predict(live.deployment.with_down(live.stopped), [s.vantage for s in live.vantages], addresses)
        down = failing_to_start(check_deployment(declared), declared) | ({world.stopped} if world.stopped else set())
        places = [_as_declared(each.vantage, declared) for each in live.vantages]
        before = predict(declared.with_down(down), places, world.addresses)
        for _ in range(2):
            seen = _once_more(live.vantages, seen, (*known, *before))
        contradicted = tuple(sample.contradictions(seen))
    return Comparison(
        seed=world.seed,
        tallies=(_tally("the file", before, seen), _tally("inspect", known, seen)),
        sampled=len(sample),
        contradicted=contradicted,
    )


def _as_declared(vantage: Vantage, declared: Deployment) -> Vantage:
    """The same place, with the networks as the file calls them."""
    member = declared.by_name.get(vantage.member) if vantage.member else None
    networks = tuple(attachment.network for attachment in member.attachments) if member else ()
    return Vantage(kind=vantage.kind, label=vantage.label, member=vantage.member, networks=networks)


def _numbers(live: Live, world: World) -> tuple[Address, ...]:
    """The addresses that only inspect tells: of containers and gateways, at a port that is somebody's."""
    chance = Random(world.seed)
    found = [a for member in live.deployment.members for m in member.attachments for a in m.addresses]
    found += [gateway for network in live.deployment.networks.values() for gateway in network.gateways]
    told = {address.host for address in world.addresses}
    wanted = [a for a in dict.fromkeys(found) if a not in told and "." in a]
    return tuple(Address(host=a, port=chance.choice(world.ports)) for a in wanted[:8])


def wait_until_listening(stack: Stack) -> None:
    """Until every stand-in listens on all its ports, or has ended."""
    deadline = time.monotonic() + _START_LIMIT
    while late := [c.service for c in stack.containers() if c.is_broker and not _listens(c)]:
        ended = [c.service for c in stack.containers() if c.is_broker and not c.is_running]
        if ended or time.monotonic() > deadline:
            logs = "\n".join(stack.logs(name) for name in late)
            # Whose port it could not have, or what else the engine did not like.
            logs += stack.run_compose("up", "-d", "--pull", "never", check=False)
            raise LabError(f"{', '.join(late)} of {stack.project} did not start: {logs}")
        time.sleep(0.05)


def _listens(container: Container) -> bool:
    try:
        text = Path(f"/proc/{container.pid}/net/tcp").read_text() if container.is_running else ""
    except OSError:
        return False
    rows = [line.split() for line in text.splitlines()[1:]]
    open_ports = {int(row[1].rpartition(":")[2], 16) for row in rows if row[3] == "0A"}
    wanted = {int(entry.rpartition(":")[2]) for entry in container.environment["KAFKA_LISTENERS"].split(",")}
    return wanted <= open_ports


def _once_more(vantages: Sequence[LiveVantage], seen: Sequence[Cell], predicted: Iterable[Cell]) -> tuple[Cell, ...]:
    """Cells that came out otherwise are looked at again, alone: the machine may have been busy."""
    words = {(cell.vantage, cell.bootstrap): str(cell.observed) for cell in seen}
    doubtful = {
        (cell.vantage, cell.bootstrap)
        for cell in predicted
        if cell.predicted and not _fits(cell.predicted, words[cell.vantage, cell.bootstrap])
    }
    if not doubtful:
        return tuple(seen)
    addresses = tuple(dict.fromkeys(address for _, address in doubtful))
    labels = {label for label, _ in doubtful}
    again = observe([s for s in vantages if s.vantage.label in labels], addresses, timeout=6.0).cells
    second = {(cell.vantage, cell.bootstrap): cell for cell in again if (cell.vantage, cell.bootstrap) in doubtful}
    return tuple(second.get((cell.vantage, cell.bootstrap), cell) for cell in seen)


def _fits(verdict: Verdict, seen: str) -> bool:
    return verdict.word is Word.UNKNOWN or str(verdict) == seen or _unknown_inside(verdict)


def _unknown_inside(verdict: Verdict) -> bool:
    """Whether the answer hangs on an endpoint of which nothing is predicted."""
    return any(one.outcome == Word.UNKNOWN.value for one in verdict.endpoints)


def _tally(source: str, predicted: Sequence[Cell], seen: Sequence[Cell]) -> Tally:
    observed = {(cell.vantage, cell.bootstrap): cell.observed for cell in seen}
    decided, unknown, misses = 0, 0, []
    for cell in predicted:
        verdict, saw = cell.predicted, observed.get((cell.vantage, cell.bootstrap))
        if verdict is None or saw is None:
            raise LabError(f"nobody looked at {cell.vantage} -> {cell.bootstrap}")
        if verdict.word is Word.UNKNOWN or _unknown_inside(verdict):
            unknown += 1
            continue
        decided += 1
        if str(verdict) != str(saw):
            misses.append(
                Miss(
                    source=source,
                    vantage=cell.vantage,
                    address=str(cell.bootstrap),
                    predicted=str(verdict),
                    seen=str(saw),
                    why=f"predicted: {_why(verdict)}; seen: {_why(saw)}",
                )
            )
    return Tally(source=source, decided=decided, unknown=unknown, misses=tuple(misses))


def _why(verdict: Verdict) -> str:
    parts = [verdict.bootstrap.because]
    parts += [f"{one.endpoint.address} {one.outcome}: {one.contact.because}" for one in verdict.endpoints]
    return ", ".join(parts)


class _Sample:
    """Some cells whose address is a number, tried by sockets of our own from the same namespaces meanwhile."""

    def __init__(self, live: Live, stack: Stack, addresses: Sequence[Address], seed: int, pool: Executor) -> None:
        self._places = _namespaces(live, stack)
        pairs = [(vantage, address) for vantage in self._places for address in addresses if _is_number(address.host)]
        chosen = Random(seed).sample(pairs, min(_SAMPLE, len(pairs)))
        self._asked = {pair: pool.submit(self._ask, *pair) for pair in chosen}

    def __len__(self) -> int:
        return len(self._asked)

    def contradictions(self, seen: Sequence[Cell]) -> Iterator[str]:
        """Where the observation says otherwise; a busy machine gets two more tries."""
        observed = {(cell.vantage, cell.bootstrap): cell.observed for cell in seen}
        for (vantage, address), asked in self._asked.items():
            verdict = observed[vantage, address]
            assert verdict is not None
            wanted, got = _first_hop(verdict), asked.result()
            for _ in range(2):
                if wanted not in got:
                    got = self._ask(vantage, address)
            if wanted not in got:
                yield f"{vantage} -> {address}: observed {wanted}, a plain socket {' or '.join(got)}"

    def _ask(self, vantage: str, address: Address) -> tuple[str, ...]:
        return within(self._places[vantage], lambda: _connect(address))


def _namespaces(live: Live, stack: Stack) -> Mapping[str, Path]:
    found = {}
    for each in live.vantages:
        if isinstance(each.entrance, ProcessNamespace) and each.vantage.member:
            found[each.vantage.label] = Path(f"/proc/{each.entrance.pid}/ns/net")
        elif each.vantage.kind is VantageKind.DOCKER_HOST:
            found[each.vantage.label] = stack.engine.host.netns
        elif each.vantage.kind is VantageKind.LAN:
            found[each.vantage.label] = stack.engine.lan.netns
    return found


def _is_number(host: str) -> bool:
    try:
        ipaddress.IPv4Address(host)
    except ValueError:
        return False
    return True


def _first_hop(verdict: Verdict) -> str:
    """Of an observed cell, what a bare connection shows: one that is closed afterwards was accepted first."""
    failed = verdict.bootstrap
    reason = failed.reason.value if isinstance(failed, Failed) else "accepted"
    return reason if reason in _ERRNO.values() else "accepted"


def _connect(address: Address) -> tuple[str, ...]:
    """What a connection gives; where nobody answers for an address, it takes luck to wait long enough for the error."""
    begin = time.monotonic()
    try:
        socket.create_connection((address.host, address.port), timeout=_CONNECT_LIMIT).close()
    except TimeoutError:
        return ("timeout",)
    except OSError as error:
        word = _ERRNO.get(error.errno or 0, str(error))
        late = word == "unreachable" and time.monotonic() - begin > _NEIGHBOUR
        return (word, "timeout") if late else (word,)
    return ("accepted",)
