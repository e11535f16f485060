"""What an engine says as values: containers, networks, logs; and documents of uncertain shape."""

from typing import Any

import pytest

from netdiag.engine.container import (
    LONGEST_LINE,
    EndpointSettings,
    EngineNetwork,
    PortBinding,
    Status,
    flag,
    in_order,
    log_lines,
    mapping,
    number,
    parse_container,
    parse_network,
    sequence,
    text,
    texts,
)

# `docker inspect` of engine 20.10.24, cut down to what is read.
BROKER: dict[str, Any] = {
    "Id": "c84ae2429ac2" + "0" * 52,
    "Name": "/held-broker-1-1",
    "Image": "sha256:2a9a",
    "RestartCount": 0,
    "State": {"Status": "running", "Running": True, "Pid": 4711, "ExitCode": 0, "OOMKilled": False, "Error": ""},
    "Config": {
        "Hostname": "c84ae2429ac2",
        "Domainname": "",
        "Env": ["KAFKA_NODE_ID=1", "KAFKA_OPTS=-Da=b", "EMPTY=", "BARE"],
        "Cmd": ["/etc/kafka/docker/run"],
        "Entrypoint": None,
        "Image": "apache/kafka:3.9.1",
        "Labels": {"com.docker.compose.project": "held", "com.docker.compose.service": "broker-1"},
    },
    "HostConfig": {
        "NetworkMode": "held_kafka",
        "ExtraHosts": ["db:10.0.0.1", "six:2001:db8::1", "host.docker.internal:host-gateway", "new=[2001:db8::2]"],
        "PortBindings": {
            "9091/tcp": [{"HostIp": "", "HostPort": "9091"}],
            "9999/udp": [{"HostIp": "", "HostPort": ""}],
        },
    },
    "NetworkSettings": {
        "Ports": {
            "9091/tcp": [{"HostIp": "0.0.0.0", "HostPort": "9091"}, {"HostIp": "::", "HostPort": "9091"}],
            "9999/udp": None,
            "8000-8001/tcp": [{"HostIp": "", "HostPort": "1"}],
        },
        "Networks": {
            "held_kafka": {
                "Aliases": ["broker-1", "c84ae2429ac2"],
                "NetworkID": "n1",
                "Gateway": "172.18.0.1",
                "IPAddress": "172.18.0.5",
                "GlobalIPv6Address": "",
            }
        },
    },
}


def test_a_running_broker() -> None:
    container = parse_container(BROKER)
    assert (container.name, container.short_id) == ("held-broker-1-1", "c84ae2429ac2")
    assert (container.project, container.service) == ("held", "broker-1")
    assert container.state.status is Status.RUNNING
    assert container.state.has_process
    assert container.command == ("/etc/kafka/docker/run",)
    assert container.entrypoint == ()
    assert container.environment == {"KAFKA_NODE_ID": "1", "KAFKA_OPTS": "-Da=b", "EMPTY": ""}
    assert container.networks == (
        EndpointSettings(
            network="held_kafka",
            network_id="n1",
            aliases=("broker-1", "c84ae2429ac2"),
            ipv4_address="172.18.0.5",
            ipv6_address="",
            gateway="172.18.0.1",
        ),
    )
    assert container.networks[0].addresses == ("172.18.0.5",)


def test_ports_in_force_and_asked_for() -> None:
    container = parse_container(BROKER)
    assert container.ports == (
        PortBinding(target=9091, protocol="tcp", host_ip="0.0.0.0", published=9091),
        PortBinding(target=9091, protocol="tcp", host_ip="::", published=9091),
    )
    assert container.requested_ports == (
        PortBinding(target=9091, protocol="tcp", host_ip="", published=9091),
        PortBinding(target=9999, protocol="udp", host_ip="", published=None),
    )


def test_extra_hosts_in_both_spellings() -> None:
    assert parse_container(BROKER).extra_hosts == (
        ("db", "10.0.0.1"),
        ("six", "2001:db8::1"),
        ("host.docker.internal", "host-gateway"),
        ("new", "2001:db8::2"),
    )


def test_the_names_of_engine_25() -> None:
    settings = {"Aliases": ["broker-1"], "DNSNames": ["held-broker-1-1", "broker-1", "c84ae2429ac2"]}
    document = BROKER | {"NetworkSettings": {"Networks": {"n": settings}}}
    assert parse_container(document).networks[0].aliases == ("broker-1", "held-broker-1-1", "c84ae2429ac2")


@pytest.mark.parametrize(
    ("state", "status", "alive"),
    [
        ({"Status": "exited", "ExitCode": 1}, Status.EXITED, False),
        ({"Status": "paused", "Pid": 3}, Status.PAUSED, True),
        ({"Status": "restarting", "Pid": 0, "ExitCode": 1}, Status.RESTARTING, False),
        ({"Status": "created"}, Status.CREATED, False),
        ({"Status": "hibernating", "Pid": 5}, Status.UNKNOWN, False),
        ({}, Status.UNKNOWN, False),
    ],
)
def test_states(state: dict[str, Any], status: Status, alive: bool) -> None:
    found = parse_container(BROKER | {"State": state}).state
    assert (found.status, found.has_process) == (status, alive)


@pytest.mark.parametrize(
    "document",
    [
        {},
        None,
        [],
        "text",
        {"Config": None, "HostConfig": [], "NetworkSettings": {"Ports": 3, "Networks": None}, "State": "running"},
        {"Config": {"Env": [1, None], "Labels": {"a": 1}}, "NetworkSettings": {"Ports": {"x/tcp": [{}], "1/tcp": [7]}}},
    ],
)
def test_any_document_is_a_container(document: object) -> None:
    container = parse_container(document)
    assert container.environment == {}
    assert container.labels == {}
    assert not container.state.has_process


def test_containers_are_in_the_order_in_which_people_count() -> None:
    names = ["broker-10", "broker-2", "a", "broker-2-10", "broker-2-9", "broker-02", "10", "9" * 5000, "broker"]
    containers = [parse_container({**BROKER, "Name": f"/{name}"}) for name in names]
    assert [c.name[:12] for c in sorted(containers, key=in_order)] == [
        "10",
        "9" * 12,
        "a",
        "broker",
        "broker-2",
        "broker-02",
        "broker-2-9",
        "broker-2-10",
        "broker-10",
    ]


def test_a_user_defined_bridge() -> None:
    document = {
        "Name": "held_kafka",
        "Id": "9d0a1c2b3e4f5566",
        "Driver": "bridge",
        "Internal": True,
        "IPAM": {"Config": [{"Subnet": "172.18.0.0/16", "Gateway": "172.18.0.1"}, {"Subnet": "fd00::/64"}]},
        "Options": {},
    }
    assert parse_network(document) == EngineNetwork(
        id="9d0a1c2b3e4f5566",
        name="held_kafka",
        driver="bridge",
        internal=True,
        subnets=("172.18.0.0/16", "fd00::/64"),
        gateways=("172.18.0.1",),
        default_bridge=False,
        bridge_name="br-9d0a1c2b3e4f",
    )


def test_the_default_bridge() -> None:
    options = {"com.docker.network.bridge.default_bridge": "true", "com.docker.network.bridge.name": "docker0"}
    network = parse_network({"Name": "bridge", "Id": "1", "Driver": "bridge", "Options": options})
    assert network.default_bridge
    assert network.bridge_name == "docker0"


def test_a_network_without_a_bridge() -> None:
    network = parse_network({"Name": "host", "Id": "2", "Driver": "host", "IPAM": {"Config": None}})
    assert network.bridge_name == ""
    assert network.subnets == ()


def test_a_gateway_with_a_prefix_length() -> None:
    document = {"IPAM": {"Config": [{"Gateway": "fd00::1/64"}]}}
    assert parse_network(document).gateways == ("fd00::1",)


def test_escape_sequences_and_control_characters_are_gone() -> None:
    data = (
        b"\x1b[31mERROR\x1b[0m bad\x07\r\n\n\x1b]0;title\x07plain\x1b]8;;http://x\x1b\\link\ttab\n\xe2\x80\xaeflipped\n"
    )
    assert log_lines(data) == ("ERROR bad", "plainlink\ttab", "flipped")


def test_an_unfinished_sequence_does_not_hide_the_rest() -> None:
    assert log_lines(b"before\x1b[\nafter") == ("before[", "after")


def test_long_lines_are_cut_and_bad_bytes_replaced() -> None:
    (line,) = log_lines(b"\xff" + b"x" * 10_000)
    assert len(line) == LONGEST_LINE
    assert line.endswith("…")


DOCUMENT = {"a": {"b": "text", "n": 3, "t": True, "l": ["x", 1, None], "none": None}}


def test_what_is_there() -> None:
    assert text(DOCUMENT, "a", "b") == "text"
    assert number(DOCUMENT, "a", "n") == 3
    assert flag(DOCUMENT, "a", "t")
    assert texts(DOCUMENT, "a", "l") == ("x",)
    assert list(mapping(DOCUMENT, "a")) == ["b", "n", "t", "l", "none"]


def test_what_is_not_or_is_something_else() -> None:
    assert text(DOCUMENT, "a", "n") == text(DOCUMENT, "x", "y") == text(None, "a") == ""
    assert number(DOCUMENT, "a", "t") == number(DOCUMENT, "a", "b") == 0
    assert not flag(DOCUMENT, "a", "n")
    assert sequence(DOCUMENT, "a", "b") == ()
    assert mapping(DOCUMENT, "a", "l") == {}
