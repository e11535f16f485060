"""Pipelines of GitLab: which services a job has under which names, and what its script gets from each executor."""

import pytest

from netdiag.compose.positions import Source
from netdiag.compose.problems import ComposeError
from netdiag.deployment.sources.ci.gitlab import Executor, pipeline_jobs, service_names
from netdiag.deployment.sources.ci.job import CiJob, as_deployment
from netdiag.findings import FileLocation, Finding, Severity
from netdiag.rules.ci import agreed, check_job

CANNOT = "ci-steps-cannot-connect"
KRAFT = """\
    KAFKA_NODE_ID: "1"
    KAFKA_PROCESS_ROLES: broker,controller
    KAFKA_CONTROLLER_QUORUM_VOTERS: 1@localhost:9093
    KAFKA_CONTROLLER_LISTENER_NAMES: CONTROLLER
    KAFKA_LISTENERS: PLAINTEXT://:9092,CONTROLLER://:9093
    KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT
"""


def pipeline(advertised: str, *, more: str = "", service: str = "{name: 'apache/kafka:3.9.1', alias: kafka}") -> str:
    """A pipeline with one job, whose variables configure the broker."""
    return (
        f"test:\n  image: python:3.13\n  services:\n    - {service}\n  variables:\n{KRAFT}"
        f"    KAFKA_ADVERTISED_LISTENERS: {advertised}\n{more}  script:\n    - make test\n"
    )


def jobs_of(text: str, executor: Executor, files: dict[str, str] | None = None) -> list[CiJob]:
    """The jobs with a broker."""
    held = files or {}

    def read(path: str) -> Source | None:
        return Source(path, held[path]) if path in held else None

    jobs = [as_deployment(job) for job in pipeline_jobs(Source(".gitlab-ci.yml", text), executor, read)]
    return [job for job in jobs if job.brokers]


def found_in(text: str, *executors: Executor, files: dict[str, str] | None = None) -> list[Finding]:
    """What is found above a note where any of these executors may run the jobs."""
    judged = [(job, check_job(job)) for one in executors or tuple(Executor) for job in jobs_of(text, one, files)]
    distinct = {(f.rule, f.location, f.message): f for f in agreed(judged) if f.severity is not Severity.NOTE}
    return list(distinct.values())


def rules_in(text: str, *executors: Executor, files: dict[str, str] | None = None) -> set[str]:
    """The rules of what is found."""
    return {finding.rule for finding in found_in(text, *executors, files=files)}


@pytest.mark.parametrize(
    ("image", "names"),
    [
        ("kafka", ("kafka",)),
        ("apache/kafka:3.9.1", ("apache__kafka", "apache-kafka")),
        ("domain.tld:8080/a/b:1", ("domain.tld__a__b", "domain.tld-a-b")),
        ("domain.tld:8080/b", ("domain.tld__b", "domain.tld-b")),
        ("a/b@sha256:00", ("a__b", "a-b")),
    ],
)
def test_names_made_of_an_image(image: str, names: tuple[str, ...]) -> None:
    assert service_names(image) == names


@pytest.mark.parametrize(
    ("advertised", "docker", "kubernetes"),
    [
        ("PLAINTEXT://kafka:9092", set(), set()),
        ("PLAINTEXT://apache-kafka:9092", set(), set()),
        ("PLAINTEXT://localhost:9092", {CANNOT}, set()),
        ("PLAINTEXT://broker:9092", {CANNOT}, {CANNOT}),
    ],
)
def test_each_executor(advertised: str, docker: set[str], kubernetes: set[str]) -> None:
    text = pipeline(advertised)
    assert rules_in(text, Executor.DOCKER) == docker
    assert rules_in(text, Executor.KUBERNETES) == kubernetes
    assert rules_in(text) == docker & kubernetes


def test_what_one_executor_does_is_a_note() -> None:
    text = pipeline("PLAINTEXT://localhost:9092")
    judged = [(job, check_job(job)) for one in Executor for job in jobs_of(text, one)]
    (note,) = [finding for finding in agreed(judged) if finding.rule == CANNOT]
    assert note.severity is Severity.NOTE
    assert note.message.endswith("(Docker executor only)")


ZOOKEEPER = """\
test:
  services:
    - {name: 'confluentinc/cp-zookeeper:7.9.2', alias: zookeeper, variables: {ZOOKEEPER_CLIENT_PORT: "2181"}}
    - name: confluentinc/cp-kafka:7.9.2
      alias: kafka
      variables:
        KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
        KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092
  variables: {%s}
  script: [make test]
"""


def test_services_know_one_another_on_a_network_or_in_a_pod_alone() -> None:
    flag = "FF_NETWORK_PER_BUILD: 'true'"
    assert {"ci-services-isolated"} == rules_in(ZOOKEEPER % "", Executor.DOCKER)
    assert rules_in(ZOOKEEPER % "", Executor.KUBERNETES) == set()
    assert rules_in(ZOOKEEPER % "") == set()
    assert rules_in(ZOOKEEPER % flag, Executor.DOCKER) == set()


def test_default_global_and_own_services() -> None:
    service = "services: [{name: 'apache/kafka:3.9.1', alias: kafka}]\n"
    job = "a: {script: [x]}\n"
    assert [j.name for j in jobs_of(service + job, Executor.DOCKER)] == ["a"]
    assert [j.name for j in jobs_of(f"default:\n  {service}{job}", Executor.DOCKER)] == ["a"]
    assert jobs_of(service + "a: {script: [x], services: []}\n.b: {script: [x]}\n", Executor.DOCKER) == []


def test_extends_references_anchors_and_includes() -> None:
    text = """\
include:
  - local: /ci/kafka.yml
  - remote: https://ci.example/other.yml
.base: &base
  script: [x]
one:
  extends: [.kafka]
  script: [x]
two:
  services: [!reference [.kafka, services]]
  <<: *base
three:
  extends: .elsewhere
  script: [x]
"""
    files = {"ci/kafka.yml": ".kafka:\n  services:\n    - {name: 'apache/kafka:3.9.1', alias: kafka}\n"}
    jobs = jobs_of(text, Executor.DOCKER, files)
    assert [job.name for job in jobs] == ["one", "two"]
    assert all(
        isinstance(b.member.where, FileLocation) and b.member.where.path == "ci/kafka.yml"
        for j in jobs
        for b in j.brokers
    )


def test_variables_in_images_and_values() -> None:
    text = pipeline("PLAINTEXT://$HOST:9092", more="    HOST: kafka\n    TAG: 3.9.1\n")
    text = text.replace("kafka:3.9.1", "kafka:$TAG")
    assert rules_in(text) == set()
    assert rules_in(text.replace("HOST: kafka", "HOST: broker")) == {CANNOT}
    assert rules_in(text.replace("HOST: kafka", "OTHER: kafka")) == set()


def test_variables_of_a_job_make_no_broker_of_another_service() -> None:
    text = pipeline("PLAINTEXT://kafka:9092").replace("  variables:", "    - postgres:17\n  variables:", 1)
    (job,) = jobs_of(text, Executor.DOCKER)
    assert [broker.name for broker in job.brokers] == ["kafka"]
    assert rules_in(text) == set()


def test_addresses_in_scripts() -> None:
    good = pipeline("PLAINTEXT://kafka:9092", more="    KAFKA_BROKERS: kafka:9092\n")
    assert rules_in(good, Executor.DOCKER) == set()
    bad = good.replace("KAFKA_BROKERS: kafka", "KAFKA_BROKERS: localhost")
    assert rules_in(bad, Executor.DOCKER) == {"dependent-bootstrap-localhost"}
    assert rules_in(bad, Executor.KUBERNETES) == set()


MANY_JOBS = "".join(f"j{number}: {{script: [x]}}\n" for number in range(501))


@pytest.mark.parametrize("text", ["- a", "", "a: [", "a: !reference [", "x: " + "[" * 200, MANY_JOBS])
def test_bad_input_is_one_error(text: str) -> None:
    with pytest.raises(ComposeError) as error:
        jobs_of(text, Executor.DOCKER)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "text",
    [
        "a: {extends: a, services: [kafka]}",
        "a: {services: !reference [a, services]}",
        "a: {services: [!reference [b, services]]}\nb: {services: [!reference [a, services]]}",
        "a: {services: [1, {}, {name: []}, {name: ''}, {name: $X}, [[[{name: apache/kafka}]]]], variables: [1]}",
        "a: {variables: {X: $Y, Y: $X}, services: [{name: 'apache/kafka:$X', alias: ' , '}]}",
        "include: [{local: x.yml}, 1, {local: [1]}]\na: {script: {}}",
        "a: {services: [apache/kafka, apache/kafka, {name: apache/kafka, alias: steps}]}",
    ],
)
def test_hostile_pipelines_are_read_as_far_as_they_go(text: str) -> None:
    for executor in Executor:
        for job in jobs_of(text, executor, {"x.yml": "include: {local: x.yml}"}):
            check_job(job)
