"""The captures by others, which are not part of the repository, and what is written down about them."""

import csv
from pathlib import Path

from tests.compose.tracing import CORPUS as COMPOSE

PCAPS = COMPOSE.parent / "pcaps"
ABSENT = "shared corpus absent"


def broker_ports() -> dict[Path, int]:
    """The captures with Kafka, and the port of the broker in each."""
    manifest = PCAPS / "MANIFEST.tsv"
    if not manifest.exists():
        return {}
    with manifest.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    named = {(row["repo"].replace("/", "_"), Path(row["path"]).name): int(row["broker_port"]) for row in rows}
    return {PCAPS / folder / name: port for (folder, name), port in named.items()}


def others() -> list[Path]:
    """The captures without Kafka: overlays and oddities."""
    return sorted(path for path in (PCAPS / "robustness").glob("*.pcap*"))
