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
)
