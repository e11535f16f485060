"""A scenario's stack brought up and at rest, and which source is asked for which of its cells."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.lab.lab import Lab
from tests.lab.stack import Stack as Running
from tests.scenarios.expectations import Engine, ExpectedCell, Stack
from tests.scenarios.netdiag_says import NETDIAG, PREDICTED, PREDICTED_LIVE
from tests.scenarios.stand_ins import stand_ins


@contextmanager
def standing_up(lab: Lab, stack: Stack, folder: Path, *, containers: bool = True) -> Iterator[Running]:
    """The stack for a block, with stand-ins for its clients, waited for as long as a stack of its kind needs."""
    over = stand_ins(stack.file, folder)
    with lab.up(stack.file, override_files=over, wait="none", containers=containers) as running:
        match stack.settled:
            case "ready":
                running.wait_ready()
            case "clusters":
                running.wait_settled(still=1)
            case "refused":
                # compose itself waited for those that could be started
                if [one for one in running.brokers() if one.is_running]:
                    running.wait_ready()
            case _:
                running.wait_settled()
        yield running


def asked(stack: Stack, engine: Engine, *, everything: bool) -> Callable[[str, ExpectedCell], bool]:
    """netdiag for every cell, as far as it can be told without looking; clients for all of them with `everything`.

    Else kcat for one cell of each kind, and the slower two for one that works.
    """
    kinds: dict[str, ExpectedCell] = {}
    for cell in stack.cells:
        kinds.setdefault(cell.on(engine), cell)
    works = kinds.get("ok")

    def asks(source: str, cell: ExpectedCell) -> bool:
        if source == PREDICTED:
            return cell.from_file(engine) == cell.on(engine)
        if source == PREDICTED_LIVE:
            return cell.is_predicted(engine)
        if everything or source in NETDIAG:
            return True
        return cell in kinds.values() if source == "kcat" else cell is works

    return asks
