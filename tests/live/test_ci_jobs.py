"""Jobs of CI as their runner starts them: a network, the services on it by their names, their ports on the runner.

From where the steps run, the docker host or a container on that network, kcat and a live check get what was predicted.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from netdiag.compose.positions import Source
from netdiag.deployment.model.verdict import parse_address
from netdiag.deployment.prediction.reachability import predict
from netdiag.deployment.sources.ci.github import workflow_jobs
from netdiag.deployment.sources.ci.gitlab import Executor, pipeline_jobs, service_names
from netdiag.deployment.sources.ci.job import CiJob, Place, as_deployment
from netdiag.findings import Severity
from netdiag.linux.netns import ProcessNamespace
from netdiag.rules.ci import check_job
from tests.ci.test_gitlab import pipeline
from tests.ci.workflows import PATH, workflow
from tests.figures import Report
from tests.lab.lab import Lab
from tests.lab.lead_topics import lead_topics
from tests.lab.oracles import Cell
from tests.live.examples import text_of
from tests.live.stacks import check
from tests.live.test_client_fails import vantage_of, word

CONTAINER = "    container: python:3.13\n"
BY_NAME, LOCALHOST = "PLAINTEXT://kafka:9092", "PLAINTEXT://localhost:9092"
CANNOT = "ci-steps-cannot-connect"
# A listener for whoever is told a name beside the one for the runner.
BOTH = "PLAINTEXT://kafka:9092,HOST://localhost:29092"
TWO_LISTENERS = """\
          KAFKA_LISTENERS: PLAINTEXT://:9092,HOST://:29092,CONTROLLER://:9093
          KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: PLAINTEXT:PLAINTEXT,HOST:PLAINTEXT,CONTROLLER:PLAINTEXT
"""
BOTH_PORTS = '        ports: ["9092:9092", "29092:29092"]\n'
ZOOKEEPER = """\
      zookeeper:
        image: confluentinc/cp-zookeeper:7.9.2
        env:
          ZOOKEEPER_CLIENT_PORT: 2181
"""
WITH_ZOOKEEPER = """\
          KAFKA_BROKER_ID: 1
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_OFFSETS_TOPIC_REPLICATION_FACTOR: 1
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A CI file with one job, where its steps look for the broker, and the errors that are found in it."""

    text: str
    bootstraps: tuple[str, ...] = ("localhost:9092", "kafka:9092")
    errors: tuple[str, ...] = ()


def two_listeners(text: str) -> str:
    """The workflow with a second listener; the lines of the first one make room."""
    lines = text.splitlines(keepends=True)
    kept = [line for line in lines if "KAFKA_LISTENERS:" not in line and "PROTOCOL_MAP:" not in line]
    at = next(number for number, line in enumerate(kept) if "KAFKA_NODE_ID" in line)
    return "".join((*kept[:at], TWO_LISTENERS, *kept[at:]))


def with_zookeeper(advertised: str) -> str:
    """A workflow whose broker asks ZooKeeper, a service beside it."""
    return (
        f"on: push\njobs:\n  test:\n    runs-on: ubuntu-latest\n    services:\n{ZOOKEEPER}      kafka:\n"
        f'        image: confluentinc/cp-kafka:7.9.2\n        ports: ["9092:9092"]\n        env:\n{WITH_ZOOKEEPER}'
        f"          KAFKA_LISTENERS: PLAINTEXT://:9092\n          KAFKA_ADVERTISED_LISTENERS: {advertised}\n"
        "    steps:\n      - run: make test\n"
    )


GITLAB = ("kafka:9092", "apache-kafka:9092", "apache__kafka:9092", "localhost:9092")
JOBS = {
    "runner told a name": Job(text=workflow(BY_NAME), errors=(CANNOT,)),
    "runner told localhost": Job(text=workflow(LOCALHOST)),
    "runner without a port": Job(text=workflow(LOCALHOST, service=""), errors=(CANNOT,)),
    "runner with another port": Job(
        text=workflow(LOCALHOST, service='        ports: ["19092:9092"]\n'),
        bootstraps=("localhost:19092", "localhost:9092"),
        errors=(CANNOT,),
    ),
    "runner with a listener of its own": Job(
        text=two_listeners(workflow(BOTH, service=BOTH_PORTS)), bootstraps=("localhost:29092", "localhost:9092")
    ),
    "runner beside ZooKeeper": Job(text=with_zookeeper(LOCALHOST)),
    "container told a name": Job(text=workflow(BY_NAME, job=CONTAINER)),
    "container told localhost": Job(text=workflow(LOCALHOST, job=CONTAINER), errors=(CANNOT,)),
    "container beside a listener of the host": Job(
        text=two_listeners(workflow(BOTH, job=CONTAINER, service=BOTH_PORTS)),
        bootstraps=("kafka:9092", "kafka:29092", "localhost:29092"),
    ),
    "container beside ZooKeeper": Job(
        text=with_zookeeper(BY_NAME).replace("    services:", f"{CONTAINER}    services:")
    ),
    "GitLab, told an alias": Job(text=pipeline(BY_NAME), bootstraps=GITLAB),
    "GitLab, told a name made of the image": Job(text=pipeline("PLAINTEXT://apache-kafka:9092"), bootstraps=GITLAB),
    "GitLab, told localhost": Job(text=pipeline(LOCALHOST), bootstraps=GITLAB, errors=(CANNOT,)),
}
_QUICK = (
    "runner with another port",
    "runner with a listener of its own",
    "container told localhost",
    "container beside ZooKeeper",
    "GitLab, told a name made of the image",
)
_PARAMETERS = [
    pytest.param(job, id=name, marks=pytest.mark.bar("ci-jobs", long=name not in _QUICK)) for name, job in JOBS.items()
]


def started(text: str) -> tuple[CiJob, str]:
    """The one job of a CI file, and what its runner starts beside the steps as a Compose file."""
    loaded = YAML(typ="safe", pure=True).load(text)
    if "jobs" in loaded:
        (declared,) = workflow_jobs(Source(PATH, text))
        services = {
            name: _service(service["image"], service["env"], [name], service.get("ports", ()))
            for name, service in loaded["jobs"]["test"]["services"].items()
        }
    else:
        # With the Docker executor, services get the variables of the job and no port is published.
        (declared,) = pipeline_jobs(Source(".gitlab-ci.yml", text), Executor.DOCKER, lambda _: None)
        (service,) = loaded["test"]["services"]
        names = (service["alias"], *service_names(service["name"]))
        services = {"kafka": _service(service["name"], loaded["test"]["variables"], names, ())}
    return as_deployment(declared), text_of({"services": services, "networks": {"job": {}}})


def _service(
    image: str, environment: Mapping[str, object], names: tuple[str, ...] | list[str], ports: object
) -> dict[str, object]:
    return {
        "image": image,
        "environment": dict(environment),
        "ports": list(ports) if isinstance(ports, list) else [],
        "networks": {"job": {"aliases": list(names)}},
    }


@pytest.mark.parametrize("case", _PARAMETERS)
def test_the_steps_get_what_is_predicted(case: Job, lab: Lab, tmp_path: Path, figure: Report) -> None:
    job, compose = started(case.text)
    file = tmp_path / "compose.yml"
    file.write_text(compose, encoding="utf-8")
    addresses = tuple(parse_address(one) for one in case.bootstraps)
    predicted = {
        str(cell.bootstrap): cell.predicted.word.value
        for cell in predict(job.deployment, [job.steps], addresses)
        if cell.predicted is not None
    }
    with lab.up(file) as stack:
        topic = lead_topics(stack)
        vantage = vantage_of(stack, "H" if job.place is Place.RUNNER else "C:job")
        cells = [Cell(vantage=vantage, bootstrap=address, topic=topic) for address in case.bootstraps]
        answers = lab.oracles.ask_all(cells, ("kcat",))
        checked = check(stack, addresses=addresses)
    (label,) = [
        each.vantage.label
        for each in checked.live.vantages
        if (
            each.vantage.label == "docker host"
            if job.place is Place.RUNNER
            else isinstance(each.entrance, ProcessNamespace) and each.entrance.container_id == vantage.container_id
        )
    ]
    got = {cell.bootstrap: word(answers[cell, "kcat"], topic) for cell in cells}
    observed = {
        str(cell.bootstrap): cell.observed.word.value
        for cell in checked.cells
        if cell.vantage == label and cell.observed is not None
    }
    assert predicted == got
    assert observed == got
    assert [one.rule for one in check_job(job) if one.severity is Severity.ERROR] == list(case.errors)
    assert ("ok" not in got.values()) == bool(case.errors)
    figure("cells of steps, predicted = observed = kcat", len(got))
