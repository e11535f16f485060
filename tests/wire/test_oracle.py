"""Bar: our exchanges equal tshark's messages, in captures by others and in those of real brokers and clients.

The captures by others are not part of the repository; what is written down about them is.
"""

import csv
import re
from collections.abc import Collection, Iterable
from pathlib import Path

import pytest

from tests.compose.tracing import CORPUS as COMPOSE
from tests.figures import Report as Figure
from tests.wire import tshark
from tests.wire.compare import Comparison, compare
from tests.wire.exchanges import Exchange, read_exchanges
from tests.wire.traffic.cluster import PLAIN_PORTS
from tests.wire.traffic.facts import Recording

PCAPS = COMPOSE.parent / "pcaps"
ABSENT = "shared corpus absent"


def broker_ports() -> dict[Path, int]:
    """The captures with Kafka, and the port of the broker in each."""
    manifest = PCAPS / "MANIFEST.tsv"
    if not manifest.exists():
        return {}
    with manifest.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    named = {(row["repo"].replace("/", "_"), Path(row["path"]).name): int(row["broker_port"]) for row in rows}
    return {PCAPS / folder / name: port for (folder, name), port in named.items()}


def others() -> list[Path]:
    """The captures without Kafka: overlays and oddities."""
    return sorted(path for path in (PCAPS / "robustness").glob("*.pcap*"))


FOUND = broker_ports()
# How brokers call themselves when they ask other brokers.
_BROKERS = ("raft-client-", "broker-", "NodeToController")
needs_tshark = pytest.mark.skipif(tshark.available() is None, reason="no command 'tshark' (Debian package tshark)")
needs_corpus = pytest.mark.skipif(not FOUND, reason=ABSENT)


@needs_tshark
@needs_corpus
@pytest.mark.bar("wire-oracle")
def test_the_captures_by_others(figure: Figure) -> None:
    total = Comparison()
    for file, port in FOUND.items():
        total.add(_compared(file, [port]))
    _report(figure, "captures by others", total)
    assert not total.different
    assert not total.ours_alone


@needs_corpus
@pytest.mark.parametrize("file", [file for file in FOUND if "deepflow" in str(file)], ids=lambda file: file.stem)
def test_what_deepflow_expects_of_its_captures(file: Path) -> None:
    (ours,) = read_exchanges(file)
    request, response = (_deepflow(line) for line in file.with_suffix(".result").read_text().splitlines())
    assert ours.api_version == int(request["api_version"])
    assert ours.correlation_id == int(request["correlation_id"]) == int(response["correlation_id"])
    assert ours.client_id == request["client_id"]
    assert (ours.group or "") == request["group_id"]
    assert (ours.request_bytes, ours.response_bytes) == (int(request["req_msg_size"]), int(response["resp_msg_size"]))
    assert ours.latency_ms == pytest.approx(int(response["rrt"]) / 1000)
    assert ours.error_code == int(response["status_code"])
    if request["topic_name"]:
        assert ours.topics[0] == request["topic_name"]


@pytest.mark.skipif(not others(), reason=ABSENT)
def test_nothing_is_invented_where_no_kafka_is() -> None:
    assert read_exchanges(*others()) == []


@needs_tshark
@pytest.mark.bar("wire-oracle")
def test_real_brokers_and_clients(recording: Recording, figure: Figure) -> None:
    total = Comparison()
    for point in ("bridge", "broker-1"):
        total.add(_compared(recording.files[point], PLAIN_PORTS))
    _report(figure, f"Kafka {recording.version}", total)
    assert not total.different, "\n".join(total.different[:40])
    assert not total.ours_alone, "\n".join(total.ours_alone[:40])


@pytest.mark.bar("wire-oracle")
def test_what_passes_several_interfaces_is_found_once(recording: Recording, figure: Figure) -> None:
    """Everything of the bridge is in the capture of all interfaces, once; what more is there came over loopback.

    The address of the broker may differ: on the way in it is that of the docker host. Brokers talk to each other all
    the time, and the two captures begin and end at different moments: only what clients say is compared.
    """
    bridge, everywhere = (read_exchanges(recording.files[point]) for point in ("bridge", "any"))
    names, more = _names(bridge), _names(everywhere)
    figure(f"Kafka {recording.version}: exchanges seen at several interfaces found once", len(names))
    assert sorted(names) == sorted(name for name in more if not name[0].startswith(("127.0.0.1", "[::1]")))


@needs_tshark
@pytest.mark.bar("wire-oracle", long=True)
def test_each_kind_of_traffic(recordings: list[Recording], figure: Figure) -> None:
    sum_of_all = Comparison()
    for recording in recordings:
        total = _compared(recording.files["bridge"], PLAIN_PORTS)
        total.add(_compared(recording.files["broker-1"], PLAIN_PORTS))
        sum_of_all.add(total)
        _report(figure, f"Kafka {recording.version} {recording.name}", total)
    _report(figure, f"Kafka {recordings[0].version}, all kinds", sum_of_all)
    assert not sum_of_all.different, "\n".join(sum_of_all.different[:40])
    assert not sum_of_all.ours_alone, "\n".join(sum_of_all.ours_alone[:40])


def _compared(file: Path, ports: Collection[int]) -> Comparison:
    return compare(read_exchanges(file), tshark.read_messages(file, ports))


def _report(figure: Figure, what: str, total: Comparison) -> None:
    explained = ", ".join(f"{count} {reason}" for reason, count in total.explained.most_common())
    figure(
        f"{what}: messages",
        f"{total.compared} compared with tshark {tshark.available()}, {total.equal} equal, "
        f"{sum(total.explained.values())} explained ({explained}), {len(total.different)} different; "
        f"{total.latencies} latencies, {total.error_codes} error codes",
    )


def _names(exchanges: Iterable[Exchange]) -> list[tuple[str, int, str]]:
    named = ((one, one.client_id or "") for one in exchanges)
    return [
        (one.client, one.correlation_id, f"{one.api_key} {name}")
        for one, name in named
        if not name.isdigit() and not name.startswith(_BROKERS)
    ]


def _deepflow(line: str) -> dict[str, str]:
    """The fields of one line of deepflow's expectations, without the shells of Rust around them."""
    pairs = re.findall(r"(\w+): (?:Some\()?(\"[^\"]*\"|-?\w+)", line)
    return {name: value.strip('"') for name, value in pairs}
