"""The decision table (docs/reachability.md) built for real: one stack that holds its rows, and what each is to give.

The words are those of a connection alone, first hop only: accepted, refused, timeout, unreachable, closed, unresolved.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from netdiag.deployment.model.verdict import Address
from tests.lab.engine import HOST_ADDRESS, LAN_ADDRESS
from tests.lab.image_set import CP_KAFKA
from tests.lab.releases import PODMAN
from tests.worlds.random_world import STUB

HOST, LAN, ROUTED_LAN = "docker host", "LAN", "LAN with a route"
# Somewhere no route leads to.
NOWHERE = "10.99.0.1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """`expected` by engine and proxy, the most exact key first: "28 off", "28", "off", ""; none: not on this engine.

    "podman" is another engine, which has no proxy.

    With nftables an engine is as with iptables, where it has no key of its own.
    """

    number: str
    vantage: str
    address: Address
    expected: Mapping[str, str]
    modelled: bool = True

    def on(self, release: str, *, proxy: bool) -> str | None:
        """What it is to give there."""
        word = "on" if proxy else "off"
        engines = dict.fromkeys((release, release.split()[0]))
        keys = [*(key for engine in engines for key in (f"{engine} {word}", engine)), word, ""]
        return next((self.expected[key] for key in keys if key in self.expected), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """Something that is done to the stack or its machine for some rows, and undone: commands on the docker host."""

    rows: tuple[Row, ...]
    do: tuple[str, ...] = ()
    undo: tuple[str, ...] = ()
    hosts: Mapping[str, str] = field(default_factory=dict)


def _row(number: str, vantage: str, address: str, outcome: str = "", *, modelled: bool = True, **other: str) -> Row:
    host, _, port = address.rpartition(":")
    named = {
        {"off": "off", "on": "on"}.get(key, key.removeprefix("v").replace("20", "20.10", 1).replace("_", " ")): word
        for key, word in other.items()
    }
    expected = {**({"": outcome} if outcome else {}), **named}
    return Row(
        number=number, vantage=vantage, address=Address(host=host, port=int(port)), expected=expected, modelled=modelled
    )


OK, REF, TMO, UNR, EOF, NAME = "accepted", "refused", "timeout", "unreachable", "closed", "unresolved"
H = HOST_ADDRESS

ROWS = (
    _row("1", "a2", "10.80.0.11:9092", OK),
    _row("2", "a2", "10.80.0.11:9093", REF),
    _row("3", "a2", "10.80.0.11:9999", REF),
    _row("4", "a2", "10.80.0.77:9092", UNR),
    _row("6", "a2", "10.80.0.14:9092", TMO),
    _row("7", "n2", "10.80.2.11:9092", TMO, podman=OK),
    _row("8", "b1", "10.80.0.11:9092", TMO),
    _row("8", "b1", "10.80.0.12:9092", TMO),
    _row("9", "b1", "a1:9092", NAME),
    _row("10", "a2", f"{H}:19092", OK),
    _row("10", "a2", "10.80.0.1:19092", OK),
    _row("12", "a1", f"{H}:19092", OK, podman=TMO),
    _row("13", "n1", f"{H}:19192", OK, off=TMO),
    _row("13", "n2", f"{H}:19192", OK, off=TMO, podman=OK),
    _row("14", "b1", f"{H}:19092", OK, off=TMO, v29_off=OK),
    _row("14", "b1", "10.80.1.1:19092", OK, off=TMO, v29_off=OK),
    _row("14", "b1", "10.80.0.1:19092", OK, off=TMO, v29_off=OK),
    _row("15", "a2", "10.80.0.1:19095", REF),
    _row("15", "b1", "10.80.1.1:19095", REF),
    _row("16", "a2", f"{H}:19094", REF),
    _row("16", "a2", "10.80.0.1:19094", REF),
    _row("17", "a2", "127.0.0.1:19092", REF),
    _row("18", "ax", "127.0.0.1:9092", OK),
    _row("18", "ax", "127.0.0.1:9093", OK),
    _row("19", HOST, "10.80.0.11:9092", OK),
    _row("19", HOST, "10.80.2.11:9092", OK),
    _row("19", HOST, "10.80.3.11:9092", OK),
    _row("19", HOST, "10.80.0.11:9093", REF),
    _row("20", HOST, "127.0.0.1:19092", OK),
    _row("20", HOST, "127.0.0.1:19093", EOF, off=REF),
    _row("20", HOST, "127.0.0.1:19096", EOF, off=REF),
    _row("21", HOST, f"{H}:19092", OK),
    _row("21", HOST, f"{H}:19096", REF),
    _row("22", HOST, "::1:19092", OK, off=REF),
    _row("23", LAN, f"{H}:19092", OK),
    _row("23", LAN, f"{H}:19095", OK),
    _row("23", LAN, f"{H}:19096", REF),
    _row("24", LAN, f"{H}:19094", REF),
    _row("27", LAN, "10.80.0.11:9092", UNR),
    _row("28", "i2", "10.80.3.11:9092", OK),
    _row("29", "i1", f"{LAN_ADDRESS}:9092", TMO, v28=UNR, v29=UNR, podman=UNR),
    _row("30", "i1", "10.80.3.1:29092", OK),
    _row("31", "i1", f"{H}:29092", OK, v28=UNR, v29=UNR, podman=UNR),
    _row("32", "i1", "10.80.3.1:19092", TMO, v29_nftables=OK),
    _row("33", HOST, f"{H}:19292", REF, podman=TMO),
    _row("33", LAN, f"{H}:19292", REF, podman=TMO),
    _row("34", "a2", f"{H}:29092", OK),
    _row("34", "a2", "10.80.0.1:29092", OK),
    _row("34", "a2", "host.docker.internal:29092", OK, podman=NAME),
    _row("34", "a2", f"{H}:29093", REF),
    _row("34", LAN, f"{H}:29092", OK),
    _row("36", "z1", "10.80.0.11:9092", UNR),
    _row("36", "z1", f"{H}:19092", UNR),
    _row("42", HOST, f"{NOWHERE}:9092", UNR),
    _row("42", "i1", f"{NOWHERE}:9092", UNR),
)
CHANGES = (
    Change(
        do=("docker stop -t 0 table-a3",),
        rows=(_row("5", "a2", "10.80.0.13:9092", f"{TMO}|{UNR}"),),
    ),
    Change(
        do=("docker network disconnect table_a table-d1",),
        rows=(
            _row("37", "d1", "10.80.0.11:9092", UNR),
            _row("37", HOST, f"{H}:19392", REF, podman=TMO),
            _row("37", LAN, f"{H}:19392", REF, podman=TMO),
        ),
    ),
    Change(
        do=("sysctl -qw net.bridge.bridge-nf-call-iptables=0",),
        undo=("sysctl -qw net.bridge.bridge-nf-call-iptables=1",),
        rows=(
            _row("7", "n2", "10.80.2.11:9092", OK),
            _row("11", "a2", f"{H}:19092", OK, off=TMO, podman=OK),
            _row("12", "a1", f"{H}:19092", OK),
        ),
    ),
    Change(
        do=("iptables -I INPUT ! -i lo -j DROP",),
        undo=("iptables -D INPUT ! -i lo -j DROP",),
        rows=(
            _row("40", LAN, f"{H}:19092", OK, modelled=False),
            _row("40", "a2", f"{H}:19092", TMO, off=OK, modelled=False),
            _row("40", "b1", f"{H}:19092", TMO, v29=OK, modelled=False),
            _row("40", "a2", f"{H}:29092", TMO, modelled=False),
        ),
    ),
    Change(
        do=("iptables -I INPUT ! -i lo -p tcp --dport 29092 -j REJECT --reject-with tcp-reset",),
        undo=("iptables -D INPUT ! -i lo -p tcp --dport 29092 -j REJECT --reject-with tcp-reset",),
        rows=(_row("41", "a2", f"{H}:29092", REF, modelled=False),),
    ),
    Change(
        do=("iptables -I INPUT ! -i lo -p tcp --dport 29092 -j REJECT --reject-with icmp-admin-prohibited",),
        undo=("iptables -D INPUT ! -i lo -p tcp --dport 29092 -j REJECT --reject-with icmp-admin-prohibited",),
        rows=(_row("41", "a2", f"{H}:29092", UNR, modelled=False),),
    ),
)
# From the machine on the LAN, once it has a route to containers by the docker host.
ROUTED = (
    _row("25", ROUTED_LAN, "10.80.0.11:9092", OK, v28=TMO, v29=TMO, modelled=False),
    _row("26", ROUTED_LAN, "10.80.1.11:9092", TMO, podman=OK, modelled=False),
    _row("38", ROUTED_LAN, "10.80.4.11:9092", v28=OK, v29=OK, modelled=False),
    _row("39", ROUTED_LAN, "10.80.5.11:9999", v28=REF, v29=REF, modelled=False),
)
GATEWAY_MODES = (
    _row("38", HOST, f"{H}:19492", v28=REF, v29=REF),
    _row("38", "a2", "10.80.4.11:9092", v28=OK, v29=OK),
    _row("39", "a2", "10.80.5.11:9092", v28=TMO, v29=OK),
)
PARENT = (
    _row("35", HOST, "192.168.8.201:9092", UNR),
    _row("35", "m1", f"{H}:29092", UNR),
    _row("35", LAN, "192.168.8.201:9092", OK, modelled=False),
)


def document(release: str) -> dict[str, object]:
    """The stack as a compose file; gateway modes where the engine has them."""
    has_modes = release not in ("20.10", PODMAN)
    networks: dict[str, object] = {
        "a": _network(0),
        "b": _network(1),
        "n": _network(2, options={"com.docker.network.bridge.enable_icc": "false"}),
        "i": {**_network(3), "internal": True},
        "m": {
            "driver": "macvlan",
            "driver_opts": {"parent": "eth0"},
            "ipam": {"config": [{"subnet": "192.168.8.0/24"}]},
        },
    }
    services: dict[str, object] = {
        "a1": _broker(
            1,
            {"a": "10.80.0.11"},
            listeners={9092: "0.0.0.0", 9093: "127.0.0.1", 9094: "0.0.0.0", 9095: "0.0.0.0"},
            # Each port once: 29 with nftables and without proxy does not start a container that publishes one twice.
            ports=("19092:9092", "19093:9093", "127.0.0.1:19094:9094", f"{H}:19095:9095", "19096:9998"),
        ),
        "a2": {**_broker(2, {"a": "10.80.0.12"}), "extra_hosts": ["host.docker.internal:host-gateway"]},
        "a3": {**_broker(3, {"a": "10.80.0.13"}), "container_name": "table-a3"},
        "a4": {**_broker(4, {"a": "10.80.0.14"}), "container_name": "table-a4"},
        "ax": _broker(5, None, mode="service:a1", listeners={9192: "0.0.0.0"}),
        "b1": _broker(6, {"b": "10.80.1.11"}),
        "n1": _broker(7, {"n": "10.80.2.11"}, ports=("19192:9092",)),
        "n2": _broker(8, {"n": "10.80.2.12"}),
        "i1": _broker(9, {"i": "10.80.3.11"}, ports=("19292:9092",)),
        "i2": _broker(10, {"i": "10.80.3.12"}),
        "h1": _broker(11, None, mode="host", listeners={29092: "0.0.0.0", 29093: "127.0.0.1"}),
        "z1": _broker(12, None, mode="none"),
        "d1": {**_broker(13, {"a": "10.80.0.15"}, ports=("19392:9092",)), "container_name": "table-d1"},
        "m1": _broker(14, {"m": "192.168.8.201"}),
    }
    if has_modes:
        networks["r"] = _network(4, options={"com.docker.network.bridge.gateway_mode_ipv4": "routed"})
        networks["u"] = _network(5, options={"com.docker.network.bridge.gateway_mode_ipv4": "nat-unprotected"})
        services["r1"] = _broker(15, {"r": "10.80.4.11"}, ports=("19492:9092",))
        services["u1"] = _broker(16, {"u": "10.80.5.11"}, ports=("19592:9092",))
    return {"services": services, "networks": networks}


def _network(number: int, options: Mapping[str, str] | None = None) -> dict[str, object]:
    top = f"10.80.{number}"
    found: dict[str, object] = {"ipam": {"config": [{"subnet": f"{top}.0/24", "gateway": f"{top}.1"}]}}
    if options:
        found["driver_opts"] = dict(options)
    return found


def _broker(
    number: int,
    networks: Mapping[str, str] | None,
    *,
    mode: str = "",
    listeners: Mapping[int, str] | None = None,
    ports: tuple[str, ...] = (),
) -> dict[str, object]:
    bound = listeners or {9092: "0.0.0.0"}
    inner = 31000 + number
    names = {port: f"L{index}" for index, port in enumerate(bound)}
    body: dict[str, object] = {
        "image": CP_KAFKA,
        "volumes": [f"./{STUB}:/etc/confluent/docker/run:ro"],
        "stop_grace_period": "0s",
        "environment": {
            "KAFKA_NODE_ID": str(number),
            "KAFKA_PROCESS_ROLES": "broker,controller",
            "CLUSTER_ID": f"MkU3OEVBNTcwNTJENDM{number:02d}",
            "KAFKA_CONTROLLER_QUORUM_VOTERS": f"{number}@localhost:{inner}",
            "KAFKA_CONTROLLER_LISTENER_NAMES": "C",
            "KAFKA_INTER_BROKER_LISTENER_NAME": "L0",
            "KAFKA_LISTENER_SECURITY_PROTOCOL_MAP": ",".join(f"{name}:PLAINTEXT" for name in (*names.values(), "C")),
            "KAFKA_LISTENERS": ",".join(
                [*(f"{names[port]}://{host}:{port}" for port, host in bound.items()), f"C://localhost:{inner}"]
            ),
            "KAFKA_ADVERTISED_LISTENERS": ",".join(f"{name}://localhost:{port}" for port, name in names.items()),
        },
    }
    if networks is not None:
        body["networks"] = {name: {"ipv4_address": address} for name, address in networks.items()}
    if mode:
        body["network_mode"] = mode
    if ports:
        body["ports"] = list(ports)
    return body
