"""Contacting many addresses from many places at once, within one deadline.

Every (place, address) is contacted once: resolve, connect, converse. What fails quickly is tried again, alone at its
target, before it is believed; a time-out has had its retransmissions already. Nothing here takes longer than the
deadline of the run, however many addresses there are. It is done as one client does it: in plaintext, or as settings
say; what endpoints tell about their security is asked for by the way.
"""

import asyncio
import ipaddress
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Hashable, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial

from netdiag.deployment.model.verdict import (
    Address,
    Ambiguous,
    Answered,
    Contact,
    Failed,
    NodeEndpoint,
    Reason,
    Unknown,
)
from netdiag.io.kernel.netns import Namespace
from netdiag.io.network.client_handshake import Speaker, TrustedAsItIs
from netdiag.io.network.connection import Target, connect, connect_failure
from netdiag.io.network.limits import Allowance, Gates
from netdiag.io.network.listener_security import read_security
from netdiag.io.network.other_protocols import answers_tls, plaintext_instead
from netdiag.io.network.path_mtu import lost_large_packets
from netdiag.io.network.resolver import Resolved, Resolver, Unresolved
from netdiag.kafka.conversation import Conversation
from netdiag.kafka.sasl import LoggedIn, Refused
from netdiag.kafka.security import WARN_DAYS, ListenerSecurity

_HEAD_START = 0.3
_QUICK = 1.5
_ENOUGH_FOR_ANOTHER = 0.5
_GRACE = 0.1
_MOST_SECOND_HOPS = 1500
_MOST_ENDPOINTS_KEPT = 20_000
_MOST_LOOKS = 200
# What was met where somebody else than a plaintext Kafka may answer.
_TELLING = frozenset({Reason.TLS, Reason.SASL, Reason.NOT_KAFKA, Reason.CLOSED})
# Of several addresses that all failed, the failure that got furthest is told.
_PROGRESS = (Reason.SASL, Reason.TLS, Reason.NOT_KAFKA, Reason.CLOSED, Reason.TIMEOUT, Reason.REFUSED)


Ask = Callable[[socket.socket, Target, float, int], Awaitable[Contact | None]]
"""Speaks on a connected socket until a time of the loop; the first attempt may ask for another one by None."""


@dataclass(frozen=True, slots=True, eq=False)
class Place:
    """Where to stand: a namespace and what resolves names there."""

    namespace: Namespace
    resolver: Resolver


class _Progress:
    """How far one attempt is: its packet is out, it is accepted."""

    def __init__(self) -> None:
        self.trying = asyncio.Event()
        self.accepted = asyncio.Event()


class Prober:
    """One run. `patience` is seconds for each step of a contact, `deadline` ends everything (loop time).

    With `topics`, brokers are asked which topics have no leader, instead of who they are.
    """

    def __init__(
        self,
        *,
        patience: float,
        deadline: float,
        sockets: int,
        speaker: Speaker | None = None,
        warn_days: int = WARN_DAYS,
        topics: bool = False,
    ) -> None:
        self._patience = patience
        self._topics = topics
        self._deadline = deadline
        self._sockets = asyncio.Semaphore(sockets)
        self._gates = Gates()
        self._alone: dict[Hashable, asyncio.Lock] = {}
        self._allowance = Allowance()
        self._contacts: dict[tuple[Place, Address], asyncio.Task[Contact]] = {}
        self._seconds: dict[tuple[Place, Address], float] = {}
        self._names: dict[tuple[Place, str], asyncio.Task[Resolved | Unresolved]] = {}
        self._paths: dict[tuple[Place, str], asyncio.Task[Failed | None]] = {}
        self._second_hops = 0
        self._kept: dict[tuple[NodeEndpoint, ...], tuple[NodeEndpoint, ...]] = {}
        self._endpoints_kept = 0
        self._speaker = speaker or Speaker(None)
        self._warn_days = warn_days
        self._looks: dict[Hashable, asyncio.Task[ListenerSecurity]] = {}
        self._looked: dict[tuple[Place, Address], Hashable] = {}

    async def both_hops(self, asked: Iterable[tuple[Place, Address]]) -> None:
        """Contact bootstrap addresses, and every endpoint that their answers name."""
        for place, bootstrap in asked:
            self._begun(place, bootstrap).add_done_callback(partial(self._begin_second_hops, place))
        # One task for each contact and nothing else: of matrices with thousands of cells, others are most of the work.
        while waiting := [task for task in self._contacts.values() if not task.done()]:
            for task in (await asyncio.wait(waiting))[0]:
                task.result()

    async def each_address(self, place: Place, address: Address) -> tuple[Contact, ...]:
        """What each address of a name gives, where it has several; nothing where it has one."""
        resolution = await self._resolve(place, address.host)
        if isinstance(resolution, Unresolved) or len(resolution.addresses) < 2:
            return ()
        numbers = [Address(host=ip, port=address.port) for ip in resolution.addresses]
        contacts = await asyncio.gather(*(self.contact(place, number) for number in numbers))
        return tuple(
            contact if isinstance(contact, Unknown) or contact.ip else replace(contact, ip=number.host)
            for contact, number in zip(contacts, numbers, strict=True)
        )

    async def contact(self, place: Place, address: Address, expected_node_id: int | None = None) -> Contact:
        """What contacting the address gives; asked for again, the same answer."""
        task = self._begun(place, address, expected_node_id)
        return task.result() if task.done() else await asyncio.shield(task)

    def known(self, place: Place, address: Address) -> Contact:
        """What the run found out about an address."""
        task = self._contacts.get((place, address))
        if task is None:
            return Unknown(because=f"more than {_MOST_SECOND_HOPS} endpoints are advertised, this one was not tried")
        return task.result() if task.done() and not task.cancelled() else _NO_TIME

    def seconds(self, place: Place, address: Address) -> float | None:
        """How long the contact with an address took, second tries included; None where it was not made."""
        return self._seconds.get((place, address))

    def not_in_time(self) -> str | None:
        """How much of what was to be contacted the time limit left out; None where there was time for everything."""
        late = sum(
            task.done() and not task.cancelled() and task.result() is _NO_TIME for task in self._contacts.values()
        )
        if late == 0:
            return None
        asked = len(self._contacts)
        return (
            f"the time limit was reached before {late} of {asked} addresses were tried: a larger --timeout allows more"
        )

    async def asked(self, place: Place, address: Address, ask: Ask) -> Contact:
        """What `ask` makes of a connection to the address, in place of a Kafka conversation; never remembered."""
        contact: Contact | None = None
        try:
            async with asyncio.timeout_at(self._deadline + _GRACE):
                contact = await self._ask_each(place, address, ask, 0)
                if contact is None:
                    contact = await self._ask_each(place, address, ask, 1)
                elif isinstance(contact, Failed) and not self._is_final(contact) and self._left() > _ENOUGH_FOR_ANOTHER:
                    self._names.pop((place, address.host), None)
                    contact = await self._ask_each(place, address, ask, 0) or contact
        except TimeoutError:
            pass
        return contact or _NO_TIME

    async def _ask_each(self, place: Place, address: Address, ask: Ask, attempt: int) -> Contact | None:
        resolution = await self._resolve(place, address.host)
        if isinstance(resolution, Unresolved):
            return Failed(reason=Reason.UNRESOLVED, because=resolution.because)
        targets = [Target(ip=ip, port=address.port) for ip in resolution.addresses]
        # Side by side: one that swallows packets must not cost the others their time.
        said = await asyncio.gather(*(self._ask_at(place, target, ask, attempt) for target in targets))
        if None in said and not any(isinstance(one, Answered) for one in said):
            return None
        contacts = [one for one in said if one is not None]
        return next((one for one in contacts if isinstance(one, Answered)), None) or furthest(contacts)

    async def _ask_at(self, place: Place, target: Target, ask: Ask, attempt: int) -> Contact | None:
        async with self._connected(place, target) as channel:
            if not isinstance(channel, socket.socket):
                return channel
            return await ask(channel, target, min(self._deadline, self._now() + self._patience), attempt)

    def _begun(self, place: Place, address: Address, expected_node_id: int | None = None) -> asyncio.Task[Contact]:
        key = (place, address)
        if key not in self._contacts:
            self._contacts[key] = asyncio.create_task(self._settled(place, address, expected_node_id))
        return self._contacts[key]

    def _begin_second_hops(self, place: Place, first: asyncio.Task[Contact]) -> None:
        contact = None if first.cancelled() or first.exception() else first.result()
        for endpoint in contact.brokers if isinstance(contact, Answered) else ():
            if (place, endpoint.address) not in self._contacts and self._second_hops < _MOST_SECOND_HOPS:
                self._second_hops += 1
                self._begun(place, endpoint.address, endpoint.node_id)

    async def _settled(self, place: Place, address: Address, expected_node_id: int | None) -> Contact:
        begin = self._now()
        contact: Contact = _NO_TIME
        try:
            # Every step ends itself by the deadline; the grace lets it say so in its own words.
            async with asyncio.timeout_at(self._deadline + _GRACE):
                contact = await self._try(place, address, expected_node_id)
                contact = await self._lost_on_path(place, address.port, contact) or contact
                quick = self._now() - begin < _QUICK and not self._is_final(contact)
                if isinstance(contact, Failed) and quick and self._left() > _ENOUGH_FOR_ANOTHER:
                    contact = await self._again(place, address, expected_node_id, contact)
        except TimeoutError:
            # What is known by now stands.
            pass
        if contact is not _NO_TIME:
            self._seconds[place, address] = self._now() - begin
        self._look_at_security(place, address, contact)
        return self._kept_small(contact) if isinstance(contact, Answered) else contact

    async def _lost_on_path(self, place: Place, port: int, contact: Contact) -> Failed | None:
        """Where a broker answers: whether large packets to its machine get lost, tried once for each address."""
        if not isinstance(contact, Answered) or contact.ip is None or self._speaker.client is not None:
            return None
        if ipaddress.ip_address(contact.ip).is_loopback:
            return None
        key = (place, contact.ip)
        if key not in self._paths:
            self._paths[key] = asyncio.create_task(self._try_path(place, Target(ip=contact.ip, port=port)))
        lost = await asyncio.shield(self._paths[key])
        return lost and replace(lost, because=f"{contact.because.partition(';')[0]}; {lost.because}")

    async def _try_path(self, place: Place, target: Target) -> Failed | None:
        async with self._connected(place, target) as channel:
            if not isinstance(channel, socket.socket):
                return None
            return await lost_large_packets(channel, target, self._deadline)

    async def _again(self, place: Place, address: Address, expected_node_id: int | None, first: Failed) -> Contact:
        """The second opinion on a quick failure, alone at its target; what time does not allow leaves the first."""
        if first.ip is None:
            self._names.pop((place, address.host), None)
            return await self._try(place, address, expected_node_id)
        target = Target(ip=first.ip, port=address.port)
        key = self._key(place, target)
        try:
            async with asyncio.timeout_at(self._deadline), self._alone.setdefault(key, asyncio.Lock()):
                await self._gates.to(key).idle()
                second = await self._try(place, address, expected_node_id)
                if isinstance(second, Failed) and second.reason is Reason.CLOSED:
                    return await self._closed_or_other(place, target, second)
        except TimeoutError:
            return first
        silent = isinstance(second, Failed) and second.reason is Reason.TIMEOUT
        # Hosts send few ICMP errors a second: that one told the way, and silence after it tells nothing more.
        return first if silent and (first.reason is Reason.UNREACHABLE or self._left() < _GRACE) else second

    def _is_final(self, contact: Contact) -> bool:
        """Whether asking again is of no use: a refused login must not be tried until the account is locked."""
        secured = self._speaker.protocol != "PLAINTEXT"
        return not isinstance(contact, Failed) or (secured and contact.reason in (Reason.TLS, Reason.SASL))

    async def _closed_or_other(self, place: Place, target: Target, closed: Failed) -> Failed:
        """A TLS listener may just close on a plaintext client, and a plaintext one on TLS: whether this one does."""
        async with self._connected(place, target) as channel:
            if not isinstance(channel, socket.socket):
                return closed
            if not self._speaker.uses_tls:
                if await answers_tls(channel, self._deadline):
                    because = f"{target} closes on plaintext and answers TLS"
                    return Failed(reason=Reason.TLS, because=because, ip=target.ip)
                return closed
            with self._allowance.answer() as share:
                until = min(self._deadline, self._now() + self._patience)
                return await plaintext_instead(channel, target, share, until) or closed

    async def _try(self, place: Place, address: Address, expected_node_id: int | None) -> Contact:
        if not 0 < address.port < 65536:
            return Failed(reason=Reason.UNREACHABLE, because=f"{address.port} is not a port")
        resolution = await self._resolve(place, address.host)
        if isinstance(resolution, Unresolved):
            return Failed(reason=Reason.UNRESOLVED, because=resolution.because)
        targets = [Target(ip=ip, port=address.port) for ip in resolution.addresses]
        if len(targets) == 1:
            return await self._exchange(place, targets[0], address.host, expected_node_id)
        return await self._race(place, targets, address.host, expected_node_id)

    async def _resolve(self, place: Place, host: str) -> Resolved | Unresolved:
        key = (place, host)
        if key not in self._names:
            deadline = min(self._deadline, self._now() + self._patience)
            self._names[key] = asyncio.create_task(place.resolver.resolve(host, deadline))
        return await asyncio.shield(self._names[key])

    async def _race(self, place: Place, targets: Sequence[Target], host: str, expected_node_id: int | None) -> Contact:
        """One address after another, as clients do: the next once one has failed.

        An attempt that is not even accepted gets a head start only (RFC 8305), or a black hole would cost all the
        others their time; one that is accepted is waited for.
        """
        running: set[asyncio.Task[Contact]] = set()
        failed: list[Contact] = []
        try:
            for target in targets:
                step = _Progress()
                task = asyncio.create_task(self._exchange(place, target, host, expected_node_id, step))
                running.add(task)
                if await _had_its_turn(task, step):
                    running.discard(task)
                    if isinstance(task.result(), Answered):
                        return task.result()
                    failed.append(task.result())
            while running:
                done, running = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
                for task in done:
                    if isinstance(task.result(), Answered):
                        return task.result()
                    failed.append(task.result())
        finally:
            for task in running:
                task.cancel()
        return furthest(failed)

    async def _exchange(
        self, place: Place, target: Target, host: str, expected_node_id: int | None, step: _Progress | None = None
    ) -> Contact:
        try:
            return await self._speak(place, target, host, expected_node_id, step)
        except TrustedAsItIs:
            return await self._speak(place, target, host, expected_node_id, None, pinned=True)

    async def _speak(
        self,
        place: Place,
        target: Target,
        host: str,
        expected_node_id: int | None,
        step: _Progress | None,
        *,
        pinned: bool = False,
    ) -> Contact:
        async with self._connected(place, target, step) as channel:
            if isinstance(channel, Failed | Unknown):
                return channel
            talk = Conversation(expected_node_id=expected_node_id, topics=self._topics)
            with self._allowance.answer() as share:
                until = min(self._deadline, self._now() + self._patience)
                return await self._speaker.converse(channel, target, host, talk, share, until, pinned=pinned)

    @asynccontextmanager
    async def _connected(
        self, place: Place, target: Target, step: _Progress | None = None
    ) -> AsyncIterator[socket.socket | Failed | Unknown]:
        step = step or _Progress()
        async with self._sockets:
            try:
                channel = place.namespace.socket(target.family, socket.SOCK_STREAM)
            except OSError as error:
                yield connect_failure(error, target)
                return
            with channel:
                async with self._gates.to(self._key(place, target)).attempt():
                    step.trying.set()
                    failure = await connect(channel, target, self._deadline, self._patience)
                if failure is None:
                    step.accepted.set()
                yield failure or channel

    def _look_at_security(self, place: Place, address: Address, contact: Contact) -> None:
        """Begin to look at what a contact has met, once for every target and name."""
        if isinstance(contact, Unknown) or contact.ip is None:
            return
        secured = self._speaker.protocol != "PLAINTEXT"
        if not (contact.reason in _TELLING if isinstance(contact, Failed) else secured):
            return
        target = Target(ip=contact.ip, port=address.port)
        key = (self._key(place, target), address.host)
        if key not in self._looks:
            if len(self._looks) >= _MOST_LOOKS:
                return
            login = self._speaker.logins.get(target)
            self._looks[key] = asyncio.create_task(self._look(place, target, address.host, login))
        self._looked[place, address] = key

    async def _look(
        self, place: Place, target: Target, host: str, login: LoggedIn | Refused | None
    ) -> ListenerSecurity:
        @asynccontextmanager
        async def dial() -> AsyncIterator[socket.socket | None]:
            async with self._connected(place, target) as channel:
                yield channel if isinstance(channel, socket.socket) else None

        return await read_security(
            dial, host, client=self._speaker.client, login=login, warn_days=self._warn_days, deadline=self._deadline
        )

    async def sights(self) -> dict[tuple[Place, Address], tuple[Hashable, ListenerSecurity]]:
        """What was told about security; equal keys are one target asked for by one name."""
        if self._looks:
            await asyncio.wait(self._looks.values())
        return {asked: (key, self._looks[key].result()) for asked, key in self._looked.items()}

    def _kept_small(self, contact: Answered) -> Contact:
        """The same answer; equal lists of brokers are kept once, and not more than all of them may take."""
        known = self._kept.get(contact.brokers)
        if known is None:
            self._endpoints_kept += len(contact.brokers)
            if self._endpoints_kept > _MOST_ENDPOINTS_KEPT:
                return Unknown(because=f"{contact.because}; the answers of this run name too many brokers")
            known = self._kept.setdefault(contact.brokers, contact.brokers)
        return replace(contact, brokers=known)

    def _key(self, place: Place, target: Target) -> Hashable:
        """What counts as one target; loopback is another machine's in every place."""
        loopback = ipaddress.ip_address(target.ip).is_loopback or ipaddress.ip_address(target.ip).is_unspecified
        return (target, place if loopback else None)

    def _now(self) -> float:
        return asyncio.get_running_loop().time()

    def _left(self) -> float:
        return self._deadline - self._now()


_NO_TIME = Unknown(because="the time limit of this run was reached before it was tried")


async def _had_its_turn(task: asyncio.Task[Contact], step: _Progress) -> bool:
    """Wait for an attempt's end; False where it is not accepted within its head start and goes on alone."""
    await _ended_or(task, step.trying, None)
    await _ended_or(task, step.accepted, _HEAD_START)
    if step.accepted.is_set():
        await asyncio.wait({task})
    return task.done()


async def _ended_or(task: asyncio.Task[Contact], event: asyncio.Event, limit: float | None) -> None:
    happening = asyncio.create_task(event.wait())
    try:
        await asyncio.wait({task, happening}, timeout=limit, return_when=asyncio.FIRST_COMPLETED)
    finally:
        happening.cancel()


def furthest(failed: Sequence[Contact]) -> Contact:
    """Of the failures of several addresses, the one that got furthest."""

    def progress(contact: Contact) -> int:
        if not isinstance(contact, Failed):
            return len(_PROGRESS) + 1
        return _PROGRESS.index(contact.reason) if contact.reason in _PROGRESS else len(_PROGRESS)

    best = min(failed, key=progress)
    others = [c.because for c in failed if c is not best]
    if not others or isinstance(best, Ambiguous):
        return best
    return replace(best, because="; ".join((best.because, *others)))
