"""Inspect documents as containers, from what an engine 20.10 really says, and from what it should not."""

from typing import Any

import pytest

from netdiag.engine.container import EndpointSettings, PortBinding, Status, in_order, parse_container

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
