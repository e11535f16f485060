"""Our exchanges of a capture, as `netdiag exchanges FILE --format json` prints them: what is held against oracles."""

import json
import subprocess
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_SECONDS = 600
_NOTHING = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """The columns of one exchange that an oracle can know; see netdiag/traffic/tables.json."""

    client: str
    broker: str
    api_key: int | None
    api_version: int | None
    correlation_id: int
    client_id: str | None
    request_bytes: int | None
    response_bytes: int | None
    latency_ms: float | None
    error_code: int | None
    outcome: str
    decoded: str
    request_packet: int | None
    response_packet: int | None
    records: int | None
    record_bytes: int | None
    topics: tuple[str, ...]
    group: str | None


def read_exchanges(*files: Path) -> list[Exchange]:
    """What netdiag prints of these captures."""
    return parse_exchanges(run_netdiag("exchanges", *map(str, files), "--format", "json").splitlines())


def run_netdiag(*words: str) -> str:
    """Standard output of a command of netdiag, which may find nothing; its complaints are in the error."""
    command = [sys.executable, "-m", "netdiag", *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS, check=False)
    if done.returncode not in (0, _NOTHING):
        raise AssertionError(f"{' '.join(command)}: exit {done.returncode}: {done.stderr[-2000:]}")
    return done.stdout


def parse_exchanges(lines: Iterable[str]) -> list[Exchange]:
    """One JSON object a line."""
    return [_exchange(json.loads(line)) for line in lines if line.strip()]


def _exchange(row: Mapping[str, Any]) -> Exchange:
    values: dict[str, Any] = {name: row.get(name) for name in Exchange.__dataclass_fields__}
    return Exchange(**{**values, "topics": tuple(row.get("topics") or ())})
