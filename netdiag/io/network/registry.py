"""Asking for what brokers have registered: ZooKeeper from inside a container, and each broker from inside its own.

ZooKeeper is asked by a conversation of our own and not by kazoo, which opens its connections itself, in its own
threads, and reads answers of any size: it can be neither put into another network namespace nor bounded. Everything
happens side by side within one deadline.
"""

import asyncio
import secrets
import socket
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import field, replace

from netdiag.deployment.model.verdict import Address, Answered, Contact, Failed, Reason, Unknown
from netdiag.deployment.observation.live_view import LiveVantage
from netdiag.errors import NetdiagError
from netdiag.io.kernel.netns import open_namespace
from netdiag.io.network.client_handshake import Speaker, TrustedAsItIs
from netdiag.io.network.client_identity import Client
from netdiag.io.network.connection import Line, Target, TlsBroken, converse
from netdiag.io.network.limits import Allowance, many_sockets
from netdiag.io.network.name_service import read_name_service
from netdiag.io.network.prober import Place, Prober
from netdiag.io.network.resolver import Resolver
from netdiag.kafka import questions
from netdiag.kafka.cluster_questions import ClusterConversation, ClusterTold
from netdiag.kafka.conversation import Conversation
from netdiag.kafka.questions import Event
from netdiag.kafka.zookeeper import NotRead, SaslUser, ZookeeperRead, ZookeeperReading
from netdiag.values import dataclass

TIMEOUT = 4.0
# A connection, a conversation, and one more.
_STEPS = 3
# Time to say in words that there was none left.
_GRACE = 0.3


@dataclass(frozen=True, slots=True, kw_only=True)
class ZookeeperQuestion:
    """Which ZooKeeper to ask, and from where: the first place from which a server answers counts.

    `digest` (user:password) and `sasl` log in, `client` connects with TLS.
    """

    servers: tuple[Address, ...]
    chroot: str
    vantages: tuple[LiveVantage, ...]
    digest: str | None = field(default=None, repr=False)
    sasl: SaslUser | None = None
    client: Client | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ZookeeperAnswer:
    """What it said: read, or else refused, or else the first attempt's; `vantage` is a label."""

    question: ZookeeperQuestion
    server: Address
    vantage: str
    outcome: ZookeeperRead | NotRead


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerQuestion:
    """A member, and the addresses of its listeners for clients from inside."""

    member: str
    vantage: LiveVantage
    addresses: tuple[Address, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RegistryQuestions:
    """Whom to ask."""

    zookeepers: tuple[ZookeeperQuestion, ...] = ()
    brokers: tuple[BrokerQuestion, ...] = ()


NO_QUESTIONS = RegistryQuestions()


def together(questions: Sequence[RegistryQuestions]) -> RegistryQuestions:
    """The questions about several clusters as one."""
    return RegistryQuestions(
        zookeepers=tuple(one for each in questions for one in each.zookeepers),
        brokers=tuple(one for each in questions for one in each.brokers),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerAnswer:
    """What a broker said at one of its listeners; `answered` and `cluster` None where it did not."""

    member: str
    address: Address
    contact: Contact
    answered: questions.Answered | None = None
    cluster: ClusterTold | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RegistryAnswers:
    """All answers in the order of the questions; `skipped` are vantages that cannot be taken, with the reason."""

    zookeepers: tuple[ZookeeperAnswer, ...] = ()
    brokers: tuple[BrokerAnswer, ...] = ()
    skipped: Mapping[str, str] = field(default_factory=dict)


def ask_registries(
    asked: RegistryQuestions, *, timeout: float = TIMEOUT, client: Client | None = None
) -> RegistryAnswers:
    """Ask. `timeout` is seconds for one step: resolve, connect, or converse; `client` is as whom brokers are asked."""
    skipped: dict[str, str] = {}
    places: dict[str, Place] = {}
    told: list[RegistryAnswers] = []
    with ExitStack() as opened:
        sockets = opened.enter_context(many_sockets())
        vantages = (*(v for one in asked.zookeepers for v in one.vantages), *(one.vantage for one in asked.brokers))
        for each in vantages:
            label = each.vantage.label
            if label in places or label in skipped:
                continue
            try:
                namespace = opened.enter_context(open_namespace(each.entrance))
            except NetdiagError as error:
                skipped[label] = str(error)
                continue
            resolver = Resolver(namespace, read_name_service(namespace))
            places[label] = Place(namespace=namespace, resolver=resolver)

        async def ask() -> None:
            deadline = asyncio.get_running_loop().time() + _STEPS * timeout
            speaker = Speaker(client)
            prober = Prober(patience=timeout, deadline=deadline, sockets=sockets, speaker=speaker)
            told.append(await ask_side_by_side(asked, places, prober, speaker, deadline))

        # Not as the coroutine's result: asyncio.run makes a text of that when it puts the signal handler back.
        asyncio.run(ask())
    return replace(told[0], skipped=skipped)


async def ask_side_by_side(
    asked: RegistryQuestions, places: Mapping[str, Place], prober: Prober, speaker: Speaker, deadline: float
) -> RegistryAnswers:
    """Ask from those of the places, by label, that are open, until the deadline (loop time)."""
    allowance = Allowance()
    zookeepers, brokers = await asyncio.gather(
        asyncio.gather(*(_zookeeper(prober, places, question, deadline) for question in asked.zookeepers)),
        asyncio.gather(
            *(
                _Broker(one.member, address, speaker, allowance).ask(prober, places[one.vantage.vantage.label])
                for one in asked.brokers
                if one.vantage.vantage.label in places
                for address in one.addresses
            )
        ),
    )
    return RegistryAnswers(zookeepers=tuple(one for one in zookeepers if one is not None), brokers=tuple(brokers))


async def _zookeeper(
    prober: Prober, places: Mapping[str, Place], question: ZookeeperQuestion, deadline: float
) -> ZookeeperAnswer | None:
    """From one place after another, one server after another, until one has answered.

    A server that is reached and refuses is not asked from elsewhere: it would refuse again, and may count logins.
    """
    first: ZookeeperAnswer | None = None
    for vantage in question.vantages:
        label = vantage.vantage.label
        refused: ZookeeperAnswer | None = None
        for server in question.servers if label in places else ():
            if first is not None and asyncio.get_running_loop().time() >= deadline:
                return refused or first
            outcome, is_reached = await _read_zookeeper(prober, places[label], server, question)
            answer = ZookeeperAnswer(question=question, server=server, vantage=label, outcome=outcome)
            if isinstance(outcome, ZookeeperRead):
                return answer
            first = first or answer
            refused = refused or (answer if is_reached else None)
        if refused is not None:
            return refused
    return first


async def _read_zookeeper(
    prober: Prober, place: Place, server: Address, question: ZookeeperQuestion
) -> tuple[ZookeeperRead | NotRead, bool]:
    """What is read, and whether a server is reached at all."""
    outcomes: list[ZookeeperRead | NotRead] = []
    entrance = _Entrance(Speaker(question.client), server.host)

    async def ask(channel: socket.socket, target: Target, until: float, attempt: int) -> Contact | None:
        line = await entrance.enter(channel, target, until, attempt)
        if line is None or isinstance(line, Failed | Unknown):
            return line
        talk = ZookeeperReading(
            chroot=question.chroot, digest=question.digest, sasl=question.sasl, cnonce=secrets.token_urlsafe(24)
        )
        try:
            async with asyncio.timeout_at(until):
                await line.send(talk.start())
                while talk.outcome is None:
                    data = await line.receive()
                    if not data:
                        talk.closed()
                        break
                    talk.receive(data)
                    if reply := talk.bytes_to_send():
                        await line.send(reply)
        except TimeoutError:
            talk.outcome = talk.outcome or NotRead(because="it accepted, but did not answer in time")
        except TlsBroken as error:
            talk.outcome = talk.outcome or NotRead(because=f"it ends TLS: {error.words}")
        except OSError:
            talk.closed()
        assert talk.outcome is not None
        outcomes.append(talk.outcome)
        if isinstance(talk.outcome, ZookeeperRead):
            return Answered(node_id=None, cluster_id=None, ip=target.ip, because="read")
        # What it has refused it would refuse again.
        return Unknown(because=f"{target}: {talk.outcome.because}")

    contact = await prober.asked(place, server, ask)
    read = next((one for one in outcomes if isinstance(one, ZookeeperRead)), None)
    is_reached = bool(outcomes) or (isinstance(contact, Failed) and contact.reason is Reason.TLS)
    return read or NotRead(because=contact.because), is_reached


class _Entrance:
    """The way in to one server, which may take a second attempt."""

    def __init__(self, speaker: Speaker, host: str) -> None:
        self._speaker = speaker
        self._host = host
        self._pinned = False

    async def enter(
        self, channel: socket.socket, target: Target, until: float, attempt: int
    ) -> Line | Failed | Unknown | None:
        """A line for requests, or why there is none; None where it is to be tried once more."""
        try:
            return await self._speaker.enter(channel, target, self._host, until, pinned=self._pinned)
        except TrustedAsItIs:
            self._pinned = True
            if attempt == 0:
                return None
            return Failed(reason=Reason.TLS, because=f"{target}: its certificate is out of date", ip=target.ip)


class _Broker:
    """One listener of one broker."""

    def __init__(self, member: str, address: Address, speaker: Speaker, allowance: Allowance) -> None:
        self._member = member
        self._address = address
        self._entrance = _Entrance(speaker, address.host)
        self._allowance = allowance
        self._answered: questions.Answered | None = None
        self._cluster: ClusterTold | None = None

    async def ask(self, prober: Prober, place: Place) -> BrokerAnswer:
        """Everything that a broker tells of itself and of its cluster."""
        contact = await prober.asked(place, self._address, self._ask_at)
        return BrokerAnswer(
            member=self._member,
            address=self._address,
            contact=contact,
            answered=self._answered,
            cluster=self._cluster,
        )

    async def _ask_at(self, channel: socket.socket, target: Target, until: float, attempt: int) -> Contact | None:
        line = await self._entrance.enter(channel, target, until, attempt)
        if line is None or isinstance(line, Failed | Unknown):
            return line

        def told(events: Sequence[Event]) -> None:
            for event in events:
                if isinstance(event, questions.Answered):
                    self._answered = event

        with self._allowance.answer() as share:
            contact = await converse(line, target, Conversation(), share, until, told)
        if self._answered is not None and self._cluster is None:
            self._cluster = await self._ask_for_cluster(line, self._answered, until)
        return contact

    async def _ask_for_cluster(self, line: Line, answered: questions.Answered, until: float) -> ClusterTold | None:
        talk = ClusterConversation(answered.api_versions)
        try:
            # One that waits for a controller in vain does not say so.
            async with asyncio.timeout_at(until - _GRACE):
                data = talk.start()
                if data:
                    await line.send(data)
                while talk.outcome is None:
                    data = await line.receive()
                    if not data:
                        talk.ended("it closed without an answer")
                        break
                    talk.receive(data)
                    if more := talk.bytes_to_send():
                        await line.send(more)
        except TimeoutError:
            talk.ended("no answer in time")
        except (OSError, TlsBroken):
            talk.ended("it closed without an answer")
        return talk.outcome
