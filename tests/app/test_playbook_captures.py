"""Captures of playbooks: bounded, gone afterwards, and only what they show is told."""

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from netdiag.app.playbook_actions import Actions, Subject, connections
from netdiag.app.progress import SILENT
from netdiag.io.files.playbooks import find, shipped, text_of
from netdiag.playbook.bundle import from_json, recorded, to_json
from netdiag.playbook.document import ACTIONS, ActionName, Outcome, Step
from netdiag.playbook.runner import run
from tests.io.namespaces import FAR, joined_namespaces
from tests.io.packets.traffic import inside
from tests.native.conversations import capture

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

# Hangs up on whoever says something, as a broker does that expects another protocol.
DEAF = """
import socket
server = socket.create_server(("", 9092))
print("listening", flush=True)
while True:
    client, _ = server.accept()
    client.recv(4096)
    print("heard", flush=True)
    client.close()
"""
GREETER = """
import socket, ssl, sys, time
context = ssl.create_default_context()
while True:
    try:
        context.wrap_socket(socket.create_connection((sys.argv[1], 9092), 5), server_hostname="kafka").close()
    except OSError:
        pass
    time.sleep(0.1)
"""


@pytest.fixture
def shared(spark: "SparkSession", monkeypatch: pytest.MonkeyPatch) -> None:
    """The session of the test run in the place of one of the command's own."""

    @contextmanager
    def session(*words: object, **options: object) -> Iterator["SparkSession"]:
        yield spark

    monkeypatch.setattr("netdiag.io.spark.session.spark_session", session)


@contextmanager
def a_client_that_speaks_tls() -> Iterator[str]:
    """The namespace of such a client; the other side hangs up on it again and again."""
    with (
        joined_namespaces() as pair,
        subprocess.Popen(inside(pair.far, sys.executable, "-c", DEAF), stdout=subprocess.PIPE) as deaf,
        subprocess.Popen(inside(pair.near, sys.executable, "-c", GREETER, FAR)) as greeter,
    ):
        assert deaf.stdout is not None
        rest = threading.Thread(target=deaf.stdout.read, daemon=True)
        try:
            assert deaf.stdout.readline() == b"listening\n"
            assert deaf.stdout.readline() == b"heard\n"
            rest.start()
            yield pair.near
        finally:
            greeter.kill()
            deaf.kill()
            if rest.ident is not None:
                rest.join()


def step(action: ActionName) -> Step:
    return Step(id=action.value, title="x", action=action)


def taken(actions: Actions, place: str, **more: str) -> Outcome:
    said = {"from": f"netns:{place}", "port": "9092", "seconds": "60", "packets": "80", **more}
    return actions.perform(step(ActionName.CAPTURE), said)


def test_the_wire_shows_a_client_that_speaks_tls_to_a_port_that_does_not() -> None:
    with a_client_that_speaks_tls() as place, Actions(Subject(host="unix:///none"), SILENT) as actions:
        outcome = taken(actions, place)
        assert outcome.looked, outcome
        (item,) = outcome.items
        assert tuple(item.fields) == ACTIONS[ActionName.CAPTURE].gives["captures"]
        assert item.fields["packets"] == "80"
        path = actions._captures["capture"]
        kinds = {(item.fields["protocol"], item.fields["answered"]) for item in connections([path], SILENT)}
        assert kinds & {("tls", "no")}
    assert not os.path.exists(os.path.dirname(path))


def test_it_is_bounded_in_packets_and_bytes() -> None:
    with a_client_that_speaks_tls() as place, Actions(Subject(host="unix:///none"), SILENT) as actions:
        few = taken(actions, place, packets="5")
        assert [item.fields["packets"] for item in few.items] == ["5"]


@pytest.mark.usefixtures("shared")
def test_a_capture_of_somebody_else_s(tmp_path: "Path") -> None:
    path = capture(tmp_path / "a.pcap", 4)
    books = shipped()
    book = find("tls-against-plaintext", books)
    with Actions(Subject(), SILENT) as actions:
        made = run(book, {"capture": path}, actions.perform, live=False)
    taken = {each.step.id: each for each in made.taken}
    assert taken["wire"].skipped == "a file replaces it"
    seen = taken["seen"].outcome
    assert seen is not None
    (traffic,) = [item.fields for item in seen.items if item.of == "traffic"]
    assert (traffic["packets"], traffic["connections"], traffic["exchanges"]) == ("48", "4", "12")
    assert {item.fields["protocol"] for item in seen.items if item.of == "connections"} == {"kafka"}
    # What a bundle has of it are these things, and no packet: it is the same when it is judged again.
    saved = to_json((), [recorded(made, text_of(book.name, book), live=False)])
    (again,) = from_json(saved.encode(), "b.zip").runs
    assert again.outcomes["seen"] == seen
    assert len(saved) < 16_000


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({}, "no capture is named"),
        ({"capture": "wire"}, "step 'wire' captured nothing"),
        ({"file": "hdfs://somewhere/x.pcap"}, "is not a file on this machine"),
        ({"file": "-"}, "is not a file on this machine"),
    ],
)
def test_what_cannot_be_analysed(arguments: dict[str, str], said: str) -> None:
    seen = Actions(Subject(), SILENT).perform(step(ActionName.ANALYZE), arguments)
    assert said in seen.why_not


@pytest.mark.parametrize("kind", ["pipe", "device"])
def test_what_may_never_end_is_not_read(kind: str, tmp_path: "Path") -> None:
    if not hasattr(os, "mkfifo"):
        pytest.skip("pipes with a name are POSIX's")
    path = os.devnull
    if kind == "pipe":
        path = str(tmp_path / "pipe")
        os.mkfifo(path)
    seen = Actions(Subject(), SILENT).perform(step(ActionName.ANALYZE), {"file": path})
    assert "neither a file nor a folder" in seen.why_not


@pytest.mark.parametrize(("name", "value"), [("port", "x"), ("port", "99999999"), ("from", "the moon")])
def test_what_cannot_be_captured(name: str, value: str) -> None:
    with Actions(Subject(), SILENT) as actions:
        arguments = {"from": "host", "port": "9092", name: value}
        assert "is not a p" in actions.perform(step(ActionName.CAPTURE), arguments).why_not
