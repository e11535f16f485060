"""DIGEST-MD5 as the example of RFC 2831 has it, and what is no challenge."""

import pytest

from netdiag.kafka.digest_md5 import LONGEST, ChallengeError, DigestMd5

# Section 4 of the RFC.
CHALLENGE = b'realm="elwood.innosoft.com",nonce="OA6MG9tEQGm2hh",qop="auth",algorithm=md5-sess,charset=utf-8'
RESPONSE = "d388dad90d4bbd760a152321f2143af7"
PROOF = b"rspauth=ea40f60335c427b5527b84dbabcdfffd"


def login(username: str = "chris", password: str = "secret", authzid: str = "") -> DigestMd5:
    """The client of the RFC."""
    return DigestMd5(
        username=username, password=password, uri="imap/elwood.innosoft.com", cnonce="OA6MHXh6VqTrRk", authzid=authzid
    )


def test_the_example_of_the_rfc() -> None:
    talk = login()
    said = talk.answer(CHALLENGE).decode()
    assert f"response={RESPONSE}" in said
    assert 'username="chris"' in said
    assert said.startswith("charset=utf-8,")
    assert "authzid" not in said
    assert talk.is_proven_by(PROOF)
    assert not talk.is_proven_by(PROOF.replace(b"ea", b"ae"))
    assert not talk.is_proven_by(b"")
    assert not login().is_proven_by(PROOF)


def test_who_the_client_wants_to_be_counts() -> None:
    said = login(authzid="chris").answer(CHALLENGE).decode()
    assert 'authzid="chris"' in said
    assert RESPONSE not in said


def test_quotes_and_other_letters() -> None:
    said = login(username='a"b\\c', password="pässwörd€").answer(CHALLENGE).decode()
    assert 'username="a\\"b\\\\c"' in said
    assert "pässwörd" not in said


@pytest.mark.parametrize(
    ("challenge", "why"),
    [
        (b"", "no login with DIGEST-MD5"),
        (b"=", "cannot be read"),
        (b'nonce="a"', "no login with DIGEST-MD5"),
        (b'nonce="a",algorithm=md5-sess,qop="auth-conf"', "qop is 'auth-conf'"),
        (b'nonce="a",algorithm=md5-sess,realm="open', "cannot be read"),
        (b"\xff" * 10, "cannot be read"),
        (b"a" * (LONGEST + 1), "too long"),
    ],
)
def test_what_is_no_challenge(challenge: bytes, why: str) -> None:
    with pytest.raises(ChallengeError, match=why):
        login().answer(challenge)
