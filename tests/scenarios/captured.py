"""Records what a client in the network of a scenario's brokers says, with `netdiag capture`, and keeps it.

`python -m tests.scenarios.captured FILE` writes the capture that `make demo` and the README read: the client of S08.
"""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from tests.lab.lab import Lab, start_lab
from tests.lab.lead_topics import lead_topics
from tests.lab.oracles import Cell
from tests.lab.stack import Stack
from tests.lab.vantages import same_network

ROOT = Path(__file__).parents[2]
S08 = ROOT / "compose" / "scenarios" / "S08-single-listener-localhost"
# From its saying that it captures until its sockets are there.
_SETTLES = 1.0


def record(lab: Lab, stack: Stack, bootstrap: str, out: Path) -> str:
    """Capture in a client's container while kcat consumes from `bootstrap`; what kcat got."""
    client = same_network(stack)
    cell = Cell(vantage=client, bootstrap=bootstrap, topic=lead_topics(stack))
    command = [sys.executable, "-m", "netdiag", "capture", "--live", "--host", lab.engine.docker_host]
    command += ["--from", f"container:{client.container_id}", "--out", str(out)]
    with subprocess.Popen(
        command, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, stderr=subprocess.PIPE, text=True
    ) as capturing:
        try:
            _wait_until_it_listens(capturing)
            answers = lab.oracles.ask_all([cell], oracles=("kcat",))
        finally:
            capturing.send_signal(signal.SIGINT)
            try:
                capturing.wait(20)
            except subprocess.TimeoutExpired:
                capturing.kill()
    if capturing.returncode != 0:
        raise AssertionError(f"netdiag capture ended with {capturing.returncode}")
    return answers[cell, "kcat"].verdict()


def _wait_until_it_listens(capturing: "subprocess.Popen[str]") -> None:
    assert capturing.stderr is not None
    for line in capturing.stderr:
        if "Ctrl-C to stop" in line:
            break
    time.sleep(_SETTLES)


def main(path: str) -> None:
    """Record the client of S08."""
    with start_lab() as lab, lab.up(S08 / "kraft.broken.yml") as stack:
        print(record(lab, stack, "kafka:9092", Path(path)))


if __name__ == "__main__":
    main(sys.argv[1])
