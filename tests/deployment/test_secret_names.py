"""What is hidden of variables and texts."""

import pytest

from netdiag.deployment.observation.secrets import HIDDEN, is_secret, masked, masked_text


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("KAFKA_SSL_KEYSTORE_PASSWORD", "hunter2"),
        ("DB_PASS", "hunter2"),
        ("AWS_SECRET_ACCESS_KEY", "hunter2"),
        ("KAFKA_LISTENER_NAME_X_PLAIN_SASL_JAAS_CONFIG", 'required user_a="hunter2" password="hunter2";'),
        ("GITHUB_TOKEN", "hunter2"),
        ("KAFKA_CLIENT_USERS", "hunter2"),
        ("CONFLUENT_LICENSE", "hunter2"),
        ("JAVA_OPTS", "-Djavax.net.ssl.keyStorePassword=hunter2 -Xmx1g"),
        ("URL", "postgres://me:hunter2@db/x"),
        ("CONFIG", '{"sasl.password": "hunter2", "a": 1}'),
        ("PROPS", 'x required user_alice="hunter2" ;'),
        ("CMD", "redis-server --requirepass hunter2"),
    ],
)
def test_secrets_are_hidden(name: str, value: str) -> None:
    assert is_secret(name, value)
    assert "hunter2" not in masked(name, value)
    assert HIDDEN in masked(name, value)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("KAFKA_ADVERTISED_LISTENERS", "SASL_SSL://kafka:9092"),
        ("KAFKA_SSL_KEYSTORE_FILENAME", "kafka.jks"),
        ("KAFKA_SSL_KEYSTORE_CREDENTIALS", "key_creds"),
        ("KAFKA_SSL_KEYSTORE_LOCATION", "/etc/kafka.jks"),
        ("KAFKA_LISTENER_SECURITY_PROTOCOL_MAP", "A:PLAINTEXT,B:SASL_SSL"),
        ("KAFKA_PASSWORD", ""),
    ],
)
def test_what_is_no_secret_stays(name: str, value: str) -> None:
    assert masked(name, value) == value


def test_a_text_that_is_too_long_is_cut() -> None:
    assert masked_text("a" * 30_000).endswith(HIDDEN)
