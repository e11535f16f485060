"""Running containers as a deployment."""

from dataclasses import replace

import pytest

from netdiag.deployment.model.deployment import NetworkKind, NetworkMode, State
from netdiag.deployment.model.vantage import bootstraps
from netdiag.deployment.model.verdict import Address
from netdiag.deployment.sources.engine import from_engine, member_names, runs_kafka
from netdiag.engine.container import Container, ContainerState, EndpointSettings, EngineNetwork, PortBinding, Status
from netdiag.findings import ContainerLocation

RUNNING = ContainerState(status=Status.RUNNING, pid=7, exit_code=0, oom_killed=False, error="")
EXITED = ContainerState(status=Status.EXITED, pid=0, exit_code=1, oom_killed=False, error="")


def network(name: str, *, internal: bool = False, default: bool = False, driver: str = "bridge") -> EngineNetwork:
    return EngineNetwork(
        id=name * 4,
        name=name,
        driver=driver,
        internal=internal,
        subnets=("172.18.0.0/16",),
        gateways=("172.18.0.1",),
        default_bridge=default,
        bridge_name=f"br-{name}",
    )


def attached(name: str, address: str = "172.18.0.5", aliases: tuple[str, ...] = ("broker-1",)) -> EndpointSettings:
    return EndpointSettings(
        network=name, network_id="", aliases=aliases, ipv4_address=address, ipv6_address="", gateway="172.18.0.1"
    )


def container(name: str = "p-broker-1-1", **changes: object) -> Container:
    made = Container(
        id=(name.encode().hex() * 8)[:64],
        name=name,
        image="apache/kafka:3.9.1",
        image_id="",
        state=RUNNING,
        entrypoint=("/__cacert_entrypoint.sh",),
        command=("/etc/kafka/docker/run",),
        environment={"KAFKA_NODE_ID": "1", "KAFKA_LISTENERS": "PLAINTEXT://:9092"},
        labels={"com.docker.compose.project": "p", "com.docker.compose.service": "broker-1"},
        hostname="own-name",
        domainname="",
        network_mode="p_kafka",
        extra_hosts=(("db", "10.0.0.1"),),
        networks=(attached("p_kafka"),),
        ports=(),
        requested_ports=(),
        restart_count=0,
    )
    return replace(made, **changes)  # type: ignore[arg-type]


NETWORKS = (network("p_kafka"), network("bridge", default=True), network("host", driver="host"))


def test_a_broker_has_its_names_addresses_and_settings() -> None:
    deployment = from_engine([container()], NETWORKS, name="p", host_addresses=("192.168.8.133",))
    (broker,) = deployment.brokers
    assert (broker.name, broker.member.service, broker.member.container) == ("broker-1", "broker-1", "p-broker-1-1")
    assert broker.config.node_id == 1
    (attachment,) = broker.member.attachments
    assert attachment.network == "p_kafka"
    assert attachment.addresses == ("172.18.0.5",)
    assert attachment.names == ("broker-1", "p-broker-1-1", container().short_id, "own-name")
    assert broker.member.hostnames == ("own-name",)
    assert broker.member.extra_hosts == {"db": "10.0.0.1"}
    assert broker.member.state is State.RUNNING
    assert deployment.host_addresses == ("192.168.8.133",)


def test_a_finding_points_at_the_container_and_the_variable() -> None:
    (broker,) = from_engine([container()], NETWORKS).brokers
    assert broker.place("listeners") == ContainerLocation(container="p-broker-1-1", part="KAFKA_LISTENERS")
    assert broker.place("nothing") == ContainerLocation(container="p-broker-1-1")
    assert broker.declared["KAFKA_LISTENERS"].edit(0, 1, "x") is None


def test_networks_have_their_kinds() -> None:
    networks = from_engine([], NETWORKS).networks
    kinds = {name: n.kind for name, n in networks.items()}
    assert kinds == {
        "p_kafka": NetworkKind.USER_BRIDGE,
        "bridge": NetworkKind.DEFAULT_BRIDGE,
        "host": NetworkKind.OTHER,
    }


def test_attachments_stand_in_the_engines_order() -> None:
    many = container(networks=(attached("inside"), attached("zeta"), attached("alpha")))
    networks = (network("alpha"), network("inside", internal=True), network("zeta"))
    (broker,) = from_engine([many], networks).brokers
    assert [a.network for a in broker.member.attachments] == ["alpha", "zeta", "inside"]


PORTS = (
    PortBinding(target=9092, protocol="tcp", host_ip="0.0.0.0", published=9092),
    PortBinding(target=9092, protocol="tcp", host_ip="::", published=9092),
    PortBinding(target=9093, protocol="tcp", host_ip="127.0.0.1", published=9093),
    PortBinding(target=9094, protocol="tcp", host_ip="::", published=9094),
)


def test_published_ports_are_those_in_force() -> None:
    asked = (PortBinding(target=1, protocol="tcp", host_ip="", published=1),)
    (broker,) = from_engine([container(ports=PORTS, requested_ports=asked)], NETWORKS).brokers
    assert [(p.published, p.target, p.host_ip) for p in broker.member.published] == [
        (9092, 9092, ""),
        (9093, 9093, "127.0.0.1"),
        (9094, 9094, "::"),
    ]


def test_a_port_may_have_a_number_for_each_version_of_ip() -> None:
    ports = (
        PortBinding(target=9092, protocol="tcp", host_ip="0.0.0.0", published=32796),
        PortBinding(target=9092, protocol="tcp", host_ip="::", published=32795),
    )
    deployment = from_engine([container(ports=ports)], NETWORKS, host_addresses=("192.168.8.133",))
    (broker,) = deployment.brokers
    assert [(p.published, p.host_ip) for p in broker.member.published] == [(32796, "0.0.0.0"), (32795, "::")]
    tried = bootstraps(deployment)
    host = [address.port for address in tried if address.host == "192.168.8.133"]
    assert (host, Address(host="localhost", port=32795) in tried) == ([32796], True)


def test_a_stopped_broker_keeps_what_it_asked_for() -> None:
    asked = (PortBinding(target=9092, protocol="tcp", host_ip="", published=9092),)
    stopped = container(state=EXITED, ports=(), requested_ports=asked, networks=(attached("p_kafka", address=""),))
    (broker,) = from_engine([stopped], NETWORKS).brokers
    assert broker.member.state is State.STOPPED
    assert [p.published for p in broker.member.published] == [9092]
    assert broker.member.attachments[0].addresses == ()


def test_a_broker_that_could_not_be_started_belongs_to_the_network_of_its_mode() -> None:
    (broker,) = from_engine([container(state=EXITED, networks=())], NETWORKS).brokers
    assert [(a.network, a.names[0], a.addresses) for a in broker.member.attachments] == [("p_kafka", "broker-1", ())]
    for mode in ("host", "none", "gone"):
        (broker,) = from_engine([container(state=EXITED, networks=(), network_mode=mode)], NETWORKS).brokers
        assert broker.member.attachments == ()
    (broker,) = from_engine([container(networks=())], NETWORKS).brokers
    assert broker.member.attachments == ()


@pytest.mark.parametrize(
    ("network_mode", "networks", "mode"),
    [
        ("p_kafka", (attached("p_kafka"),), NetworkMode.NETWORKS),
        ("host", (attached("host", address=""),), NetworkMode.HOST),
        ("none", (attached("none", address=""),), NetworkMode.NONE),
        ("none", (attached("p_kafka"),), NetworkMode.NETWORKS),
        ("default", (attached("bridge", aliases=()),), NetworkMode.DEFAULT_BRIDGE),
        ("bridge", (attached("bridge", aliases=()),), NetworkMode.DEFAULT_BRIDGE),
        ("bridge", (attached("bridge"), attached("p_kafka")), NetworkMode.NETWORKS),
    ],
)
def test_modes(network_mode: str, networks: tuple[EndpointSettings, ...], mode: NetworkMode) -> None:
    (broker,) = from_engine([container(network_mode=network_mode, networks=networks)], NETWORKS).brokers
    assert broker.member.mode is mode
    assert not {a.network for a in broker.member.attachments} & {"host", "none"}


def test_the_default_bridge_gives_no_names() -> None:
    (broker,) = from_engine([container(network_mode="bridge", networks=(attached("bridge"),))], NETWORKS).brokers
    assert broker.member.attachments[0].names == ()


def test_a_shared_namespace_names_its_owner() -> None:
    owner = container()
    guest = container("p-ui-1", image="ui", labels={}, network_mode=f"container:{owner.id}", networks=())
    (member,) = from_engine([owner, guest], NETWORKS).others
    assert (member.mode, member.shares_with) == (NetworkMode.SHARED, "broker-1")
    stranger = replace(guest, network_mode="container:gone")
    assert from_engine([stranger], NETWORKS).others[0].shares_with == "gone"


def test_members_are_called_by_service_only_where_that_is_unique() -> None:
    twins = [container("p-broker-1-1"), container("p-broker-1-2"), container("alone", labels={})]
    assert list(member_names(twins).values()) == ["p-broker-1-1", "p-broker-1-2", "alone"]
    clash = [container("p-broker-1-1"), container("broker-1", labels={})]
    assert list(member_names(clash).values()) == ["p-broker-1-1", "broker-1"]


def test_what_is_asked_about_is_called_as_if_it_were_alone() -> None:
    other = {"com.docker.compose.project": "q", "com.docker.compose.service": "broker-1"}
    twins = [container(), container("q-broker-1-1", labels=other), container("broker-1", labels=other)]
    assert list(member_names(twins, {twins[0].id}).values()) == ["broker-1", "q-broker-1-1", "broker-1 (q)"]
    deployment = from_engine(twins, NETWORKS, asked={twins[0].id})
    assert [broker.name for broker in deployment.brokers] == ["broker-1"]
    assert [broker.name for broker in deployment.surroundings.brokers] == ["q-broker-1-1", "broker-1 (q)"]
    assert [member.project for member in deployment.all_members] == ["p", "q", "q"]


@pytest.mark.parametrize(
    ("image", "entrypoint", "command", "expected"),
    [
        ("apache/kafka:3.9.1", (), ("/etc/kafka/docker/run",), True),
        ("mirror.test/confluentinc/cp-kafka:7.9.2", (), ("/etc/confluent/docker/run",), True),
        ("confluentinc/cp-kafka:7.9.2", ("sh", "-c", "sleep 5 && /etc/confluent/docker/run"), (), True),
        ("confluentinc/cp-kafka:7.9.2", (), ("kafka-topics", "--list"), False),
        ("confluentinc/cp-zookeeper:7.9.2", (), ("/etc/confluent/docker/run",), False),
        ("nginx", (), ("nginx", "-g", "daemon off;"), False),
    ],
)
def test_what_runs_kafka(image: str, entrypoint: tuple[str, ...], command: tuple[str, ...], expected: bool) -> None:
    assert runs_kafka(container(image=image, entrypoint=entrypoint, command=command)) is expected


def test_clients_are_seen_by_their_variables() -> None:
    ui = container(
        "p-ui-1",
        image="ui",
        labels={"com.docker.compose.project": "p", "com.docker.compose.service": "ui"},
        environment={"KAFKA_CLUSTERS_0_BOOTSTRAPSERVERS": "broker-1:29092,broker-2:29092"},
    )
    (dependent,) = from_engine([container(), ui], NETWORKS).clients
    assert dependent.member.name == "ui"
    assert [(a.host, a.port) for a in dependent.bootstraps] == [("broker-1", 29092), ("broker-2", 29092)]
    assert dependent.declared.at() == ContainerLocation(container="p-ui-1", part="KAFKA_CLUSTERS_0_BOOTSTRAPSERVERS")


def test_a_running_redpanda_has_the_listeners_of_its_flags() -> None:
    flags = ("--kafka-addr", "a://0.0.0.0:9092", "--advertise-kafka-addr=a://redpanda:9092")
    made = container(
        "redpanda",
        image="redpandadata/redpanda:v24.2.4",
        entrypoint=("/entrypoint.sh",),
        command=("redpanda", "start", *flags),
        environment={},
    )
    broker = from_engine([made], NETWORKS).brokers[0]
    assert [str(entry.endpoint) for entry in broker.config.advertised_listeners] == ["a://redpanda:9092"]
    assert broker.place("advertised.listeners") == ContainerLocation(
        container="redpanda", part="--advertise-kafka-addr"
    )


def test_what_a_running_redpanda_is_not_told_by_flags_is_unknown() -> None:
    made = container(
        "redpanda", image="redpandadata/redpanda", entrypoint=("/entrypoint.sh",), command=("redpanda", "start")
    )
    assert from_engine([made], NETWORKS).brokers[0].config.is_unknown("listeners")
