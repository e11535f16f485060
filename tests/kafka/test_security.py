"""What a client refuses a certificate for."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from netdiag.kafka.security import (
    Certificate,
    CertificateFault,
    Fault,
    ListenerSecurity,
    SpokenProtocol,
    TrustAnchor,
    covers,
    faults_of,
)


def test_the_four_security_protocols_have_the_names_that_kafka_gives_them() -> None:
    first = list(SpokenProtocol)[:4]
    assert {spoken.value for spoken in first} == {"PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"}
    assert all(spoken.name == spoken.value for spoken in first)


def test_a_sight_of_nothing_secured_is_only_what_is_spoken() -> None:
    assert ListenerSecurity(spoken=SpokenProtocol.HTTP) == ListenerSecurity(
        spoken=SpokenProtocol.HTTP, detail="", tls=None, sasl=None
    )


NOW = datetime(2026, 6, 1, tzinfo=UTC)
ROOT = Certificate(
    subject="CN=Root",
    issuer="CN=Root",
    common_name="Root",
    names=(),
    addresses=(),
    not_before=NOW - timedelta(days=1000),
    not_after=NOW + timedelta(days=1000),
    key="EC secp256r1",
    key_bits=256,
    signature="ecdsa-with-SHA256",
    is_authority=True,
    fingerprint="00",
)
GOOD = replace(
    ROOT,
    subject="CN=kafka",
    common_name="kafka",
    names=("kafka", "*.kafka.lab"),
    addresses=("10.0.0.1", "fd00::1"),
    key="RSA 2048",
    key_bits=2048,
    signature="sha256WithRSAEncryption",
    is_authority=False,
)


def faults(
    *chain: Certificate, hosts: tuple[str, ...] = ("kafka",), anchored: TrustAnchor = TrustAnchor.TRUSTED
) -> list[Fault]:
    return list(faults_of(chain, hosts=hosts, anchored=anchored, now=NOW))


@pytest.mark.parametrize(
    ("names", "host", "expected"),
    [
        (("kafka",), "kafka", True),
        (("KAFKA",), "kafka", True),
        (("kafka",), "KaFKA.", True),
        (("kafka",), "kafka.lab", False),
        (("*.lab",), "kafka.lab", True),
        (("*.lab",), "a.kafka.lab", False),
        (("*.lab",), "lab", False),
        (("*",), "kafka", False),
        (("kafka.*",), "kafka.lab", False),
        (("k*a.lab",), "kafka.lab", True),
        (("kaf*.lab",), "ka.lab", False),
        (("kafka.*.lab",), "kafka.eu.lab", True),
        (("*.kafka.lab", "other"), "b1.kafka.lab", True),
        (("10.0.0.1",), "10.0.0.1", False),
        (("a*a*a.lab",), "aa.lab", False),
        (("",), "", False),
    ],
)
def test_names(names: tuple[str, ...], host: str, expected: bool) -> None:
    assert covers(replace(GOOD, names=names, addresses=()), host) is expected


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("10.0.0.1", True),
        ("10.0.0.2", False),
        ("fd00::1", True),
        ("fd00:0:0::1", True),
        ("[fd00::1]", True),
        ("fd00::1%eth0", True),
        ("fd00::2", False),
    ],
)
def test_addresses(host: str, expected: bool) -> None:
    assert covers(GOOD, host) is expected


def test_the_common_name_counts_only_where_no_host_is_named() -> None:
    assert covers(replace(GOOD, names=()), "kafka")
    assert covers(replace(GOOD, names=(), addresses=()), "kafka")
    assert not covers(replace(GOOD, names=("other",)), "kafka")
    assert not covers(replace(GOOD, names=(), addresses=(), common_name="10.0.0.1"), "10.0.0.1")


def test_a_star_that_tries_every_cut_is_still_quick() -> None:
    assert not covers(replace(GOOD, names=("*a" * 100 + "b.lab",)), "a" * 250 + ".lab")


def test_a_good_certificate_has_no_fault() -> None:
    assert faults(GOOD, ROOT, hosts=("kafka", "10.0.0.1", "b.kafka.lab")) == []
    assert faults(hosts=("kafka",)) == []


def test_every_host_that_is_not_covered_is_named_once() -> None:
    found = faults(GOOD, hosts=("kafka", "localhost", "10.0.0.9", "localhost"))
    assert [fault.detail for fault in found] == [
        f'"{host}" is not among its names: kafka, *.kafka.lab, 10.0.0.1, fd00::1' for host in ("localhost", "10.0.0.9")
    ]
    assert all(fault.fault is CertificateFault.NAME and fault.refused for fault in found)
    (lenient,) = faults_of([GOOD], hosts=["x"], anchored=TrustAnchor.TRUSTED, now=NOW, checks_names=False)
    assert not lenient.refused


def test_many_names_are_cut() -> None:
    (fault,) = faults(replace(GOOD, names=tuple(f"k{i}" for i in range(9)), addresses=()))
    assert fault.detail.endswith("k4 and 4 more")


@pytest.mark.parametrize(
    ("validity", "fault", "refused", "said"),
    [
        ((-100, -1), CertificateFault.EXPIRED, True, "it expired on 2026-05-31"),
        ((1, 100), CertificateFault.NOT_YET_VALID, True, "it is valid from 2026-06-02 00:00 on"),
        ((-1, 29), CertificateFault.EXPIRES_SOON, False, "it expires on 2026-06-30, in 29 days"),
    ],
)
def test_dates(validity: tuple[int, int], fault: CertificateFault, refused: bool, said: str) -> None:
    begin, end = (NOW + timedelta(days=count) for count in validity)
    dated = replace(GOOD, not_before=begin, not_after=end)
    assert faults(dated) == [Fault(fault=fault, detail=said, refused=refused)]
    assert [fault.refused for fault in faults(dated, anchored=TrustAnchor.PINNED)] == [False]


def test_an_expired_authority_is_named() -> None:
    (fault,) = faults(GOOD, replace(ROOT, subject="CN=Sub", not_after=NOW - timedelta(days=1)))
    assert fault.detail == '"CN=Sub" of its chain expired on 2026-05-31'


@pytest.mark.parametrize(
    ("anchored", "found"),
    [
        (TrustAnchor.TRUSTED, []),
        (TrustAnchor.PINNED, []),
        (TrustAnchor.NOT_ASKED, []),
        (TrustAnchor.SELF_SIGNED, [CertificateFault.SELF_SIGNED]),
        (TrustAnchor.UNKNOWN_ROOT, [CertificateFault.UNKNOWN_AUTHORITY]),
        (TrustAnchor.MISSING_ISSUER, [CertificateFault.UNKNOWN_AUTHORITY, CertificateFault.INCOMPLETE_CHAIN]),
    ],
)
def test_where_the_chain_leads(anchored: TrustAnchor, found: list[CertificateFault]) -> None:
    assert [fault.fault for fault in faults(GOOD, anchored=anchored)] == found


def test_who_vouches_for_itself_is_told_of_even_where_no_authorities_are_given() -> None:
    (fault,) = faults(replace(GOOD, issuer=GOOD.subject), anchored=TrustAnchor.NOT_ASKED)
    assert (fault.fault, fault.refused) == (CertificateFault.SELF_SIGNED, False)


@pytest.mark.parametrize(
    ("kind", "bits", "refused"), [("RSA", 1024, False), ("RSA", 1023, True), ("RSA", 512, True), ("EC", 160, True)]
)
def test_weak_keys(kind: str, bits: int, refused: bool) -> None:
    (fault,) = faults(replace(GOOD, key=f"{kind} {bits}", key_bits=bits))
    assert (fault.fault, fault.refused) == (CertificateFault.WEAK_KEY, refused)


@pytest.mark.parametrize(
    ("signature", "refused"),
    [("md5WithRSAEncryption", True), ("sha1WithRSAEncryption", False), ("ecdsa-with-SHA1", False)],
)
def test_weak_signatures(signature: str, refused: bool) -> None:
    (fault,) = faults(replace(GOOD, signature=signature))
    assert (fault.fault, fault.refused) == (CertificateFault.WEAK_SIGNATURE, refused)
    assert faults(GOOD, replace(ROOT, signature=signature)) == []
