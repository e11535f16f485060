"""What a client brings: key and trust stores of every type, and what is said of those that cannot be opened."""

import ssl
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.serialization import pkcs12

from netdiag.errors import InputError
from netdiag.io.network.client_identity import Client, context_of, read_client
from netdiag.kafka.client_properties import ClientProperties
from tests.io.network.authorities import authority, issue
from tests.kafka.test_security import keytool

ROOT = authority()
OWN = issue("client", by=ROOT)
SECRET = "store-secret"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """trust.jks, trust.p12, trust.pem, own.p12, own.jks, own.pem, locked.pem."""
    here = tmp_path_factory.mktemp("client")
    (here / "trust.pem").write_bytes(ROOT.pem)
    (here / "own.pem").write_bytes(OWN.key_pem() + OWN.pem + ROOT.pem)
    (here / "locked.pem").write_bytes(OWN.key_pem(SECRET.encode()) + OWN.pem)
    locked = serialization.BestAvailableEncryption(SECRET.encode())
    bundle = pkcs12.serialize_key_and_certificates(b"client", OWN.key, OWN.certificate, [ROOT.certificate], locked)
    (here / "own.p12").write_bytes(bundle)
    for kind in ("jks", "p12"):
        store = ["-keystore", str(here / f"trust.{kind}"), "-storepass", SECRET]
        store += ["-storetype", {"jks": "JKS", "p12": "PKCS12"}[kind]]
        keytool("-importcert", "-noprompt", "-alias", "ca", "-file", str(here / "trust.pem"), *store)
    source = ["-srckeystore", str(here / "own.p12"), "-srcstoretype", "PKCS12", "-srcstorepass", SECRET]
    target = ["-destkeystore", str(here / "own.jks"), "-deststoretype", "JKS", "-deststorepass", SECRET]
    keytool("-importkeystore", "-noprompt", *source, *target)
    return here


def client(folder: Path, *lines: str) -> Client:
    path = folder / "client.properties"
    path.write_text("\n".join(["security.protocol=SSL", *lines]), encoding="utf-8")
    return read_client(str(path))


@pytest.mark.parametrize(("name", "kind"), [("trust.jks", "JKS"), ("trust.p12", "PKCS12"), ("trust.p12", "JKS")])
@pytest.mark.parametrize("password", [True, False])
def test_truststores_of_java(folder: Path, name: str, kind: str, password: bool) -> None:
    lines = [f"ssl.truststore.location={folder / name}", f"ssl.truststore.type={kind}"]
    if password:
        lines.append(f"ssl.truststore.password={SECRET}")
    elif name.endswith("p12"):
        with pytest.raises(InputError, match="cannot be opened"):
            client(folder, *lines)
        return
    assert client(folder, *lines).authorities == (ROOT.der,)


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        ("own.p12", ("ssl.keystore.type=PKCS12", f"ssl.keystore.password={SECRET}")),
        ("own.jks", ("ssl.keystore.type=JKS", f"ssl.keystore.password={SECRET}")),
        ("own.pem", ("ssl.keystore.type=PEM",)),
        ("locked.pem", ("ssl.keystore.type=PEM", f"ssl.key.password={SECRET}")),
    ],
)
def test_keystores(folder: Path, name: str, lines: tuple[str, ...]) -> None:
    found = client(folder, f"ssl.keystore.location={folder / name}", *lines)
    assert found.chain[0] == OWN.der
    assert found.key == OWN.key_pem()
    assert "PRIVATE" not in repr(found)
    assert SECRET not in repr(found)
    context_of(found, verify=True)


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (("ssl.truststore.location=/nowhere/x.jks",), "ssl.truststore.location"),
        (("ssl.truststore.location={0}/trust.jks", "ssl.truststore.password=wrong-1"), "password is wrong"),
        (("ssl.truststore.location={0}/trust.p12", "ssl.truststore.password=wrong-1"), "password is wrong"),
        (("ssl.truststore.location={0}/own.pem",), "cannot be opened"),
        (("ssl.truststore.type=PEM", "ssl.truststore.location={0}/own.p12"), "not PEM"),
        (("ssl.keystore.location={0}/own.jks", "ssl.keystore.password=wrong-1"), "password is wrong"),
        (("ssl.keystore.location={0}/own.p12", "ssl.keystore.password=wrong-1"), "password is wrong"),
        (("ssl.keystore.location={0}/trust.jks", f"ssl.keystore.password={SECRET}"), "no key"),
        (
            ("ssl.keystore.type=PEM", "ssl.keystore.location={0}/locked.pem", "ssl.key.password=wrong-1"),
            "password is wrong",
        ),
    ],
)
def test_what_cannot_be_opened(folder: Path, lines: tuple[str, ...], said: str) -> None:
    with pytest.raises(InputError, match=said) as raised:
        client(folder, *(line.format(folder) for line in lines))
    assert "wrong-1" not in str(raised.value)
    assert SECRET not in str(raised.value)


def test_without_a_truststore_the_system_is_trusted(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(folder / "trust.pem"))
    assert client(folder).authorities == (ROOT.der,)


def test_contexts() -> None:
    nobody = context_of(None, verify=False)
    assert nobody.verify_mode is ssl.CERT_NONE
    some = context_of(Client(properties=ClientProperties(security_protocol="SSL")), verify=True)
    assert some.verify_mode is ssl.CERT_REQUIRED
    assert some.minimum_version is ssl.TLSVersion.TLSv1_2
    only = Client(properties=ClientProperties(security_protocol="SSL", versions=("TLSv1.2",)))
    assert context_of(only, verify=True).maximum_version is ssl.TLSVersion.TLSv1_2
