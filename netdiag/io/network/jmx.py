"""What a JMX client gets at every vantage x address of a registry: the stub, then the RMI server that it names.

A time limit ends every step, and one run takes at most `timeout` for each of the two hops. A server that speaks TLS is
unknown: who may enter there is up to certificates that are not asked about.
"""

import asyncio
import socket
from collections.abc import Sequence
from contextlib import ExitStack

from netdiag.deployment.model.jmx import JmxCell, JmxStub, JmxVerdict
from netdiag.deployment.model.verdict import Address, Answered, Contact, Failed, Mechanism, Reason, Unknown
from netdiag.deployment.observation.live_view import LiveVantage, SkippedVantage
from netdiag.errors import MissingRight, NetdiagError
from netdiag.io.kernel.netns import open_namespace
from netdiag.io.network.connection import Target, received
from netdiag.io.network.limits import many_sockets
from netdiag.io.network.name_service import read_name_service
from netdiag.io.network.prober import Place, Prober
from netdiag.io.network.resolver import Resolver
from netdiag.kafka.jrmp import NoRmi, NoRmiKind, RegistryLookup, RmiAnswers, RmiStub, VersionCall
from netdiag.values import dataclass

_REASONS = {
    NoRmiKind.CLOSED: Reason.CLOSED,
    NoRmiKind.SILENT: Reason.TIMEOUT,
    NoRmiKind.OTHER: Reason.NOT_KAFKA,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservedJmx:
    """The cells in the order of vantages and addresses, and the vantages that were impossible."""

    cells: tuple[JmxCell, ...]
    skipped: tuple[SkippedVantage, ...] = ()
    notes: tuple[str, ...] = ()


def observe_jmx(vantages: Sequence[LiveVantage], registries: Sequence[Address], *, timeout: float) -> ObservedJmx:
    """Look from every vantage at every address; `timeout` is seconds for one hop."""
    places: list[tuple[LiveVantage, Place]] = []
    skipped: list[SkippedVantage] = []
    notes: list[str] = []
    cells: list[JmxCell] = []
    with ExitStack() as opened:
        sockets = opened.enter_context(many_sockets())
        for each in vantages:
            try:
                namespace = opened.enter_context(open_namespace(each.entrance))
            except NetdiagError as error:
                rights = isinstance(error, MissingRight)
                skipped.append(SkippedVantage(vantage=each.vantage, because=str(error), rights=rights))
                continue
            names = read_name_service(namespace)
            notes += [f"{each.vantage.label}: cannot read {because}" for because in names.unreadable]
            places.append((each, Place(namespace=namespace, resolver=Resolver(namespace, names))))
        # Not as the coroutine's result: asyncio.run makes a text of that when it puts the signal handler back.
        asyncio.run(_look(places, tuple(dict.fromkeys(registries)), timeout, sockets, cells))
    return ObservedJmx(cells=tuple(cells), skipped=tuple(skipped), notes=tuple(notes))


async def _look(
    places: Sequence[tuple[LiveVantage, Place]],
    registries: Sequence[Address],
    timeout: float,
    sockets: int,
    cells: list[JmxCell],
) -> None:
    deadline = asyncio.get_running_loop().time() + 2 * timeout
    prober = Prober(patience=timeout, deadline=deadline, sockets=sockets)
    pairs = [(each, place, address) for each, place in places for address in registries]
    verdicts = await asyncio.gather(*(_both_hops(prober, place, address) for _, place, address in pairs))
    cells += [
        JmxCell(vantage=each.vantage.label, registry=address, observed=verdict)
        for (each, _, address), verdict in zip(pairs, verdicts, strict=True)
    ]


async def _both_hops(prober: Prober, place: Place, registry: Address) -> JmxVerdict:
    found: list[RmiStub] = []

    async def look_up(channel: socket.socket, target: Target, until: float, attempt: int) -> Contact | None:
        talk = RegistryLookup()
        await _converse(channel, talk, until)
        if isinstance(talk.outcome, RmiStub):
            found[:] = [talk.outcome]
            return Answered(node_id=None, cluster_id=None, ip=target.ip, because=f"{target}: the JMX registry answers")
        return _contact(target, talk.outcome)

    answer = await prober.asked(place, registry, look_up)
    if not isinstance(answer, Answered) or not found:
        return JmxVerdict(registry=answer)
    stub = found[0]
    told = JmxStub(host=stub.host, port=stub.port)
    if stub.uses_tls:
        because = "the stub asks for TLS, and netdiag does not know what the RMI server makes of a client's certificate"
        return JmxVerdict(registry=answer, stub=told, rmi=Unknown(because=because))

    async def call(channel: socket.socket, target: Target, until: float, attempt: int) -> Contact | None:
        talk = VersionCall(stub)
        await _converse(channel, talk, until)
        if isinstance(talk.outcome, RmiAnswers):
            because = f"{target}: the RMI server answers, JMX {talk.outcome.version}"
            return Answered(node_id=None, cluster_id=None, ip=target.ip, because=because)
        return _contact(target, talk.outcome)

    address = Address(host=stub.host, port=stub.port)
    return JmxVerdict(registry=answer, stub=told, rmi=await prober.asked(place, address, call))


async def _converse(channel: socket.socket, talk: RegistryLookup | VersionCall, until: float) -> None:
    loop = asyncio.get_running_loop()
    try:
        async with asyncio.timeout_at(until):
            await loop.sock_sendall(channel, talk.start())
            while talk.outcome is None:
                data = await received(channel)
                if not data:
                    talk.closed()
                    return
                talk.receive(data)
                if more := talk.bytes_to_send():
                    await loop.sock_sendall(channel, more)
    except TimeoutError:
        talk.timed_out()
    except OSError:
        talk.closed()


def _contact(target: Target, outcome: object) -> Contact:
    if not isinstance(outcome, NoRmi):
        return Unknown(because=f"the conversation with {target} did not end")
    if outcome.kind is NoRmiKind.TLS:
        return Unknown(
            because=f"{target} speaks TLS, and netdiag does not know what it makes of a client's certificate"
        )
    mechanism = Mechanism.NOT_KAFKA if outcome.kind is NoRmiKind.OTHER else None
    because = f"{target}: {outcome.said}"
    return Failed(reason=_REASONS[outcome.kind], because=because, ip=target.ip, mechanism=mechanism)
