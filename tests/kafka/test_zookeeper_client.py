"""How a client of ZooKeeper connects and logs in, from files of brokers."""

import pytest

from netdiag.errors import InputError
from netdiag.kafka.client_properties import StoreType
from netdiag.kafka.zookeeper_client import parse_zookeeper_login, parse_zookeeper_tls

TLS = """\
zookeeper.connect=zookeeper:2182
zookeeper.ssl.client.enable=true
zookeeper.clientCnxnSocket=org.apache.zookeeper.ClientCnxnSocketNetty
zookeeper.ssl.truststore.location=/etc/trust.jks
zookeeper.ssl.truststore.password=hunter2
ssl.truststore.location=/etc/for-clients-of-kafka.jks
"""
JAAS = """\
Server { org.apache.zookeeper.server.auth.DigestLoginModule required user_admin="a"; };
Client {
    org.apache.zookeeper.server.auth.DigestLoginModule required
    username="broker"
    password="hunter2";
};
"""


def test_a_brokers_own_file() -> None:
    client = parse_zookeeper_tls(TLS, where="f")
    assert client.security_protocol == "SSL"
    assert client.truststore is not None
    assert (client.truststore.location, client.truststore.password) == ("/etc/trust.jks", "hunter2")
    assert client.keystore is None
    assert client.checks_names
    assert client.versions == ("TLSv1.2", "TLSv1.3")
    assert "hunter2" not in repr(client)


def test_a_certificate_of_its_own_in_a_pem_file_and_one_version() -> None:
    text = TLS + (
        "zookeeper.ssl.keystore.location=/etc/key.pem\nzookeeper.ssl.keystore.password=open\n"
        "zookeeper.ssl.protocol=TLSv1.3\nzookeeper.ssl.endpoint.identification.algorithm=\n"
    )
    client = parse_zookeeper_tls(text, where="f")
    assert client.keystore is not None
    assert (client.keystore.type, client.keystore.password, client.keystore.key_password) == (
        StoreType.PEM,
        None,
        "open",
    )
    assert client.versions == ("TLSv1.3",)
    assert not client.checks_names


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "does not set zookeeper.ssl.client.enable=true"),
        ("zookeeper.ssl.client.enable=true", "does not set zookeeper.clientCnxnSocket=org.apache.zookeeper"),
        (TLS + "zookeeper.ssl.enabled.protocols=SSLv3", "zookeeper.ssl.enabled.protocols has 'SSLv3'"),
        (TLS + "zookeeper.ssl.truststore.type=BCFKS", "zookeeper.ssl.truststore.type must be one of"),
        (TLS + "zookeeper.ssl.truststore.password=${file:/a:b}", "takes its value from a config provider"),
    ],
)
def test_what_describes_no_client_with_tls(text: str, why: str) -> None:
    with pytest.raises(InputError, match=why) as caught:
        parse_zookeeper_tls(text, where="f")
    assert caught.value.where == "f"
    assert "hunter2" not in str(caught.value)


def test_the_login_of_a_broker() -> None:
    user = parse_zookeeper_login(JAAS, where="f")
    assert (user.username, user.password) == ("broker", "hunter2")
    assert "hunter2" not in repr(user)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "has no section Client"),
        (JAAS.replace("Client", "KafkaClient"), "has no section Client"),
        ("Client {", "no JAAS configuration"),
        (
            JAAS.replace("org.apache.zookeeper.server.auth.Digest", "com.sun.security.auth.module.Krb5"),
            "Krb5LoginModule",
        ),
        (JAAS.replace("username", "user"), "has no username and password"),
    ],
)
def test_what_is_no_login(text: str, why: str) -> None:
    with pytest.raises(InputError, match=why) as caught:
        parse_zookeeper_login(text, where="f")
    assert "hunter2" not in str(caught.value)
