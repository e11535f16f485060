"""The tools for agents, called by a client from npm; every tool by both clients, and a thousand calls."""

import json
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.cli.shell import NETDIAG
from tests.figures import Report
from tests.lab.lab import Lab
from tests.lab.stack import Stack
from tests.mcp.test_server import LIVE, LOCALHOST, RULE, SCENARIOS, Call, talk
from tests.tools import tool

SDK = "@modelcontextprotocol/sdk@1.32.2"
ON_FILES = {"check_listeners", "who_can_connect", "diagnose", "explain_rule", "read_capture"}
LOG = "Connection to node 1 (localhost/127.0.0.1:9092) could not be established. Node may not be available."
Calls = Sequence[tuple[str, dict[str, Any]]]


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The client, with the library that it needs beside it."""
    folder = tmp_path_factory.mktemp("npm")
    path = Path(shutil.copy(Path(__file__).with_name("other_client.mjs"), folder))
    (folder / "package.json").write_text('{"private": true}', encoding="utf-8")
    words = [tool("npm"), "install", "--silent", "--no-audit", "--no-fund", SDK]
    subprocess.run(words, cwd=folder, check=True, timeout=300)
    return path


@pytest.fixture(scope="module")
def stack(lab: Lab) -> Iterator[Stack]:
    with lab.up(SCENARIOS / "S07-single-listener-container-name" / "kraft.repaired.yml") as up:
        yield up


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A folder with a file, a capture, ways out of it, and a file that is too large."""
    inside = tmp_path / "root"
    inside.mkdir()
    (inside / "compose.yml").write_bytes((LOCALHOST / "kraft.broken.yml").read_bytes())
    (inside / "out.yml").symlink_to("/etc/hostname")
    (inside / "huge.yml").write_bytes(b"services: {a: {image: apache/kafka}}\n#" + b"x" * 17_000_000)
    shutil.copy(LOCALHOST / "client.pcapng", inside)
    return inside


def on_files() -> Calls:
    return (
        ("check_listeners", {"paths": ["compose.yml"]}),
        ("who_can_connect", {"paths": ["compose.yml"], "client": "docker host"}),
        ("diagnose", {"log": LOG, "paths": ["compose.yml"]}),
        ("explain_rule", {"rule": RULE}),
        ("read_capture", {"paths": ["client.pcapng"]}),
    )


def on_what_runs(stack: Stack) -> Calls:
    broker = stack.brokers()[0]
    name = str(stack.engine.ask(f"/containers/{broker.id}/json")["Name"]).lstrip("/")
    return (
        ("check_running", {"containers": [name]}),
        ("probe_broker", {"bootstrap": "localhost:9092", "vantage": f"container:{name}"}),
        ("show_topology", {"containers": [name]}),
        ("trace_connection", {"source": "host", "destination": "localhost:9092"}),
    )


BAD: Calls = (
    ("check_listeners", {"paths": ["../../etc/hostname"]}),
    ("check_listeners", {"paths": ["/etc/hostname"]}),
    ("check_listeners", {"paths": ["out.yml"]}),
    ("check_listeners", {"paths": ["huge.yml"]}),
    ("read_capture", {"paths": ["out.yml"]}),
    ("explain_rule", {"rule": "no-such-rule"}),
)


def asked(program: Path, root: Path, calls: Calls, *more: str) -> dict[str, Any]:
    """What the client from npm found."""
    file = root.parent / "calls.json"
    file.write_text(json.dumps(calls), encoding="utf-8")
    words = [tool("node"), str(program), str(file), *NETDIAG, "mcp", "--root", str(root), *more]
    done = subprocess.run(words, stdout=subprocess.PIPE, check=True, timeout=900)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.mark.lab
@pytest.mark.bar("agents", long=True)
def test_every_tool_is_called_by_both_clients(program: Path, stack: Stack, root: Path, figure: Report) -> None:
    calls = (*on_files(), *on_what_runs(stack))
    url = stack.engine.docker_host
    found = asked(program, root, calls, "--allow-live", "--host", url)
    assert set(found["tools"]) == ON_FILES | LIVE == {name for name, _ in calls}
    assert "compose.yml" in str(found["prompt"])
    failed = [one for one in found["answers"] if one["failed"]]
    assert failed == []
    answers = {one["name"]: one["found"] for one in found["answers"]}
    assert answers["check_listeners"]["findings"][0]["rule"] == RULE

    async def act(call: Call) -> None:
        for name, given in calls:
            answer = await call(name, **given)
            assert isinstance(answer, dict), answer
            assert answer.keys() == answers[name].keys()
            if name in ON_FILES:
                assert answer == answers[name]

    talk(root, act, allow_live=True, host=url)
    figure("tools that both clients called", len(calls))


@pytest.mark.bar("agents", long=True)
def test_a_thousand_calls(program: Path, root: Path, figure: Report) -> None:
    calls = [call for _ in range(91) for call in (*on_files(), *BAD)]
    found = asked(program, root, calls)
    refused = [one for one in found["answers"] if one["failed"]]
    assert len(found["answers"]) == len(calls) > 1_000
    # A file that cannot be checked is told in the answer.
    told = [one for one in found["answers"] if not one["failed"] and "huge.yml" in str(one["found"])]
    assert len(refused) + len(told) == 91 * len(BAD)
    host = Path("/etc/hostname").read_text(encoding="utf-8").strip()
    assert all(host not in str(one) for one in refused)
    assert max(len(json.dumps(one["found"])) for one in found["answers"] if not one["failed"]) < 100_000
    memory = {int(number): size // 1024 for number, size in found["memory"].items()}
    figure("calls", len(calls))
    figure("calls refused, in one line", len(refused))
    figure("memory of the server after 200 and 1,000 calls", f"{memory[200]} and {memory[1000]} MiB")
    assert memory[1000] - memory[200] <= 8
    assert "Traceback" not in str(refused)
