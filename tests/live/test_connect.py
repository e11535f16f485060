"""Real Connect workers: what their files foretell equals what curl gets in the namespace of each."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from netdiag.app.configuration import CheckOptions, LiveOptions
from netdiag.app.live_check import check_live
from netdiag.deployment.neighbours import Neighbourhood, url_cells, url_outcome
from netdiag.io.files.projects import ReadOptions
from netdiag.render.report import Report
from netdiag.rules.declared import check_deployment
from tests.deployment.stacks import deployment_of
from tests.figures import Report as Figure
from tests.lab.connect_image import CP_CONNECT, JOINED, LIMIT, load_connect_image, wait_for_workers
from tests.lab.containers import Container
from tests.lab.engine import HOST_ADDRESS
from tests.lab.lab import Lab
from tests.lab.processes import run
from tests.lab.stack import Stack
from tests.live.connect_cases import (
    ARRANGEMENTS,
    KSQLDB,
    REGISTRY,
    REST_PROXY,
    STAND_INS,
    Arrangement,
    Worker,
    compose_text,
    replicas_text,
    urls_text,
)
from tests.tools import tool

_STATUS = "\n%{http_code}"
_NUMBERS = count()
_OFTEN = 5
_NOT_FOUND = 404
_LEADER_URL = re.compile(r"leader='[^']*', leaderUrl='(http[^']*)'")
_LEADER = re.compile(r"leader='([^']*)'")
FORWARD_FAILS = (500, 409)
_SERVER = Path(__file__).with_name("stand_in.py")
# Exit statuses of curl: a plaintext client that meets TLS gets an alert, which is no HTTP.
_CURL_EXITS = {0: "ok", 1: "tls", 6: "unresolved", 7: "refused", 28: "timeout", 35: "tls", 52: "closed", 56: "closed"}
_URLS_TOLD = 18


@contextmanager
def _broker(lab: Lab, path: Path) -> Iterator[Stack]:
    """The broker of a file for a block; the workers wait for `_start`."""
    load_connect_image(lab.engine)
    later = path.with_name("later.json")
    services = YAML(typ="safe", pure=True).load(path)["services"]
    later.write_text(json.dumps({"services": {name: {"profiles": ["later"]} for name in services if name != "kafka"}}))
    with lab.up(path, override_files=(later,)) as stack:
        yield stack


def _curl(container: Container, url: str, *options: str) -> tuple[int, str]:
    """What curl gets in a container's namespace: the status, 0 for none, and the body."""
    words = [tool("curl"), "-s", "-m", "30", "-w", _STATUS, *options, url]
    body, _, status = run(container.place.argv(words), check=False, timeout=60).stdout.rpartition("\n")
    return int(status or 0), body


def _create(container: Container, port: int) -> tuple[int, str]:
    config = {
        "connector.class": "org.apache.kafka.connect.file.FileStreamSourceConnector",
        "file": "/etc/hostname",
        "topic": "lines",
    }
    body = json.dumps({"name": f"file-{next(_NUMBERS)}", "config": config})
    url = f"http://localhost:{port}/connectors"
    for _ in range(60):
        status, said = _curl(container, url, "-X", "POST", "-H", "Content-Type: application/json", "-d", body)
        # A worker joins its group a moment before it serves its resources.
        if status != _NOT_FOUND:
            break
        time.sleep(0.5)
    return status, said


def _listed(container: Container, port: int) -> list[str]:
    found: list[str] = json.loads(_curl(container, f"http://localhost:{port}/connectors")[1])
    return found


def _start(stack: Stack, *names: str) -> None:
    """Start workers, and wait until each is a member of its group."""
    before = {name: stack.logs(name).count(JOINED) if _exists(stack, name) else 0 for name in names}
    stack.run_compose("up", "-d", "--no-deps", *names)
    wait_for_workers(stack, before)


def _repeats(stack: Stack, name: str, sentence: str) -> None:
    """Start a worker, and wait until it has printed something often without having started."""
    stack.run_compose("up", "-d", "--no-deps", name)
    deadline = time.monotonic() + LIMIT
    while stack.logs(name).count(sentence) < _OFTEN:
        assert time.monotonic() < deadline, stack.logs(name)[-2000:]
        time.sleep(0.5)
    assert JOINED not in stack.logs(name)


def _exists(stack: Stack, name: str) -> bool:
    return any(container.service == name for container in stack.containers())


def _answers(stack: Stack, workers: Mapping[str, Worker]) -> Iterator[tuple[str, str, int, str]]:
    """(worker, leader, status, body) of a connector that each of two workers is asked for, each leading once."""
    first, second = workers
    # The coordinator lets the member lead that has been there longest.
    _start(stack, first)
    _start(stack, second)
    for leader, follower in ((first, second), (second, first)):
        for name in (leader, follower):
            status, body = _create(stack.state(name), workers[name].port)
            yield name, leader, status, body
        if leader == first:
            stack.run_compose("stop", first)
            _start(stack, first)


@pytest.mark.parametrize("arrangement", ARRANGEMENTS, ids=lambda one: one.name)
def test_files_foretell(arrangement: Arrangement) -> None:
    found = check_deployment(deployment_of(compose_text(arrangement.broken), host_addresses=(HOST_ADDRESS,)))
    assert sorted(f"{one.rule} {one.service}" for one in found) == sorted(arrangement.rules)
    assert not check_deployment(deployment_of(compose_text(arrangement.repaired), host_addresses=(HOST_ADDRESS,)))


def _both(arrangements: Sequence[Arrangement]) -> list[object]:
    """Each broken and repaired; one of them in `make test`."""
    return [
        pytest.param(
            arrangement,
            kind,
            id=f"{arrangement.name}, {kind}",
            marks=pytest.mark.bar("connect", long=(arrangement.name, kind) != ("unknown name", "broken")),
        )
        for arrangement in arrangements
        for kind in ("broken", "repaired")
    ]


@pytest.mark.parametrize(
    ("arrangement", "kind"), _both([one for one in ARRANGEMENTS if not one.rules[0].startswith("connect-")])
)
def test_curl_gets_what_is_foretold(
    lab: Lab, arrangement: Arrangement, kind: str, tmp_path: Path, figure: Figure
) -> None:
    workers = arrangement.broken if kind == "broken" else arrangement.repaired
    text = compose_text(workers)
    deployment = deployment_of(text, host_addresses=(HOST_ADDRESS,))
    failing = {
        (one.source.name, one.target.name)
        for target in deployment.neighbours
        for one in Neighbourhood(deployment).failing_forwards(target)
    }
    path = tmp_path / "compose.yml"
    path.write_text(text)
    cells = 0
    with _broker(lab, path) as stack:
        for name, leader, status, body in _answers(stack, workers):
            cells += 1
            assert (status in FORWARD_FAILS) == ((name, leader) in failing), (name, leader, status, body)
            assert status in (201, *FORWARD_FAILS)
    figure("cells", cells)


@pytest.mark.parametrize(
    ("arrangement", "kind"), _both([one for one in ARRANGEMENTS if one.rules[0].startswith("connect-")])
)
def test_clusters_share_what_is_foretold(
    lab: Lab, arrangement: Arrangement, kind: str, tmp_path: Path, figure: Figure
) -> None:
    workers = arrangement.broken if kind == "broken" else arrangement.repaired
    first, second = workers
    expected = arrangement.listed_by if kind == "broken" else (second,)
    path = tmp_path / "compose.yml"
    path.write_text(compose_text(workers))
    with _broker(lab, path) as stack:
        _start(stack, first)
        if arrangement.prints and kind == "broken":
            _repeats(stack, second, arrangement.prints)
            figure("workers that never start", 1)
            return
        _start(stack, second)
        status, body = _create(stack.state(second), workers[second].port)
        assert status == 201, body
        created = json.loads(body)["name"]
        listing: tuple[str, ...] = ()
        # The workers read the topic when they get to it.
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and listing != expected:
            listing = tuple(name for name in workers if created in _listed(stack.state(name), workers[name].port))
    assert listing == expected
    figure("cells", 1)


@pytest.mark.bar("connect", long=True)
@pytest.mark.parametrize("kind", ["broken", "repaired"])
def test_live_check_reads_the_group(lab: Lab, kind: str, tmp_path: Path, figure: Figure) -> None:
    """The leader is the one that the workers print; a packet filter, which no file foretells, is found."""
    (arrangement,) = (one for one in ARRANGEMENTS if one.name == "unknown name")
    workers = arrangement.broken if kind == "broken" else arrangement.repaired
    first, second = workers
    path = tmp_path / "compose.yml"
    path.write_text(compose_text(workers))
    with _broker(lab, path) as stack:
        _start(stack, first)
        _start(stack, second)
        report = _look(lab, stack)
        hosts = {name: workers[name].variables.get("CONNECT_REST_ADVERTISED_HOST_NAME", name) for name in workers}
        urls = {name: f"http://{host}:8083/" for name, host in hosts.items()}
        assert [_LEADER_URL.findall(stack.logs(name))[-1] for name in workers] == [urls[first]] * 2
        assert f"Connect group connect: {first} at {urls[first]} leads, {second} at {urls[second]}" in report.notes
        told = [
            f"{one.rule} {one.service}" for one in report.findings if one.rule.startswith(("rest-", "live-connect"))
        ]
        assert told == (list(arrangement.rules) if kind == "broken" else [])
        figure("groups read", 1)
        if kind == "repaired":
            drop = [tool("iptables"), "-A", "INPUT", "-p", "tcp", "--dport", "8083", "-j", "DROP"]
            run(["nsenter", f"--net={stack.state(second).place.netns}", *drop])
            (found,) = [one for one in _look(lab, stack).findings if one.rule == "live-connect-forward-fails"]
            assert found.message.startswith(f'{first} cannot forward to {second} at "{urls[second]}": ')
            assert found.service == second
            figure("faults that no file foretells", 1)


@pytest.mark.parametrize("kind", ["broken", "repaired"])
def test_replicas_are_foretold(kind: str) -> None:
    found = check_deployment(deployment_of(replicas_text(repaired=kind == "repaired")))
    assert [one.rule for one in found] == (["rest-advertised-shared"] if kind == "broken" else [])


@pytest.mark.bar("connect", long=True)
@pytest.mark.parametrize("kind", ["broken", "repaired"])
def test_replicas_forward_to_themselves(lab: Lab, kind: str, tmp_path: Path, figure: Figure) -> None:
    """Of two that advertise one name, only the leader creates connectors; the other one calls itself."""
    path = tmp_path / "compose.yml"
    path.write_text(replicas_text(repaired=kind == "repaired"))
    with _broker(lab, path) as stack:
        stack.run_compose("up", "-d", "--no-deps", "connect")
        replicas = [one for one in stack.containers() if one.service == "connect"]
        assert len(replicas) == 2
        deadline = time.monotonic() + LIMIT
        logs: list[str] = []
        # Both know one leader once the second one has joined.
        while len({found[-1] if (found := _LEADER.findall(log)) else log for log in logs}) != 1:
            assert time.monotonic() < deadline, logs
            time.sleep(0.5)
            logs = [lab.engine.docker("logs", one.id) for one in replicas]
        statuses = sorted(map(_created_at_last, replicas))
        assert statuses == ([201, 409] if kind == "broken" else [201, 201])
        rules = ("rest-", "live-rest", "live-connect")
        told = [one.rule for one in _look(lab, stack).findings if one.rule.startswith(rules)]
        assert told == (["rest-advertised-shared"] if kind == "broken" else [])
    figure("replicas", len(statuses))


def _created_at_last(container: Container) -> int:
    """The status of a new connector, asked for again while the workers rebalance."""
    for _ in range(10):
        status, _ = _create(container, 8083)
        if status == 201:
            break
        time.sleep(1)
    return status


def _outcome(container: Container, url: str) -> str:
    """What curl gets at a URL, in the words of netdiag."""
    done = run(container.place.argv([tool("curl"), "-sk", "-m", "8", "-o", "/dev/null", url]), check=False, timeout=60)
    return _CURL_EXITS[done.returncode]


@contextmanager
def _stand_ins(stack: Stack, folder: Path) -> Iterator[None]:
    """HTTP servers of Python in the namespaces of the services, where these listen."""
    key, certificate = folder / "key.pem", folder / "certificate.pem"
    options = ["-newkey", "rsa:2048", "-nodes", "-subj", "/CN=secure", "-keyout", str(key), "-out", str(certificate)]
    run([tool("openssl"), "req", "-x509", "-days", "2", *options])
    servers: list[subprocess.Popen[bytes]] = []
    try:
        for name, (scheme, address, port) in STAND_INS.items():
            words = [sys.executable, str(_SERVER), address, str(port)]
            words += [str(certificate), str(key)] if scheme == "https" else []
            servers.append(subprocess.Popen(stack.state(name).place.argv(words)))
        deadline = time.monotonic() + 20
        for name, (scheme, address, port) in STAND_INS.items():
            here = "127.0.0.1" if address == "0.0.0.0" else address
            while _outcome(stack.state(name), f"{scheme}://{here}:{port}/") != "ok":
                assert time.monotonic() < deadline, name
                time.sleep(0.2)
        yield
    finally:
        for server in servers:
            server.kill()
            server.wait()


@pytest.mark.bar("connect", long=True)
def test_urls_give_what_curl_gets(lab: Lab, tmp_path: Path, figure: Figure) -> None:
    """Every URL from the namespace of the service that is told it: as the file foretells, as --live finds."""
    load_connect_image(lab.engine)
    for image in (REGISTRY, REST_PROXY, KSQLDB):
        lab.engine.docker("tag", CP_CONNECT, image)
    path = tmp_path / "compose.yml"
    path.write_text(urls_text())
    foretold = url_cells(deployment_of(urls_text(), host_addresses=(HOST_ADDRESS,)))
    with lab.up(path) as stack, _stand_ins(stack, tmp_path):
        report = _look(lab, stack)
        seen = {(row.cell.source, row.cell.url, row.cell.setting): row.cell for row in report.urls}
        told = {(one.source, one.url, one.setting): url_outcome(one, one.predicted) for one in foretold}
        live = {key: url_outcome(one, one.observed) for key, one in seen.items() if one.observed is not None}
        curl = {(name, url, setting): _outcome(stack.state(name), url) for name, url, setting in told}
    assert len(told) == _URLS_TOLD
    assert live.keys() == curl.keys()
    for words in (live, {key: word for key, word in told.items() if word != "unknown"}):
        # curl does not say why a server closes on HTTP that speaks TLS.
        same = {("tls", "closed")} | {(word, word) for word in curl.values()}
        assert not [(key, word, curl[key]) for key, word in words.items() if (word, curl[key]) not in same]
    assert not [one.url for one in seen.values() if "secret" in one.url]
    # What the others run into, the files foretell; whose name this is may be known elsewhere.
    assert [one.message for one in report.findings if one.rule == "live-rest-url-fails"] == [
        one.message for one in report.findings if "http://registri:8081" in one.message
    ]
    figure("URLs", len(curl))
    figure("URLs that files foretell", sum(word != "unknown" for word in told.values()))


def _look(lab: Lab, stack: Stack) -> Report:
    options = CheckOptions(read=ReadOptions(project_name=stack.project))
    return check_live(options, LiveOptions(host=lab.engine.docker_host)).report
