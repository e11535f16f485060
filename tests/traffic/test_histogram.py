"""Every duration is near the middle of its bucket; buckets follow one another without a hole."""

from hypothesis import given
from hypothesis import strategies as st

from netdiag.traffic.histogram import RELATIVE_ERROR, bucket_of, middle_of

DAY = 86_400 * 10**9


@given(st.integers(0, 7 * DAY))
def test_the_middle_is_near(nanoseconds: int) -> None:
    assert abs(middle_of(bucket_of(nanoseconds)) - nanoseconds) <= RELATIVE_ERROR * nanoseconds


@given(st.integers(0, 7 * DAY))
def test_longer_is_never_in_an_earlier_bucket(nanoseconds: int) -> None:
    assert bucket_of(nanoseconds + 1) - bucket_of(nanoseconds) in (0, 1)


def test_a_bucket_fits_its_column() -> None:
    assert bucket_of(-5) == 0
    assert bucket_of(2**63 - 1) < 2**15
    assert [bucket_of(each) for each in (0, 1, 255, 256, 257, 258, 511, 512)] == [0, 1, 255, 256, 256, 257, 383, 384]
