"""One probe: every step of a client from one place, timed, within one deadline.

Unlike `prober`, which looks at thousands of pairs and keeps the result only, this tells the way there: every address of
a name is tried, also after one has answered. Nothing outlives the deadline: neither a task nor a socket nor a thread.
"""

import asyncio
import socket
from collections.abc import Sequence
from dataclasses import replace

from netdiag.deployment.model.verdict import (
    Address,
    Answered,
    Contact,
    Failed,
    NodeEndpoint,
    Reason,
    Unknown,
    judge,
    outcomes,
)
from netdiag.deployment.observation.probe import (
    AddressReport,
    BootstrapReport,
    ConnectionAttempt,
    GroupReport,
    ProbeReport,
    Step,
    StepKind,
    answered_steps,
    failed_step,
)
from netdiag.io.kernel.netns import open_namespace
from netdiag.io.network.client_handshake import Speaker, TrustedAsItIs
from netdiag.io.network.client_identity import Client
from netdiag.io.network.connection import Line, Target, TlsBroken, connect, connect_failure
from netdiag.io.network.limits import Allowance, many_sockets
from netdiag.io.network.name_service import read_name_service
from netdiag.io.network.other_protocols import identify, plaintext_instead
from netdiag.io.network.prober import Place, furthest
from netdiag.io.network.resolver import Resolved, Resolver
from netdiag.kafka.conversation import Conversation, Coordinator, CoordinatorConversation, NoCoordinator
from netdiag.kafka.questions import ApiVersion, Event
from netdiag.kafka.questions import ApiVersionsReceived as Versions
from netdiag.linux.netns import NamespaceId
from netdiag.values import dataclass

TIMEOUT = 10.0
_SHARE = 0.4
_ASKED_AGAIN = (Reason.CLOSED, Reason.TIMEOUT)
_MOST_ENDPOINTS = 200
_MOST_AT_ONCE = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What is asked: bootstrap addresses, a consumer group, and the seconds that everything may take; by which client.

    Without `client`, in plaintext.
    """

    bootstraps: tuple[Address, ...]
    group: str
    timeout: float = TIMEOUT
    client: Client | None = None


def probe(place: str, entrance: NamespaceId, question: Question) -> ProbeReport:
    """Look from one place; NetdiagError where it cannot be entered."""
    stories: list[BootstrapReport] = []
    with many_sockets() as sockets, open_namespace(entrance) as namespace:
        names = read_name_service(namespace)
        standing = Place(namespace=namespace, resolver=Resolver(namespace, names))
        # Not as the coroutine's result: asyncio.run makes a text of that when it puts the signal handler back.
        asyncio.run(_tell(standing, question, min(sockets, _MOST_AT_ONCE), stories))
    notes = tuple(f"cannot read {because}" for because in names.unreadable)
    return ProbeReport(place=place, bootstraps=tuple(stories), speaks=Speaker(question.client).protocol, notes=notes)


async def _tell(place: Place, question: Question, sockets: int, stories: list[BootstrapReport]) -> None:
    teller = _Teller(place, question, sockets)
    stories += await asyncio.gather(*(teller.bootstrap(address) for address in dict.fromkeys(question.bootstraps)))


class _Teller:
    """One run."""

    def __init__(self, place: Place, question: Question, sockets: int) -> None:
        self._place = place
        self._group = question.group
        self._speaker = Speaker(question.client)
        self._deadline = self._now() + question.timeout
        self._patience = question.timeout * _SHARE
        self._sockets = asyncio.Semaphore(sockets)
        self._allowance = Allowance()
        self._dialogues: dict[Address, asyncio.Task[AddressReport]] = {}

    async def bootstrap(self, address: Address) -> BootstrapReport:
        """Both hops, and the coordinator of the group."""
        dialogue = await self._dialogue(address, None)
        if not isinstance(dialogue.contact, Answered):
            return BootstrapReport(dialogue=dialogue, endpoints=(), verdict=judge(dialogue.contact, _nobody))
        answered = dialogue.contact
        named = sorted(answered.brokers, key=lambda endpoint: endpoint.node_id)[:_MOST_ENDPOINTS]
        group, *endpoints = await asyncio.gather(
            self._coordinator(dialogue, answered),
            *(self._dialogue(endpoint.address, endpoint.node_id) for endpoint in named),
        )
        assert isinstance(group, GroupReport)
        seen = tuple(one for one in endpoints if isinstance(one, AddressReport))
        contacts = {one.address: one.contact for one in seen}
        verdict = judge(answered, lambda endpoint: contacts.get(endpoint.address) or _TOO_MANY)
        return BootstrapReport(dialogue=dialogue, endpoints=seen, verdict=verdict, group=group)

    async def _dialogue(self, address: Address, expected: int | None) -> AddressReport:
        """Each address once: an endpoint that is the bootstrap address itself is known already."""
        if address not in self._dialogues:
            self._dialogues[address] = asyncio.create_task(self._speak(address, expected))
        return await self._dialogues[address]

    async def _speak(self, address: Address, expected: int | None) -> AddressReport:
        begin = self._now()
        resolution = await self._place.resolver.resolve(address.host, min(self._deadline, begin + self._patience))
        seconds = self._now() - begin
        if not isinstance(resolution, Resolved):
            failed = Failed(reason=Reason.UNRESOLVED, because=resolution.because)
            step = Step(act=StepKind.RESOLVE, well=False, said=resolution.because, seconds=seconds)
            return AddressReport(address=address, resolve=step, attempts=(), contact=failed)
        step = Step(act=StepKind.RESOLVE, well=True, said=_resolved(address, resolution), seconds=seconds)
        targets = [Target(ip=ip, port=address.port) for ip in resolution.addresses]
        told = await asyncio.gather(*(self._attempt(target, address.host, expected) for target in targets))
        attempts = tuple(attempt for attempt, _ in told)
        answered = next((one for one in told if isinstance(one[0].contact, Answered)), None)
        if answered is not None:
            contact, versions = answered[0].contact, answered[1]
            return AddressReport(
                address=address, resolve=step, attempts=attempts, contact=contact, api_versions=versions
            )
        return AddressReport(
            address=address, resolve=step, attempts=attempts, contact=furthest([one.contact for one in attempts])
        )

    async def _attempt(
        self, target: Target, host: str, expected: int | None
    ) -> tuple[ConnectionAttempt, tuple[ApiVersion, ...]]:
        try:
            return await self._tried(target, host, expected)
        except TrustedAsItIs:
            return await self._tried(target, host, expected, pinned=True)

    async def _tried(
        self, target: Target, host: str, expected: int | None, *, pinned: bool = False
    ) -> tuple[ConnectionAttempt, tuple[ApiVersion, ...]]:
        async with self._sockets:
            begin = self._now()
            try:
                channel = self._place.namespace.socket(target.family, socket.SOCK_STREAM)
            except OSError as error:
                return _not_connected(target, connect_failure(error, target), 0), ()
            with channel:
                failure = await connect(channel, target, self._deadline, self._patience)
                connected = self._now()
                if failure is not None:
                    return _not_connected(target, failure, connected - begin), ()
                accepted = Step(act=StepKind.CONNECT, well=True, said=f"{target} accepts", seconds=connected - begin)
                return await self._converse(channel, target, host, expected, accepted, pinned=pinned)

    async def _converse(
        self,
        channel: socket.socket,
        target: Target,
        host: str,
        expected: int | None,
        accepted: Step,
        *,
        pinned: bool,
    ) -> tuple[ConnectionAttempt, tuple[ApiVersion, ...]]:
        steps = [accepted]
        versions: list[ApiVersion] = []
        last = self._now()

        def told(events: Sequence[Event]) -> None:
            nonlocal last
            now = self._now()
            found = answered_steps(events, now - last)
            if found:
                steps.extend(found)
                last = now
            for event in events:
                if isinstance(event, Versions):
                    versions[:] = event.api_versions

        def entered(said: str) -> None:
            nonlocal last
            now = self._now()
            steps.append(Step(act=StepKind.ENTER, well=True, said=said, seconds=now - last))
            last = now

        talk = Conversation(expected_node_id=expected)
        until = min(self._deadline, last + self._patience)
        with self._allowance.answer() as share:
            contact = await self._speaker.converse(
                channel, target, host, talk, share, until, pinned=pinned, entered=entered, told=told
            )
        if isinstance(contact, Failed) and contact.reason in _ASKED_AGAIN:
            channel.close()
            contact = await self._introduced(target, contact)
        inside = sum(step.act is StepKind.ENTER for step in steps) == self._speaker.entries
        steps += failed_step(contact, self._now() - last, act=StepKind.ASK if inside else StepKind.ENTER)
        return ConnectionAttempt(ip=target.ip, steps=tuple(steps), contact=contact), tuple(versions)

    async def _introduced(self, target: Target, failed: Failed) -> Failed:
        """Who is there; a client that speaks TLS is told whether plaintext is spoken instead."""
        if not self._speaker.uses_tls:
            return await identify(target, lambda: self._connect(target), failed, self._deadline)
        channel = await self._connect(target)
        if channel is None:
            return failed
        with channel, self._allowance.answer() as share:
            until = min(self._deadline, self._now() + self._patience)
            return await plaintext_instead(channel, target, share, until) or failed

    async def _connect(self, target: Target) -> socket.socket | None:
        channel = self._place.namespace.socket(target.family, socket.SOCK_STREAM)
        if await connect(channel, target, self._deadline, self._patience) is None:
            return channel
        channel.close()
        return None

    async def _coordinator(self, dialogue: AddressReport, answered: Answered) -> GroupReport:
        """Who coordinates the group, and whether a client gets there."""
        begin = self._now()
        found = await self._ask_for_coordinator(dialogue, answered)
        seconds = self._now() - begin
        if isinstance(found, NoCoordinator):
            return GroupReport(group=self._group, said=found.because, seconds=seconds, harmless=found.harmless)
        named = found.endpoint
        endpoint = NodeEndpoint(node_id=named.node_id, host=named.host, port=named.port)
        reached = await self._dialogue(endpoint.address, endpoint.node_id)
        (outcome,) = outcomes(replace(answered, brokers=(endpoint,)), lambda _: reached.contact)
        said = f"broker {endpoint.node_id} coordinates it, at {endpoint.address}"
        return GroupReport(group=self._group, said=said, seconds=seconds, endpoint=endpoint, outcome=outcome.outcome)

    async def _ask_for_coordinator(self, dialogue: AddressReport, answered: Answered) -> Coordinator | NoCoordinator:
        talk = CoordinatorConversation(self._group, dialogue.api_versions)
        first = talk.start()
        if talk.outcome is not None or answered.ip is None:
            return talk.outcome or NoCoordinator(because="where it answers is not known", harmless=True)
        target = Target(ip=answered.ip, port=dialogue.address.port)
        try:
            return await self._coordinator_at(target, dialogue.address.host, talk, first)
        except TrustedAsItIs:
            return await self._coordinator_at(target, dialogue.address.host, talk, first, pinned=True)

    async def _coordinator_at(
        self, target: Target, host: str, talk: CoordinatorConversation, first: bytes, *, pinned: bool = False
    ) -> Coordinator | NoCoordinator:
        async with self._sockets:
            with self._place.namespace.socket(target.family, socket.SOCK_STREAM) as channel:
                failure = await connect(channel, target, self._deadline, self._patience)
                if failure is not None:
                    return NoCoordinator(because=failure.because)
                until = min(self._deadline, self._now() + self._patience)
                line = await self._speaker.enter(channel, target, host, until, pinned=pinned)
                if isinstance(line, Failed | Unknown):
                    return NoCoordinator(because=line.because)
                await self._exchange(line, talk, first)
        return talk.outcome or NoCoordinator(because="no answer in time")

    async def _exchange(self, line: Line, talk: CoordinatorConversation, first: bytes) -> None:
        try:
            async with asyncio.timeout_at(min(self._deadline, self._now() + self._patience)):
                await line.send(first)
                while talk.outcome is None:
                    data = await line.receive()
                    if not data:
                        talk.closed()
                        return
                    talk.receive(data)
                    if more := talk.bytes_to_send():
                        await line.send(more)
        except TimeoutError:
            talk.timed_out()
        except (OSError, TlsBroken):
            talk.closed()

    def _now(self) -> float:
        return asyncio.get_running_loop().time()


_TOO_MANY = Unknown(because=f"more than {_MOST_ENDPOINTS} endpoints are advertised, this one was not tried")


def _nobody(endpoint: NodeEndpoint) -> Contact:
    return Unknown(because=f"{endpoint.address} was not tried")


def _not_connected(target: Target, failure: Failed | Unknown, seconds: float) -> ConnectionAttempt:
    reason = f"{failure.reason.value}: " if isinstance(failure, Failed) else ""
    step = Step(act=StepKind.CONNECT, well=False, said=f"{reason}{failure.because}", seconds=seconds)
    return ConnectionAttempt(ip=target.ip, steps=(step,), contact=failure)


def _resolved(address: Address, resolution: Resolved) -> str:
    if not resolution.by:
        return f"{address.host} is an address"
    not_tried = f"; not {', '.join(resolution.not_tried)}: no IPv6 here" if resolution.not_tried else ""
    return f"{address.host} is {', '.join(resolution.addresses)}, by {resolution.by}{not_tried}"
