"""The table: what it covers, header versions and their exceptions, lookups that fail."""

import json
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import pytest

from netdiag.kafka import protocol as wire
from netdiag.kafka.protocol import table
from tests.kafka.protocol.random_values import every_message

REQUEST, RESPONSE = wire.Direction.REQUEST, wire.Direction.RESPONSE


def test_it_is_the_union_of_kafka_3_9_and_4() -> None:
    assert wire.releases()[0].startswith("3.9.")
    assert wire.releases()[-1].startswith("4.")
    assert wire.api_versions(0) == range(14)
    assert wire.api_versions(1) == range(19)
    assert wire.api_versions(6) == range(9)
    assert wire.release_versions(0)["3.9.1"] == range(12)
    assert "4.0.0" not in wire.release_versions(6)
    assert wire.api_keys() == tuple(range(95))
    assert len(every_message()) == 736


def test_both_directions_know_the_same_versions() -> None:
    text = files("netdiag.kafka.protocol").joinpath("messages.json").read_text(encoding="utf-8")
    for api in json.loads(text)["apis"]:
        assert api["request"]["versions"] == api["response"]["versions"], api["name"]


def test_the_committed_table_stays_small() -> None:
    assert len(files("netdiag.kafka.protocol").joinpath("messages.json").read_bytes()) < 400_000


@pytest.mark.parametrize(
    ("api_key", "version", "direction", "header"),
    [
        (3, 8, REQUEST, 1),
        (3, 9, REQUEST, 2),
        (3, 8, RESPONSE, 0),
        (3, 9, RESPONSE, 1),
        (18, 0, RESPONSE, 0),
        (18, 4, REQUEST, 2),
        (18, 4, RESPONSE, 0),
        (7, 0, REQUEST, 0),
        (7, 1, REQUEST, 1),
        (17, 1, REQUEST, 1),
    ],
)
def test_header_versions(api_key: int, version: int, direction: wire.Direction, header: int) -> None:
    assert wire.header_version(api_key, version, direction) == header


def test_names() -> None:
    assert wire.api_name(3) == "Metadata"
    assert wire.api_name(74) == "ListConfigResources"
    assert wire.api_name(999) == "API_KEY(999)"


def test_an_unstable_version_is_not_for_sending() -> None:
    assert wire.api_versions(22)[-1] == 6
    assert wire.stable_versions(22)[-1] == 5
    assert wire.stable_versions(3) == wire.api_versions(3)


@pytest.mark.parametrize(("api_key", "version"), [(999, 0), (3, 99), (3, -1)])
def test_an_unknown_message_is_our_own_fault(api_key: int, version: int) -> None:
    with pytest.raises(wire.UnknownMessage):
        wire.layout(api_key, version, REQUEST)


def test_a_field_has_the_versions_of_its_message() -> None:
    names = [[field.name for field in wire.layout(3, version, RESPONSE).fields] for version in (0, 2, 13)]
    assert names == [
        ["brokers", "topics"],
        ["brokers", "cluster_id", "controller_id", "topics"],
        ["throttle_time_ms", "brokers", "cluster_id", "controller_id", "topics", "error_code"],
    ]


def test_consumer_protocol_data_is_there() -> None:
    value = {"topics": ("a",), "generation_id": 4, "rack_id": None}
    data = wire.encode_data("ConsumerProtocolSubscription", 3, value)
    assert wire.decode_data("ConsumerProtocolSubscription", 3, data).value["generation_id"] == 4
    with pytest.raises(wire.UnknownMessage):
        wire.data_layout("Nothing", 0)


def test_the_generator_reads_kafkas_version_grammar() -> None:
    tool = Path(__file__).parents[3] / "tools" / "generate_protocol_table.py"
    program = (
        "import runpy, sys; g = runpy.run_path(sys.argv[1]);"
        "assert g['version_range']('none') == range(0);"
        "assert g['version_range']('2-4') == range(2, 5);"
        "assert g['version_range']('3') == range(3, 4);"
        "assert 32767 in g['version_range']('1+');"
        "assert g['ranges']([0, 1, 4, 5], 5) == '0-1,4+';"
        "assert g['snake_case']('ISRNodes') == 'isr_nodes';"
        "assert g['default_of']('0x7fffffff', 'int32') == 2**31 - 1"
    )
    subprocess.run([sys.executable, "-c", program, str(tool)], check=True)


def test_fault() -> None:
    assert issubclass(table.DecodeError, table.RemoteProtocolError)
    assert issubclass(table.FrameError, table.RemoteProtocolError)
    assert issubclass(table.EncodeError, table.LocalProtocolError)
    assert issubclass(table.UnknownMessage, table.LocalProtocolError)
    assert not issubclass(table.RemoteProtocolError, table.LocalProtocolError)


def test_the_path_is_built_from_the_inside() -> None:
    error = table.DecodeError("too long", 17)
    error.steps += ["host", "[3]", "brokers"]
    assert error.path == "brokers[3].host"
    assert str(error) == "brokers[3].host: too long (at byte 17)"
