"""redpanda.yaml and --set: addresses in the flags' spelling, whose parts point into the file."""

import pytest

from netdiag.compose.positions import Source, literal
from netdiag.deployment.sources.redpanda import read_redpanda_yaml, settings_of_set_option
from netdiag.findings import Edit, FileLocation

TEXT = """\
redpanda:
  node_id: 3
  kafka_api:
    - name: internal
      address: 0.0.0.0
      port: 9092
    - {address: "0.0.0.0", port: 19092, authentication_method: sasl}
  advertised_kafka_api:
    address: rp
    port: 9092
  kafka_api_tls:
    - {name: internal, enabled: true}
  seed_servers:
    - host: {address: rp-0, port: 33145}
    - {address: rp-1, port: 33145}
  admin:
    - address: 0.0.0.0
      port: 9645
pandaproxy:
  pandaproxy_api: [{address: 0.0.0.0, port: 28082}]
"""


def test_a_whole_file() -> None:
    made = read_redpanda_yaml(Source("rp.yaml", TEXT))
    assert made is not None
    settings, declared = made
    values = {name: setting.value for name, setting in settings.items()}
    assert values["listeners"] == "internal://0.0.0.0:9092,0.0.0.0:19092|sasl"
    assert values["advertised.listeners"] == "rp:9092"
    assert values["node.id"] == "3"
    assert values["seed_servers"] == "rp-0,rp-1"
    assert values["redpanda.protocols"] == "internal=SSL"
    assert set((values["redpanda.ports"] or "").split(",")) == {"9092", "19092", "9645", "28082", "33145"}
    source = declared["kafka_api in redpanda.yaml"]
    place = source.at(11, 18)
    assert isinstance(place, FileLocation)
    assert (place.line, place.column, place.end_column) == (5, 16, 23)
    quoted = TEXT.index('"0.0.0.0"') + 1
    assert source.edit(24, 31, "x") == Edit(path="rp.yaml", start=quoted, end=quoted + 7, replacement="x")
    assert source.edit(8, 12, "x") is None


def test_what_a_file_leaves_out_has_the_servers_defaults() -> None:
    made = read_redpanda_yaml(Source("rp.yaml", "redpanda:\n  data_directory: /d\n"))
    assert made is not None
    assert made[0]["listeners"].value == "127.0.0.1:9092"
    assert "advertised.listeners" not in made[0]


@pytest.mark.parametrize("text", ["a: [", "- a", "", "a: 1\n---\nb: 2\n", "\x00"])
def test_what_is_no_configuration(text: str) -> None:
    assert read_redpanda_yaml(Source("rp.yaml", text)) is None


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("redpanda.advertised_kafka_api", '[{"address":"h","port":1,"name":"a"}]', "a://h:1"),
        ("redpanda.advertised_kafka_api", "{address: h, port: 1}", "h:1"),
        ("redpanda.advertised_kafka_api", "[{address: h, port: 1}, {address: k, port: 2}]", "h:1,k:2"),
        ("redpanda.advertised_kafka_api[0].port", "5", None),
        ("redpanda.advertised_kafka_api", "nonsense", None),
        ("redpanda.advertised_kafka_api", "[", None),
    ],
)
def test_set(name: str, value: str, expected: str | None) -> None:
    text = literal(value, "compose.yml", line=7, column=3, start=100)
    settings, declared = settings_of_set_option(name, value, text.slice)
    assert settings["advertised.listeners"].value == expected
    if expected is not None:
        (source,) = declared.values()
        start = expected.index("h")
        edit = source.edit(start, start + 1, "x")
        assert edit is not None
        assert edit.start == 100 + value.index("h")


def test_set_of_something_else_says_nothing() -> None:
    assert settings_of_set_option("redpanda.auto_create_topics_enabled", "true", literal("true").slice) == ({}, {})
