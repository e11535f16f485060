"""KRaft: what the nodes of a quorum are told."""

import re
from collections.abc import Callable, Iterable

from tests.mutations.defect import (
    ADVERTISED,
    B1,
    B2,
    LISTENERS,
    PROTOCOLS,
    Defect,
    Make,
    at,
    combined,
    defect,
    drop,
    kraft,
    peers,
    put,
    swap,
)
from tests.mutations.stack import Place, Stack


def _isolated(stack: Stack) -> bool:
    return stack.is_isolated


def _both(*conditions: Callable[[Stack], bool]) -> Callable[[Stack], bool]:
    return lambda stack: all(condition(stack) for condition in conditions)


VOTERS = "controller.quorum.voters"


NAMES = "controller.listener.names"


def _same_id(stack: Stack) -> Iterable[Place]:
    name = "node.id" if stack.is_kraft else "broker.id"
    yield stack.put(B2, name, stack.get(B1, name))


def _other_cluster(stack: Stack) -> Iterable[Place]:
    services = stack.services[B2].environment
    variable = next(name for name in services if name.endswith("CLUSTER_ID"))
    services[variable] = "AAAAAAAAAAAAAAAAAAAAAA"
    yield (B2, "environment", variable)


def _wildcard_controller(stack: Stack) -> Iterable[Place]:
    tag = {"apache": "apache/kafka:3.9.0", "confluent": "confluentinc/cp-kafka:7.9.0"}[stack.family]
    for name in (*stack.brokers, *stack.controllers):
        stack.services[name].image = tag
    yield stack.swap(stack.controllers[0], LISTENERS, "CONTROLLER://:", "CONTROLLER://0.0.0.0:")


def _broker_only_binds_controller(stack: Stack) -> Iterable[Place]:
    yield stack.change(B1, LISTENERS, lambda value: value + ",CONTROLLER://:9093")


def _only_controllers_advertised(stack: Stack) -> Iterable[Place]:
    stack.put(B1, LISTENERS, "CONTROLLER://:9093")
    yield stack.put(B1, ADVERTISED, f"CONTROLLER://{B1}:9093")


def _voters(change: Callable[[str], str]) -> Make:
    return lambda stack: [stack.change(stack.controllers[0], VOTERS, change)]


def _both_modes(stack: Stack) -> Iterable[Place]:
    yield stack.put(B1, "zookeeper.connect", "zookeeper:2181")


def _without_names(stack: Stack) -> Iterable[Place]:
    stack.drop(B1, NAMES)
    yield (B1, "environment", stack.variable(LISTENERS))


def _lower_case_names(stack: Stack) -> Iterable[Place]:
    stack.put(B1, NAMES, "controller")
    yield (B1, "environment", stack.variable(LISTENERS))


def _all_voters_to(old: str, new: str) -> Make:
    def make(stack: Stack) -> Iterable[Place]:
        nodes = tuple(dict.fromkeys((*stack.controllers, *stack.brokers)))
        return [stack.swap(name, VOTERS, old, new) for name in nodes][:1]

    return make


def _release(stack: Stack) -> str:
    return stack.services[B1].image.partition(":")[2]


def _kraft_3(stack: Stack) -> bool:
    return combined(stack) and _release(stack).startswith(("3.", "7."))


def _takes_advertised_controllers(stack: Stack) -> bool:
    return combined(stack) and stack.has_peers and not _release(stack).startswith(("3.8", "3.7", "7.8", "7.7"))


def _alone(stack: Stack) -> Iterable[Place]:
    return [stack.change(B1, VOTERS, lambda value: value.split(",")[0])]


def _bootstrap(stack: Stack) -> Iterable[Place]:
    stack.drop(B1, VOTERS)
    return [stack.put(B1, "controller.quorum.bootstrap.servers", f"{B1}:9093")]


def _advertised_controller(stack: Stack) -> Iterable[Place]:
    return [stack.change(B1, ADVERTISED, lambda value: f"{value},CONTROLLER://localhost:9093")]


KRAFT: tuple[Defect, ...] = (
    defect(
        "controller-wildcard-on-3.9.0",
        "wildcard",
        _wildcard_controller,
        where=_both(kraft, lambda s: s.name.startswith(("apache", "confluent"))),
    ),
    defect(
        "kraft-role-invalid",
        "plural",
        lambda s: [s.change(B1, "process.roles", lambda v: v.replace("broker", "brokers"))],
        where=kraft,
    ),
    defect("kraft-mode-ambiguous", "both", _both_modes, where=kraft),
    defect("kraft-node-id-missing-or-mismatch", "mismatch", put("broker.id", "7"), where=kraft),
    defect("kraft-node-id-missing-or-mismatch", "missing", drop("node.id", at("process.roles")), where=kraft),
    defect(
        "kraft-voters-invalid",
        "no-id",
        _voters(lambda v: re.sub(r"1@[^,]*", f"{v.split('@')[1].split(':')[0]}:9093", v, count=1)),
        where=kraft,
    ),
    defect(
        "kraft-voters-invalid",
        "not-a-member",
        _voters(lambda v: v.replace("1@", "9@")),
        where=kraft,
        also=("kraft-voter-endpoint-mismatch",),
    ),
    defect("kraft-voter-endpoint-mismatch", "port", _all_voters_to(":9093", ":9999"), where=kraft),
    defect(
        "kraft-voters-loopback",
        "localhost",
        lambda s: [
            s.change(n, VOTERS, lambda v: re.sub(r"@[^:]+:", "@localhost:", v))
            for n in dict.fromkeys((*s.controllers, *s.brokers))
        ],
        where=lambda s: len(s.controllers) > 1,
    ),
    defect("kraft-controller-listener-missing", "lower-case", _lower_case_names, where=combined),
    defect("kraft-controller-listener-missing", "unset", _without_names, where=combined),
    defect("kraft-controller-listener-wrong-role", "broker-binds-it", _broker_only_binds_controller, where=_isolated),
    defect("kraft-controller-unmapped", "map", swap(PROTOCOLS, ",CONTROLLER:PLAINTEXT", ""), where=_isolated),
    defect(
        "kraft-controller-advertised",
        "advertised",
        lambda s: [s.change(B1, ADVERTISED, lambda v: v + f",CONTROLLER://{B1}:9093")],
        where=_both(combined, lambda s: s.services[B1].image.endswith((":3.7.0",))),
    ),
    defect(
        "kraft-no-broker-advertised",
        "controllers-only",
        _only_controllers_advertised,
        where=combined,
        also=("dependent-bootstrap-wrong-port", "published-port-without-listener", "listener-sets-differ"),
    ),
    defect("duplicate-node-id", "two-of-three", _same_id, where=peers, also=("kraft-voter-endpoint-mismatch",)),
    defect("cluster-id-inconsistent", "other", _other_cluster, where=_both(kraft, peers)),
    defect("control-plane-misuse", "kraft", put("control.plane.listener.name", "CONTROLLER"), where=_kraft_3),
    defect(
        "control-plane-misuse",
        "zookeeper",
        put("control.plane.listener.name", "INTERNAL"),
        where=lambda stack: not stack.is_kraft,
    ),
    defect("kraft-voters-inconsistent", "alone", _alone, where=lambda stack: combined(stack) and stack.has_peers),
    defect("kraft-inter-broker-is-controller", "same", put("inter.broker.listener.name", "CONTROLLER"), where=combined),
    defect(
        "kraft-dynamic-quorum-unformattable",
        "bootstrap",
        _bootstrap,
        where=lambda stack: combined(stack) and stack.family in ("apache", "confluent"),
    ),
    defect(
        "kraft-advertised-controller-differs",
        "localhost",
        _advertised_controller,
        where=_takes_advertised_controllers,
    ),
)
