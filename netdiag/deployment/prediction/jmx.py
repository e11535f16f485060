"""What a JMX client gets: hop 1 at the registry's port, hop 2 at the host and port of the stub that it hands out.

Connections are the same as those of Kafka's clients, so each broker with a JMX agent is given two listeners more and
the model of `connection` decides. Nobody knows a random RMI port: one that no container uses stands for it.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from netdiag.deployment.model.deployment import Broker, Deployment, NetworkMode
from netdiag.deployment.model.jmx import JmxCell, JmxStub, JmxVerdict
from netdiag.deployment.model.vantage import DOCKER_HOST, Vantage
from netdiag.deployment.model.verdict import Address, Answered, Contact, Failed, Mechanism, Reason, Unknown
from netdiag.deployment.prediction.client_namespace import (
    MemberAddress,
    Resolution,
    client_namespace,
    network_owner,
    resolve,
)
from netdiag.deployment.prediction.connection import connect_from
from netdiag.deployment.prediction.sockets import Accepted
from netdiag.kafka.images.families import parse_image
from netdiag.kafka.images.settings import image_default
from netdiag.kafka.jmx import JmxAgent, jmx_agent
from netdiag.kafka.listeners import bracketed
from netdiag.values import dataclass

_REGISTRY, _RMI = "JMX-REGISTRY", "JMX-RMI"
_EPHEMERAL = range(40_000, 60_000)


@dataclass(frozen=True, slots=True, kw_only=True)
class JmxBroker:
    """A broker whose JVM serves JMX; `rmi_port` is a number that stands for a random one, too."""

    broker: Broker
    agent: JmxAgent
    rmi_port: int

    @property
    def stub(self) -> JmxStub:
        """What its registry gives to clients."""
        return JmxStub(host=self.agent.hostname, port=self.agent.rmi_port)


def jmx_brokers(deployment: Deployment) -> tuple[JmxBroker, ...]:
    """The brokers that serve JMX, as far as their variables say."""
    found: list[JmxBroker] = []
    random = None
    for broker in deployment.all_brokers:
        agent = jmx_agent(parse_image(broker.member.image), broker.member.variables)
        if agent is not None:
            random = _unused_port(deployment) if random is None else random
            found.append(JmxBroker(broker=broker, agent=agent, rmi_port=agent.rmi_port or random))
    return tuple(found)


def jmx_addresses(deployment: Deployment) -> tuple[Address, ...]:
    """The addresses at which people try the JMX of these brokers: service names, localhost, the docker host."""
    found: dict[Address, None] = {}
    served = [one for one in jmx_brokers(deployment) if one.broker in deployment.brokers]
    for one in served:
        found[Address(host=one.broker.member.service or one.broker.name, port=one.agent.port)] = None
    hosts = ("localhost", *(deployment.host_addresses[:1] or (DOCKER_HOST,)))
    for host in hosts:
        found.update({Address(host=host, port=port): None for one in served for port in registry_ports(one)})
    return tuple(found)


def registry_ports(jmx: JmxBroker) -> tuple[int, ...]:
    """The ports of the docker host that lead to the registry."""
    member, port = jmx.broker.member, jmx.agent.port
    if member.mode is NetworkMode.HOST:
        return (port,)
    return tuple(p.published for p in member.published if p.target == port and p.published and p.protocol == "tcp")


def predict_jmx(
    deployment: Deployment, vantages: Iterable[Vantage], registries: Iterable[Address]
) -> tuple[JmxCell, ...]:
    """One cell for every vantage x address of a registry."""
    served = jmx_brokers(deployment)
    extended = _with_jmx_listeners(deployment, served)
    places, addresses = tuple(vantages), tuple(registries)
    return tuple(
        JmxCell(
            vantage=place.label,
            registry=address,
            predicted=_verdict(extended, {b.broker.name: b for b in served}, place, address),
        )
        for place in places
        for address in addresses
    )


def stub_contact(deployment: Deployment, jmx: JmxBroker, vantage: Vantage) -> Contact:
    """What becomes of a client at `vantage` that the registry of this broker sends on."""
    extended = _with_jmx_listeners(deployment, jmx_brokers(deployment))
    return _second_hop(extended, jmx, vantage)


def stub_targets(deployment: Deployment, jmx: JmxBroker, vantage: Vantage) -> Resolution:
    """Where the host of a stub leads; without one, to the first address of the broker's own container."""
    if jmx.agent.hostname is not None:
        return resolve(deployment, vantage, jmx.agent.hostname)
    owner = network_owner(deployment, jmx.broker.member)
    if len(owner.attachments) != 1:
        return Unknown(because=f"the hosts file of {owner.name} decides which of its addresses comes first")
    return (MemberAddress(member=owner.name, network=owner.attachments[0].network),)


def _verdict(deployment: Deployment, served: dict[str, JmxBroker], vantage: Vantage, registry: Address) -> JmxVerdict:
    landed = _landed(deployment, vantage, resolve(deployment, vantage, registry.host), registry.port)
    if not isinstance(landed, Accepted):
        return JmxVerdict(registry=landed)
    jmx = served.get(landed.broker.name)
    if jmx is None or landed.entry.endpoint.listener not in (_REGISTRY, _RMI):
        return JmxVerdict(registry=_something_else(landed))
    if landed.entry.endpoint.listener == _RMI and jmx.agent.rmi_port != jmx.agent.port:
        because = f"the RMI port of {jmx.broker.name} has no registry"
        return JmxVerdict(registry=Failed(reason=Reason.NOT_KAFKA, because=because))
    answered = Answered(node_id=None, cluster_id=None, because=f"the JMX registry of {jmx.broker.name} answers")
    return JmxVerdict(registry=answered, stub=jmx.stub, rmi=_second_hop(deployment, jmx, vantage))


def _second_hop(deployment: Deployment, jmx: JmxBroker, vantage: Vantage) -> Contact:
    landed = _landed(deployment, vantage, stub_targets(deployment, jmx, vantage), jmx.rmi_port)
    if isinstance(landed, Accepted):
        own = landed.broker is jmx.broker or landed.broker.name == jmx.broker.name
        if not own or landed.entry.endpoint.listener not in (_REGISTRY, _RMI):
            return _something_else(landed)
        return _who_enters(jmx)
    if isinstance(landed, Failed) and jmx.agent.rmi_port is None:
        text = landed.because.replace(f"port {jmx.rmi_port}", "the random RMI port")
        return replace(landed, because=text)
    return landed


def _who_enters(jmx: JmxBroker) -> Answered | Unknown:
    name = jmx.broker.name
    if jmx.agent.uses_tls:
        because = (
            f"the RMI server of {name} speaks TLS, and netdiag does not know what it makes of a client's certificate"
        )
        return Unknown(because=because)
    if jmx.agent.asks_password:
        return Unknown(because=f"the RMI server of {name} asks for a password")
    return Answered(node_id=None, cluster_id=None, because=f"the RMI server of {name} answers")


def _landed(deployment: Deployment, vantage: Vantage, resolution: Resolution, port: int) -> Accepted | Failed | Unknown:
    """Where a connection ends: at the first address that accepts, as Java tries them."""
    if not isinstance(resolution, tuple):
        return resolution
    client = client_namespace(deployment, vantage)
    results = [connect_from(deployment, client, target, port) for target in resolution]
    return next((one for one in results if isinstance(one, Accepted)), results[0])


def _something_else(landed: Accepted) -> Failed:
    because = f"listener {landed.entry.endpoint.listener} of {landed.broker.name} answers there, not JMX"
    return Failed(reason=Reason.NOT_KAFKA, because=because, mechanism=Mechanism.NOT_KAFKA)


def _with_jmx_listeners(deployment: Deployment, served: Iterable[JmxBroker]) -> Deployment:
    """The same deployment, in which the registry and the RMI server are listeners of their broker."""
    by_name = {one.broker.name: one for one in served}

    def extended(brokers: tuple[Broker, ...]) -> tuple[Broker, ...]:
        return tuple(_extended(one, by_name[one.name]) if one.name in by_name else one for one in brokers)

    around = deployment.surroundings
    return replace(
        deployment,
        brokers=extended(deployment.brokers),
        surroundings=replace(around, brokers=extended(around.brokers)),
    )


def _extended(broker: Broker, jmx: JmxBroker) -> Broker:
    listeners = ",".join((*(entry.text for entry in broker.config.listeners), *_listeners(jmx)))
    settings = {**broker.config.settings, "listeners": image_default("listeners", listeners)}
    return replace(broker, config=replace(broker.config, settings=settings))


def _listeners(jmx: JmxBroker) -> Iterator[str]:
    host = bracketed(jmx.agent.bound)
    yield f"{_REGISTRY}://{host}:{jmx.agent.port}"
    if jmx.rmi_port != jmx.agent.port:
        yield f"{_RMI}://{host}:{jmx.rmi_port}"


def _unused_port(deployment: Deployment) -> int:
    taken = {port for _, port in deployment.listeners_by_port} | set(deployment.publishers_by_port)
    taken |= {port.target for member in deployment.all_members for port in member.published}
    return next(port for port in _EPHEMERAL if port not in taken)
