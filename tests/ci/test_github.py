"""Workflows of GitHub: which services a job has, where its steps stand, and what they get."""

import pytest

from netdiag.compose.positions import Source
from netdiag.compose.problems import ComposeError
from netdiag.deployment.model.verdict import Address, Word
from netdiag.deployment.prediction.reachability import predict
from netdiag.deployment.sources.ci.github import workflow_jobs
from netdiag.deployment.sources.ci.job import Place
from netdiag.findings import FileLocation, Severity
from netdiag.rules.ci import check_job
from tests.ci.workflows import found_in, jobs_of, rules_in, workflow

CANNOT = "ci-steps-cannot-connect"
LOCALHOST = "PLAINTEXT://localhost:9092"
BY_NAME = "PLAINTEXT://kafka:9092"
CONTAINER = "    container: python:3.13\n"


@pytest.mark.parametrize(
    ("advertised", "job", "service", "rules"),
    [
        (LOCALHOST, "", '        ports: ["9092:9092"]\n', []),
        (BY_NAME, "", '        ports: ["9092:9092"]\n', [CANNOT]),
        (LOCALHOST, "", "", [CANNOT]),
        (LOCALHOST, "", "        ports: [9092]\n", [CANNOT]),
        (LOCALHOST, "", "        ports: [9092:9092/tcp]\n", []),
        (BY_NAME, CONTAINER, "", []),
        (BY_NAME, CONTAINER, '        ports: ["9092:9092"]\n', []),
        (LOCALHOST, CONTAINER, '        ports: ["9092:9092"]\n', [CANNOT]),
        (LOCALHOST, "    container: {image: node}\n", "", [CANNOT]),
        ("PLAINTEXT://localhost:29092", "", '        ports: ["29092:9092"]\n', []),
        ("PLAINTEXT://localhost:9092", "", '        ports: ["29092:9092"]\n', [CANNOT]),
    ],
)
def test_the_place_of_the_steps_decides(advertised: str, job: str, service: str, rules: list[str]) -> None:
    assert rules_in(workflow(advertised, job=job, service=service)) == rules


def test_where_and_what_is_said() -> None:
    text = workflow(BY_NAME)
    (finding,) = found_in(text)
    assert isinstance(finding.location, FileLocation)
    assert text.splitlines()[finding.location.line - 1].strip() == f"KAFKA_ADVERTISED_LISTENERS: {BY_NAME}"
    assert text.splitlines()[finding.location.line - 1][finding.location.column - 1 :].startswith("kafka:9092")
    assert (finding.severity, finding.service, finding.hint) == (
        Severity.ERROR,
        "kafka",
        "advertise PLAINTEXT://localhost:9092",
    )


def test_a_container_that_an_expression_decides_is_unknown() -> None:
    for advertised in (BY_NAME, LOCALHOST):
        text = workflow(advertised, job="    container: ${{ inputs.image }}\n")
        assert [f.rule for job in jobs_of(text) for f in check_job(job)] == []
    assert jobs_of(workflow(BY_NAME, job="    container: python:${{ inputs.version }}\n"))[0].place is Place.CONTAINER


def test_ports_and_options_that_are_not_known_are_unknown_not_wrong() -> None:
    assert rules_in(workflow(LOCALHOST, service="        ports: [ '${{ inputs.port }}:9092' ]\n")) == []
    assert rules_in(workflow(LOCALHOST, service="        options: ${{ inputs.options }}\n")) == []
    assert rules_in(workflow("PLAINTEXT://${{ inputs.host }}:9092")) == []


MATRIX = """\
    strategy:
      matrix:
        host: [{hosts}]
        python: ["3.12", "3.13"]
"""


def test_a_matrix_is_judged_value_by_value() -> None:
    def rules(hosts: str) -> list[str]:
        return rules_in(workflow("PLAINTEXT://${{ matrix.host }}:9092", job=MATRIX.format(hosts=hosts)))

    assert rules("localhost, 127.0.0.1") == []
    assert rules("localhost, kafka") == [CANNOT]
    assert [
        job.variant for job in jobs_of(workflow("PLAINTEXT://${{ matrix.host }}:9092", job=MATRIX.format(hosts="a, b")))
    ] == [
        "host=a",
        "host=b",
    ]


def test_include_and_exclude() -> None:
    job = """\
    strategy:
      matrix:
        kafka: ["3.9.1", "4.0.0"]
        os: [linux, other]
        exclude: [{kafka: "4.0.0", os: other}, {kafka: "3.9.1", os: linux}]
        include: [{kafka: "3.9.1", host: kafka}, {kafka: "3.8.1", host: localhost}]
"""
    text = workflow("PLAINTEXT://${{ matrix.host }}:9092", job=job, image="apache/kafka:${{ matrix.kafka }}")
    variants = [
        (one.variant, [f.rule for f in check_job(one) if f.severity is Severity.ERROR]) for one in jobs_of(text)
    ]
    assert variants == [
        ("kafka=3.9.1, host=kafka", [CANNOT]),
        ("kafka=4.0.0", []),
        ("kafka=3.8.1, host=localhost", []),
    ]


def test_a_matrix_of_mappings_and_one_that_is_computed() -> None:
    job = "    strategy:\n      matrix:\n        broker: [{host: kafka}, {host: localhost}]\n"
    assert rules_in(workflow("PLAINTEXT://${{ matrix.broker.host }}:9092", job=job)) == [CANNOT]
    job = "    strategy:\n      matrix: ${{ fromJSON(needs.plan.outputs.matrix) }}\n"
    assert rules_in(workflow("PLAINTEXT://${{ matrix.host }}:9092", job=job)) == []


def test_options_name_the_service() -> None:
    options = '--hostname broker\n          --network-alias="queue" --name my-kafka -e X=1'
    options = f"        options: >-\n          {options}\n"
    for name in ("broker", "queue", "my-kafka", "kafka"):
        text = workflow(f"PLAINTEXT://{name}:9092", job=CONTAINER, service=options)
        assert rules_in(text) == [], name
    assert rules_in(workflow("PLAINTEXT://other:9092", job=CONTAINER, service=options)) == [CANNOT]


def test_command_and_entrypoint_are_read() -> None:
    text = """\
on: push
jobs:
  test:
    services:
      redpanda:
        image: redpandadata/redpanda:v24.2.7
        command: redpanda start --kafka-addr 0.0.0.0:9092 --advertise-kafka-addr redpanda:9092
        ports: ["9092:9092"]
      idle:
        image: apache/kafka:3.9.1
        entrypoint: ["sleep", "infinity"]
    steps: []
"""
    (job,) = jobs_of(text)
    assert [broker.name for broker in job.brokers] == ["redpanda"]
    assert rules_in(text) == [CANNOT]


def test_services_know_one_another_by_id_and_the_runner_knows_none() -> None:
    services = '        ports: ["9092:9092"]\n'
    (job,) = jobs_of(
        workflow(LOCALHOST, service=services).replace("      kafka:\n", "      app: {image: app}\n      kafka:\n")
    )
    cells = predict(
        job.deployment, job.vantages, [Address(host="kafka", port=9092), Address(host="localhost", port=9092)]
    )
    words = {(c.vantage, str(c.bootstrap)): c.predicted.word for c in cells if c.predicted}
    assert words["steps on the runner", "localhost:9092"] is Word.OK
    assert words["steps on the runner", "kafka:9092"] is Word.BOOTSTRAP
    assert words["inside app", "kafka:9092"] is Word.ADVERTISED


def test_steps_may_write_the_hosts_file() -> None:
    steps = "      - run: echo '127.0.0.1 kafka zookeeper' | sudo tee -a /etc/hosts\n      - run: make test\n"
    assert rules_in(workflow(BY_NAME, steps=steps)) == []


def test_a_host_of_the_runner_in_the_job_container() -> None:
    job = "    container:\n      image: python\n      options: --add-host=host.docker.internal:host-gateway\n"
    assert rules_in(workflow("PLAINTEXT://host.docker.internal:9092", job=job)) == []


def test_addresses_of_steps() -> None:
    env = "    env:\n      KAFKA_BROKERS: {}\n"
    assert rules_in(workflow(LOCALHOST, job=env.format("kafka:9092"))) == ["ci-steps-wrong-address"]
    assert rules_in(workflow(LOCALHOST, job=env.format("localhost:9092"))) == []
    assert rules_in(workflow(BY_NAME, job=CONTAINER + env.format("localhost:9092"))) == [
        "dependent-bootstrap-localhost"
    ]
    exec_ = "      - run: docker exec kafka kafka-topics.sh --bootstrap-server kafka:9092 --list\n"
    assert rules_in(workflow(LOCALHOST, steps=exec_)) == []


@pytest.mark.parametrize(
    ("service", "steps", "severity"),
    [
        ("", "      - run: kcat -b localhost:9092 -L\n", "warning"),
        ("", "      - uses: actions/checkout@v4\n      - run: kcat -b localhost:9092 -L\n", "warning"),
        ("", "      - run: make build\n      - run: kcat -b localhost:9092 -L\n", "note"),
        ("", "      - run: sleep 20; kcat -b localhost:9092 -L\n", None),
        ("", "      - run: netdiag wait --timeout 60\n      - run: make test\n", None),
        ("        options: --health-cmd 'nc -z localhost 9092' --health-retries 9\n", "      - run: kcat -L\n", None),
        ("        options: --health-cmd x --no-healthcheck\n", "      - run: make test\n", "note"),
    ],
)
def test_who_waits(service: str, steps: str, severity: str | None) -> None:
    text = workflow(LOCALHOST, service='        ports: ["9092:9092"]\n' + service, steps=steps)
    found = [f for job in jobs_of(text) for f in check_job(job) if f.rule == "ci-service-not-awaited"]
    assert [f.severity.value for f in found] == ([severity] if severity else [])
    assert all("--health-cmd" in f.hint for f in found)


def test_a_service_for_another_service_alone_needs_no_port() -> None:
    text = workflow(BY_NAME, service="").replace(
        "    services:\n", "    services:\n      app:\n        image: app\n        env: {KAFKA_BROKERS: 'kafka:9092'}\n"
    )
    assert rules_in(text) == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("- a\n- b\n", "the top level must be a mapping"),
        ("", "the file is empty"),
        ("a: [\n", "not YAML"),
        ("a: &a [*a]\n", "contains itself"),
        ("x: " + "[" * 200 + "]" * 200, "nested deeper"),
        ("#" * (3 * 1024 * 1024), "too large"),
        ("jobs:\n" + "".join(f"  j{number}: {{}}\n" for number in range(501)), "501 jobs is too large"),
    ],
    ids=["list", "empty", "syntax", "cycle", "deep", "large", "jobs"],
)
def test_bad_input_is_one_error(text: str, message: str) -> None:
    with pytest.raises(ComposeError, match=message) as error:
        list(workflow_jobs(Source("ci.yml", text)))
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "text",
    [
        "jobs: 1",
        "jobs: {a: 1, b: [], c: {services: 1}, d: {services: {x: 1, y: {image: [], env: 1, ports: {}, options: {}}}}}",
        "jobs: {a: {services: {k: {image: apache/kafka, ports: [[1], {a: b}, x, 99999999], env: [a]}}, steps: 3}}",
        "jobs: {a: {strategy: {matrix: {x: 1, include: 2, exclude: [3]}}, services: {k: {image: '${{ matrix.x }}'}}}}",
        "jobs: {a: {services: {k: {image: 'apache/kafka:${{ ${{ matrix.x }} }}', options: '--name \"'}}}}",
    ],
)
def test_what_is_no_workflow_in_parts_is_read_as_far_as_it_goes(text: str) -> None:
    for job in jobs_of(text):
        check_job(job)
