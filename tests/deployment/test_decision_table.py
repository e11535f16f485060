"""The table of docs/reachability.md against the model: every row, engine and proxy."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import product
from typing import Any

from netdiag.deployment.model.deployment import (
    Deployment,
    Firewall,
    Generation,
    HostInput,
    HostKind,
    Member,
    Platform,
    State,
)
from netdiag.deployment.model.verdict import Address, Failed, Mechanism, Unknown
from netdiag.deployment.prediction.client_namespace import member_at
from netdiag.deployment.prediction.reachability import predict
from tests.deployment.worlds import LAN_ADDRESS, at, broker, world
from tests.each import each
from tests.house.tree import ROOT

_NETWORKS = """\
  a: {ipam: {config: [{subnet: 10.5.1.0/24, gateway: 10.5.1.1}]}}
  b: {ipam: {config: [{subnet: 10.5.2.0/24, gateway: 10.5.2.1}]}}
  i: {internal: true, ipam: {config: [{subnet: 10.5.3.0/24, gateway: 10.5.3.1}]}}
  n: {driver_opts: {com.docker.network.bridge.enable_icc: "false"}, ipam: {config: [{subnet: 10.5.4.0/24}]}}
  r: {driver_opts: {com.docker.network.bridge.gateway_mode_ipv4: routed}, ipam: {config: [{subnet: 10.5.5.0/24}]}}
  u:
    driver_opts: {com.docker.network.bridge.gateway_mode_ipv4: nat-unprotected}
    ipam: {config: [{subnet: 10.5.6.0/24}]}
  x:
    internal: true
    driver_opts: {com.docker.network.bridge.gateway_mode_ipv4: isolated}
    ipam: {config: [{subnet: 10.5.7.0/24, gateway: 10.5.7.1}]}
  m: {driver: macvlan, driver_opts: {parent: eth0}, ipam: {config: [{subnet: 192.168.8.0/24}]}}
"""
_PORTS = '["9092:9092", "9093:9093", "9099:9099", "127.0.0.1:9094:9092", "192.168.8.133:9095:9092"]'


def _client(name: str, place: str) -> str:
    return f"  {name}: {{image: alpine, {place}}}\n"


def _on(network: str, address: str) -> str:
    return f"networks: {{{network}: {{ipv4_address: {address}}}}}"


_LISTENERS = ("ALL://0.0.0.0:9092", "LO://127.0.0.1:9093")
_SERVICES = (
    broker("k", f"{_on('a', '10.5.1.10')}\n    hostname: khost\n    ports: {_PORTS}", *_LISTENERS)
    + broker("kn", f'{_on("n", "10.5.4.10")}\n    ports: ["9292:9092"]')
    + broker("ki", f'{_on("i", "10.5.3.10")}\n    ports: ["9392:9092"]')
    + broker("kr", f'{_on("r", "10.5.5.10")}\n    ports: ["9492:9092"]', *_LISTENERS)
    + broker("ku", f'{_on("u", "10.5.6.10")}\n    ports: ["9592:9092"]', *_LISTENERS)
    + broker("kx", _on("x", "10.5.7.10"))
    + broker("km", _on("m", "192.168.8.10"))
    + broker("kh", "network_mode: host", "ALL://0.0.0.0:9692", "LO://127.0.0.1:9693")
    + broker("kd", "network_mode: bridge")
    + broker(
        "two",
        "networks: {a: {ipv4_address: 10.5.1.12}, b: {ipv4_address: 10.5.2.12}}",
        "OWN://two:9092",
        "ALL://:9093",
    )
    + _client("c", _on("a", "10.5.1.11") + ", extra_hosts: ['up:host-gateway', 'fixed:10.5.1.10']")
    + _client("o", _on("b", "10.5.2.11"))
    + _client("cn", _on("n", "10.5.4.11"))
    + _client("ci", _on("i", "10.5.3.11"))
    + _client("cx", _on("x", "10.5.7.11"))
    + _client("cm", _on("m", "192.168.8.11"))
    + _client("cd", "network_mode: bridge")
    + _client("none", "network_mode: none")
    + _client("beside", "network_mode: service:k")
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One question. `platform` are the fields of the platform beside generation, proxy and firewall; `change` is what
    happens to the world first."""

    client: str
    address: str
    platform: Mapping[str, Any] = field(default_factory=dict)
    change: Callable[[Deployment], Deployment] = lambda deployment: deployment
    down: frozenset[str] = frozenset()


def answer(row: Row, platform: Platform, world: Deployment | None = None) -> tuple[str, str]:
    """What the first hop gives, in a word, and the mechanism of a failure."""
    deployment = replace(row.change(world or _world()), platform=replace(platform, **row.platform))
    host, _, port = row.address.rpartition(":")
    where = Address(host=host.strip("[]"), port=int(port))
    vantage = at(deployment, row.client)
    assert row.client in ("host", "lan", "elsewhere") or member_at(deployment, vantage)
    (cell,) = predict(deployment.with_down(row.down), [vantage], [where])
    assert cell.predicted
    contact = cell.predicted.bootstrap
    assert contact.because
    match contact:
        case Failed():
            assert contact.mechanism
            return contact.reason.value, contact.mechanism.value
        case Unknown():
            return "unknown", ""
        case _:
            return "ok", ""


@cache
def _world() -> Deployment:
    return world(_SERVICES, _NETWORKS)


def _with_members(deployment: Deployment, change: Callable[[Member], Member]) -> Deployment:
    brokers = tuple(replace(b, member=change(b.member)) for b in deployment.brokers)
    return replace(deployment, brokers=brokers, others=tuple(map(change, deployment.others)))


def _started(deployment: Deployment) -> Deployment:
    return _with_members(deployment, lambda member: replace(member, state=State.RUNNING))


def _paused(deployment: Deployment) -> Deployment:
    return _with_members(
        deployment, lambda member: replace(member, state=State.PAUSED) if member.name == "k" else member
    )


def _disconnected(deployment: Deployment) -> Deployment:
    return _with_members(deployment, lambda member: replace(member, attachments=()) if member.name == "k" else member)


_K, _HOST = "10.5.1.10", LAN_ADDRESS
_ROUTES = {"lan_routes": True}
_DROP, _REJECT, _PROHIBIT = ({"host_input": how} for how in (HostInput.DROP, HostInput.REJECT, HostInput.PROHIBIT))
_NFT, _IPT = ({"firewall": firewall} for firewall in (Firewall.NFTABLES, Firewall.IPTABLES))
_UNFILTERED = {"bridge_filter": False}
_DESKTOP, _WSL, _ORBSTACK, _COLIMA, _RANCHER = (
    {"kind": kind}
    for kind in (HostKind.DESKTOP, HostKind.WSL2, HostKind.ORBSTACK, HostKind.COLIMA, HostKind.RANCHER_DESKTOP)
)

_SWARM_SERVICES = (
    broker(
        "k",
        """container_name: called
    networks: [a]
    ports: ["127.0.0.1:9094:9092", "9092:9092", "9099:9099", {target: 9092, published: 9095, mode: host}]""",
    )
    + broker("own", "networks: [a]", "OWN://own:9092")
    + broker("rr", "networks: [a]\n    deploy: {endpoint_mode: dnsrr}")
    + broker(
        "each",
        "networks: [a]\n    deploy: {mode: global}\n    ports: [{target: 9092, published: 9096, mode: host}]",
    )
    + _client("c", "networks: [a]")
    + _client("o", "networks: [b]")
)


@cache
def _swarm() -> Deployment:
    return world(_SWARM_SERVICES, "  a: {}\n  b: {driver: overlay}\n", Platform(kind=HostKind.SWARM))


def _in_swarm(client: str, address: str) -> Row:
    return Row(client=client, address=address, platform={"kind": HostKind.SWARM}, change=lambda _: _swarm())


ROWS: Mapping[str, Row] = {
    "1": Row(client="c", address=f"{_K}:9092"),
    "2": Row(client="c", address=f"{_K}:9093"),
    "3": Row(client="c", address=f"{_K}:1"),
    "4": Row(client="c", address="10.5.1.99:9092", change=_started),
    "5": Row(client="c", address=f"{_K}:9092", down=frozenset({"k"})),
    "6": Row(client="c", address=f"{_K}:9092", change=_paused),
    "7": Row(client="cn", address="10.5.4.10:9092"),
    "7b": Row(client="cn", address="10.5.4.10:9092", platform=_UNFILTERED),
    "8": Row(client="o", address=f"{_K}:9092"),
    "9": Row(client="o", address="k:9092"),
    "10": Row(client="c", address=f"{_HOST}:9092"),
    "10b": Row(client="c", address=f"{_HOST}:9099"),
    "11": Row(client="c", address=f"{_HOST}:9092", platform=_UNFILTERED),
    "12": Row(client="k", address=f"{_HOST}:9092"),
    "12b": Row(client="k", address=f"{_HOST}:9092", platform=_UNFILTERED),
    "13": Row(client="kn", address=f"{_HOST}:9292"),
    "13b": Row(client="cn", address=f"{_HOST}:9292"),
    "14": Row(client="o", address=f"{_HOST}:9092"),
    "14b": Row(client="o", address="10.5.1.1:9092"),
    "14c": Row(client="o", address=f"{_HOST}:9099"),
    "15": Row(client="c", address="10.5.1.1:9095"),
    "16": Row(client="c", address=f"{_HOST}:9094"),
    "17": Row(client="c", address="localhost:9092"),
    "18": Row(client="beside", address="localhost:9093"),
    "19": Row(client="host", address=f"{_K}:9092"),
    "19b": Row(client="host", address="10.5.3.10:9092"),
    "19c": Row(client="host", address="10.5.4.10:9092"),
    "19d": Row(client="host", address="10.5.7.10:9092"),
    "20": Row(client="host", address="127.0.0.1:9092"),
    "20b": Row(client="host", address="127.0.0.1:9099"),
    "20c": Row(client="host", address="127.0.0.1:9093"),
    "21": Row(client="host", address=f"{_HOST}:9092"),
    "21b": Row(client="host", address=f"{_HOST}:9099"),
    "22": Row(client="host", address="[::1]:9092"),
    "22b": Row(client="host", address="localhost:9092"),
    "22c": Row(client="k", address="[::1]:9092"),
    "23": Row(client="lan", address=f"{_HOST}:9092"),
    "23b": Row(client="lan", address=f"{_HOST}:9099"),
    "24": Row(client="lan", address=f"{_HOST}:9094"),
    "25": Row(client="lan", address=f"{_K}:9092", platform=_ROUTES),
    "26": Row(client="lan", address="10.5.1.12:9092", platform=_ROUTES),
    "26b": Row(client="lan", address="10.5.1.12:9093", platform=_ROUTES | {"forward_drops": False}),
    "27": Row(client="lan", address=f"{_K}:9092"),
    "27b": Row(client="lan", address=f"{_K}:9092", platform={"lan_routes": False}),
    "28": Row(client="ci", address="10.5.3.10:9092"),
    "29": Row(client="ci", address=f"{_K}:9092"),
    "29b": Row(client="ci", address="203.0.113.9:9092", platform={"default_route": True}),
    "30": Row(client="ci", address="10.5.3.1:9692"),
    "30b": Row(client="cx", address="10.5.7.1:9692"),
    "31": Row(client="ci", address=f"{_HOST}:9692"),
    "32": Row(client="ci", address="10.5.3.1:9092", platform=_IPT),
    "32b": Row(client="ci", address="10.5.3.1:9092", platform=_NFT),
    "32c": Row(client="ci", address=f"{_HOST}:9092"),
    "33": Row(client="host", address="127.0.0.1:9392"),
    "33b": Row(client="lan", address=f"{_HOST}:9392"),
    "34": Row(client="c", address="10.5.1.1:9692"),
    "34b": Row(client="c", address="up:9692"),
    "34c": Row(client="c", address=f"{_HOST}:9693"),
    "35": Row(client="host", address="192.168.8.10:9092"),
    "35b": Row(client="cm", address=f"{_HOST}:9092"),
    "35c": Row(client="lan", address="192.168.8.10:9092"),
    "35d": Row(client="cm", address="192.168.8.10:9092"),
    "35e": Row(client="c", address="192.168.8.10:9092"),
    "36": Row(client="none", address=f"{_K}:9092"),
    "36b": Row(client="none", address=f"{_HOST}:9092"),
    "37": Row(client="k", address="10.5.2.12:9093", change=_disconnected),
    "37b": Row(client="host", address="127.0.0.1:9092", change=_disconnected),
    "38": Row(client="lan", address="10.5.5.10:9092", platform=_ROUTES),
    "38b": Row(client="lan", address="10.5.5.10:9093", platform=_ROUTES),
    "38c": Row(client="c", address="10.5.5.10:9092"),
    "38d": Row(client="host", address="127.0.0.1:9492"),
    "38e": Row(client="lan", address=f"{_HOST}:9492"),
    "39": Row(client="lan", address="10.5.6.10:9092", platform=_ROUTES),
    "39b": Row(client="c", address="10.5.6.10:9092"),
    "40": Row(client="lan", address=f"{_HOST}:9092", platform=_DROP),
    "40b": Row(client="c", address=f"{_HOST}:9092", platform=_DROP),
    "40c": Row(client="o", address=f"{_HOST}:9092", platform=_DROP),
    "40d": Row(client="c", address=f"{_HOST}:9692", platform=_DROP),
    "41": Row(client="c", address=f"{_HOST}:9692", platform=_REJECT),
    "41b": Row(client="c", address=f"{_HOST}:9692", platform=_PROHIBIT),
    "42": Row(client="ci", address="203.0.113.9:9092", platform={"default_route": False}),
    "42b": Row(client="c", address="203.0.113.9:9092", platform={"default_route": False}),
    "n1": Row(client="c", address="k:9092"),
    "n2": Row(client="c", address="w-k-1:9092"),
    "n3": Row(client="c", address="khost:9092"),
    "n4": Row(client="c", address="K:9092"),
    "n5": Row(client="c", address="k.w_a:9092"),
    "n6": Row(client="c", address="fixed:9092"),
    "n7": Row(client="cd", address="kd:9092"),
    "n8": Row(client="host", address="k:9092"),
    "n9": Row(client="c", address="k:9092", down=frozenset({"k"})),
    "n10": Row(client="c", address="host.docker.internal:9092"),
    "n11": Row(client="c", address="nobody:9092"),
    "n12": Row(client="c", address="two:9092"),
    "n13": Row(client="o", address="two:9092"),
    "d1": Row(client="host", address="localhost:9092", platform=_DESKTOP),
    "d2": Row(client="host", address="localhost:9099", platform=_DESKTOP),
    "d3": Row(client="host", address=f"{_K}:9092", platform=_DESKTOP),
    "d4": Row(client="host", address="10.5.1.1:9092", platform=_DESKTOP),
    "d5": Row(client="c", address="host.docker.internal:9092", platform=_DESKTOP),
    "d6": Row(client="c", address="host.docker.internal:9094", platform=_DESKTOP),
    "d7": Row(client="host", address="localhost:9692", platform=_DESKTOP),
    "d8": Row(client="lan", address=f"{_HOST}:9092", platform=_DESKTOP),
    "d9": Row(client="c", address=f"{_K}:9092", platform=_DESKTOP),
    "d10": Row(client="host", address="localhost:9092", platform=_WSL),
    "d11": Row(client="lan", address=f"{_HOST}:9092", platform=_WSL),
    "d12": Row(client="lan", address=f"{_HOST}:9092", platform={"kind": HostKind.WSL2_NAT}),
    "d13": Row(client="lan", address=f"{_HOST}:9092", platform={"kind": HostKind.WSL2_MIRRORED}),
    "d14": Row(client="host", address="localhost:9092", platform=_ORBSTACK),
    "d15": Row(client="host", address=f"{_K}:9092", platform=_ORBSTACK),
    "d16": Row(client="host", address="w-k-1.orb.local:9092", platform=_ORBSTACK),
    "d17": Row(client="c", address="k.w.orb.local:9092", platform=_ORBSTACK),
    "d18": Row(client="o", address="k.w.orb.local:9092", platform=_ORBSTACK),
    "d19": Row(client="host", address="k:9092", platform=_ORBSTACK),
    "d20": Row(client="c", address="host.docker.internal:9092", platform=_ORBSTACK),
    "d21": Row(client="host", address="localhost:9692", platform=_ORBSTACK),
    "d22": Row(client="host", address="localhost:9099", platform=_ORBSTACK),
    "d23": Row(client="lan", address=f"{_HOST}:9092", platform=_ORBSTACK),
    "d24": Row(client="host", address="localhost:9092", platform=_COLIMA),
    "d25": Row(client="host", address=f"{_K}:9092", platform=_COLIMA),
    "d26": Row(client="c", address="host.docker.internal:9092", platform=_COLIMA),
    "d27": Row(client="c", address="host.docker.internal:9094", platform=_COLIMA),
    "d28": Row(client="host", address="localhost:9692", platform=_COLIMA),
    "d29": Row(client="lan", address=f"{_HOST}:9092", platform=_COLIMA),
    "d30": Row(client="host", address="localhost:9092", platform=_RANCHER),
    "d31": Row(client="host", address=f"{_K}:9092", platform=_RANCHER),
    "d32": Row(client="c", address="host.docker.internal:9092", platform=_RANCHER),
    "d33": Row(client="lan", address=f"{_HOST}:9092", platform=_RANCHER),
    "s1": _in_swarm("c", "k:9092"),
    "s2": _in_swarm("c", "tasks.k:9092"),
    "s3": _in_swarm("c", "rr:9092"),
    "s4": _in_swarm("o", "k:9092"),
    "s5": _in_swarm("c", "called:9092"),
    "s6": _in_swarm("c", "shop_k:9092"),
    "s7": _in_swarm("c", "own:9092"),
    "s8": _in_swarm("host", "k:9092"),
    "s9": _in_swarm("host", "localhost:9092"),
    "s10": _in_swarm("host", "localhost:9095"),
    "s11": _in_swarm("host", "localhost:9096"),
    "s12": _in_swarm("host", "localhost:9097"),
    "s13": _in_swarm("host", "localhost:9099"),
    "s14": _in_swarm("lan", f"{_HOST}:9092"),
    "s15": _in_swarm("lan", f"{_HOST}:9095"),
    "s16": _in_swarm("lan", f"{_HOST}:9094"),
    "s17": _in_swarm("c", f"{_HOST}:9092"),
}


_PAGE = (ROOT / "docs" / "reachability.md").read_text(encoding="utf-8")
_LINE = re.compile(
    r"^\| ([nds]?\d+[a-e]?) \| [^|]+ \| [^|]+ \| ([^|]+) \| ([^|]+) \| ([^|]+) \| ([^|]+) \| ([^|]+) \|$", re.M
)
TABLE = {key: (tuple(words), mechanisms) for key, *words, mechanisms in _LINE.findall(_PAGE)}
_GENERATIONS = (*Generation, None)
_CASES = list(product(ROWS, range(len(_GENERATIONS)), (True, False)))


def test_the_page_and_the_model_have_the_same_rows() -> None:
    assert list(TABLE) == list(ROWS)
    assert {re.sub(r"[a-e]$", "", key) for key in ROWS if key[0].isdigit()} == {str(n) for n in range(1, 43)}
    assert len(_CASES) >= 42 * 3 * 2


@each(("key", "column", "proxy"), _CASES)
def test_row(key: str, column: int, proxy: bool) -> None:
    words, mechanisms = TABLE[key]
    with_proxy, _, without = words[column].partition(" / ")
    expected = with_proxy if proxy else without or with_proxy
    word, mechanism = answer(ROWS[key], Platform(generation=_GENERATIONS[column], userland_proxy=proxy))
    assert word == expected
    assert not mechanism or f"`{mechanism}`" in mechanisms.split(", ")


@each("key", ROWS)
def test_every_mechanism_of_a_row_occurs(key: str) -> None:
    found = {
        mechanism
        for generation, proxy in product(_GENERATIONS, (True, False))
        if (mechanism := answer(ROWS[key], Platform(generation=generation, userland_proxy=proxy))[1])
    }
    assert found == set(re.findall(r"`([a-z0-9-]+)`", TABLE[key][1]))
    assert found <= {mechanism.value for mechanism in Mechanism}


@each("key", ROWS)
def test_the_proxy_that_nobody_has_spoken_of_is_the_engine_s_default(key: str) -> None:
    assert answer(ROWS[key], Platform()) == answer(ROWS[key], Platform(userland_proxy=True))
