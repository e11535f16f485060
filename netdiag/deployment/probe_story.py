"""What `netdiag probe` tells: one conversation after the other, step by step, each with the time that it took."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from netdiag.deployment.observations import Address, Answered, Contact, Failed, NodeEndpoint
from netdiag.deployment.verdict import Verdict
from netdiag.kafka import conversation
from netdiag.kafka.conversation import (
    ApiVersionsReceived,
    ApiVersionsUnsupported,
    ClusterReceived,
    Event,
    IdentityReceived,
    MetadataReceived,
    SaslMechanismsReceived,
)
from netdiag.kafka.release_guess import release_guess


class Act(StrEnum):
    """The steps of a client; the value is the word users see."""

    RESOLVE = "resolve"
    CONNECT = "connect"
    ENTER = "enter"
    ASK = "ask"


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One step: whether it went well, what came of it, and the seconds that it took."""

    act: Act
    well: bool
    said: str
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One address of a name: connect, and the questions that were answered."""

    ip: str
    steps: tuple[Step, ...]
    contact: Contact


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialogue:
    """All about one address: what its name means, an attempt for every IP address of it, and what is left of it all."""

    address: Address
    resolve: Step
    attempts: tuple[Attempt, ...]
    contact: Contact
    api_versions: tuple[conversation.ApiVersion, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupStory:
    """Who coordinates a consumer group; `endpoint` None where nobody is named, `outcome` as for other endpoints."""

    group: str
    said: str
    seconds: float
    harmless: bool = False
    endpoint: NodeEndpoint | None = None
    outcome: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class BootstrapStory:
    """What a client gets that is given this address: the dialogue with it, with each endpoint it is sent to, and how
    that is to be judged. `endpoints` are by node id, one for each of `verdict.endpoints`."""

    dialogue: Dialogue
    endpoints: tuple[Dialogue, ...]
    verdict: Verdict
    group: GroupStory | None = None

    @property
    def usable(self) -> bool:
        """Whether a client works here."""
        group = self.group
        return self.verdict.usable and (group is None or group.harmless or group.outcome == "ok")


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeStory:
    """One run from one place in one security protocol; `notes` are what else to know."""

    place: str
    bootstraps: tuple[BootstrapStory, ...]
    speaks: str = "PLAINTEXT"
    notes: tuple[str, ...] = ()

    @property
    def usable(self) -> bool:
        """Whether every bootstrap address serves a client."""
        return all(one.usable for one in self.bootstraps)


def steps_of(events: Iterable[Event], seconds: float) -> tuple[Step, ...]:
    """The step that each event ends; the time is that of the first of them, the others came with it."""
    steps: list[Step] = []
    for event in events:
        said = _said(event)
        if said:
            steps.append(Step(act=Act.ASK, well=True, said=said, seconds=0 if steps else seconds))
    return tuple(steps)


def failed_step(contact: Contact, seconds: float, *, act: Act = Act.ASK) -> tuple[Step, ...]:
    """The step that a conversation broke off at; none where it was answered."""
    if isinstance(contact, Answered):
        return ()
    reason = f"{contact.reason.value}: " if isinstance(contact, Failed) else ""
    return (Step(act=act, well=False, said=f"{reason}{contact.because}", seconds=seconds),)


def _said(event: Event) -> str:
    match event:
        case ApiVersionsReceived():
            guess = release_guess(event.api_versions)
            like = f", like Kafka {guess}" if guess else ""
            return f"ApiVersions: {len(event.api_versions)} kinds of requests{like}"
        case ApiVersionsUnsupported():
            return f"ApiVersions {event.api_version} is too new for it, asked again in {event.retry_version}"
        case SaslMechanismsReceived():
            return f"SaslHandshake: {', '.join(event.mechanisms) or 'no mechanism'}"
        case MetadataReceived():
            named = ", ".join(f"{b.node_id}" for b in event.brokers[:20]) or "none"
            controller = "none" if event.controller_id < 0 else str(event.controller_id)
            return f"Metadata: cluster {event.cluster_id or 'without id'}, controller {controller}, brokers {named}"
        case ClusterReceived():
            return f"DescribeCluster: cluster {event.cluster_id or 'without id'}" if not event.error_code else ""
        case IdentityReceived():
            if event.node_id is None:
                return f"DescribeConfigs: who answers stays unknown, {event.unknown_because}"
            return f"DescribeConfigs: broker {event.node_id} answers"
        case _:
            return ""
