"""What the options ask of the engine."""

import pytest

from netdiag.cli.traffic_filters import engine_options, span
from netdiag.errors import UsageError


def test_a_span_holds_some_time() -> None:
    assert span("5", "6") == {"since_ns": 5_000_000_000, "until_ns": 6_000_000_000}
    assert span(None, None) == {"since_ns": None, "until_ns": None}
    with pytest.raises(UsageError, match="not before"):
        span("6", "6")


def test_what_is_not_given_filters_nothing() -> None:
    options = engine_options(frozenset({"exchanges"}), clients=None, brokers=["b:1"], topics=None, ports=[9092])
    assert not options.clients
    assert options.brokers == {"b:1"}
    assert not options.topics
    assert options.ports == {9092}
