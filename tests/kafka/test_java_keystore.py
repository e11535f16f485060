"""Keystores of type JKS, as keytool writes them, and damaged ones."""

import hashlib
import subprocess
from pathlib import Path

import pytest

from netdiag.kafka.java_keystore import Keystore, KeystoreError, parse_jks
from tests.tools import tool

STORE, KEY = "store-pass", "key-pass-ž"


def keytool(*words: str) -> None:
    subprocess.run([tool("keytool"), *words], check=True, capture_output=True, timeout=120)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """key.jks, its certificate own.der, and trust.jks, which trusts that; made anew each time."""
    here = tmp_path_factory.mktemp("keystores")
    common = ("-alias", "kafka", "-keystore", str(here / "key.jks"), "-storepass", STORE)
    keytool("-genkeypair", *common, "-storetype", "JKS", "-keypass", KEY, "-keyalg", "EC", "-dname", "CN=kafka")
    keytool("-exportcert", *common, "-file", str(here / "own.der"))
    trust = ("-keystore", str(here / "trust.jks"), "-storetype", "JKS", "-storepass", STORE)
    keytool("-importcert", "-noprompt", "-alias", "ca", "-file", str(here / "own.der"), *trust)
    return here


def test_a_truststore_with_and_without_its_password(folder: Path) -> None:
    data, own = (folder / "trust.jks").read_bytes(), (folder / "own.der").read_bytes()
    assert parse_jks(data, STORE) == parse_jks(data, None) == Keystore(trusted=(own,))


def test_a_key_with_a_password_of_its_own(folder: Path) -> None:
    data, own = (folder / "key.jks").read_bytes(), (folder / "own.der").read_bytes()
    (entry,) = parse_jks(data, STORE, KEY).keys
    assert (entry.alias, entry.chain) == ("kafka", (own,))
    # PKCS#8: SEQUENCE, version 0, the algorithm id-ecPublicKey
    assert entry.key[:1] == b"\x30"
    assert bytes.fromhex("06072a8648ce3d0201") in entry.key[:40]
    assert str(entry.key) not in repr(entry)
    assert parse_jks(data, None).keys == ()


@pytest.mark.parametrize(
    ("store", "key", "said"),
    [("another", KEY, "password is wrong"), (STORE, "another", "password of its key"), (STORE, None, "of its key")],
)
def test_wrong_passwords(folder: Path, store: str, key: str | None, said: str) -> None:
    with pytest.raises(KeystoreError, match=said) as raised:
        parse_jks((folder / "key.jks").read_bytes(), store, key)
    assert STORE not in str(raised.value)


def test_damage_is_never_anything_but_an_error(folder: Path) -> None:
    for name in ("key.jks", "trust.jks"):
        data = (folder / name).read_bytes()
        for cut in range(0, len(data) - 20, 7):
            with pytest.raises(KeystoreError):
                parse_jks(data[:cut], STORE, KEY)
        body = data[:-20]
        for at in range(0, len(body), 3):
            damaged = body[:at] + bytes([body[at] ^ 0xFF]) + body[at + 1 :]
            digest = hashlib.sha1(STORE.encode("utf-16-be") + b"Mighty Aphrodite" + damaged).digest()
            try:
                parse_jks(damaged + digest, STORE, KEY)
            except KeystoreError:
                continue
