"""The command line of trace."""

import json
import os
import socket
from pathlib import Path

import pytest

from netdiag.cli.exit_status import ExitStatus
from netdiag.cli.trace import status_of
from netdiag.topology.graph import Path as Way
from netdiag.topology.graph import PathEnd
from netdiag.topology.path.attempts import Agreement, Proof
from tests.cli.shell import netdiag


def way(end: PathEnd) -> Way:
    return Way(source=1, destination="a", port=1, address="a", hops=(), end=end, because="")


def proof(end: PathEnd, agreed: Agreement) -> Proof:
    return Proof(path=way(end), end=end, errno="", seconds=0, attempts=1, agreement=agreed, because="")


def test_statuses() -> None:
    assert status_of(way(PathEnd.CONNECTED), None) is ExitStatus.CLEAN
    assert status_of(way(PathEnd.CLOSED), None) is ExitStatus.FINDINGS
    assert status_of(way(PathEnd.UNKNOWN), None) is ExitStatus.COULD_NOT_LOOK
    assert status_of(way(PathEnd.UNKNOWN), proof(PathEnd.CONNECTED, Agreement.OPEN)) is ExitStatus.CLEAN
    assert status_of(way(PathEnd.CONNECTED), proof(PathEnd.CONNECTED, Agreement.DISAGREES)) is ExitStatus.FINDINGS
    assert status_of(way(PathEnd.REFUSED), proof(PathEnd.REFUSED, Agreement.AGREES)) is ExitStatus.FINDINGS


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root: others may not read the packet filters")
def test_a_socket_of_ours_and_none(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        found = netdiag("trace", "host", f"127.0.0.1:{port}", "--no-engine", "--format", "json", cwd=tmp_path)
        assert found.returncode == 0, found
        read = json.loads(found.stdout)
        assert read["path"]["end"] == "connected"
        text = netdiag("trace", "host", f"localhost:{port}", "--no-engine", cwd=tmp_path)
        assert text.returncode == 0
        assert b"connected" in text.stdout.splitlines()[0]
    refused = netdiag("trace", "host", f"127.0.0.1:{port}", "--no-engine", cwd=tmp_path)
    assert refused.returncode == 1
    assert b"refused (ECONNREFUSED)" in refused.stdout


def test_wrong_words_are_told_in_a_line(tmp_path: Path) -> None:
    place = netdiag("trace", "container:nobody", "127.0.0.1:9", "--no-engine", cwd=tmp_path)
    assert (place.returncode, b"Traceback" in place.stderr) == (3, False)
    assert b"nobody" in place.stderr
    assert netdiag("trace", "host", "nowhere", cwd=tmp_path).returncode == 2


def test_a_name_that_is_no_address_is_not_dialled(tmp_path: Path) -> None:
    found = netdiag("trace", "host", "no-such-broker:9092", "--no-engine", "--prove", cwd=tmp_path)
    assert (found.returncode, found.stderr) == (1, b"netdiag: nothing was sent: no-such-broker is no address there\n")
    assert b"unresolved" in found.stdout


def test_a_real_connection_beside_it(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        words = ("trace", "host", f"127.0.0.1:{port}", "--no-engine", "--prove", "--format", "json")
        found = netdiag(*words, cwd=tmp_path)
    read = json.loads(found.stdout)
    assert found.returncode == 0, found
    assert (read["proof"]["end"], read["proof"]["errno"]) == ("connected", "")
    # Without root rules cannot be read, so nothing is predicted.
    assert read["proof"]["agreement"] in ("agrees", "open")
