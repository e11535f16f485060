"""A table of cases as one test: all run, what fails is named, fixtures are handed on."""

import pytest

from tests.each import each


def test_all_cases_run_and_those_that_fail_are_named(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        "import pytest\n"
        "from tests.each import each\n"
        "@each('a, b', [(1, 1), pytest.param(2, 3, id='odd'), (4, 4), (5, 6)])\n"
        "def test_pairs(a, b, capsys):\n"
        "    print('ran', a)\n"
        "    assert a == b\n"
        "@each('word', ['x', 'yy'], ids=lambda word: f'of {word}')\n"
        "def test_words(word):\n"
        "    assert len(word) == 1\n"
    )
    done = pytester.runpytest_subprocess("-p", "no:cacheprovider")
    done.assert_outcomes(failed=2)
    said = done.stdout.str()
    for wanted in ("assert 2 == 3", "case: odd", "2 of 4 cases fail: odd, 5-6", "case: of yy"):
        assert wanted in said


@pytest.mark.parametrize("engine", ["one", "two"])
@each("number", (1, 2))
@each(("text", "length"), [("a", 1), ("bb", 2)])
def test_tables_and_parameters_are_combined(engine: str, number: int, text: str, length: int) -> None:
    assert engine
    assert number in (1, 2)
    assert len(text) == length


def test_what_would_test_nothing_is_refused() -> None:
    with pytest.raises(AssertionError, match="without cases"):
        each("word", [])
    with pytest.raises(AssertionError, match="no parameter"):
        each("word", ["a"])(lambda other: None)
    with pytest.raises(AssertionError, match="2 values for word, other, third"):
        each("word, other, third", [("a", "b")])
    with pytest.raises(AssertionError, match="marks"):
        each("word", [pytest.param("a", marks=pytest.mark.slow)])
