"""More rows of the table: names, the protocol map and what the nodes of a quorum are told."""

import re
from collections.abc import Iterable

from tests.mutations.defects import ADVERTISED, B1, LISTENERS, PROTOCOLS, Defect, defect, put, swap
from tests.mutations.stack import Place, Stack

VOTERS = "controller.quorum.voters"


def _combined(stack: Stack) -> bool:
    return stack.is_kraft and not stack.is_isolated


def _release(stack: Stack) -> str:
    return stack.services[B1].image.partition(":")[2]


def _kraft_3(stack: Stack) -> bool:
    return _combined(stack) and _release(stack).startswith(("3.", "7."))


def _takes_advertised_controllers(stack: Stack) -> bool:
    return _combined(stack) and stack.has_peers and not _release(stack).startswith(("3.8", "3.7", "7.8", "7.7"))


def _dropped(stack: Stack) -> Iterable[Place]:
    return [stack.change(B1, PROTOCOLS, lambda value: re.sub(",?CONTROLLER:[A-Z_]+", "", value))]


def _alone(stack: Stack) -> Iterable[Place]:
    return [stack.change(B1, VOTERS, lambda value: value.split(",")[0])]


def _bootstrap(stack: Stack) -> Iterable[Place]:
    stack.drop(B1, VOTERS)
    return [stack.put(B1, "controller.quorum.bootstrap.servers", f"{B1}:9093")]


def _advertised_controller(stack: Stack) -> Iterable[Place]:
    return [stack.change(B1, ADVERTISED, lambda value: f"{value},CONTROLLER://localhost:9093")]


def _data(stack: Stack) -> str:
    return "/bitnami/kafka/data" if stack.family == "bitnami" else "/var/lib/kafka/data"


def _one_volume(stack: Stack) -> Iterable[Place]:
    for name in ("kafka-1", "kafka-2"):
        stack.services[name].keys["volumes"] = f"[./data:{_data(stack)}]"
    return [("kafka-2", "volumes")]


def _has_data(stack: Stack) -> bool:
    return stack.has_peers and stack.family in ("confluent", "bitnami")


def _replicas(stack: Stack) -> Iterable[Place]:
    stack.services[B1].keys["scale"] = "2"
    name = "node.id" if stack.has(B1, "node.id") else "broker.id"
    return [(B1, "environment", stack.variable(name))]


def _no_network(stack: Stack) -> Iterable[Place]:
    stack.services[B1].keys["network_mode"] = "none"
    return [(B1, "ports", "0")]


def _hosts_entry(stack: Stack) -> Iterable[Place]:
    stack.services["app"].keys["extra_hosts"] = f'["{B1}:127.0.0.1"]'
    return [("app", "environment", "KAFKA_BOOTSTRAP_SERVERS")]


MORE: tuple[Defect, ...] = (
    defect("listener-name-odd", "semicolon", swap(LISTENERS, ",HOST://", ";HOST://")),
    defect("listener-name-odd", "blank", swap(LISTENERS, "INTERNAL://", "INTERNAL ://")),
    defect("listener-name-odd", "second-scheme", swap(ADVERTISED, f"INTERNAL://{B1}", f"INTERNAL://http://{B1}")),
    defect("protocol-map-drops-defaults", "controller", _dropped, where=_combined),
    defect("control-plane-misuse", "kraft", put("control.plane.listener.name", "CONTROLLER"), where=_kraft_3),
    defect(
        "control-plane-misuse",
        "zookeeper",
        put("control.plane.listener.name", "INTERNAL"),
        where=lambda stack: not stack.is_kraft,
    ),
    defect("kraft-voters-inconsistent", "alone", _alone, where=lambda stack: _combined(stack) and stack.has_peers),
    defect(
        "kraft-inter-broker-is-controller", "same", put("inter.broker.listener.name", "CONTROLLER"), where=_combined
    ),
    defect(
        "kraft-dynamic-quorum-unformattable",
        "bootstrap",
        _bootstrap,
        where=lambda stack: _combined(stack) and stack.family in ("apache", "confluent"),
    ),
    defect(
        "kraft-advertised-controller-differs",
        "localhost",
        _advertised_controller,
        where=_takes_advertised_controllers,
    ),
    defect("shared-data-volume", "one-folder", _one_volume, where=_has_data),
    defect("replicas-share-endpoint", "scale", _replicas),
    defect(
        "network-mode-none-or-shared",
        "none",
        _no_network,
        where=lambda stack: not stack.has_peers,
        also=("kraft-voter-endpoint-mismatch",),
    ),
    defect("advertised-placeholder", "your-host", swap(ADVERTISED, f"//{B1}:", "//YOUR_HOST:")),
    defect("hostname-loopback", "hosts-file", _hosts_entry),
)
