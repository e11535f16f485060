"""One defect: a change to a correct stack, where it applies, and where it is to be reported."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from tests.mutations.stack import Place, Stack

Make = Callable[[Stack], Iterable[Place]]


B1, B2, B3 = "kafka-1", "kafka-2", "kafka-3"


def always(_: Stack) -> bool:
    return True


def peers(stack: Stack) -> bool:
    return stack.has_peers


def kraft(stack: Stack) -> bool:
    return stack.is_kraft


def combined(stack: Stack) -> bool:
    return stack.is_kraft and not stack.is_isolated


@dataclass(frozen=True, slots=True, kw_only=True)
class Defect:
    """One defect. `also` are the other rules that speak of a true consequence of it."""

    rule: str
    name: str
    make: Make
    where: Callable[[Stack], bool] = always
    also: frozenset[str] = frozenset()


def defect(
    rule: str, name: str, make: Make, *, where: Callable[[Stack], bool] = always, also: Iterable[str] = ()
) -> Defect:
    """A row of the table."""
    return Defect(rule=rule, name=name, make=make, where=where, also=frozenset(also))


def swap(name: str, old: str, new: str, service: str = B1) -> Make:
    """Replace a part of one property of one broker."""
    return lambda stack: [stack.swap(service, name, old, new)]


def put(name: str, value: str, service: str = B1) -> Make:
    """Set one property of one broker."""
    return lambda stack: [stack.put(service, name, value)]


def unless(condition: Callable[[Stack], bool]) -> Callable[[Stack], bool]:
    return lambda stack: not condition(stack)


def drop(name: str, place: Callable[[Stack], Place]) -> Make:
    def make(stack: Stack) -> Iterable[Place]:
        stack.drop(B1, name)
        return [place(stack)]

    return make


def at(name: str, service: str = B1) -> Callable[[Stack], Place]:
    return lambda stack: (service, "environment", stack.variable(name))


LISTENERS = "listeners"


ADVERTISED = "advertised.listeners"


PROTOCOLS = "listener.security.protocol.map"


# What follows for clients when INTERNAL of the first broker leads nowhere.
MESH = ("inter-broker-endpoint-unreachable",)
