"""A playbook as values; `load` makes it of YAML."""

from collections.abc import Mapping
from dataclasses import field
from enum import StrEnum

from netdiag.playbook.conditions import Condition
from netdiag.playbook.pattern import Pattern
from netdiag.values import dataclass


class ActionName(StrEnum):
    """The actions."""

    LINT = "lint"
    MATRIX = "matrix"
    PROBE = "probe"
    MESH = "mesh"
    TOPOLOGY = "topology"
    TRACE = "trace"
    LOG = "log"
    CAPTURE = "capture"
    ANALYZE = "analyze"


@dataclass(frozen=True, slots=True, kw_only=True)
class Argument:
    """What an action may be told; `most` bounds a number.

    `step`: it names an earlier step with that action. `spares`: where it is told, there is nothing to do.
    """

    required: bool = False
    number: bool = False
    most: int = 0
    step: ActionName | None = None
    spares: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """`gives`: kind of thing -> names of its fields, which conditions may compare."""

    what: str
    live: bool
    arguments: Mapping[str, Argument]
    gives: Mapping[str, tuple[str, ...]]


FINDING = ("rule", "severity", "message", "where", "why", "hint")
CELL = ("vantage", "bootstrap", "host", "port", "verdict", "word", "reason", "mechanism", "because", "endpoints")
_LINE = ("container", "line")

ACTIONS: Mapping[ActionName, Action] = {
    ActionName.LINT: Action(
        what="check Compose files",
        live=False,
        arguments={"files": Argument()},
        gives={"findings": FINDING},
    ),
    ActionName.MATRIX: Action(
        what="contact every listener from every vantage",
        live=True,
        arguments={},
        gives={"cells": CELL, "findings": FINDING},
    ),
    ActionName.PROBE: Action(
        what="connect to a broker step by step, as a client does",
        live=True,
        arguments={"bootstrap": Argument(required=True), "from": Argument()},
        gives={"cells": CELL, "steps": ("address", "step", "outcome", "said")},
    ),
    ActionName.MESH: Action(
        what="try every connection between brokers, controllers and ZooKeeper",
        live=True,
        arguments={},
        gives={"edges": ("kind", "source", "target", "address", "worth", "reason")},
    ),
    ActionName.TOPOLOGY: Action(
        what="read bridges, addresses, NAT and sockets",
        live=True,
        arguments={},
        gives={"findings": FINDING},
    ),
    ActionName.TRACE: Action(
        what="follow a connection hop by hop through the kernel",
        live=True,
        arguments={"to": Argument(required=True), "from": Argument()},
        gives={
            "ends": ("end", "because", "errno"),
            "hops": ("hop", "what"),
            "causes": ("mechanism", "certainty", "because", "repair"),
        },
    ),
    ActionName.LOG: Action(
        what="read the last log lines of containers",
        live=True,
        arguments={"container": Argument()},
        gives={"lines": _LINE},
    ),
    ActionName.CAPTURE: Action(
        what="capture packets of brokers for some seconds; only what analyze finds is kept",
        live=True,
        arguments={
            "from": Argument(),
            "port": Argument(),
            "seconds": Argument(number=True, most=60),
            "packets": Argument(number=True, most=500_000),
            "megabytes": Argument(number=True, most=64),
            "file": Argument(spares=True),
        },
        gives={"captures": ("place", "packets", "lost", "seconds")},
    ),
    ActionName.ANALYZE: Action(
        what="analyze the packets that an earlier step captured, or that are in a file",
        live=False,
        arguments={"capture": Argument(step=ActionName.CAPTURE), "file": Argument()},
        gives={
            "findings": FINDING,
            "traffic": ("packets", "connections", "exchanges"),
            "connections": ("client", "broker", "protocol", "opening", "ending", "answered", "times"),
        },
    ),
}


VERSION = 1


class Confidence(StrEnum):
    """How sure a conclusion is; a proven one ends the run."""

    PROVEN = "proven"
    LIKELY = "likely"
    POSSIBLE = "possible"


@dataclass(frozen=True, slots=True, kw_only=True)
class Symptom:
    """A line that somebody's log shows: who writes it, what it looks like, and a line of that kind.

    `often`: programs that are well write it, too, now and then while they start, so in a log it counts from so many
    lines on.
    """

    who: str
    line: Pattern
    example: str
    often: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Variable:
    """What a run may be told. `default` may name holes of the symptom; None is one that must be told."""

    about: str
    default: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A look. Arguments may name variables: `{bootstrap}`. Without `when` it is always taken."""

    id: str
    title: str
    action: ActionName
    arguments: Mapping[str, str] = field(default_factory=dict)
    when: Condition | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Conclusion:
    """A cause, and what it takes to conclude it. `rules` explain it further."""

    id: str
    when: Condition
    confidence: Confidence
    cause: str
    repair: str
    rules: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Playbook:
    """One symptom, written in as many ways as there are programs; the steps; the causes, likeliest first."""

    name: str
    title: str
    means: str
    symptoms: tuple[Symptom, ...]
    variables: Mapping[str, Variable]
    steps: tuple[Step, ...]
    conclusions: tuple[Conclusion, ...]
    reading: tuple[str, ...] = ()
