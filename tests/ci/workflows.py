"""Workflows for tests: one job whose service is a broker, and what is found in it."""

import re

from netdiag.compose.positions import Source
from netdiag.deployment.sources.ci.github import workflow_jobs
from netdiag.deployment.sources.ci.gitlab import Executor, pipeline_jobs
from netdiag.deployment.sources.ci.job import CiJob, as_deployment
from netdiag.findings import Finding
from netdiag.rules.ci import check_job

PATH = ".github/workflows/ci.yml"
KRAFT = """\
          KAFKA_NODE_ID: 1
          KAFKA_PROCESS_ROLES: broker,controller
          KAFKA_CONTROLLER_QUORUM_VOTERS: 1@localhost:9093
          KAFKA_CONTROLLER_LISTENER_NAMES: CONTROLLER
          KAFKA_LISTENERS: PLAINTEXT://:9092,CONTROLLER://:9093
          KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT
"""


def workflow(
    advertised: str,
    *,
    job: str = "",
    service: str = '        ports: ["9092:9092"]\n',
    steps: str = "      - run: make test\n",
    image: str = "apache/kafka:3.9.1",
) -> str:
    """A workflow whose broker advertises something; `job` and `service` are lines of these mappings."""
    return (
        f"on: push\njobs:\n  test:\n    runs-on: ubuntu-latest\n{job}    services:\n      kafka:\n"
        f"        image: {image}\n{service}        env:\n{KRAFT}"
        f"          KAFKA_ADVERTISED_LISTENERS: {advertised}\n    steps:\n{steps}"
    )


def jobs_of(text: str, path: str = PATH) -> tuple[CiJob, ...]:
    """The jobs with a broker, of a workflow or of a pipeline that the Docker executor runs."""
    source = Source(path, text)
    is_workflow = re.search(r"(?m)^jobs:", text) is not None
    declared = workflow_jobs(source) if is_workflow else pipeline_jobs(source, Executor.DOCKER, lambda _: None)
    jobs = (as_deployment(job) for job in declared)
    return tuple(job for job in jobs if job.brokers)


def found_in(text: str) -> list[Finding]:
    """What is found in all jobs, notes left out."""
    return [f for job in jobs_of(text) for f in check_job(job) if f.severity.value != "note"]


def rules_in(text: str) -> list[str]:
    """The rules of what is found."""
    return [finding.rule for finding in found_in(text)]
