"""The listener grammar against what the JDK's expression accepts and rejects."""

import pytest

from netdiag.kafka.listeners import (
    ListenerEntry,
    MalformedEntry,
    MalformedVoter,
    MapEntry,
    Voter,
    is_loopback,
    is_odd_name,
    is_wildcard,
    parse_listeners,
    parse_names,
    parse_protocol_map,
    parse_voters,
    well_formed,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("PLAINTEXT://kafka:9092", ("PLAINTEXT", "kafka", 9092)),
        ("plaintext://kafka:9092", ("PLAINTEXT", "kafka", 9092)),
        ("PLAINTEXT://:9092", ("PLAINTEXT", "", 9092)),
        ("PLAINTEXT://[::1]:9092", ("PLAINTEXT", "::1", 9092)),
        ("PLAINTEXT://::1:9092", ("PLAINTEXT", "::1", 9092)),
        ("PLAINTEXT://my_host:9092", ("PLAINTEXT", "my_host", 9092)),
        ("PLAINTEXT://kafka:99999", ("PLAINTEXT", "kafka", 99999)),
        ("PLAINTEXT://kafka:-1", ("PLAINTEXT", "kafka", -1)),
        ("PLAINTEXT://http://kafka:9092", ("PLAINTEXT://HTTP", "kafka", 9092)),
        ("A://h:1;B://h:2", ("A://H:1;B", "h", 2)),
        ("PLAINTEXT ://kafka:9092", ("PLAINTEXT ", "kafka", 9092)),
        ("://kafka:9092", ("", "kafka", 9092)),
    ],
)
def test_accepted(text: str, expected: tuple[str, str, int]) -> None:
    (entry,) = parse_listeners(text)
    assert isinstance(entry, ListenerEntry)
    assert (entry.endpoint.listener, entry.endpoint.host, entry.endpoint.port) == expected
    assert text[entry.host_start : entry.host_end] == expected[1]
    assert int(text[entry.port_start : entry.port_end]) == expected[2]


@pytest.mark.parametrize(
    "text",
    [
        "INSIDE://9092",
        '"PLAINTEXT://h:1"',
        "PLAINTEXT:/h:1",
        "PLAINTEXT://h:1/",
        "PLAINTEXT://${HOST}:1",
        "PLAINTEXT://_{HOSTNAME_COMMAND}:1",
        "PLAINTEXT://h",
        "PLAINTEXT://a b:1",
        "PLAINTEXT://*:1",
        "kafka:9092",
    ],
)
def test_rejected(text: str) -> None:
    (entry,) = parse_listeners(text)
    assert isinstance(entry, MalformedEntry)
    assert entry.text == text


def test_offsets_survive_blanks_and_empty_items() -> None:
    value = "  A://x:1 ,\n B://y:2 ,, C"
    entries = parse_listeners(value)
    assert [value[e.start : e.end] for e in entries] == ["A://x:1", "B://y:2", "C"]
    assert [e.endpoint.listener for e in well_formed(entries)] == ["A", "B"]


def test_protocol_map_splits_at_the_last_colon() -> None:
    entries = parse_protocol_map("internal:plaintext, EXTERNAL:SSL,BROKEN")
    assert [(e.listener, e.protocol) for e in entries if isinstance(e, MapEntry)] == [
        ("INTERNAL", "PLAINTEXT"),
        ("EXTERNAL", "SSL"),
    ]
    assert isinstance(entries[2], MalformedEntry)


def test_names_keep_case_and_blanks_as_a_broker_does() -> None:
    assert parse_names("CONTROLLER, other") == ("CONTROLLER", " other")
    assert parse_names("") == ()


@pytest.mark.parametrize("name", ["A B", "A ", "A;B", "A://HTTP"])
def test_a_name_of_more_than_one_word_is_odd(name: str) -> None:
    assert is_odd_name(name)
    assert not is_odd_name("A-B_9")


@pytest.mark.parametrize(
    ("host", "loopback", "wildcard"),
    [
        ("localhost", True, False),
        ("LOCALHOST", True, False),
        ("127.0.1.1", True, False),
        ("::1", True, False),
        ("127.example.org", False, False),
        ("0.0.0.0", False, True),
        ("", False, True),
        ("::", False, True),
        ("kafka", False, False),
    ],
)
def test_kinds_of_host(host: str, loopback: bool, wildcard: bool) -> None:
    assert (is_loopback(host), is_wildcard(host)) == (loopback, wildcard)


def test_a_long_run_of_blanks_is_one_malformed_entry_at_once() -> None:
    value = "A" + " " * 1_000_000 + "B"  # quadratic work on it would take minutes
    (entry,) = parse_listeners(f" {value} ,")
    assert isinstance(entry, MalformedEntry)
    assert (entry.start, entry.end) == (1, 1 + len(value))


def test_voters_keep_their_places() -> None:
    value = "1@kafka-1:9093, 2@[fd00::2]:9093"
    one, two = parse_voters(value)
    assert one == Voter(node_id=1, host="kafka-1", port=9093, start=0, end=14)
    assert two == Voter(node_id=2, host="fd00::2", port=9093, start=16, end=len(value))
    assert value[two.start : two.end] == "2@[fd00::2]:9093"


def test_nothing_given_is_no_voter() -> None:
    assert parse_voters("") == parse_voters(" , ") == ()


@pytest.mark.parametrize(
    ("text", "prints"),
    [
        ("kafka:9093", "Each entry should be in the form"),
        ("1@", "Each entry should be in the form"),
        ("1@2@kafka:9093", "Each entry should be in the form"),
        ("one@kafka:9093", "Failed to parse voter ID as an integer from one"),
        ("1@kafka", "Failed to parse host name from entry 1@kafka"),
        ("1@${HOST}:9093", "Failed to parse host name from entry 1@${HOST}:9093"),
    ],
)
def test_what_cannot_be_parsed_says_what_the_broker_says(text: str, prints: str) -> None:
    (voter,) = parse_voters(text)
    assert isinstance(voter, MalformedVoter)
    assert voter.prints.startswith(prints)
