"""A service of a GitLab job uses another service by name, and the two do not know each other.

Why: The Docker executor links the job container to each service. Services are not linked to one another, and the
default bridge has no DNS. With the feature flag FF_NETWORK_PER_BUILD all of them are on a network of their own, where
their names resolve. With the Kubernetes executor all are in one pod, and the finding is a note if the check was not
told which one it is.

Bad:
    test:
      script: [make test]
      services:
        - name: confluentinc/cp-zookeeper:7.9.2
          alias: zookeeper
          variables:
            ZOOKEEPER_CLIENT_PORT: "2181"
        - name: confluentinc/cp-kafka:7.9.2
          alias: kafka
          variables:
            KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181  # <- here
            KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092

Good:
    test:
      script: [make test]
      variables:
        FF_NETWORK_PER_BUILD: "true"
      services:
        - name: confluentinc/cp-zookeeper:7.9.2
          alias: zookeeper
          variables:
            ZOOKEEPER_CLIENT_PORT: "2181"
        - name: confluentinc/cp-kafka:7.9.2
          alias: kafka
          variables:
            KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
            KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092

Seen: Unable to resolve address: zookeeper:2181

Sources: GitLab's documentation of services, "Connecting services together", and of the runner's feature flags.
"""

import re
from collections.abc import Iterator

from netdiag.deployment.model.deployment import NetworkMode
from netdiag.deployment.sources.ci.job import CiJob, Place
from netdiag.findings import Finding, Location, Severity

ID = "ci-services-isolated"
SEVERITY = Severity.ERROR
_SETTINGS = ("ZOOKEEPER_CONNECT", "CONTROLLER_QUORUM_VOTERS", "CONTROLLER_QUORUM_BOOTSTRAP_SERVERS")


def check(job: CiJob) -> Iterator[Finding]:
    """One finding for every setting or client of a service that names another service."""
    steps = job.deployment.by_name[job.steps.member or ""]
    if job.place is not Place.CONTAINER or steps.mode is not NetworkMode.DEFAULT_BRIDGE:
        return
    for broker in job.brokers:
        for name, declared in broker.declared.items():
            if name.endswith(_SETTINGS):
                for match in re.finditer(r"(?<![\w.-])([A-Za-z][\w.-]{0,252}):\d", declared.value):
                    other = steps.links.get(match[1])
                    if other is not None and other != broker.name:
                        yield _finding(broker.name, other, match[1], name, declared.at(match.start(1), match.end(1)))
    for client in job.deployment.clients:
        if client.member is steps or client.member.name == steps.name:
            continue
        for address in client.bootstraps:
            other = steps.links.get(address.host)
            if client.certain and other is not None and other != client.member.name:
                where = client.declared.at(address.start, address.end)
                yield _finding(client.member.name, other, address.host, client.setting, where)


def _finding(service: str, other: str, name: str, setting: str, where: Location) -> Finding:
    return Finding(
        rule=ID,
        severity=SEVERITY,
        message=f'{setting} of {service} is "{name}", but services of a job do not know one another',
        location=where,
        why="the Docker executor links services to the job container alone",
        hint=f'set FF_NETWORK_PER_BUILD: "true" in variables, which puts {service} and {other} on one network',
        service=service,
    )
