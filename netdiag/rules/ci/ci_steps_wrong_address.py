"""Steps of a CI job use a service by its name where names do not resolve.

Why: Steps of a GitHub job without `container` run on the runner, which is not on the network of the services: it
resolves none of their ids, and reaches their mapped ports on localhost.

Bad:
    on: push
    jobs:
      test:
        runs-on: ubuntu-latest
        env:
          KAFKA_BOOTSTRAP_SERVERS: kafka:9092  # <- here
        services:
          kafka:
            image: apache/kafka:3.9.1
            ports: ["9092:9092"]
            options: --health-cmd "/opt/kafka/bin/kafka-broker-api-versions.sh --bootstrap-server localhost:9092"
        steps:
          - run: make test

Good:
    on: push
    jobs:
      test:
        runs-on: ubuntu-latest
        env:
          KAFKA_BOOTSTRAP_SERVERS: localhost:9092
        services:
          kafka:
            image: apache/kafka:3.9.1
            ports: ["9092:9092"]
            options: --health-cmd "/opt/kafka/bin/kafka-broker-api-versions.sh --bootstrap-server localhost:9092"
        steps:
          - run: make test

Seen: java.net.UnknownHostException: kafka

Sources: GitHub's documentation of service containers, "Running jobs directly on the runner machine".
"""

from collections.abc import Iterator

from netdiag.deployment.clients import Attempt, UnresolvedName, attempts, why_unresolved
from netdiag.deployment.model.deployment import Broker, Deployment
from netdiag.deployment.repairs import MemberChange
from netdiag.deployment.sources.ci.job import CiJob, Place
from netdiag.findings import Edit, Finding, Severity

ID = "ci-steps-wrong-address"
SEVERITY = Severity.ERROR


def check(job: CiJob) -> Iterator[Finding]:
    """One finding for every address of the steps that has the name of a service, which the runner does not resolve."""
    if job.place is not Place.RUNNER:
        return
    for attempt in attempts(job.deployment):
        if attempt.member.name == job.steps.member and (
            why_unresolved(job.deployment, attempt) is UnresolvedName.HOST_MODE
        ):
            yield _finding(job, attempt)


def _finding(job: CiJob, attempt: Attempt) -> Finding:
    number = _published(job.deployment, attempt)
    better = f"localhost:{number}" if number else ""
    return Finding(
        rule=ID,
        severity=SEVERITY,
        message=f'{job.place.value} bootstrap from "{attempt.address}", but the runner does not resolve names of '
        "services",
        location=attempt.where,
        why="a job without a container runs its steps on the runner, which is not on the network of its services",
        hint=f"set {attempt.client.setting} to {better}" if better else "map a port of the service, and use localhost",
        service=attempt.address.host,
        edits=_edits(job, attempt, better),
    )


def _published(deployment: Deployment, attempt: Attempt) -> int | None:
    """The port of the runner that leads to the port that the steps mean."""
    broker: Broker | None = deployment.broker(attempt.address.host)
    if broker is None:
        return None
    ports = [p.published for p in broker.member.published if p.target == attempt.address.port and p.published]
    return ports[0] if ports else None


def _edits(job: CiJob, attempt: Attempt, better: str) -> tuple[Edit, ...]:
    declared, entry = attempt.client.declared, attempt.entry
    if not better or job.variant:
        return ()
    scheme = declared.value[entry.start : entry.end].rpartition("://")
    start = entry.start + len(scheme[0]) + len(scheme[1])
    return MemberChange(attempt.member).replace(declared, start, entry.end, better).edits()
