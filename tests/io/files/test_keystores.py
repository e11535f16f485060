"""Key stores and trust stores of every kind, as Java and OpenSSL write them; damaged ones; where chains lead to."""

import random
import subprocess
import time
from dataclasses import replace
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization

from netdiag.io.files import keystores
from netdiag.io.files.keystores import anchored, open_store
from netdiag.kafka.client_properties import Store, StoreType
from netdiag.kafka.security import StoreFault, TrustAnchor
from tests.io.network.authorities import authority, issue
from tests.kafka.test_security import keytool
from tests.tools import tool

ROOT = authority("Root")
NAMESAKE = authority("Root")
SUB = authority("Sub", by=ROOT)
OWN = issue("kafka", by=SUB, names=["kafka"])
ALONE = issue("kafka", names=["kafka"])
SECRET = "store-secret"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """own.p12 by OpenSSL, own.jks and trust.* by Java; own.pem, locked.pem, old.pem, crossed.pem."""
    here = tmp_path_factory.mktemp("stores")
    (here / "ca.pem").write_bytes(ROOT.pem)
    (here / "own.pem").write_bytes(OWN.key_pem() + OWN.pem + SUB.pem)
    (here / "locked.pem").write_bytes(OWN.key_pem(SECRET.encode()) + OWN.pem)
    (here / "crossed.pem").write_bytes(ALONE.key_pem() + OWN.pem)
    traditional = serialization.PrivateFormat.TraditionalOpenSSL
    old = OWN.key.private_bytes(serialization.Encoding.PEM, traditional, serialization.NoEncryption())
    (here / "old.pem").write_bytes(old + OWN.pem)
    words = [tool("openssl"), "pkcs12", "-export", "-in", str(here / "own.pem"), "-out", str(here / "own.p12")]
    subprocess.run([*words, "-passout", f"pass:{SECRET}"], check=True, capture_output=True, timeout=60)
    source = ["-srckeystore", str(here / "own.p12"), "-srcstoretype", "PKCS12", "-srcstorepass", SECRET]
    target = ["-destkeystore", str(here / "own.jks"), "-deststoretype", "JKS", "-deststorepass", SECRET]
    keytool("-importkeystore", "-noprompt", *source, *target)
    for kind in ("jks", "p12"):
        store = ["-keystore", str(here / f"trust.{kind}"), "-storepass", SECRET]
        store += ["-storetype", {"jks": "JKS", "p12": "PKCS12"}[kind]]
        keytool("-importcert", "-noprompt", "-alias", "ca", "-file", str(here / "ca.pem"), *store)
    return here


def store(kind: str = "PEM", password: str | None = None, key_password: str | None = None) -> Store:
    return Store(type=StoreType(kind), location="/s", password=password, key_password=key_password)


@pytest.mark.parametrize(
    ("name", "declared"),
    [
        ("own.pem", store()),
        ("locked.pem", store(key_password=SECRET)),
        ("own.p12", store("PKCS12", SECRET)),
        # Java takes either for the other.
        ("own.p12", store("JKS", SECRET)),
        ("own.jks", store("JKS", SECRET)),
        ("own.jks", store("PKCS12", SECRET)),
    ],
)
def test_a_key_store(folder: Path, name: str, declared: Store) -> None:
    opened = open_store(declared, (folder / name).read_bytes(), has_key=True)
    assert opened.fault is None
    assert opened.chain[0].names == ("kafka",)
    assert opened.chain_ders == ((OWN.der,) if name == "locked.pem" else (OWN.der, SUB.der))
    assert opened.key_belongs is True
    assert "PRIVATE" not in repr(opened)


@pytest.mark.parametrize(("name", "kind"), [("trust.jks", "JKS"), ("trust.p12", "PKCS12"), ("ca.pem", "PEM")])
def test_a_trust_store(folder: Path, name: str, kind: str) -> None:
    opened = open_store(store(kind, SECRET), (folder / name).read_bytes(), has_key=False)
    assert opened.trusted_ders == (ROOT.der,)


@pytest.mark.parametrize(
    ("name", "declared", "fault"),
    [
        ("own.p12", store("PKCS12", "wrong"), StoreFault.PASSWORD),
        ("own.jks", store("JKS", "wrong"), StoreFault.PASSWORD),
        ("own.jks", store("JKS", SECRET, "wrong"), StoreFault.KEY_PASSWORD),
        ("locked.pem", store(key_password="wrong"), StoreFault.KEY_PASSWORD),
        ("locked.pem", store(), StoreFault.KEY_PASSWORD),
        ("old.pem", store(), StoreFault.TRADITIONAL_KEY),
        ("own.pem", store("JKS", SECRET), StoreFault.FORMAT),
        ("own.p12", store(), StoreFault.FORMAT),
        ("trust.jks", store("JKS", SECRET), StoreFault.NO_KEY),
        ("trust.p12", store("PKCS12", SECRET), StoreFault.NO_KEY),
        ("ca.pem", store(), StoreFault.NO_KEY),
    ],
)
def test_a_store_that_kafka_cannot_use(folder: Path, name: str, declared: Store, fault: StoreFault) -> None:
    assert open_store(declared, (folder / name).read_bytes(), has_key=True).fault is fault


def test_a_key_of_another_certificate(folder: Path) -> None:
    assert open_store(store(), (folder / "crossed.pem").read_bytes(), has_key=True).key_belongs is False


@pytest.mark.parametrize("name", ["own.pem", "own.p12", "own.jks", "trust.jks", "locked.pem"])
def test_half_a_store_and_a_damaged_one_are_faults_or_stores(folder: Path, name: str) -> None:
    data, chance = (folder / name).read_bytes(), random.Random(name)
    kind = {"pem": "PEM", "jks": "JKS", "p12": "PKCS12"}[name[-3:]]
    declared = store(kind, SECRET if kind != "PEM" else None, SECRET)
    start = time.process_time()
    for cut in range(0, len(data), max(1, len(data) // 60)):
        opened = open_store(declared, data[:cut], has_key=True)
        # In PEM, what comes before the end may be whole.
        assert opened.fault is not None or kind == "PEM"
    for _ in range(150):
        damaged = bytearray(data)
        for _ in range(chance.randrange(1, 5)):
            damaged[chance.randrange(len(data))] = chance.randrange(256)
        open_store(declared, bytes(damaged), has_key=chance.random() < 0.5)
    assert time.process_time() - start < 20


@pytest.mark.parametrize(
    ("chain", "trusted", "anchor"),
    [
        ([OWN.der, SUB.der], [ROOT.der], TrustAnchor.TRUSTED),
        ([OWN.der], [ROOT.der], TrustAnchor.MISSING_ISSUER),
        ([OWN.der], [SUB.der], TrustAnchor.TRUSTED),
        ([OWN.der, SUB.der, ROOT.der], [ALONE.der], TrustAnchor.UNKNOWN_ROOT),
        ([OWN.der, SUB.der], [NAMESAKE.der], TrustAnchor.MISSING_ISSUER),
        ([ALONE.der], [ROOT.der], TrustAnchor.SELF_SIGNED),
        ([ALONE.der], [ALONE.der], TrustAnchor.PINNED),
    ],
)
def test_where_a_chain_leads_to(chain: list[bytes], trusted: list[bytes], anchor: TrustAnchor) -> None:
    assert anchored(chain, trusted) is anchor


def test_without_the_library_names_alone_decide(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keystores, "can_verify", False)
    assert anchored([OWN.der, SUB.der], [NAMESAKE.der]) is TrustAnchor.TRUSTED
    assert anchored([OWN.der, SUB.der], [ALONE.der]) is TrustAnchor.MISSING_ISSUER
    assert open_store(store("PKCS12", SECRET), (folder / "own.p12").read_bytes(), has_key=True).is_closed
    locked = open_store(store(key_password=SECRET), (folder / "locked.pem").read_bytes(), has_key=True)
    assert (locked.chain_ders, locked.key_belongs) == ((OWN.der,), None)
    assert open_store(replace(store(), type=StoreType.PEM), (folder / "own.pem").read_bytes(), has_key=True).key_belongs
