"""`netdiag jmx` against registries on loopback that speak as Java's, and against what is none."""

import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import jsonschema
import pytest

from netdiag.app.jmx import JmxReport
from netdiag.deployment.model.jmx import JmxCell, JmxStub, JmxVerdict
from netdiag.deployment.model.vantage import Vantage, VantageKind
from netdiag.deployment.model.verdict import Address, Answered, Failed, Reason, Unknown
from netdiag.deployment.observation.live_view import SkippedVantage
from netdiag.render.jmx import jmx_document, jmx_text
from netdiag.render.screen import Screen
from tests.cli.shell import netdiag
from tests.kafka.test_jrmp import ACK, STREAM, returned, stub, text, unicast
from tests.render.schemas import strict_schema

SCHEMA = strict_schema("jmx.v1.json")
VERSION = returned(b"t" + text("1.0 java_runtime_17"))


@contextmanager
def server(answer: Callable[[bytes, int], bytes]) -> Iterator[int]:
    """A port of loopback that acknowledges RMI, and answers calls with what `answer` makes of them."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        threading.Thread(target=_serve, args=(listening, answer), daemon=True).start()
        yield listening.getsockname()[1]


def _serve(listening: socket.socket, answer: Callable[[bytes, int], bytes]) -> None:
    while True:
        try:
            channel, _ = listening.accept()
        except OSError:
            return
        with channel:
            if channel.recv(100).startswith(b"JRMI"):
                channel.sendall(ACK)
                channel.sendall(answer(channel.recv(1000), channel.getsockname()[1]))
                channel.recv(100)


@contextmanager
def registry(host: str, *, is_random: bool = False) -> Iterator[int]:
    """A JVM with one port for both hops; its stub may name a port at which nobody listens."""

    def answer(call: bytes, port: int) -> bytes:
        return stub(unicast(host, 1 if is_random else port)) if b"jmxrmi" in call else VERSION

    with server(answer) as port:
        yield port


def test_both_hops(tmp_path: Path) -> None:
    with registry("127.0.0.1") as port:
        well = netdiag("jmx", f"127.0.0.1:{port}", "--from", "host", "--format", "json", cwd=tmp_path)
        drawn = netdiag("jmx", f"127.0.0.1:{port}", "--from", "host", cwd=tmp_path)
    assert (well.returncode, drawn.returncode) == (0, 0), well.stderr
    document = json.loads(well.stdout)
    jsonschema.validate(document, SCHEMA)
    (cell,) = document["cells"]
    assert cell["observed"]["outcome"] == "ok"
    assert cell["observed"]["stub"] == {"host": "127.0.0.1", "port": port}
    assert f"the registry names 127.0.0.1:{port}" in drawn.stdout.decode()


def test_a_stub_that_leads_nowhere(tmp_path: Path) -> None:
    with registry("127.0.0.1", is_random=True) as port:
        ill = netdiag("jmx", f"127.0.0.1:{port}", "--from", "host", cwd=tmp_path)
    assert ill.returncode == 1
    assert "stub: refused" in ill.stdout.decode()
    assert "next: let the registry name a host and a port" in ill.stdout.decode()


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        (lambda call, port: returned(b"p"), "registry: not-jmx"),
        (lambda call, port: b"Q" + STREAM + b"w\x7f", "registry: timeout"),
        (lambda call, port: stub(unicast("name\x1b[31m.invalid", 9101)), "stub: unresolved"),
    ],
)
def test_strangers(answer: Callable[[bytes, int], bytes], outcome: str, tmp_path: Path) -> None:
    with server(answer) as port:
        found = netdiag("jmx", f"127.0.0.1:{port}", "--from", "host", "--timeout", "1", cwd=tmp_path)
    assert found.returncode == 1
    assert outcome in found.stdout.decode()
    assert b"\x1b" not in found.stdout


def test_a_server_that_speaks_tls_is_unknown(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        threading.Thread(target=_alert, args=(listening,), daemon=True).start()
        port = listening.getsockname()[1]
        found = netdiag("jmx", f"127.0.0.1:{port}", "--from", "host", cwd=tmp_path)
    assert found.returncode == 3
    assert "speaks TLS" in found.stdout.decode()


def _alert(listening: socket.socket) -> None:
    channel, _ = listening.accept()
    with channel:
        channel.recv(100)
        channel.sendall(b"\x15\x03\x03\x00\x02\x02\x46")
        channel.recv(100)


def test_nothing_to_ask(tmp_path: Path) -> None:
    assert netdiag("jmx", "nonsense", cwd=tmp_path).returncode == 2
    assert netdiag("jmx", "127.0.0.1:1", "--from", "host", cwd=tmp_path).returncode == 1


ANSWERED = Answered(node_id=None, cluster_id=None, because="it answers")
STUB = JmxStub(host="kafka", port=9101)
OK = JmxVerdict(registry=ANSWERED, stub=STUB, rmi=ANSWERED)
REFUSED = Failed(reason=Reason.REFUSED, because="nobody listens")
HOP_TWO = JmxVerdict(registry=ANSWERED, stub=STUB, rmi=REFUSED)
HOP_ONE = JmxVerdict(registry=REFUSED)
SECURED = JmxVerdict(registry=Unknown(because="it speaks TLS"))
RANDOM = JmxVerdict(registry=ANSWERED, stub=JmxStub(host=None, port=None), rmi=REFUSED)
WRONG = JmxVerdict(registry=Failed(reason=Reason.NOT_KAFKA, because="HTTP"))


def cell(observed: JmxVerdict | None, predicted: JmxVerdict | None = None) -> JmxCell:
    return JmxCell(
        vantage="docker host", registry=Address(host="::1", port=9101), predicted=predicted, observed=observed
    )


def test_words() -> None:
    said = [str(one) for one in (OK, HOP_TWO, HOP_ONE, SECURED, WRONG)]
    assert said == ["ok", "stub: refused", "registry: refused", "unknown", "registry: not-jmx"]
    assert str(RANDOM.stub) == "the container's address:a random port"
    assert [cell(OK, OK).agrees, cell(OK, HOP_TWO).agrees, cell(OK, SECURED).agrees, cell(OK).agrees] == [
        True,
        False,
        None,
        None,
    ]


@pytest.mark.parametrize(
    ("observed", "everywhere", "in_one_place"),
    [(OK, True, True), (HOP_TWO, False, False), (HOP_ONE, True, False), (SECURED, True, False)],
)
def test_what_counts_as_working(observed: JmxVerdict, everywhere: bool, in_one_place: bool) -> None:
    cells = (cell(observed), cell(None, OK))
    assert JmxReport(cells=cells, is_one_place=False).works is everywhere
    assert JmxReport(cells=cells, is_one_place=True).works is in_one_place
    assert JmxReport(cells=cells, is_one_place=True).is_unknown is (observed is SECURED)


def test_all_kinds_of_cells_fit_the_schema_and_the_screen() -> None:
    cells = [cell(OK, HOP_TWO), cell(SECURED, RANDOM), cell(WRONG, WRONG), cell(None, None), cell(HOP_ONE)]
    vantage = Vantage(kind=VantageKind.CONTAINER, label="inside kafka")
    skipped = [SkippedVantage(vantage=vantage, because="no rights")]
    jsonschema.validate(jmx_document(cells, skipped, ["a note"], works=False), SCHEMA)
    drawn = jmx_text(cells, skipped, ["a note"], Screen(width=80))
    assert "[::1]:9101" in drawn
    assert "(predicted: stub: refused)" in drawn
    assert "note: inside kafka could not be taken: no rights" in drawn
