"""What a command gives to Kafka's tools, each address with its place in its word."""

import pytest

from netdiag.deployment.sources.client_settings import bootstraps_in_command

Row = tuple[str, str, str, bool]


def rows(words: list[str], image: str = "") -> list[Row]:
    return [
        (given.option, words[given.word][a.start : a.end], given.tool, given.waits)
        for given in bootstraps_in_command(words, image=image)
        for a in given.addresses
    ]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["kafka-topics --list --bootstrap-server a:1"], [("--bootstrap-server", "a:1", "kafka-topics", False)]),
        (
            ["kafka-topics.sh", "--bootstrap-server", "a:1,b:2", "--list"],
            [
                ("--bootstrap-server", "a:1", "kafka-topics", False),
                ("--bootstrap-server", "b:2", "kafka-topics", False),
            ],
        ),
        (["kafka-topics --bootstrap-server=a:1"], [("--bootstrap-server", "a:1", "kafka-topics", False)]),
        (["sh", "-c", 'x --bootstrap-server "a:1" y'], [("--bootstrap-server", "a:1", "", False)]),
        (["kafka-topics --bootstrap-server \\\n  a:1"], [("--bootstrap-server", "a:1", "kafka-topics", False)]),
        (["kafka-console-producer --broker-list a:1"], [("--broker-list", "a:1", "kafka-console-producer", False)]),
        (["rpk topic list --brokers a:1"], [("--brokers", "a:1", "rpk", False)]),
        (["rpk topic list -X brokers=a:1"], [("brokers", "a:1", "rpk", False)]),
        (
            ["--kafka.server=a:1", "--kafka.server=b:2"],
            [("--kafka.server", "a:1", "", False), ("--kafka.server", "b:2", "", False)],
        ),
        (["java -Dspring.kafka.bootstrap-servers=a:1"], [("-Dspring.kafka.bootstrap-servers", "a:1", "", False)]),
        (["app", "--spring.kafka.bootstrap-servers=a:1"], [("--spring.kafka.bootstrap-servers", "a:1", "", False)]),
        (["ksql-datagen bootstrap-server=a:1 x=y"], [("bootstrap-server", "a:1", "ksql-datagen", False)]),
        (["kcat -b a:1 -L"], [("-b", "a:1", "kcat", False)]),
        (["kafkacat", "-L", "-b", "a:1"], [("-b", "a:1", "kafkacat", False)]),
        (["cub kafka-ready -b a:1 1 60 && x"], [("-b", "a:1", "kafka-ready", False)]),
        (["nc -z a 1"], [("wait", "a 1", "", True)]),
        (["nc", "-z", "-w", "2", "a", "1"], [("wait", "a\x001", "", True)]),
        (["until </dev/tcp/a/1; do sleep 1; done"], [("wait", "a/1", "", True)]),
        (["./wait-for-it.sh a:1 -- app"], [("wait", "a:1", "", True)]),
        (["dockerize -wait tcp://a:1 -timeout 5s app"], [("wait", "tcp://a:1", "", True)]),
        (["kafka-topics --bootstrap-controller a:1"], []),
        (["kafka-topics --bootstrap-server $$KAFKA"], []),
        (["# kafka-topics --bootstrap-server a:1\nx"], []),
        (["ls -b a:1"], []),
        (["kcat -L ; ls -b a:1"], []),
        (['curl -d \'{"kafka.bootstrap.servers": "a:1"}\' http://connect:8083/'], []),
        (["redpanda start --kafka-addr PLAINTEXT://0.0.0.0:29092 --rpc-addr a:33145"], []),
        ([], []),
    ],
)
def test_what_a_command_gives(words: list[str], expected: list[Row]) -> None:
    if len(words) > 3 and expected and "\0" in expected[0][1]:
        (given,) = bootstraps_in_command(words)
        assert [(given.word, a.host, a.port) for a in given.addresses] == [(4, "a", 1)]
    else:
        assert rows(words) == expected


def test_the_image_is_the_tool() -> None:
    assert rows(["-b", "a:1", "-L"], "edenhill/kcat:1.7.1") == [("-b", "a:1", "", False)]
    assert rows(["-b a:1 -L"], "edenhill/kcat:1.7.1") == [("-b", "a:1", "", False)]
    assert rows(["-b", "a:1", "-L"], "example/app") == []


def test_an_address_counts_once_in_a_script() -> None:
    script = "kafka-topics --bootstrap-server a:1 --create\nkafka-topics --bootstrap-server a:1 --list\nnc -z a 1"
    assert [(address, waits) for _, address, _, waits in rows([script])] == [("a:1", False), ("a 1", True)]


def test_what_else_a_command_says() -> None:
    (plain,) = bootstraps_in_command(["kafka-topics --list --bootstrap-server a:1"])
    (filed,) = bootstraps_in_command(["kafka-topics --bootstrap-server a:1 --command-config /tmp/c --list; x"])
    (said,) = bootstraps_in_command(["kcat -b a:1 -X security.protocol=sasl_ssl -L"])
    assert [(g.protocol, g.configured) for g in (plain, filed, said)] == [
        (None, False),
        (None, True),
        ("SASL_SSL", False),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "-" * 200_000,
        "--bootstrap-server " * 20_000,
        "kcat " * 30_000,
        "nc -z " * 30_000,
        "--" + "a" * 200_000,
        "\0" * 100_000,
    ],
)
def test_a_long_command_is_read_in_linear_time(text: str) -> None:
    assert bootstraps_in_command([text]) == ()
