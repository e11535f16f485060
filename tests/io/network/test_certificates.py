"""Certificates out of bytes, and where chains lead to."""

from cryptography.hazmat.primitives.asymmetric import ec

from netdiag.io.network.certificates import anchored, read_certificate, read_certificates, split_pem
from netdiag.kafka.security import TrustAnchor
from tests.io.network.authorities import authority, issue

ROOT = authority("Root")
SUB = authority("Sub", by=ROOT)
LEAF = issue("kafka", by=SUB, names=["kafka", "*.lab"], addresses=["10.0.0.1", "::1"], curve=ec.SECP384R1())
OTHER = authority("Root")
ALONE = issue("alone")


def test_what_a_certificate_says() -> None:
    found = read_certificate(LEAF.der)
    assert found is not None
    assert (found.subject, found.issuer, found.common_name) == ("CN=kafka", "CN=Sub", "kafka")
    assert (found.names, found.addresses) == (("kafka", "*.lab"), ("10.0.0.1", "::1"))
    assert (found.key, found.key_bits, found.signature) == ("EC P-384", 384, "ecdsa-with-SHA256")
    assert (found.is_authority, len(found.fingerprint)) == (False, 64)
    assert found.not_before < found.not_after
    root = read_certificate(ROOT.der)
    assert root is not None
    assert root.is_authority


def test_bytes_that_are_no_certificate_are_left_out() -> None:
    damaged = [LEAF.der[:cut] for cut in range(0, len(LEAF.der), 11)]
    damaged += [LEAF.der[:at] + bytes([LEAF.der[at] ^ 0xFF]) + LEAF.der[at + 1 :] for at in range(0, len(LEAF.der), 5)]
    assert len(read_certificates([*damaged, ROOT.der])) <= len(damaged) + 1
    assert read_certificate(b"") is None
    for one in damaged:
        assert isinstance(anchored([one, SUB.der], [ROOT.der]), TrustAnchor)
        assert isinstance(anchored([LEAF.der, one], [one]), TrustAnchor)


def test_where_chains_lead() -> None:
    leaf, sub, root, other = LEAF.der, SUB.der, ROOT.der, OTHER.der
    assert anchored([leaf, sub], None) is TrustAnchor.NOT_ASKED
    assert anchored([], [root]) is TrustAnchor.NOT_ASKED
    assert anchored([leaf, sub], [root]) is TrustAnchor.TRUSTED
    assert anchored([leaf, sub, root], [root]) is TrustAnchor.TRUSTED
    assert anchored([leaf], [sub]) is TrustAnchor.TRUSTED
    assert anchored([leaf, sub], [leaf]) is TrustAnchor.PINNED
    assert anchored([leaf], [root]) is TrustAnchor.MISSING_ISSUER
    assert anchored([leaf, sub], []) is TrustAnchor.MISSING_ISSUER
    assert anchored([leaf, sub, root], []) is TrustAnchor.UNKNOWN_ROOT
    assert anchored([leaf, sub], [other]) is TrustAnchor.MISSING_ISSUER
    assert anchored([ALONE.der], [root]) is TrustAnchor.SELF_SIGNED


def test_certificates_in_pem() -> None:
    assert split_pem(LEAF.pem + SUB.pem) == (LEAF.der, SUB.der)
