"""Meanings of answers."""

import pytest

from netdiag.linux.dns import DnsAnswer, Lookup


@pytest.mark.parametrize(
    ("answer", "lookup", "word"),
    [
        (DnsAnswer(rcode=0, addresses=("10.0.0.1",)), Lookup.FOUND, "no address record"),
        (DnsAnswer(rcode=0), Lookup.NO_ADDRESS, "no address record"),
        (DnsAnswer(rcode=3), Lookup.NO_SUCH_NAME, "NXDOMAIN"),
        (DnsAnswer(rcode=2), Lookup.SERVER_FAILED, "SERVFAIL"),
        (DnsAnswer(rcode=5), Lookup.SERVER_FAILED, "REFUSED"),
        (DnsAnswer(rcode=11), Lookup.SERVER_FAILED, "RCODE 11"),
    ],
)
def test_meaning(answer: DnsAnswer, lookup: Lookup, word: str) -> None:
    assert (answer.lookup, answer.word) == (lookup, word)
