"""netdiag three times: on the docker host with all rights, sealed off with nothing but the engine's socket, and from
there by a helper container."""

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tests.cli.shell import ROOT, environment
from tests.lab.stack import Stack

# Root of nothing but this: its network has no device, its /proc no process of the docker host.
SEALED = (
    "unshare",
    *("--user", "--map-root-user", "--net", "--pid", "--mount", "--uts", "--ipc", "--fork", "--kill-child"),
    "--mount-proc",
)
# Whoever looks is a process, and has mounts, too.
_LOOKING = frozenset({"pids", "process_count", "sources", "mounts"})
_OF_AN_ENDPOINT = ("node_id", "host", "port", "outcome", "answered_by")
NETDIAG = (sys.executable, "-m", "netdiag")


def on_the_host(stack: Stack, *words: str | Path) -> subprocess.CompletedProcess[bytes]:
    """netdiag as root of the docker host."""
    return _run(*stack.engine.host.argv([*NETDIAG, *map(str, words)]))


def sealed(*words: str | Path) -> subprocess.CompletedProcess[bytes]:
    """netdiag where only the engine's socket is to be had."""
    return _run(*SEALED, *NETDIAG, *words)


def _run(*argv: str | Path) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [str(word) for word in argv],
        cwd=ROOT / "tests",
        env=environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=300,
        check=False,
    )


def document(done: subprocess.CompletedProcess[bytes]) -> dict[str, Any]:
    """What it printed, as JSON; an exit status of 3 is none."""
    assert done.returncode in (0, 1), (done.returncode, done.stderr.decode())
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def of_engine(topology: Mapping[str, Any]) -> dict[str, Any]:
    """The part of a topology that is this engine's: other namespaces of this machine come and go meanwhile."""
    ours = {one["netns"] for one in topology["places"] if one["kind"] == "host" or one["containers"]}
    kept = ("host", "engine", "userland_proxy", "networks", "containers", "kafka_listeners", "published", "reach")
    return {
        **{name: topology[name] for name in (*kept, "reach_note", "unmatched")},
        "namespaces": {
            str(one["inode"]): {name: facts for name, facts in one.items() if name not in _LOOKING}
            for one in topology["namespaces"]
            if one["inode"] in ours
        },
    }


def leaves(value: object, path: str = "") -> Iterator[tuple[str, object]]:
    """Every number and word of a document with the way to it."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from leaves(inner, f"{path}/{name}")
    elif isinstance(value, list):
        yield f"{path}/length", len(value)
        for index, inner in enumerate(value):
            yield from leaves(inner, f"{path}/{index}")
    else:
        yield path, value


def cells(check: Mapping[str, Any]) -> dict[tuple[str, str], object]:
    """Every cell of a matrix, predicted, observed and endpoint by endpoint.

    Not the words about it: of two addresses of a name, the first to answer is named in them.
    """
    return {
        (cell["vantage"], cell["bootstrap"]): (
            *(_verdict(cell[side]) for side in ("predicted", "observed")),
            [[one[name] for name in _OF_AN_ENDPOINT] for one in cell["endpoints"]],
        )
        for cell in check["matrix"]
    }


def _verdict(told: Mapping[str, Any] | None) -> object:
    return told and [told[name] for name in ("verdict", "reason", "reached", "advertised")]
