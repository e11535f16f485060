"""client.properties files, as the Java tools read them."""

import time
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from netdiag.errors import InputError
from netdiag.kafka.client_properties import (
    ClientProperties,
    Store,
    StoreType,
    parse_client_properties,
    parse_jaas,
    parse_jaas_file,
)

SECRET = 's3cr3t;="x'
LOGIN = r"""
security.protocol=SASL_SSL
sasl.mechanism=SCRAM-SHA-512
sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required \
  username="alice" \
  password="s3cr3t;=\\"x";
ssl.truststore.location=/etc/kafka/trust.jks
ssl.truststore.password=trust-pass
"""


def test_nothing_said_is_a_plaintext_client() -> None:
    client = parse_client_properties("bootstrap.servers=kafka:9092\nclient.id=x\n")
    assert client == ClientProperties(security_protocol="PLAINTEXT")
    assert not client.uses_tls
    assert not client.uses_sasl


def test_a_login_over_tls() -> None:
    client = parse_client_properties(LOGIN)
    assert (client.uses_tls, client.uses_sasl, client.checks_names) == (True, True, True)
    assert (client.mechanism, client.username, client.password) == ("SCRAM-SHA-512", "alice", SECRET)
    assert client.truststore == Store(type=StoreType.JKS, location="/etc/kafka/trust.jks", password="trust-pass")
    assert client.versions == ("TLSv1.2", "TLSv1.3")


def test_no_secret_is_in_a_repr() -> None:
    text = LOGIN + "ssl.keystore.location=k\nssl.keystore.password=store-pass\nssl.key.password=key-pass\n"
    shown = repr(parse_client_properties(text))
    assert "alice" in shown
    assert not any(secret in shown for secret in ("s3cr3t", "trust-pass", "store-pass", "key-pass"))


def test_pem_in_the_settings() -> None:
    text = (
        "security.protocol=ssl\nssl.keystore.type=PEM\nssl.keystore.key=KEY\nssl.keystore.certificate.chain=CHAIN\n"
        "ssl.key.password=p\nssl.truststore.type=PEM\nssl.truststore.certificates=CAS\n"
        "ssl.endpoint.identification.algorithm=\nssl.enabled.protocols=TLSv1.3\n"
    )
    client = parse_client_properties(text)
    assert client.keystore == Store(type=StoreType.PEM, key="KEY", certificates="CHAIN", key_password="p")
    assert client.truststore == Store(type=StoreType.PEM, certificates="CAS")
    assert not client.checks_names
    assert client.versions == ("TLSv1.3",)


def test_what_does_not_concern_the_protocol_is_left_alone() -> None:
    client = parse_client_properties("security.protocol=SASL_PLAINTEXT\nssl.truststore.type=XYZ\n" + _plain())
    assert client.truststore is None
    assert client.mechanism == "PLAIN"


def test_a_mechanism_without_user_and_password() -> None:
    text = "security.protocol=SASL_PLAINTEXT\nsasl.jaas.config=com.sun.Krb5LoginModule required useTicketCache=true;"
    client = parse_client_properties(text)
    assert (client.mechanism, client.username) == ("GSSAPI", "")


def _plain(options: str = 'username="u" password="p"') -> str:
    return f"sasl.mechanism=PLAIN\nsasl.jaas.config=x.PlainLoginModule required {options};\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("security.protocol=TLS", "security.protocol must be one of"),
        ("security.protocol=SSL\nssl.truststore.type=BKS\nssl.truststore.location=x", "ssl.truststore.type"),
        ("security.protocol=SSL\nssl.keystore.location=x", "needs ssl.keystore.password"),
        ("security.protocol=SSL\nssl.keystore.type=PEM\nssl.keystore.key=x", "need each other"),
        ("security.protocol=SSL\nssl.keystore.key=x", "needs ssl.keystore.type=PEM"),
        ("security.protocol=SSL\nssl.truststore.certificates=x", "needs ssl.truststore.type=PEM"),
        ("security.protocol=SSL\nssl.truststore.type=PEM\nssl.truststore.location=x\nssl.truststore.password=y", "PEM"),
        ("security.protocol=SSL\nssl.keystore.type=PEM\nssl.keystore.location=x\nssl.keystore.password=y", "PEM"),
        ("security.protocol=SSL\nssl.enabled.protocols=SSLv3", "SSLv3"),
        ("security.protocol=SSL\nssl.endpoint.identification.algorithm=ldaps", "endpoint.identification"),
        ("security.protocol=SASL_SSL\nsasl.mechanism=PLAIN", "needs sasl.jaas.config"),
        ("security.protocol=SASL_SSL\nsasl.mechanism=plain x", "sasl.mechanism"),
        ("security.protocol=SASL_SSL\n" + _plain('username="u"'), "has no password"),
        ("security.protocol=SASL_SSL\n" + _plain('username="u" password="p'), "quote"),
        ("security.protocol=SASL_SSL\n" + _plain('username password="p"'), "sasl.jaas.config is not"),
        ("security.protocol=SASL_SSL\nsasl.jaas.config=${file:/secrets:jaas}", "config provider"),
    ],
)
def test_what_cannot_be_meant(text: str, said: str) -> None:
    with pytest.raises(InputError, match=said) as raised:
        parse_client_properties(text, where="client.properties")
    assert raised.value.where == "client.properties"
    assert '"p' not in str(raised.value)


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("a.B required;", {}),
        ('a.B REQUIRED u="x";', {"u": "x"}),
        ("a.B required u='x y' v=plain;", {"u": "x y", "v": "plain"}),
        (r'a.B required u="a\"b\\c";', {"u": 'a"b\\c'}),
        ('a.B required u="x;y" v=";";', {"u": "x;y", "v": ";"}),
        ('a.B required u="x" \n v = "y" ;', {"u": "x", "v": "y"}),
        ('a.B required u="";', {"u": ""}),
    ],
)
def test_jaas(text: str, options: dict[str, str]) -> None:
    assert parse_jaas(text) == options


@pytest.mark.parametrize("text", ["", ";", "a.B required", "a.B maybe x=y;", "a.B required x=y; c.D required;", 'a "b'])
def test_broken_jaas(text: str) -> None:
    with pytest.raises(InputError):
        parse_jaas(text)


JAAS_FILE = """
// one { comment
KafkaServer {
  org.x.PlainLoginModule required username=admin password="a;b }" user_admin='c' /* { */ user_x="d\\"e";
  org.x.ScramLoginModule optional;
};
internal.KafkaServer { org.x.PlainLoginModule REQUIRED; };
KafkaServer { org.x.Other required; };
"""


def test_a_jaas_file() -> None:
    found = parse_jaas_file(JAAS_FILE)
    assert list(found) == ["KafkaServer", "internal.KafkaServer"]
    plain, scram = found["KafkaServer"]
    assert (plain.name, scram.name) == ("org.x.PlainLoginModule", "org.x.ScramLoginModule")
    assert (plain.options["username"], plain.options["password"]) == ("admin", "a;b }")
    assert plain.users == {"admin": "c", "x": 'd"e'}
    assert "a;b" not in repr(found)
    assert parse_jaas_file("") == {}


@pytest.mark.parametrize(
    "text", ["{", "A", "A {", "A { x }", "A { x required; }", "A { x required a; };", '"', "A } ;"]
)
def test_what_is_no_jaas_file(text: str) -> None:
    with pytest.raises(InputError, match="no JAAS configuration"):
        parse_jaas_file(text)


@pytest.mark.parametrize("piece", ["/*", '"', "A {", "A { x required a=", ";", "'\\", "{ } ;"])
def test_a_long_jaas_file_takes_no_time(piece: str) -> None:
    start = time.process_time()
    with pytest.raises(InputError):
        parse_jaas_file("A { " + piece * (64 * 1024 // len(piece)))
    assert time.process_time() - start < 3


def test_a_long_login_takes_no_time() -> None:
    start = time.process_time()
    with pytest.raises(InputError):
        parse_jaas("x required " + "a=b " * 100_000)
    assert time.process_time() - start < 3


@given(st.text(alphabet="aA {}=;\"'/*\\\n", max_size=60))
def test_any_jaas_file_is_read_or_refused(text: str) -> None:
    with suppress(InputError):
        parse_jaas_file(text)
