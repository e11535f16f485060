"""Running netdiag as a shell does: a process of its own, an environment of our choosing."""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

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
    """The finished run."""
    return subprocess.run(
        [*NETDIAG, *words], cwd=cwd, env=environment(env), input=stdin, capture_output=True, check=False, timeout=60
    )
