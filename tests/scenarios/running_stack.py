"""A scenario's stack started and at rest, and which source is asked for which of its cells.

Stand-ins replace the clients of its file (web UIs, registries, jobs), whose images cannot be had in the lab:
containers that only stay. What counts is where the file puts them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from ruamel.yaml import YAML

from tests.lab.image_set import APACHE_3, APACHE_4, CLIENT, CP_KAFKA, CP_ZOOKEEPER
from tests.lab.lab import Lab
from tests.lab.relay_images import RELAY_IMAGES
from tests.lab.stack import Stack as Running
from tests.scenarios.expectations import Engine, ExpectedCell, Stack
from tests.scenarios.netdiag_cells import NETDIAG, PREDICTED, PREDICTED_LIVE

_OWN_IMAGES = (APACHE_3, APACHE_4, CP_KAFKA, CP_ZOOKEEPER)
_STAYS = {"image": CLIENT, "entrypoint": ["sleep", "infinity"], "command": [], "healthcheck": {"disable": True}}


def stand_ins(compose_file: Path, folder: Path) -> tuple[Path, ...]:
    """A file to lay over `compose_file`, made in `folder`; none where all of its services are brokers."""
    services = YAML(typ="safe", pure=True).load(compose_file)["services"]
    names = [name for name, service in services.items() if _is_client(service)]
    if not names:
        return ()
    over = folder / "stand-ins.json"
    over.write_text(json.dumps({"services": dict.fromkeys(names, _STAYS)}), encoding="utf-8")
    return (over,)


def _is_client(service: dict[str, object]) -> bool:
    image = re.sub(r"\$\{\w+:-(.*)\}", r"\1", str(service["image"]))
    return image not in RELAY_IMAGES and (image not in _OWN_IMAGES or "command" in service)


@contextmanager
def started_stack(lab: Lab, stack: Stack, folder: Path, *, containers: bool = True) -> Iterator[Running]:
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
