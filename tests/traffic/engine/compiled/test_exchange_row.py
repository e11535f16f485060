"""The row of an exchange, told by one exchange at a time; of all facts at random in test_columns."""

from random import Random

from netdiag.traffic.engine.compiled.columns import Columns
from netdiag.traffic.engine.options import EngineOptions
from tests.traffic.engine.bodies.messages import answer, asked
from tests.traffic.engine.compiled.exchanges import Chunks, Exchange, plain_rows, rows_of
from tests.traffic.engine.compiled.random_exchanges import random_exchanges
from tests.traffic.engine.compiled.test_naming import ENDS

OPTIONS = EngineOptions(tables=frozenset({"exchanges"}))


def test_a_row_says_what_both_messages_say() -> None:
    request = asked(3, 12, {"topics": [{"name": "orders"}]})
    response = answer(3, 12, {"throttle_time_ms": 7, "topics": [{"name": "orders", "error_code": 3, "partitions": []}]})
    columns = Columns(OPTIONS, ["a.pcap"])
    Chunks(columns).feed([Exchange(ENDS, request, response, "answered")])
    ((row,),) = rows_of(columns).values()
    named = dict(zip(_names(), row, strict=True))
    assert named["topics"] == ("orders",)
    assert (named["throttle_ms"], named["error_code"], named["latency_ms"], named["service_ms"]) == (7, 3, 4.0, 2.0)
    assert (named["api_name"], named["client"], named["file"]) == ("Metadata", ENDS.client, "a.pcap")


def test_every_exchange_alone_has_the_row_of_the_plain_engine() -> None:
    for each in random_exchanges(Random(12), 40):
        columns = Columns(OPTIONS, ["a.pcap"])
        Chunks(columns, holds=lambda message: bool(message.facts and message.facts.names)).feed([each])
        assert rows_of(columns) == plain_rows(OPTIONS, ["a.pcap"], [each])


def _names() -> tuple[str, ...]:
    from netdiag.traffic.rows import ExchangeRow

    return ExchangeRow._fields
