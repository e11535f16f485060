"""Rows of partitions and batches of real messages; of all facts at random in test_columns."""

from netdiag.traffic.engine.compiled.columns import Columns
from netdiag.traffic.engine.options import EngineOptions
from tests.traffic.engine.bodies.messages import answer, asked
from tests.traffic.engine.compiled.exchanges import Chunks, Exchange, plain_rows, rows_of
from tests.traffic.engine.compiled.test_naming import ENDS

OPTIONS = EngineOptions(tables=frozenset({"partitions", "batches"}))


def test_a_fetch_and_its_answer_meet_partition_by_partition() -> None:
    wanted = [{"partition": number, "fetch_offset": 40 + number, "current_leader_epoch": 3} for number in range(20)]
    news = [{"partition_index": number, "high_watermark": 70, "records": b""} for number in (5, 4, 77)]
    request = asked(1, 11, {"session_id": 0, "session_epoch": 0, "topics": [{"topic": "orders", "partitions": wanted}]})
    response = answer(1, 11, {"session_id": 8, "responses": [{"topic": "orders", "partitions": news}]})
    exchanges = [Exchange(ENDS, request, response, "answered"), Exchange(ENDS, request, None, "unanswered")]
    columns = Columns(OPTIONS, ["a.pcap"])
    Chunks(columns).feed(exchanges)
    found = rows_of(columns)
    assert found == plain_rows(OPTIONS, ["a.pcap"], exchanges)
    partitions = [row[8] for row in found["partitions"]]
    assert partitions[:4] == [5, 4, 77, 0]
    assert len(partitions) == 41


def test_an_offset_that_no_number_holds_is_not_made_up() -> None:
    partition = {"index": 0, "records": None}
    request = asked(0, 7, {"acks": 1, "topic_data": [{"name": "orders", "partition_data": [partition]}]})
    said = {"index": 0, "base_offset": (1 << 63) - 1}
    response = answer(0, 7, {"responses": [{"name": "orders", "partition_responses": [said]}]})
    for records in (None, 0, 1, 2):
        request.facts.partitions = [request.facts.partitions[0]._replace(records=records)]
        exchanges = [Exchange(ENDS, request, response, "answered")]
        columns = Columns(OPTIONS, ["a.pcap"])
        Chunks(columns).feed(exchanges)
        assert rows_of(columns) == plain_rows(OPTIONS, ["a.pcap"], exchanges)
