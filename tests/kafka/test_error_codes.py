"""Kafka's error codes, compared with kio's where it is installed."""

import pytest

from netdiag.kafka.error_codes import error_code, error_codes, error_name


def test_an_unknown_code_is_shown() -> None:
    assert error_name(999) == "ERROR_CODE(999)"
    assert error_code(999).retriable is False


def test_names() -> None:
    assert error_name(0) == "NONE"
    assert error_name(-1) == "UNKNOWN_SERVER_ERROR"
    assert error_code(72).retriable
    assert not error_code(35).retriable


def test_the_codes_are_without_gaps_and_each_says_something() -> None:
    codes = error_codes()
    assert [code.code for code in codes] == list(range(-1, 137))
    assert len({code.name for code in codes}) == len(codes)
    assert all(5 < len(code.meaning) < 110 and not code.meaning.endswith(".") for code in codes)


def test_they_are_those_of_kafka() -> None:
    pytest.importorskip("kio")
    from kio.schema.errors import ErrorCode

    theirs = {(int(code.value), code.name.upper(), code.retriable) for code in ErrorCode}
    assert theirs <= {(code.code, code.name, code.retriable) for code in error_codes()}
