"""Redpanda's flags, addresses and defaults, as `rpk redpanda start` and the packaged redpanda.yaml have them."""

from dataclasses import dataclass

import pytest

from netdiag.kafka.images import redpanda
from netdiag.kafka.images.families import parse_image
from netdiag.kafka.images.redpanda import UNNAMED
from netdiag.kafka.listeners import MalformedEntry, well_formed


@dataclass(frozen=True)
class Plain:
    value: str
    is_open: bool = False

    def slice(self, start: int, end: int) -> "Plain":
        return Plain(self.value[start:end])


def flags(*line: str, by_image: bool = True) -> dict[str, list[str]] | None:
    found = redpanda.start_flags([[Plain(word) for word in line]], by_image=by_image)
    return None if found is None else {name: [word.value for word in words] for name, words in found.items()}


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (("redpanda", "start", "--smp", "1"), {"--smp": ["1"]}),
        (("redpanda", "start", "--smp=1", "--overprovisioned"), {"--smp": ["1"], "--overprovisioned": []}),
        # the entrypoint hands its words on unquoted
        (("redpanda start", "--kafka-addr a://h:1,b://h:2"), {"--kafka-addr": ["a://h:1,b://h:2"]}),
        (("rpk", "redpanda", "start", "--mode dev-container"), {"--mode": ["dev-container"]}),
        (("start", "--smp", "1"), {"--smp": ["1"]}),
        # a flag given twice adds to its list
        (("redpanda", "start", "--kafka-addr", "a://h:1", "--kafka-addr=b://h:2"), {"--kafka-addr": ["a://h:1", "b://h:2"]}),
        (("redpanda", "start", "--check", "--smp", "1"), {"--check": [], "--smp": ["1"]}),
        (("redpanda", "start"), {}),
        (("topic", "create", "orders"), None),
        (("cluster", "info"), None),
        (("start-something",), None),
    ],
)  # fmt: skip
def test_flags_behind_the_images_entrypoint(line: tuple[str, ...], expected: dict[str, list[str]] | None) -> None:
    assert flags(*line) == expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (("/usr/bin/rpk", "redpanda", "start", "--smp", "1"), {"--smp": ["1"]}),
        (("/opt/redpanda/bin/redpanda", "--redpanda-cfg", "/etc/r.yaml"), {"--redpanda-cfg": ["/etc/r.yaml"]}),
        # nobody splits the word here
        (("rpk", "redpanda", "start", "--smp 1"), {"--smp 1": []}),
        (("start",), None),
        (("sleep", "infinity"), None),
    ],
)
def test_flags_behind_another_entrypoint(line: tuple[str, ...], expected: dict[str, list[str]] | None) -> None:
    assert flags(*line, by_image=False) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("internal://0.0.0.0:9092", ["internal://0.0.0.0:9092"]),
        ("Inside://h:1,OUTSIDE://h:2", ["Inside://h:1", "OUTSIDE://h:2"]),
        ("0.0.0.0:9092", ["0.0.0.0:9092"]),
        ("redpanda", ["redpanda:9092"]),
        ("external://redpanda", ["external://redpanda:9092"]),
        ("a://[::1]:1", ["a://[::1]:1"]),
        ("PLAINTEXT_HOST://red-panda.local:1/", ["PLAINTEXT_HOST://red-panda.local:1"]),
        ("a://h:1|sasl", ["a://h:1"]),
        ("a://h:1,", ["a://h:1"]),
        ("", []),
    ],
)
def test_addresses(value: str, expected: list[str]) -> None:
    entries = redpanda.parse_addresses(value)
    assert [str(entry.endpoint) for entry in well_formed(entries)] == expected
    assert len(entries) == len(expected)


@pytest.mark.parametrize("value", ["PLAINTEXT://:9092", "a://h:x", "a://h:1,", " a://h:1", '"a://h:1"', "1a://h:1:2"])
def test_what_rpk_cannot_take_apart(value: str) -> None:
    malformed = [entry for entry in redpanda.parse_addresses(value) if isinstance(entry, MalformedEntry)]
    assert bool(malformed) is (value != "a://h:1,")


def test_an_address_without_name_or_port_knows_its_places() -> None:
    (entry,) = well_formed(redpanda.parse_addresses("redpanda"))
    assert entry.endpoint.listener == UNNAMED
    assert (entry.host_start, entry.host_end, entry.port_start, entry.port_end) == (0, 8, 8, 8)


@pytest.mark.parametrize(
    ("image", "release", "strict", "advertised"),
    [
        ("redpandadata/redpanda:v23.2.9", (23, 2), False, "-"),
        ("redpandadata/redpanda:v23.3.1", (23, 3), True, "127.0.0.1:9092"),
        ("docker.redpanda.com/redpandadata/redpanda:v24.2.4", (24, 2), True, "127.0.0.1:9092"),
        ("redpandadata/redpanda", (99, 0), True, "127.0.0.1:9092"),
        ("redpandadata/redpanda:latest", (99, 0), True, "127.0.0.1:9092"),
        ("docker.vectorized.io/vectorized/redpanda:v21.11.2", (21, 11), False, "-"),
        ("vectorized/redpanda:latest", None, False, None),
        ("redpandadata/redpanda:", None, False, None),
        ("redpandadata/redpanda:nightly", None, False, None),
    ],
)
def test_defaults_by_release(image: str, release: tuple[int, int] | None, strict: bool, advertised: str | None) -> None:
    reference = parse_image(image)
    assert redpanda.release(reference) == release
    assert redpanda.refuses_wildcard(reference) is strict
    found = redpanda.packaged(reference)
    assert found["listeners"].value == "0.0.0.0:9092"
    assert (found["advertised.listeners"].value if "advertised.listeners" in found else "-") == advertised


def test_a_flag_wins_over_a_variable_and_both_over_the_file() -> None:
    image = parse_image("redpandadata/redpanda:v24.2.4")
    environment = {"REDPANDA_KAFKA_ADDRESS": "v:1", "REDPANDA_ADVERTISE_KAFKA_ADDRESS": "v:2"}
    found = redpanda.settings(image, {"--kafka-addr": "f:1", "--pandaproxy-addr": "p://0.0.0.0:18082"}, environment)
    assert (found["listeners"].value, found["listeners"].variable) == ("f:1", "--kafka-addr")
    advertised = found["advertised.listeners"]
    assert (advertised.value, advertised.variable) == ("v:2", "REDPANDA_ADVERTISE_KAFKA_ADDRESS")
    assert found[redpanda.OTHER_PORTS].value == "18082"
    assert redpanda.settings(image, {"--kafka-addr": None}, {})["listeners"].value is None


def test_protocols_are_plaintext_unless_something_else_is_said() -> None:
    entries = well_formed(redpanda.parse_addresses("a://h:1,b://h:2|sasl,h:3"))
    assert redpanda.protocols(None, entries) == {"a": "PLAINTEXT", "b": "SASL_PLAINTEXT", UNNAMED: "PLAINTEXT"}
    assert redpanda.protocols("a=SSL", entries)["a"] == "SSL"
