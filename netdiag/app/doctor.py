"""What this machine lets netdiag do, and making ready what takes long at first."""

import os

from netdiag.errors import NetdiagError
from netdiag.machine import Ability, Machine, State, abilities
from netdiag.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class DoctorReport:
    """The machine, and what can be done there."""

    machine: Machine
    abilities: tuple[Ability, ...]

    @property
    def complete(self) -> bool:
        """Whether nothing is missing."""
        return all(each.state is not State.MISSING for each in self.abilities)


def examine(host: str | None) -> DoctorReport:
    """Look at this machine, and at the engine that is meant."""
    from netdiag.io.machine import read_machine

    machine = read_machine(host, os.environ)
    return DoctorReport(machine=machine, abilities=tuple(abilities(machine)))


def keep_java_classes() -> str:
    """Have Java keep the classes of Spark, so that analyze starts sooner; what came of it, in a sentence."""
    try:
        from netdiag.io.spark.warm_up import make
    except ImportError as error:
        return f"Java's classes of Spark are not kept: {error.name} is not installed"
    try:
        made = make()
    except NetdiagError as error:
        return f"Java's classes of Spark are not kept: {error}"
    done = "were kept already" if made.was_ready else f"are kept: it took {made.seconds:.0f} s"
    return f"Java's classes of Spark {done}, in {made.path}"
