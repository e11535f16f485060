"""Questions say of folded tables what they say of whole ones."""

import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from netdiag.io.spark.analysis import Wanted, analysed, names_of
from netdiag.io.spark.extraction import FOLDS, Extract, extract, extract_here, opened
from netdiag.io.spark.folding import folded_tables, names_told
from netdiag.io.spark.reading import Reading
from netdiag.io.spark.small_tables import frame_of
from netdiag.kafka import protocol as wire
from netdiag.traffic.aggregates.expressions import three_digits, weighed
from netdiag.traffic.aggregates.questions import QUESTIONS, answered, ordered
from netdiag.traffic.arrow import schema_of
from netdiag.traffic.folds import ALL, PIECES, Selection, pieces_of
from netdiag.traffic.insights import ALL as INSIGHTS
from netdiag.traffic.insights import insights
from netdiag.traffic.native import NO_NAMES, AddressNames, Folded, ReadOptions, read
from netdiag.traffic.tables import NAMES, TOGETHER, aggregate
from tests.figures import Report
from tests.native.files import pcap_file
from tests.native.packets import TcpConnection
from tests.traffic.folds.random_exchanges import BROKERS, capture_by_chance

CAPTURES = sorted((Path(__file__).parents[2] / "fuzz/captures").glob("*.pcap*"))
NAMED = AddressNames(hosts={"10.0.1.7": "app"}, endpoints={BROKERS[0]: ("kafka", "OUT"), BROKERS[1]: ("other", None)})

EVERYTHING = Wanted()


def reading(path: Path, names: AddressNames = NO_NAMES) -> Reading:
    return Reading(paths=(str(path),), options=ReadOptions(address_names=names))


def folded(whole: Reading, wanted: Wanted) -> Reading:
    tables = frozenset(NAMES) - frozenset(TOGETHER)
    options = replace(whole.options, tables=tables)
    return replace(whole, folds=Selection(), pieces=pieces_of(wanted.folds), options=options)


def extracts(
    spark: SparkSession, whole: Reading, place: Path, tasks: int, wanted: Wanted = EVERYTHING
) -> tuple[Extract, Extract]:
    """Whole tables, and folds; in this process where there are no tasks."""
    found = []
    for name, each in (("whole", whole), ("folded", folded(whole, wanted))):
        folder = str(place / name)
        if tasks:
            found.append(extract(spark, each, folder, tasks=tasks, size=1))
        else:
            found.append(opened(spark, extract_here(each, folder), each, folder, size=1))
    return found[0], found[1]


def same(made: tuple[Extract, Extract], wanted: Wanted) -> int:
    """Hold every answer of the folds against that of the whole tables; how many rows the answers have."""
    whole, folded = (analysed(each, wanted) for each in made)
    for name, answer in whole.answers.items():
        assert (name, folded.answers[name]) == (name, answer)
    assert folded.findings == whole.findings
    assert folded.protocols == whole.protocols
    return sum(answer.total for answer in whole.answers.values())


def test_every_answer_to_exchanges_by_chance(spark: SparkSession, tmp_path: Path) -> None:
    whole = reading(capture_by_chance(tmp_path / "a.pcap", 0))
    made = extracts(spark, whole, tmp_path, tasks=0)
    assert same(made, Wanted()) > 100
    assert made[0].rows["exchanges"] > 400


def test_no_question_to_few_rows_exchanges_them(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plans: dict[str, Any] = {}

    def planned(made: Extract, *_: Any) -> None:
        answers = {f"answer {name}": ordered(name, answered(name, made.tables)) for name in QUESTIONS}
        for name, frame in (*answers.items(), *insights(made.tables).items()):
            plans[name] = frame._jdf.queryExecution().executedPlan().toString()

    monkeypatch.setattr("netdiag.io.spark.analysis._asked", planned)
    few = folded(reading(capture_by_chance(tmp_path / "a.pcap", 0)), EVERYTHING)
    analysed(opened(spark, extract_here(few, str(tmp_path)), few, str(tmp_path), size=1), Wanted())
    assert len(plans) == len(QUESTIONS) + len(INSIGHTS)
    assert [name for name, plan in plans.items() if "Exchange" in plan] == []


def test_topics_of_the_same_name_count_once_in_an_exchange(spark: SparkSession, tmp_path: Path) -> None:
    whole = reading(capture_by_chance(tmp_path / "a.pcap", 6, connections=2, namesakes=True))
    of_topics = Wanted(
        only=frozenset(name for name in QUESTIONS if "topic" in schema_of(aggregate(name), unit="us").names)
    )
    made = extracts(spark, whole, tmp_path, tasks=0, wanted=of_topics)
    assert Selection(names=names_told(str(tmp_path / "folded"))).has_namesakes
    # What no question asks for is not folded.
    made_of = {place.name for place in (tmp_path / "folded" / FOLDS).iterdir()}
    assert made_of == {*pieces_of(of_topics.folds)} < {*PIECES} - {"timeline", "latency"}
    assert same(made, of_topics) > 20


# Where rounding goes up or down, at several powers of ten.
EDGES = [digits * 10**power for digits in (100, 101, 123, 500, 998, 999) for power in (1, 2, 3, 5, 6)]


def test_numbers_that_become_one_are_one_at_three_digits(spark: SparkSession, tmp_path: Path) -> None:
    """In nanoseconds: near each edge and half a unit above it, one number beside the other."""
    chance = random.Random(5)
    latencies = [edge + half + near for edge in EDGES for half in (0, edge // 200) for near in (-2, -1, 0, 1, 2)]
    latencies += [round(10 ** chance.uniform(3, 9)) for _ in range(300)]
    talker = TcpConnection().open()
    for number, latency in enumerate(latencies):
        begin = talker.time
        talker.ask(wire.encode_request(12, 3, number, "app", {"group_id": "a", "generation_id": 1, "member_id": "m"}))
        talker.time = begin + latency
        talker.answer(wire.encode_response(12, 3, number, {"error_code": 0}))
    (tmp_path / "a.pcap").write_bytes(pcap_file(talker.close().packets))
    options = ReadOptions(tables=frozenset({"exchanges"}))
    pieces: dict[str, list[pa.RecordBatch]] = {"exchanges": [], "latency": []}
    for ready in read([str(tmp_path / "a.pcap")], options, folded=Folded(pieces=("latency",)), unit="us"):
        for name in pieces.keys() & ready.keys():
            pieces[name] += [pa.record_batch(batch) for batch in ready[name]]
    whole, folded = (weighed(frame_of(spark, pa.Table.from_batches(each))) for each in pieces.values())
    rounded = [
        sorted(rows.groupBy(three_digits(F.col("latency_ms")).alias("of")).agg(F.sum("times").alias("times")).collect())
        for rows in (whole, folded)
    ]
    assert rounded[0] == rounded[1]
    assert whole.count() == len(latencies) > folded.count() > len(rounded[0]) > 300


@pytest.mark.bar("analysis-folded", long=True)
@pytest.mark.parametrize("seed", range(1, 6))
def test_every_answer_to_rows_by_chance(
    spark: SparkSession, tmp_path: Path, seed: int, figure: Report, monkeypatch: pytest.MonkeyPatch
) -> None:
    if seed == 2:
        # As where there are many rows.
        monkeypatch.setattr("netdiag.io.spark.small_tables.MOST", 0)
        monkeypatch.setattr("netdiag.io.spark.folding._MERGED", 0)
    whole = reading(capture_by_chance(tmp_path / "a.pcap", seed, connections=20, exchanges=100), NAMED)
    made = extracts(spark, whole, tmp_path, tasks=seed % 3)
    figure(f"rows of answers to exchanges by chance, seed {seed}", same(made, Wanted(named=seed % 2 == 1)))


@pytest.mark.bar("analysis-folded", long=True)
@pytest.mark.parametrize("path", CAPTURES, ids=lambda path: path.stem)
def test_every_answer_to_a_capture(spark: SparkSession, tmp_path: Path, path: Path, figure: Report) -> None:
    rows = same(extracts(spark, reading(path), tmp_path, tasks=2), Wanted())
    assert rows > 0
    figure(f"rows of answers to {path.stem}", rows)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("folds")
    extract_here(folded(reading(capture_by_chance(place / "a.pcap", 3)), EVERYTHING), str(place / "tables"))
    return place / "tables"


def test_the_names_of_topics_are_those_of_whole_tables(spark: SparkSession, folder: Path, tmp_path: Path) -> None:
    whole = reading(folder.parent / "a.pcap")
    made = opened(spark, extract_here(whole, str(tmp_path)), whole, str(tmp_path), size=1)
    assert names_told(str(folder)) == names_of(made.tables) != {}


@pytest.mark.parametrize("most", [50_000, 0], ids=["in memory", "in files"])
def test_files_of_folds_go_at_the_end(
    spark: SparkSession, folder: Path, tmp_path: Path, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("netdiag.io.spark.small_tables.MOST", most)
    (tmp_path / "connections").symlink_to(folder / "connections")
    for each in (folder / FOLDS).glob("*/*.parquet"):
        copy = tmp_path / each.relative_to(folder)
        copy.parent.mkdir(parents=True)
        copy.write_bytes(each.read_bytes())
    with folded_tables(spark, str(tmp_path), Selection()) as (frames, rows):
        assert {name: frame.count() for name, frame in frames.items()} == rows
        assert set(frames) == set(ALL)
        assert not [column for frame in frames.values() for column in frame.columns if column == "_latency"]
    assert [each.name for each in tmp_path.iterdir()] == ["connections"]


def test_exchanges_are_written_only_where_somebody_asks_for_them(folder: Path) -> None:
    assert {each.name for each in folder.iterdir()} == {*NAMES, FOLDS} - set(TOGETHER)
    for each in folder.glob("*/*.parquet"):
        assert pq.read_metadata(each).num_rows >= 0
