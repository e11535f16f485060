"""--live at an engine whose every word is adversarial: it ends, and what it prints is plain, in every format.

In a network namespace of its own, so that no name of a stranger is asked for outside.
"""

import json
import subprocess
import time
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from netdiag.cli.outputs import Format
from netdiag.deployment.sources.engine import runs_kafka
from netdiag.engine.container import parse_container
from tests.cli.shell import NETDIAG, environment
from tests.engine.test_documents import BROKER
from tests.io.engine.fake_engine import VERSION, fake_engine
from tests.io.namespaces import needs_root

pytestmark = pytest.mark.bar("live-hostile")

EVIL = "\x1b[2J\x1b]0;owned\x07\x1b]8;;http://evil\x1b\\\u202e\r\n\x9b31m\ud800"
LOG = f"[main] ERROR org.apache.kafka.common.config.ConfigException: {EVIL} {'x' * 60_000}\n".encode("utf-8", "replace")


def evil(value: Any, key: str = "") -> Any:
    """The same document with something foreign in every text, but in those words that say what is to be read."""
    if isinstance(value, dict):
        return {name if name in SHAPE else f"{name}{EVIL}": evil(one, name) for name, one in value.items()}
    if isinstance(value, list):
        return [evil(one, key) for one in value]
    return value if not isinstance(value, str) or key in KEPT else value + EVIL


KEPT = ("Id", "Status", "HostPort", "NetworkMode", "Image", "Cmd", "IPAddress")
SHAPE: set[str] = set()


def _shape(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for name, one in value.items():
            yield name
            yield from _shape(one)


SHAPE.update(_shape(BROKER))
ENVIRONMENT = [
    "KAFKA_NODE_ID=1",
    "KAFKA_PROCESS_ROLES=broker,controller",
    f"KAFKA_LISTENERS=A{EVIL}://0.0.0.0:9092,CONTROLLER://:9093,PLAIN://0.0.0.0:9094",
    f"KAFKA_ADVERTISED_LISTENERS=A{EVIL}://kafka{EVIL}:9092,PLAIN://{'x' * 300_000}:9094",
    "KAFKA_CONTROLLER_LISTENER_NAMES=CONTROLLER",
    f"KAFKA_LISTENER_SECURITY_PROTOCOL_MAP=A{EVIL}:{EVIL},PLAIN:PLAINTEXT,CONTROLLER:PLAINTEXT",
    f"KAFKA_{EVIL}={EVIL}",
]


def documents() -> dict[str, object]:
    """A broker that says it runs, and one that crashed."""
    running = evil(BROKER)
    running["Config"] = {**running["Config"], "Env": ENVIRONMENT}
    crashed = {**evil(BROKER), "Id": "d" * 64, "Name": f"/crashed{EVIL}"}
    crashed["Config"] = {**crashed["Config"], "Env": ENVIRONMENT, "Tty": True}
    crashed["State"] = {
        "Status": "exited",
        "Running": False,
        "Pid": 0,
        "ExitCode": 1,
        "OOMKilled": False,
        "Error": EVIL,
    }
    found: dict[str, object] = {
        "/version": {**VERSION, "Version": f"20.10{EVIL}", "Os": EVIL},
        "/containers/json": [{"Id": one["Id"]} for one in (running, crashed)],
        "/networks": [
            {"Name": f"net{EVIL}", "Id": EVIL, "Driver": EVIL, "Labels": {EVIL: EVIL}, "IPAM": {"Config": []}}
        ],
    }
    for one in (running, crashed):
        found[f"/containers/{one['Id']}/json"] = one
        found[f"/containers/{one['Id']}/logs"] = (
            b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\nConnection: close\r\n\r\n" % len(LOG) + LOG
        )
    return found


def plain(text: str) -> None:
    assert {c for c in text if unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp")} <= {"\n"}


def argv(url: str, *words: str) -> list[str]:
    needs_root()
    return ["unshare", "--net", *NETDIAG, "check-listeners", "--live", "--timeout", "0.5", "--host", url, *words]


FORMATS = tuple(form.value for form in Format if form is not Format.TEXT)


def test_nothing_of_it_reaches_the_terminal(tmp_path: Path) -> None:
    outputs = [word for form in FORMATS for word in ("--format", form, "--output", str(tmp_path / form))]
    with fake_engine(tmp_path / "s", documents()) as url:
        done = subprocess.run(
            [*argv(url), *outputs, "--format", "text", "--verbose"],
            env=environment(),
            cwd=tmp_path,
            capture_output=True,
            timeout=300,
            check=False,
        )
    said = {"text": done.stdout, "errors": done.stderr, **{form: (tmp_path / form).read_bytes() for form in FORMATS}}
    assert done.returncode == 1, done.stderr.decode()
    assert b"not running" in done.stdout
    for form, data in said.items():
        assert b"internal error" not in data, form
        assert len(data) < 4_000_000, form
        plain(data.decode())


@pytest.mark.parametrize("form", ["text", "json"])
def test_nor_under_watch(tmp_path: Path, form: str) -> None:
    out = tmp_path / "out"
    with fake_engine(tmp_path / "s", documents()) as url, out.open("wb") as file:
        run = subprocess.Popen(
            [*argv(url), "--format", form, "--watch=1"],
            env=environment(),
            cwd=tmp_path,
            stdout=file,
            stderr=subprocess.STDOUT,
        )
        try:
            end = time.monotonic() + 120
            while out.stat().st_size == 0:
                assert time.monotonic() < end
                time.sleep(0.05)
        finally:
            run.terminate()
            run.wait(60)
    said = out.read_text(encoding="utf-8")
    plain(said)
    assert "internal error" not in said
    if form == "json":
        lines = [json.loads(line) for line in said.splitlines() if line.startswith("{")]
        assert {line["kind"] for line in lines} == {"broker", "cell"}


def test_as_an_engine_it_is_known() -> None:
    """The documents are read as a broker's, so that what is tested is not an empty report."""
    found = documents()
    inspected = [one for path, one in found.items() if path.endswith("/json") and isinstance(one, dict)]
    assert [runs_kafka(parse_container(one)) for one in inspected] == [True, True]
