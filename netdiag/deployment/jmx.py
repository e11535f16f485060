"""JMX through published ports: where the stub of a broker sends clients of the docker host, and whether they get there.

The rules about JMX look at brokers whose registry is published: somebody means to use it from outside. What the stub's
host means is one question (`meaning`), its port another, so each is one rule's.
"""

from collections.abc import Iterator
from enum import Enum

from netdiag.deployment.model.deployment import Broker, Deployment, NetworkMode, PublishedPort
from netdiag.deployment.model.vantage import Vantage, VantageKind
from netdiag.deployment.model.verdict import Failed
from netdiag.deployment.prediction.client_namespace import MemberAddress
from netdiag.deployment.prediction.jmx import JmxBroker, jmx_brokers, stub_contact, stub_targets
from netdiag.deployment.prediction.listener_access import is_host_address
from netdiag.findings import Location
from netdiag.kafka.jmx import JmxAgent, JmxSetting
from netdiag.values import dataclass

HOST = Vantage(kind=VantageKind.DOCKER_HOST, label="docker host")


class StubHost(Enum):
    """What the host of a stub is to a client on the docker host."""

    DOCKER_HOST = "the docker host itself"
    CONTAINER = "the container's own address"
    NOBODY = "a name that means nothing there"
    UNKNOWN = "nobody can tell"


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedJmx:
    """A broker whose registry is published, by this port first."""

    jmx: JmxBroker
    port: PublishedPort

    @property
    def broker(self) -> Broker:
        """The broker."""
        return self.jmx.broker

    @property
    def agent(self) -> JmxAgent:
        """Its JMX agent."""
        return self.jmx.agent

    def place(self, setting: JmxSetting) -> Location:
        """Where a value stands."""
        declared = self.broker.declared.get(setting.variable)
        return declared.at(setting.start, setting.end) if declared is not None else self.broker.member.where


def published_jmx(deployment: Deployment) -> Iterator[PublishedJmx]:
    """The brokers that are asked about and publish the port of their registry."""
    for jmx in jmx_brokers(deployment):
        member = jmx.broker.member
        if jmx.broker not in deployment.brokers or member.mode not in (
            NetworkMode.NETWORKS,
            NetworkMode.DEFAULT_BRIDGE,
        ):
            continue
        for port in member.published:
            if port.target == jmx.agent.port and port.protocol == "tcp" and port.published is not None:
                yield PublishedJmx(jmx=jmx, port=port)
                break


def meaning(deployment: Deployment, jmx: JmxBroker) -> StubHost:
    """What the host of this broker's stub is to a client on the docker host."""
    host = jmx.agent.hostname
    if host is not None and is_host_address(deployment, host):
        return StubHost.DOCKER_HOST
    match stub_targets(deployment, jmx, HOST):
        case Failed():
            return StubHost.NOBODY
        case (MemberAddress(member=name), *_) if name == deployment.owner_names.get(jmx.broker.name, jmx.broker.name):
            return StubHost.CONTAINER
        case _:
            return StubHost.UNKNOWN


def why_unreachable(deployment: Deployment, jmx: JmxBroker) -> str:
    """Why a client on the docker host does not get to the RMI server; empty where it does, or nobody can tell."""
    contact = stub_contact(deployment, jmx, HOST)
    return contact.because if isinstance(contact, Failed) else ""


def is_offered(published: PublishedJmx) -> bool:
    """Whether the docker host offers the RMI port under its own number."""
    rmi = published.agent.rmi_port
    return any(p.published == rmi == p.target and p.protocol == "tcp" for p in published.broker.member.published)
