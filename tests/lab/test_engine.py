"""The engine runs, is sealed, resolves at once, publishes ports, and leaves nothing behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.lab.engine import HOST_ADDRESS, LAN_ADDRESS, engine, sweep
from tests.lab.image_set import CLIENT
from tests.lab.lab import Lab
from tests.lab.namespaces import Place
from tests.lab.processes import run
from tests.lab.run_record import read_records
from tests.lab.teardown import leftovers

_TOP = Path(__file__).resolve().parents[2]
_SERVE = "import http.server as h; h.test(h.SimpleHTTPRequestHandler, port=8000, bind='0.0.0.0')"


def _routes(place: Place) -> str:
    return run(place.argv(["ip", "-br", "link"])).stdout + run(place.argv(["ip", "route"])).stdout


def test_it_has_no_way_out(lab: Lab) -> None:
    for place in (lab.engine.host, lab.engine.lan):
        said = _routes(place)
        assert "default" not in said
        names = {line.split()[0].split("@")[0] for line in said.splitlines() if "<" in line}
        assert {name for name in names if not name.startswith(("br-", "veth"))} <= {
            "lo",
            "eth0",
            "docker0",
        }
    failed = run(lab.engine.host.argv(["ping", "-c1", "-W1", "203.0.113.1"]), check=False)
    # 1 or 2 from ping itself; 127 would be a machine without it
    assert failed.returncode in (1, 2), failed.stderr


def test_docker_host_and_lan_machine_see_each_other(lab: Lab) -> None:
    for place, other in ((lab.engine.host, LAN_ADDRESS), (lab.engine.lan, HOST_ADDRESS)):
        said = run(place.argv(["ip", "route", "get", other])).stdout
        assert "dev eth0" in said


@pytest.mark.parametrize("where", ["host", "lan", "default bridge", "user network"])
def test_an_unknown_name_fails_at_once(lab: Lab, where: str) -> None:
    command = ["getent", "hosts", "no-such-name.example"]
    started = time.monotonic()
    if where in ("host", "lan"):
        place = lab.engine.host if where == "host" else lab.engine.lan
        done = run(place.argv_in_root(lab.client_root, command), check=False)
        took = time.monotonic() - started
    else:
        lab.engine.docker("network", "create", "lab-names")
        options = ["--network", "lab-names"] if where == "user network" else []
        made = lab.engine.docker("run", "-d", "--rm", "--init", *options, CLIENT).strip()
        try:
            started = time.monotonic()
            done = run(["docker", "exec", made, *command], check=False, env=lab.engine.environment)
            took = time.monotonic() - started
        finally:
            lab.engine.docker("rm", "-f", made)
            lab.engine.docker("network", "rm", "lab-names")
    assert done.returncode == 2
    assert took < 1


def test_containers_find_each_other_by_name_and_ports_are_published(lab: Lab) -> None:
    docker = lab.engine.docker
    docker("network", "create", "lab-web")
    try:
        argv = ["--network", "lab-web", "-p", "8123:8000", "--name", "lab-web-server"]
        docker("run", "-d", "--init", *argv, CLIENT, "python3", "-c", _SERVE)
        fetch = "import sys, urllib.request as u; print(u.urlopen(sys.argv[1], timeout=5).status)"
        wait = f"import time\nfor _ in range(50):\n try:\n  exec({fetch!r}); break\n except OSError: time.sleep(.1)"
        inner = ["python3", "-c", wait, "http://lab-web-server:8000/"]
        assert "200" in docker("run", "--rm", "--network", "lab-web", CLIENT, *inner)
        for place, address in (
            (lab.engine.host, "localhost"),
            (lab.engine.host, HOST_ADDRESS),
            (lab.engine.lan, HOST_ADDRESS),
        ):
            words = ["python3", "-c", fetch, f"http://{address}:8123/"]
            assert "200" in run(place.argv_in_root(lab.client_root, words)).stdout
    finally:
        docker("rm", "-f", "lab-web-server")
        docker("network", "rm", "lab-web")


def test_a_second_engine_runs_beside_and_leaves_nothing(lab: Lab) -> None:
    with engine(lab.engine.cache) as second:
        assert second.record.run_id != lab.engine.record.run_id
        second.docker("run", "-d", CLIENT)
        second.docker("network", "create", "left-over")
        assert second.record.host_netns in run(["ip", "netns"]).stdout
    assert leftovers(second.record) == []
    assert lab.engine.docker("info", "--format", "{{.ServerVersion}}").strip()


_OWNER = """
import sys, time
from tests.lab.engine import engine
with engine() as made:
    made.docker("run", "-d", "netdiag-lab/client:1")
    print(made.record.run_id, flush=True)
    time.sleep(600)
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
@pytest.mark.usefixtures("lab")
def test_an_owner_that_is_killed_leaves_nothing(number: signal.Signals) -> None:
    owner = subprocess.Popen([sys.executable, "-c", _OWNER], cwd=_TOP, stdout=subprocess.PIPE, text=True)
    assert owner.stdout is not None
    run_id = owner.stdout.readline().strip()
    record = next(one for one in read_records() if one.run_id == run_id)
    owner.send_signal(number)
    owner.wait()
    deadline = time.monotonic() + 30
    while leftovers(record) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert leftovers(record) == []


@pytest.mark.usefixtures("lab")
def test_the_next_start_cleans_up_after_a_killed_warden() -> None:
    owner = subprocess.Popen([sys.executable, "-c", _OWNER], cwd=_TOP, stdout=subprocess.PIPE, text=True)
    assert owner.stdout is not None
    run_id = owner.stdout.readline().strip()
    record = next(one for one in read_records() if one.run_id == run_id)
    os.kill(record.warden, signal.SIGKILL)
    # On a busy machine it lives on for a moment, and a sweep leaves runs alone that are looked after.
    deadline = time.monotonic() + 30
    while record.is_watched() and time.monotonic() < deadline:
        time.sleep(0.02)
    owner.kill()
    owner.wait()
    assert leftovers(record) != []
    sweep()
    assert leftovers(record) == []
