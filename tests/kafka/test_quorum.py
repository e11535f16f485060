"""Voters taken apart as Kafka does."""

import pytest

from netdiag.kafka.quorum import MalformedVoter, Voter, parse_voters


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
