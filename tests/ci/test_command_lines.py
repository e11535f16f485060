"""`docker run` lines: the words that a shell makes, the containers they start, and what is found in them."""

import pytest

from netdiag.compose.positions import Source, literal
from netdiag.compose.problems import ComposeError
from netdiag.deployment.model.deployment import Deployment, NetworkMode
from netdiag.deployment.sources.ci.command_lines import command_lines
from netdiag.deployment.sources.ci.shell_words import commands
from netdiag.deployment.sources.compose import from_compose
from netdiag.findings import FileLocation, Severity
from netdiag.rules.declared import check_deployment

KRAFT = (
    "-e KAFKA_NODE_ID=1 -e KAFKA_PROCESS_ROLES=broker,controller -e KAFKA_CONTROLLER_QUORUM_VOTERS=1@localhost:9093 "
    "-e KAFKA_CONTROLLER_LISTENER_NAMES=CONTROLLER -e KAFKA_LISTENERS=PLAINTEXT://:9092,CONTROLLER://:9093 "
    "-e KAFKA_LISTENER_SECURITY_PROTOCOL_MAP=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT"
)


def run(advertised: str, options: str = "--name kafka -p 9092:9092") -> str:
    """A line that starts a broker."""
    return f"docker run -d {options} {KRAFT} \\\n  -e KAFKA_ADVERTISED_LISTENERS={advertised} apache/kafka:3.9.1\n"


def deployments(text: str, path: str = "run.sh", files: dict[str, bytes] | None = None) -> list[Deployment]:
    """The deployments with a broker."""
    read = (files or {}).get
    made = [from_compose(lines.project, read=read) for lines in command_lines(Source(path, text), read=read)]
    return [deployment for deployment in made if deployment.brokers]


def rules_in(text: str, path: str = "run.sh") -> list[str]:
    """The rules of what is found above a note."""
    found = [f for deployment in deployments(text, path) for f in check_deployment(deployment)]
    return [f.rule for f in found if f.severity is not Severity.NOTE]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a 'b c' \"d e\" f\\ g", [["a", "b c", "d e", "f g"]]),
        ("a \\\n  b # c\nd; e && f | g", [["a", "b"], ["d"], ["e"], ["f"], ["g"]]),
        ("a\"b\"'c'd", [["abcd"]]),
        ('a "x\\"y" \'x\\y\'', [["a", 'x"y', "x\\y"]]),
        ('"x\\y" "\\$x"', [["x\\y", "$x"]]),
        ("a \\\r\n b\r\n", [["a", "b"]]),
        ("'open", [["open"]]),
        ('"open', [["open"]]),
    ],
)
def test_words(text: str, words: list[list[str]]) -> None:
    assert [[word.value for word in command] for command in commands(literal(text))] == words


@pytest.mark.parametrize(
    ("word", "known"),
    [
        ("a", True),
        ("$A", False),
        ('"$A"', False),
        ("'$A'", True),
        ("$(date)", False),
        ("`date`", False),
        ("a*", False),
        ('"a*"', True),
    ],
)
def test_what_the_shell_would_expand_is_not_known(word: str, known: bool) -> None:
    ((only,),) = commands(literal(word))
    assert only.known is known


def test_a_word_knows_its_place() -> None:
    text = "docker run -e 'KAFKA_X=a b'"
    ((*_, word),) = commands(literal(text))
    span = word.text.span_of(8, 9)
    assert text[span.start : span.end] == "a"


def test_a_published_listener_with_the_name_of_its_container() -> None:
    text = run("PLAINTEXT://kafka:9092")
    (deployment,) = deployments(text)
    (finding,) = [f for f in check_deployment(deployment) if f.severity is not Severity.NOTE]
    assert finding.rule == "default-bridge-no-dns"
    assert isinstance(finding.location, FileLocation)
    assert finding.location.line == 2
    assert rules_in(run("PLAINTEXT://localhost:9092")) == []


@pytest.mark.parametrize(
    ("options", "mode", "network"),
    [
        ("--name kafka", NetworkMode.DEFAULT_BRIDGE, "(default bridge)"),
        ("--name kafka --network net", NetworkMode.NETWORKS, "net"),
        ("--name kafka --net=net", NetworkMode.NETWORKS, "net"),
        ("--name kafka --network host", NetworkMode.HOST, None),
        ("--name kafka --network container:other", NetworkMode.SHARED, None),
    ],
)
def test_networks(options: str, mode: NetworkMode, network: str | None) -> None:
    (deployment,) = deployments(run("PLAINTEXT://localhost:9092", options))
    member = deployment.brokers[0].member
    assert member.mode is mode
    assert [a.network for a in member.attachments] == ([network] if network else [])


def test_containers_of_a_script_belong_together() -> None:
    text = (
        "docker network create net\n"
        + run("PLAINTEXT://kafka:9092", "--name kafka --network net")
        + "docker run --rm --network net -e KAFKA_BROKERS=kafka:9095 example/app\n"
    )
    assert rules_in(text) == ["dependent-bootstrap-wrong-port"]
    assert rules_in(text.replace("kafka:9095", "kafka:9092")) == []
    linked = run("PLAINTEXT://kafka:9092", "--name kafka") + "docker run --link kafka -e KAFKA_BROKERS=kafka:9092 app\n"
    assert rules_in(linked) == []


def test_options_in_all_their_spellings() -> None:
    text = (
        "sudo docker --context x container run -itd --rm --publish=9092:9092 -p9093:9093 --env A=1 -eB=2 -e C \\\n"
        '  --name="k" --hostname h --network-alias a --network net --label x apache/kafka:3.9.1\n'
    )
    (deployment,) = deployments(text)
    member = deployment.brokers[0].member
    assert [(p.published, p.target) for p in member.published] == [(9092, 9092), (9093, 9093)]
    assert (member.name, member.container, member.variables) == ("k", "k", {"A": "1", "B": "2"})
    assert set(member.attachments[0].names) == {"k", "h", "a"}


def test_unknown_words() -> None:
    assert rules_in(run("PLAINTEXT://$HOST:9092")) == []
    assert deployments(run("PLAINTEXT://kafka:9092", "--name kafka -p $PORT:9092")) == []
    assert deployments("docker run -p 9092:9092 $IMAGE\n") == []
    (deployment,) = deployments("docker run -p 9092:9092 apache/kafka:$TAG\n")
    assert deployment.brokers[0].member.image == "apache/kafka:"


def test_an_env_file_beside_the_script() -> None:
    files = {"kafka.env": b"KAFKA_ADVERTISED_LISTENERS=PLAINTEXT://kafka:9092\nKAFKA_ZOOKEEPER_CONNECT=z:2181\n"}
    (deployment,) = deployments("docker run --env-file kafka.env confluentinc/cp-kafka:7.9.2\n", files=files)
    assert [e.endpoint.host for e in deployment.brokers[0].config.advertised_listeners] == ["kafka"]


MARKDOWN = """\
# Start

```sh
$ {one}```

Then:

```python
docker run apache/kafka
```

## Or with a network

~~~
{two}~~~
"""


def test_blocks_of_markdown() -> None:
    one, two = run("PLAINTEXT://localhost:9092"), run("PLAINTEXT://broker:9092", "--name broker --network net")
    found = deployments(MARKDOWN.format(one=one, two=two), "README.md")
    assert [[b.name for b in deployment.brokers] for deployment in found] == [["kafka"], ["broker"]]
    text = MARKDOWN.format(one=run("PLAINTEXT://other:9092", "--name other -p 9092:9092"), two=two)
    (deployment, _) = deployments(text, "README.md")
    lines = {f.location.line for f in check_deployment(deployment) if isinstance(f.location, FileLocation)}
    assert lines
    assert all("other" in text.splitlines()[line - 1] for line in lines)


def test_a_makefile() -> None:
    text = "up:\n\t@docker run -d --name kafka -p 9092:9092 apache/kafka:3.9.1\nx := $(shell docker run y)\n"
    (deployment,) = deployments(text, "Makefile")
    assert deployment.brokers[0].name == "kafka"


def test_a_name_that_comes_again_begins_another_deployment() -> None:
    assert len(deployments(run("PLAINTEXT://localhost:9092") * 2)) == 2


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"\xff\xfe docker run", "not UTF-8"),
        (b"#" * (3 << 20), "too large"),
        (b"docker run " + b"-e A=1 " * 10_000 + b"apache/kafka", "more than 20000 words"),
    ],
    ids=["bytes", "large", "words"],
)
def test_bad_input_is_one_error(data: bytes, message: str) -> None:
    with pytest.raises(ComposeError, match=message):
        list(command_lines(Source("run.sh", data)))


@pytest.mark.parametrize(
    "text",
    [
        "docker",
        "docker run",
        "docker run -e",
        "docker run -p x:y:z:9 -p 99999 apache/kafka",
        "docker run -- -x",
        "docker run --name '' apache/kafka",
        "docker run --network= apache/kafka",
        "docker run --link : -e = apache/kafka",
        "docker run " + "-e A=1 " * 5000 + "apache/kafka",
        "docker run $(" * 500,
        "`" * 1000,
        "docker run '\x1b[31m' apache/kafka",
        "docker run --name 'a\nb' -p 9092:9092 apache/kafka",
    ],
)
def test_hostile_lines_are_read_as_far_as_they_go(text: str) -> None:
    for deployment in deployments(text):
        check_deployment(deployment)
