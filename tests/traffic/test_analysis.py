"""What an analysis tells of itself."""

from hypothesis import given
from hypothesis import strategies as st

from netdiag.traffic.analysis import MOST_BUCKETS, Analysis, Answer, Buckets, Seen, buckets


def test_exchanges_are_those_of_the_coverage() -> None:
    rows = ({"exchanges": 3}, {"exchanges": 4})
    assert Analysis(seen=Seen(), answers={"coverage": Answer(rows=rows, total=2)}).exchanges == 7


def test_an_answer_that_is_not_there_has_no_rows() -> None:
    assert Analysis(seen=Seen()).rows("lag") == ()
    assert Analysis(seen=Seen()).exchanges == 0


S = 1_000_000
T0 = 1_700_000_000 * S


def test_a_moment_is_one_bucket_of_a_millisecond() -> None:
    assert buckets(T0 + 7, T0 + 9) == Buckets(first=T0, length=1000, count=1)


def test_lengths_are_those_that_people_use() -> None:
    lengths = {seconds: buckets(T0, T0 + seconds * S).length for seconds in (1, 10, 90, 600, 3600, 7200, 86_400)}
    assert lengths == {
        1: 5_000,
        10: 50_000,
        90: 500_000,
        600: 5 * S,
        3600: 30 * S,
        7200: 60 * S,
        86_400: 600 * S,
    }


def test_years_are_whole_days() -> None:
    found = buckets(0, 3650 * 86_400 * S)
    assert found.length % (86_400 * S) == 0
    assert found.count <= MOST_BUCKETS


def test_begin_and_end() -> None:
    found = Buckets(first=10, length=5, count=3)
    assert [found.begin(number) for number in range(3)] == [10, 15, 20]
    assert found.end == 25


@given(st.integers(0, 2**52), st.integers(0, 2**45), st.integers(1, 400))
def test_every_moment_is_in_one_and_none_is_too_many(first: int, span: int, most: int) -> None:
    found = buckets(first, first + span, most)
    assert 1 <= found.count <= max(most, 2)
    assert found.first <= first < found.first + found.length
    assert found.end - found.length <= first + span < found.end
