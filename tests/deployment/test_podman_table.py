"""The table of Podman in docs/reachability.md against the model."""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from netdiag.deployment.model.deployment import Deployment, HostKind, Network, Platform
from netdiag.deployment.sources.compose import DEFAULT_BRIDGE
from tests.deployment.test_decision_table import Row, answer
from tests.deployment.worlds import LAN_ADDRESS, broker, world
from tests.each import each
from tests.house.tree import ROOT

_K, _HOST = "10.5.1.10", LAN_ADDRESS
_LAN = {"lan_routes": True}


def _isolated(deployment: Deployment) -> Deployment:
    """As `docker compose` creates networks."""
    return _with_networks(deployment, isolated=True)


def _with_networks(deployment: Deployment, **fields: Any) -> Deployment:
    networks: Mapping[str, Network] = {
        key: network if key == DEFAULT_BRIDGE else replace(network, **fields)
        for key, network in deployment.networks.items()
    }
    return replace(deployment, networks=networks)


def _left(deployment: Deployment) -> Deployment:
    brokers = tuple(
        replace(b, member=replace(b.member, attachments=())) if b.name == "k" else b for b in deployment.brokers
    )
    return replace(deployment, brokers=brokers)


def _without_hostnames(deployment: Deployment) -> Deployment:
    """As the file is read for Podman."""
    brokers = tuple(
        replace(
            b,
            member=replace(
                b.member,
                attachments=tuple(
                    replace(a, names=tuple(n for n in a.names if n not in b.member.hostnames))
                    for a in b.member.attachments
                ),
            ),
        )
        for b in deployment.brokers
    )
    return replace(deployment, brokers=brokers)


ROWS: Mapping[str, Row] = {
    "p1": Row(client="host", address="127.0.0.1:9092"),
    "p1b": Row(client="host", address="127.0.0.1:9099"),
    "p1c": Row(client="host", address="[::1]:9092"),
    "p2": Row(client="host", address="localhost:9392"),
    "p2b": Row(client="lan", address=f"{_HOST}:9392"),
    "p2c": Row(client="host", address=f"{_HOST}:9092", change=_left),
    "p2d": Row(client="host", address=f"{_HOST}:9092", down=frozenset({"k"})),
    "p3": Row(client="c", address=f"{_HOST}:9092"),
    "p3b": Row(client="c", address=f"{_HOST}:9099"),
    "p3c": Row(client="c", address=f"{_HOST}:9092", platform={"bridge_filter": False}),
    "p4": Row(client="k", address=f"{_HOST}:9092", platform={"bridge_filter": True}),
    "p4b": Row(client="k", address=f"{_HOST}:9092", platform={"bridge_filter": False}),
    "p4c": Row(client="k", address=f"{_HOST}:9092"),
    "p5": Row(client="o", address=f"{_HOST}:9092", change=_isolated),
    "p5b": Row(client="cd", address=f"{_HOST}:9092", change=_isolated),
    "p5c": Row(client="o", address=f"{_HOST}:9092"),
    "p6": Row(client="o", address=f"{_K}:9092", change=_isolated),
    "p6b": Row(client="cd", address=f"{_K}:9092", change=_isolated),
    "p6c": Row(client="o", address="10.5.3.10:9092", change=_isolated),
    "p7": Row(client="cn", address="10.5.4.10:9092"),
    "p8": Row(client="ci", address=f"{_K}:9092"),
    "p8b": Row(client="ci", address="10.5.3.1:9692"),
    "p8c": Row(client="ci", address="10.5.3.1:9092"),
    "p8d": Row(client="ci", address=f"{_HOST}:9692"),
    "p9": Row(client="lan", address=f"{_K}:9092", platform={**_LAN, "forward_drops": False}),
    "p9b": Row(client="lan", address=f"{_K}:9092", platform={**_LAN, "forward_drops": True}),
    "p9c": Row(client="lan", address=f"{_K}:9092", platform=_LAN),
    "p10": Row(client="k", address="[::1]:9092"),
    "p11": Row(client="c", address="K:9092"),
    "p11b": Row(client="c", address="k.dns.podman:9092"),
    "p11c": Row(client="c", address="k.p_a:9092"),
    "p12": Row(client="c", address="khost:9092", change=_without_hostnames),
    "p12b": Row(client="k", address="khost:9092", change=_without_hostnames),
    "p13": Row(client="cd", address="kd:9092"),
    "p14": Row(client="c", address="host.containers.internal:9092"),
    "p14b": Row(client="host", address="host.containers.internal:9092"),
    "p15": Row(client="c", address="host.docker.internal:9092"),
    "p15b": Row(client="c", address="host.docker.internal:9092", platform={"podman": (5, 4)}),
    "p15c": Row(client="c", address="host.docker.internal:9092", platform={"podman": None}),
    "p16": Row(client="c", address="up:9692"),
    "p16b": Row(client="c", address="up:9692", platform={"podman": (4, 7)}),
    "p16c": Row(client="c", address="up:9692", platform={"podman": None}),
}

_PAGE = (ROOT / "docs" / "reachability.md").read_text(encoding="utf-8")
_LINE = re.compile(r"^\| (p\d+[a-e]?) \| [^|]+ \| [^|]+ \| ([^|]+) \| ([^|]+) \|$", re.M)
TABLE = {key: (word, mechanism.strip("`").removeprefix("–")) for key, word, mechanism in _LINE.findall(_PAGE)}


def test_the_page_and_the_model_have_the_same_rows() -> None:
    assert list(TABLE) == list(ROWS)
    assert len(ROWS) > 40


@each("key", ROWS)
def test_row(key: str) -> None:
    assert answer(ROWS[key], Platform(kind=HostKind.PODMAN, podman=(4, 3))) == TABLE[key]


_TWO_NETWORKS = (
    broker("k", "networks: [a, b]\n    ports: ['9092:9092']")
    + broker("two", "networks: [a, b]")
    + broker("one", "networks: [a]")
    + broker("else", "networks: [c]")
)


@each(
    ("client", "isolated", "word"),
    [
        # led to the network that the client leaves by, or to the other one, which keeps it out
        ("one", True, "unknown"),
        ("two", True, "unknown"),
        # kept out of both, or let into both
        ("else", True, "timeout"),
        ("else", False, "ok"),
        ("one", False, "unknown"),
    ],
)
def test_chance_decides_between_the_networks_of_a_container(client: str, isolated: bool, word: str) -> None:
    row = Row(client=client, address=f"{_HOST}:9092")
    networks = "  a: {}\n  b: {}\n  c: {}\n"
    deployment = _with_networks(world(_TWO_NETWORKS, networks), isolated=isolated)
    assert answer(row, Platform(kind=HostKind.PODMAN, podman=(4, 3)), deployment)[0] == word
