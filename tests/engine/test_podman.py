"""What Podman's documents say, as Podman 4.3.1 wrote them."""

from typing import Any

from netdiag.deployment.model.deployment import HostKind, Member, NetworkMode, Platform, podman_release
from netdiag.deployment.sources.engine import from_engine
from netdiag.engine.about import parse_host, release_of
from netdiag.engine.container import EngineNetwork, Status, parse_container
from netdiag.engine.podman import parse_podman_network
from tests.each import each

VERSION = {"Components": [{"Name": "Podman Engine", "Version": "4.3.1"}, {"Name": "Conmon"}], "Version": "4.3.1"}
INFO = {
    "BuildahVersion": "1.28.2",
    "Rootless": False,
    "OperatingSystem": "debian",
    "Name": "vm",
    "KernelVersion": "6.1",
}
OF_COMPOSE = {
    "name": "shop_kafka",
    "id": "fb647def210fbda32bbb463b1313129398b8d049d54bf30a3eee2f58fc91c1db",
    "driver": "bridge",
    "network_interface": "podman1",
    "subnets": [{"subnet": "10.89.0.0/24", "gateway": "10.89.0.1"}],
    "ipv6_enabled": False,
    "internal": False,
    "dns_enabled": True,
    "labels": {"com.docker.compose.network": "kafka", "com.docker.compose.version": "2.40.3"},
    "options": {"isolate": "true"},
}
DEFAULT = {
    "name": "podman",
    "id": "2f259bab93aaaaa2542ba43ef33eb990d0999ee1b9924b557b7be53c0b7a1bb9",
    "driver": "bridge",
    "network_interface": "podman0",
    "subnets": [{"subnet": "10.88.0.0/16", "gateway": "10.88.0.1"}],
    "internal": False,
    "dns_enabled": False,
}
MACVLAN = {"name": "wire", "id": "b6", "driver": "macvlan", "network_interface": "eth0", "dns_enabled": False}
PODMAN = Platform(kind=HostKind.PODMAN, podman=(4, 3))


def _container(identifier: str, name: str, **fields: Any) -> dict[str, Any]:
    """One that runs, on network shop_kafka; `fields` are its image, hostname, network mode and networks."""
    endpoint = {"Aliases": ["kafka", identifier[:12]], "NetworkID": "shop_kafka", "IPAddress": "10.89.0.2"}
    return {
        "Id": identifier,
        "Name": f"/{name}",
        "State": {"Status": "running", "Pid": 7},
        "HostConfig": {"NetworkMode": fields.get("mode", "bridge"), "PortBindings": fields.get("ports", {})},
        "Config": {
            "Image": fields.get("image", "docker.io/apache/kafka:3.9.1"),
            "Cmd": ["/etc/kafka/docker/run"],
            "Hostname": fields.get("hostname", identifier[:12]),
            "Env": ["KAFKA_LISTENERS=PLAINTEXT://:9092"],
        },
        "NetworkSettings": {
            "Networks": fields.get("networks", {"shop_kafka": endpoint}),
            "Ports": fields.get("ports", {}),
        },
    }


def _members(*documents: dict[str, Any], platform: Platform = PODMAN) -> dict[str, Member]:
    networks = [parse_podman_network(one) for one in (OF_COMPOSE, DEFAULT)]
    deployment = from_engine([parse_container(one) for one in documents], networks, platform=platform)
    return {member.name: member for member in deployment.members}


def test_it_is_recognized_by_its_version_and_by_its_info() -> None:
    assert release_of(VERSION) == "Podman 4.3.1"
    assert release_of({"Version": "20.10.24", "Components": [{"Name": "Engine"}]}) == "20.10.24"
    assert parse_host(INFO).is_podman
    assert not parse_host(INFO).rootless
    assert parse_host({**INFO, "Rootless": True}).rootless
    assert not parse_host({"Name": "vm", "OperatingSystem": "Debian GNU/Linux 12"}).is_podman


@each(
    ("said", "release"),
    [("Podman 4.3.1", (4, 3)), ("5.4", (5, 4)), ("6", (6, 0)), ("4.10.0-dev", (4, 10)), ("", None), ("new", None)],
)
def test_a_release_is_two_numbers(said: str, release: tuple[int, int] | None) -> None:
    assert podman_release(said) == release


def test_a_network_has_its_device_and_whether_it_is_isolated() -> None:
    assert parse_podman_network(OF_COMPOSE) == EngineNetwork(
        id=str(OF_COMPOSE["id"]),
        name="shop_kafka",
        driver="bridge",
        internal=False,
        subnets=("10.89.0.0/24",),
        gateways=("10.89.0.1",),
        default_bridge=False,
        bridge_name="podman1",
        isolated=True,
    )
    assert parse_podman_network({**OF_COMPOSE, "options": {}}).isolated is True
    assert parse_podman_network({**OF_COMPOSE, "options": {"isolate": "false"}}).isolated is False
    assert parse_podman_network({**OF_COMPOSE, "options": {"isolate": "strict"}}).isolated is True


def test_the_default_network_has_no_dns() -> None:
    found = parse_podman_network(DEFAULT)
    assert (found.default_bridge, found.bridge_name, found.isolated) == (True, "podman0", None)


def test_a_macvlan_network_stands_on_its_device() -> None:
    found = parse_podman_network(MACVLAN)
    assert (found.parent, found.bridge_name, found.default_bridge) == ("eth0", "", False)


@each("document", [{}, [], None, {"subnets": [1, None]}, {"options": [], "labels": 3, "name": 4}])
def test_any_document_gives_a_network(document: object) -> None:
    assert parse_podman_network(document).name == ""


def test_before_release_6_a_network_without_the_option_lets_others_in() -> None:
    networks = [parse_podman_network({**OF_COMPOSE, "labels": {}, "options": {}})]
    for release, isolated in (((4, 3), False), ((6, 0), None), (None, None)):
        platform = Platform(kind=HostKind.PODMAN, podman=release)
        assert from_engine([], networks, platform=platform).networks["shop_kafka"].isolated is isolated


def test_a_hostname_is_no_name_for_others() -> None:
    document = _container("a" * 64, "shop-kafka-1", hostname="khost")
    (member,) = _members(document).values()
    assert member.mode is NetworkMode.NETWORKS
    assert member.attachments[0].names == ("shop-kafka-1", "kafka", "a" * 12)
    assert member.hostnames == ("khost",)
    (in_docker,) = _members(document, platform=Platform()).values()
    assert "khost" in in_docker.attachments[0].names


def test_a_container_that_left_its_network_is_not_on_the_default_one() -> None:
    (member,) = _members(_container("a" * 64, "k", networks={})).values()
    assert (member.mode, member.attachments) == (NetworkMode.NETWORKS, ())


def test_a_pod_has_the_ports_and_the_names() -> None:
    ports = {"9092/tcp": [{"HostIp": "", "HostPort": "9092"}]}
    pause = _container("b" * 64, "shop-infra", image="localhost/podman-pause:4.3.1-0", hostname="shop", ports=ports)
    inside = _container("c" * 64, "broker", mode=f"container:{'b' * 64}", hostname="shop", ports=ports)
    found = _members(pause, inside)
    assert "shop" in found["shop-infra"].attachments[0].names
    assert [port.published for port in found["shop-infra"].published] == [9092]
    assert found["shop-infra"].extra_hosts == {"broker": "127.0.0.1"}
    assert (found["broker"].mode, found["broker"].shares_with) == (NetworkMode.SHARED, "shop-infra")
    assert (found["broker"].attachments, found["broker"].published) == ((), ())


@each("mode", ["slirp4netns", "pasta", "ns:/run/netns/x"])
def test_what_only_rootless_podman_has_is_unknown(mode: str) -> None:
    (member,) = _members(_container("a" * 64, "k", mode=mode, networks={})).values()
    assert member.mode is NetworkMode.UNKNOWN


@each(
    ("said", "status"),
    [
        ("stopped", Status.EXITED),
        ("stopping", Status.RUNNING),
        ("configured", Status.CREATED),
        ("initialized", Status.CREATED),
        ("exited", Status.EXITED),
        ("new word", Status.UNKNOWN),
    ],
)
def test_states_have_words_of_their_own(said: str, status: Status) -> None:
    document = {"Id": "7" * 64, "Name": "/kafka", "State": {"Status": said, "Pid": 0, "ExitCode": 1}}
    assert parse_container(document).state.status is status
