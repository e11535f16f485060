"""Secrets stay where they are; what only resembles one stays readable."""

import time

import pytest

from netdiag.render.redact import redacted, secret_spans


def shown(line: str, *above: str) -> str:
    lines = [*above, line]
    for start, end in reversed(secret_spans(lines, len(above))):
        line = line[:start] + "*" + line[end:]
    return line


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("  KAFKA_SSL_KEY_PASSWORD: hunter2", "  KAFKA_SSL_KEY_PASSWORD: *"),
        ("  - KAFKA_SSL_KEYSTORE_PASSWORD=hunter2", "  - KAFKA_SSL_KEYSTORE_PASSWORD=*"),
        ('  "SASL_JAAS_CONFIG": "x required password=\\"p\\";"', '  "SASL_JAAS_CONFIG": *'),
        ("  KAFKA_LISTENER_NAME_X_PLAIN_SASL_JAAS_CONFIG: a", "  KAFKA_LISTENER_NAME_X_PLAIN_SASL_JAAS_CONFIG: *"),
        ("  environment: {AUTH_TOKEN: t0k3n, A: b}", "  environment: {AUTH_TOKEN: *"),
        ("  AWS_SECRET_ACCESS_KEY: x", "  AWS_SECRET_ACCESS_KEY: *"),
        ("  KAFKA_CLIENT_USERS: alice", "  KAFKA_CLIENT_USERS: *"),
        ('  command: kcat -X sasl.password="p w" -L', "  command: kcat -X sasl.password=*"),
        ("  URL: http://user:secret@host:80/", "  URL: http://user:*@host:80/"),
        ("  KAFKA_LISTENERS: PLAINTEXT://:9092", "  KAFKA_LISTENERS: PLAINTEXT://:9092"),
        ("  KAFKA_ADVERTISED_LISTENERS: A://a:1,B://b:2", "  KAFKA_ADVERTISED_LISTENERS: A://a:1,B://b:2"),
        ("  image: tokenizer:1", "  image: tokenizer:1"),
        ("  KAFKA_SSL_KEY_PASSWORD:", "  KAFKA_SSL_KEY_PASSWORD:"),
    ],
)
def test_values_of_secret_variables_are_hidden(line: str, expected: str) -> None:
    assert shown(line) == expected


@pytest.mark.parametrize(
    ("above", "line"),
    [
        (("    KAFKA_JAAS: |",), "      Server {"),
        (("    KAFKA_JAAS: >-", "      one", ""), "      two"),
        (("    KAFKA_SSL_PASSWORD:",), "      hunter2"),
        (("    jaas_file: |", "      KafkaServer {"), "        deep;"),
    ],
)
def test_lines_of_a_secret_block_are_hidden(above: tuple[str, ...], line: str) -> None:
    assert shown(line, *above).strip() == "*"


def test_a_service_with_a_telling_name_is_still_shown() -> None:
    assert shown("    image: apache/kafka", "services:", "  token-broker:") == "    image: apache/kafka"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            'cannot parse x required username="a" password="b c";',
            'cannot parse x required username="a" password=[hidden];',
        ),
        ("sasl.password = abc is short", "sasl.password = [hidden] is short"),
        ("http://u:p@h refused", "http://u:[hidden]@h refused"),
        ("INTERNAL of broker-1", "INTERNAL of broker-1"),
    ],
)
def test_messages_hide_passwords(text: str, expected: str) -> None:
    assert redacted(text) == expected


@pytest.mark.parametrize(
    "text", ["token" * 100_000, "-" * 200_000 + "password=", "password" + "." * 200_000, "://:" * 50_000]
)
def test_hostile_lines_cost_little(text: str) -> None:
    started = time.process_time()
    redacted(text)
    secret_spans([text], 0)
    assert time.process_time() - started < 2
