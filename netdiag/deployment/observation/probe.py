"""What `netdiag probe` reports: one conversation after the other, step by step, and what to do next.

Each step has the time that it took; the advice is the next step, in the imperative.
"""

from collections.abc import Iterable, Mapping
from enum import StrEnum

from netdiag.deployment.model.verdict import (
    NO_BROKERS,
    Address,
    Answered,
    Contact,
    EndpointOutcome,
    Failed,
    NodeEndpoint,
    Reason,
    Verdict,
    Word,
)
from netdiag.kafka import questions
from netdiag.kafka.questions import (
    ApiVersionsReceived,
    ApiVersionsUnsupported,
    ClusterReceived,
    Event,
    IdentityReceived,
    MetadataReceived,
    SaslMechanismsReceived,
    release_guess,
)
from netdiag.values import dataclass

_SECURED = {
    Word.TLS.value: "set security.protocol=SSL (or SASL_SSL) in the client, or use the port of a plaintext listener",
    Word.SASL.value: "set security.protocol=SASL_PLAINTEXT and credentials in the client, or use another listener",
    Word.NOT_KAFKA.value: "use the port of a broker listener for clients: no broker answers here",
}
_WITH_CREDENTIALS = {
    Word.TLS.value: "compare the client's security.protocol, truststore and keystore with the listener's certificate: "
    "`netdiag check-listeners --live --client-properties FILE` shows what is wrong with it",
    Word.SASL.value: "compare the client's sasl.mechanism and credentials with those that the listener accepts",
    Word.NOT_KAFKA.value: _SECURED[Word.NOT_KAFKA.value],
}
_LOOPBACKS = ("localhost", "127.", "::1")


class StepKind(StrEnum):
    """The steps of a client; the value is the word users see."""

    RESOLVE = "resolve"
    CONNECT = "connect"
    ENTER = "enter"
    ASK = "ask"


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One step: whether it went well, what came of it, and the seconds that it took."""

    act: StepKind
    well: bool
    said: str
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionAttempt:
    """One address of a name: connect, and the questions that were answered."""

    ip: str
    steps: tuple[Step, ...]
    contact: Contact


@dataclass(frozen=True, slots=True, kw_only=True)
class AddressReport:
    """All about one address: what its name means, an attempt for every IP address of it, and what is left of it all."""

    address: Address
    resolve: Step
    attempts: tuple[ConnectionAttempt, ...]
    contact: Contact
    api_versions: tuple[questions.ApiVersion, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupReport:
    """Who coordinates a consumer group; `endpoint` None where nobody is named, `outcome` as for other endpoints."""

    group: str
    said: str
    seconds: float
    harmless: bool = False
    endpoint: NodeEndpoint | None = None
    outcome: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class BootstrapReport:
    """What a client gets that is given this address: the dialogue with it, with each endpoint it is sent to, and how
    that is to be judged. `endpoints` are by node id, one for each of `verdict.endpoints`."""

    dialogue: AddressReport
    endpoints: tuple[AddressReport, ...]
    verdict: Verdict
    group: GroupReport | None = None

    @property
    def usable(self) -> bool:
        """Whether a client works here."""
        group = self.group
        return self.verdict.usable and (group is None or group.harmless or group.outcome == "ok")


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeReport:
    """One run from one place in one security protocol; `notes` are what else to know."""

    place: str
    bootstraps: tuple[BootstrapReport, ...]
    speaks: str = "PLAINTEXT"
    notes: tuple[str, ...] = ()

    @property
    def usable(self) -> bool:
        """Whether every bootstrap address serves a client."""
        return all(one.usable for one in self.bootstraps)


def answered_steps(events: Iterable[Event], seconds: float) -> tuple[Step, ...]:
    """The step that each event ends; the time is that of the first of them, the others came with it."""
    steps: list[Step] = []
    for event in events:
        said = _describe(event)
        if said:
            steps.append(Step(act=StepKind.ASK, well=True, said=said, seconds=0 if steps else seconds))
    return tuple(steps)


def failed_step(contact: Contact, seconds: float, *, act: StepKind = StepKind.ASK) -> tuple[Step, ...]:
    """The step that a conversation broke off at; none where it was answered."""
    if isinstance(contact, Answered):
        return ()
    reason = f"{contact.reason.value}: " if isinstance(contact, Failed) else ""
    return (Step(act=act, well=False, said=f"{reason}{contact.because}", seconds=seconds),)


def next_step(place: str, story: BootstrapReport, *, speaks: str = "PLAINTEXT") -> str | None:
    """What to do first, for a client that speaks this security protocol; None where everything went well."""
    verdict = story.verdict
    secured = _SECURED if speaks == "PLAINTEXT" else _WITH_CREDENTIALS
    if verdict.word is Word.UNKNOWN:
        return "run it again with a longer --timeout and with -v"
    if not isinstance(verdict.bootstrap, Answered):
        return _about_bootstrap(place, story.dialogue.address, verdict.bootstrap, secured)
    if verdict.reason == NO_BROKERS:
        return "read the broker's log: it answers but knows no broker, so it has not joined its cluster"
    bad = next((one for one in verdict.endpoints if one.outcome != Word.OK.value), None)
    if bad is not None:
        return _about_endpoint(place, bad, verdict.endpoints, secured)
    group = story.group
    if group is not None and group.endpoint is not None and group.outcome != Word.OK.value:
        return f"make {group.endpoint.address} reachable: consumers of group {group.group} are sent there"
    if group is not None and group.endpoint is None and not group.harmless:
        return "check the topic __consumer_offsets: consumer groups need a leader for each of its partitions"
    return None


def _describe(event: Event) -> str:
    match event:
        case ApiVersionsReceived():
            guess = release_guess(event.api_versions)
            like = f", like Kafka {guess}" if guess else ""
            return f"ApiVersions: {len(event.api_versions)} request types{like}"
        case ApiVersionsUnsupported():
            return f"ApiVersions {event.api_version} is too new for the broker, retried with {event.retry_version}"
        case SaslMechanismsReceived():
            return f"SaslHandshake: {', '.join(event.mechanisms) or 'no mechanism'}"
        case MetadataReceived():
            named = ", ".join(f"{b.node_id}" for b in event.brokers[:20]) or "none"
            controller = "none" if event.controller_id < 0 else str(event.controller_id)
            return f"Metadata: cluster {event.cluster_id or 'without ID'}, controller {controller}, brokers {named}"
        case ClusterReceived():
            return f"DescribeCluster: cluster {event.cluster_id or 'without ID'}" if not event.error_code else ""
        case IdentityReceived():
            if event.node_id is None:
                return f"DescribeConfigs: unknown which broker answers, {event.unknown_because}"
            return f"DescribeConfigs: broker {event.node_id} answers"
        case _:
            return ""


def _about_bootstrap(place: str, address: Address, contact: object, secured: Mapping[str, str]) -> str:
    reason = contact.reason if isinstance(contact, Failed) else None
    if reason is Reason.UNRESOLVED:
        return f'use a name that {place} can resolve, or make "{address.host}" resolve there (extra_hosts, a network)'
    if reason is not None and reason.value in secured:
        return secured[reason.value]
    if reason is Reason.CLOSED:
        return f"check which process accepts the connection: run {_trace(place, address)}"
    return f"find out where the path ends: run {_trace(place, address)}"


def _trace(place: str, address: Address) -> str:
    return f"`netdiag trace {place} {address}`"


def _about_endpoint(
    place: str, bad: EndpointOutcome, all_of_them: Iterable[EndpointOutcome], secured: Mapping[str, str]
) -> str:
    endpoint = bad.endpoint
    listener = f"advertised.listeners of broker {endpoint.node_id}"
    if bad.outcome == Word.WRONG_BROKER.value:
        same = [o.endpoint.node_id for o in all_of_them if o.endpoint.address == endpoint.address]
        shared = f": {', '.join(map(str, same))} share {endpoint.address}" if len(same) > 1 else ""
        return f"advertise a different address for every broker{shared}"
    if bad.outcome in secured:
        return secured[bad.outcome]
    if bad.outcome == Reason.UNRESOLVED.value:
        return f'add a listener with a host that {place} can resolve to {listener}: "{endpoint.host}" does not resolve'
    if endpoint.host.startswith(_LOOPBACKS):
        return f"change {listener}: {endpoint.host} is {place} itself, not the broker"
    return f"find out where the path ends (run {_trace(place, endpoint.address)}), or change {listener}"
