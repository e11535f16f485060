"""What is quadratic is never taken for linear."""

from tests.growth import grows_linearly


def test_linear_and_quadratic_work() -> None:
    assert grows_linearly(lambda size: size / 1e6, 10_000, least=0.001)
    assert not grows_linearly(lambda size: size * size / 1e9, 10_000, least=0.001)


def test_an_attempt_that_was_disturbed_is_repeated() -> None:
    disturbed = iter([1.0, 0.01, 0.04, 0.01])
    assert grows_linearly(lambda size: next(disturbed), 10_000, least=0.001)
