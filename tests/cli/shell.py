"""Running the command line as a shell does: in a folder and an environment of our choosing."""

import gc
import io
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path

from netdiag.cli.main import run

ROOT = Path(__file__).parents[2]
NETDIAG = (sys.executable, "-c", "from netdiag.cli.main import run; run()")

BROKEN = """services:
  kafka:
    image: confluentinc/cp-kafka:7.9.2
    ports: ["9092:9092"]
    environment:
      KAFKA_BROKER_ID: 1
      KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
      KAFKA_LISTENERS: EXTERNAL://1.2.3.4:9092  # why
      KAFKA_ADVERTISED_LISTENERS: EXTERNAL://localhost:9092
      KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: EXTERNAL:PLAINTEXT
      KAFKA_INTER_BROKER_LISTENER_NAME: EXTERNAL
"""
CLEAN = BROKEN.replace("1.2.3.4", "0.0.0.0")
NO_BROKER = "services:\n  web:\n    image: nginx\n"


def environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """This environment without what would change the output, and with what is asked for."""
    dropped = (
        "COLUMNS",
        "NO_COLOR",
        "FORCE_",
        "TERM",
        "CI",
        "COMPOSE_",
        "PYTHON",
        "NETDIAG_RULE_PAGES",
    )
    kept = {name: value for name, value in os.environ.items() if not name.startswith(dropped)}
    return {**kept, "PYTHONPATH": str(ROOT), "TERM": "xterm-256color", **(extra or {})}


def netdiag(
    *words: str | Path, cwd: Path, env: Mapping[str, str] | None = None, stdin: bytes = b""
) -> subprocess.CompletedProcess[bytes]:
    """The finished run of the command line, within this process: much quicker than one of its own."""
    out, errors = io.BytesIO(), io.BytesIO()
    # Held until the end: what wraps a buffer closes it when it goes.
    streams = [io.TextIOWrapper(stream, encoding="utf-8", write_through=True) for stream in (out, errors)]
    with (
        chdir(cwd),
        _in_environment(environment(env)),
        redirect_stdout(streams[0]),
        redirect_stderr(streams[1]),
        _with_input(stdin, [str(NETDIAG[0]), *map(str, words)]),
    ):
        try:
            run()
        except SystemExit as end:
            status = end.code if isinstance(end.code, int) else 1 if end.code else 0
        else:
            status = 0
    return subprocess.CompletedProcess([*map(str, words)], status, out.getvalue(), errors.getvalue())


def process(
    *words: str | Path, cwd: Path, env: Mapping[str, str] | None = None, stdin: bytes = b""
) -> subprocess.CompletedProcess[bytes]:
    """The finished run in a process of its own."""
    return subprocess.run(
        [*NETDIAG, *words], cwd=cwd, env=environment(env), input=stdin, capture_output=True, check=False, timeout=180
    )


@contextmanager
def _in_environment(wanted: Mapping[str, str]) -> Iterator[None]:
    before = dict(os.environ)
    os.environ.clear()
    os.environ.update(wanted)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


@contextmanager
def _with_input(data: bytes, argv: list[str]) -> Iterator[None]:
    """With standard input, and with what the command line changes put back in the end."""
    before = sys.stdin, sys.argv, gc.get_threshold(), signal.getsignal(signal.SIGTERM)
    sys.stdin, sys.argv = io.TextIOWrapper(io.BytesIO(data), encoding="utf-8"), argv
    try:
        yield
    finally:
        sys.stdin, sys.argv = before[:2]
        gc.set_threshold(*before[2])
        signal.signal(signal.SIGTERM, before[3])
