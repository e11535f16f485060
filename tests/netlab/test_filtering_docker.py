"""The rules that a Docker Engine makes, on its host and in its containers, as iptables-save prints them."""

import secrets
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.figures import Report
from tests.lab.engine import HOST_ADDRESS, Engine, engine
from tests.lab.image_set import CLIENT
from tests.lab.lab import Lab
from tests.netlab.compare_rules import compare_rules
from tests.netlab.filtering import ruleset_of, ruleset_of_process

_NETWORKS = (
    ("plain", ()),
    ("inside", ("--internal",)),
    ("apart", ("-o", "com.docker.network.bridge.enable_icc=false")),
    ("unmasked", ("-o", "com.docker.network.bridge.enable_ip_masquerade=false")),
)
_PUBLISHED = ("-p", "19092:9092", "-p", "127.0.0.1:19093:9093", "-p", f"{HOST_ADDRESS}:19094:9094/udp")


def test_rules_of_an_engine(lab: Lab, figure: Report) -> None:
    _compared(lab.engine, figure, "with docker-proxy")


@pytest.mark.bar("filtering-truth", long=True)
def test_rules_of_an_engine_without_docker_proxy(figure: Report) -> None:
    with engine(userland_proxy=False) as made:
        _compared(made, figure, "without docker-proxy")


def _compared(made: Engine, figure: Report, how: str) -> None:
    with _running(made) as pids:
        host = ruleset_of(made.record.host_netns)
        found = [compare_rules(host, made.record.host_netns)]
        found += [compare_rules(ruleset_of_process(pid), f"/proc/{pid}/ns/net") for pid in pids]
    figure(f"rules of an engine {how}", sum(one.compared for one in found))
    for one in found:
        assert one.equal, one
        assert one.broken == []
        assert one.compared
    assert host.unread == ()
    published = [
        rule.text
        for table in host.tables
        for chain in table.chains
        for rule in chain.rules
        if "--dport 1909" in rule.text
    ]
    assert len(published) == 3


@contextmanager
def _running(made: Engine) -> Iterator[list[int]]:
    """A container on a network of each kind, one of them published."""
    token = secrets.token_hex(3)
    networks, containers = [], []
    try:
        for name, options in _NETWORKS:
            made.docker("network", "create", *options, f"{name}-{token}")
            networks.append(f"{name}-{token}")
            ports = _PUBLISHED if name == "plain" else ()
            words = ("run", "-d", "--network", f"{name}-{token}", *ports, CLIENT, "sleep", "600")
            containers.append(made.docker(*words).strip())
        told = made.docker("inspect", "-f", "{{.State.Pid}}", *containers)
        yield [int(pid) for pid in told.split()]
    finally:
        for container in containers:
            made.docker("rm", "-f", container, check=False)
        for network in networks:
            made.docker("network", "rm", network, check=False)
