"""Lists of addresses: what is one, and where each address stands."""

import pytest

from netdiag.deployment.sources.client_settings import MOST, bootstrap_list_at, parse_bootstrap_list


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("kafka:9092", ["kafka:9092"]),
        (" a:1, b:2 ,c:3", ["a:1", "b:2", "c:3"]),
        ("a:1,", ["a:1"]),
        ("a:1\n", ["a:1"]),
        ("PLAINTEXT://kafka:29092,SASL_SSL://k:1", ["PLAINTEXT://kafka:29092", "SASL_SSL://k:1"]),
        ("kafka+ssl://k:9096", ["kafka+ssl://k:9096"]),
        ("my_broker.internal-1:9092", ["my_broker.internal-1:9092"]),
        ("10.0.0.7:9092", ["10.0.0.7:9092"]),
        ("[::1]:9092", ["[::1]:9092"]),
        ("[fd00::1]:9092,[fd00::2]:9092", ["[fd00::1]:9092", "[fd00::2]:9092"]),
        ('["a:1", "b:2"]', ["a:1", "b:2"]),
        ("'a:1','b:2'", ["a:1", "b:2"]),
        ("a:1,\n  b:2", ["a:1", "b:2"]),
        ("kafka", []),
        ("", []),
        ("kafka:0", []),
        ("kafka:65536", []),
        ("kafka:99999999999999", []),
        ("a:1,kafka", []),
        ("a:1 b:2", []),
        ("kafka:9092/path", []),
        ("kafka:9092:1", []),
        ("user:1@host:2", []),
        ("http://connect:8083", []),
        ("amqp://rabbit:5672", []),
        ("${X}:9092", []),
        ("<broker>:9092", []),
        ("-a:1", []),
    ],
)
def test_a_list_and_the_place_of_each_address(text: str, expected: list[str]) -> None:
    assert [text[a.start : a.end] for a in parse_bootstrap_list(text)] == expected


def test_an_address_is_taken_apart() -> None:
    first, second = parse_bootstrap_list("INSIDE://kafka:29092, [::1]:9092")
    assert (first.scheme, first.host, first.port) == ("INSIDE", "kafka", 29092)
    assert (second.scheme, second.host, second.port) == ("", "::1", 9092)


def test_a_list_inside_a_text_ends_where_its_last_address_does() -> None:
    text = "x a:1,b:2 and more"
    addresses, end = bootstrap_list_at(text, 2)
    assert ([a.host for a in addresses], text[end:]) == (["a", "b"], " and more")


@pytest.mark.parametrize(
    "text", ["a:1," * 100_000, "a." * 100_000, "[" * 100_000, " " * 200_000 + "x", "a:1" + "\n" * 99_999]
)
def test_a_long_text_is_read_in_linear_time(text: str) -> None:
    assert len(parse_bootstrap_list(text)) <= MOST
