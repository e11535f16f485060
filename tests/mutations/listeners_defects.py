"""Listener lists, the protocol map and the inter-broker listener."""

import re
from collections.abc import Iterable

from tests.mutations.defect import (
    ADVERTISED,
    B1,
    B2,
    LISTENERS,
    PROTOCOLS,
    Defect,
    at,
    combined,
    defect,
    drop,
    peers,
    put,
    swap,
)
from tests.mutations.stack import Place, Service, Stack


def _two_names(stack: Stack) -> Iterable[Place]:
    yield stack.change(B1, LISTENERS, lambda value: value + ",INTERNAL://:29999")


def _two_networks(stack: Stack) -> Iterable[Place]:
    stack.services[B1].networks.append("second")
    stack.networks["second"] = ""
    stack.services["other"] = Service(image="example/other:1.0", networks=["second"])
    yield stack.swap(B1, LISTENERS, "INTERNAL://:", f"INTERNAL://{B1}:")


def _foreign_bind(stack: Stack) -> Iterable[Place]:
    yield stack.swap(B1, LISTENERS, "HOST://:", "HOST://192.168.8.133:")


def _loopback_bind(stack: Stack) -> Iterable[Place]:
    yield stack.swap(B1, LISTENERS, "INTERNAL://:", "INTERNAL://127.0.0.1:")


def _lacks_listener(stack: Stack) -> Iterable[Place]:
    stack.change(B2, LISTENERS, lambda value: re.sub(r",HOST://:\d+", "", value))
    stack.services[B2].ports.clear()
    yield stack.change(B2, ADVERTISED, lambda value: re.sub(r",HOST://.*", "", value))


def _unmapped(stack: Stack) -> Iterable[Place]:
    stack.change(B1, PROTOCOLS, lambda value: re.sub(r",HOST:\w+", "", value))
    yield (B1, "environment", stack.variable(LISTENERS))


def _extra(stack: Stack) -> Iterable[Place]:
    stack.change(B1, PROTOCOLS, lambda value: value + ",EXTRA:PLAINTEXT")
    yield stack.change(B1, ADVERTISED, lambda value: value + ",EXTRA://localhost:9993")


def _dropped(stack: Stack) -> Iterable[Place]:
    return [stack.change(B1, PROTOCOLS, lambda value: re.sub(",?CONTROLLER:[A-Z_]+", "", value))]


LISTENER_DEFECTS: tuple[Defect, ...] = (
    defect("listener-unparsable", "name-and-port-alone", swap(LISTENERS, "INTERNAL://:29092", "INTERNAL://29092")),
    defect("listener-unparsable", "no-scheme", swap(ADVERTISED, f"INTERNAL://{B1}:29092", f"{B1}:29092")),
    defect("listener-unparsable", "one-slash", swap(ADVERTISED, "INTERNAL://", "INTERNAL:/")),
    defect("listener-unexpanded-or-quoted", "quotes", lambda s: [s.change(B1, ADVERTISED, lambda v: f'"{v}"')]),
    defect("listener-unexpanded-or-quoted", "dollars", swap(ADVERTISED, "HOST://localhost", "HOST://$${HOST_IP}")),
    defect("listener-name-duplicate", "in-listeners", _two_names),
    defect(
        "listener-port-conflict",
        "same-port",
        swap(LISTENERS, ":19092", ":29092"),
        also=("published-port-wrong-listener",),
    ),
    defect("listener-name-unmapped", "host", _unmapped),
    defect(
        "protocol-map-invalid",
        "unknown-protocol",
        lambda s: [s.change(B1, PROTOCOLS, lambda v: re.sub("HOST:[A-Z]+", "HOST:TLS", v))],
    ),
    defect(
        "protocol-map-invalid",
        "equals-sign",
        lambda s: [s.change(B1, PROTOCOLS, lambda v: v.replace("HOST:", "HOST="))],
    ),
    defect("inter-broker-both-settings", "both", put("security.inter.broker.protocol", "PLAINTEXT")),
    defect("inter-broker-not-advertised", "other-name", put("inter.broker.listener.name", "CLIENT")),
    defect("inter-broker-not-advertised", "unset", drop("inter.broker.listener.name", at(ADVERTISED))),
    defect("advertised-not-in-listeners", "extra", _extra),
    defect("advertised-wildcard", "host", swap(ADVERTISED, "HOST://localhost", "HOST://0.0.0.0")),
    defect("advertised-wildcard", "internal", swap(ADVERTISED, f"//{B1}:", "//0.0.0.0:")),
    defect("advertised-wildcard-uncaught", "ipv6", swap(ADVERTISED, "HOST://localhost", "HOST://[::]")),
    defect(
        "listener-port-invalid",
        "too-large",
        swap(ADVERTISED, "localhost:19092", "localhost:99999"),
        also=("advertised-port-differs-from-published",),
    ),
    defect("listener-bound-to-loopback", "internal", _loopback_bind),
    defect("listener-bound-to-foreign-address", "host-address", _foreign_bind),
    defect("listener-bound-to-one-network", "by-name", _two_networks),
    defect("listener-sets-differ", "one-lacks-host", _lacks_listener, where=peers),
    defect("listener-name-odd", "semicolon", swap(LISTENERS, ",HOST://", ";HOST://")),
    defect("listener-name-odd", "blank", swap(LISTENERS, "INTERNAL://", "INTERNAL ://")),
    defect("listener-name-odd", "second-scheme", swap(ADVERTISED, f"INTERNAL://{B1}", f"INTERNAL://http://{B1}")),
    defect("protocol-map-drops-defaults", "controller", _dropped, where=combined),
)
