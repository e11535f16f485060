"""Nothing waits until a broker of a CI job is up.

Why: GitHub starts the first step as soon as the containers of the services run, and waits only for services with a
health check. A broker needs some seconds more, so the first clients are refused. The finding is a warning if the first
step has a client that gives up soon (kcat, rpk), and a note otherwise: what comes before may take long enough, and most
clients try again.

Bad:
    on: push
    jobs:
      test:
        runs-on: ubuntu-latest
        services:
          kafka:  # <- here
            image: apache/kafka:3.9.1
            ports: ["9092:9092"]
        steps:
          - run: kcat -b localhost:9092 -L

Good:
    on: push
    jobs:
      test:
        runs-on: ubuntu-latest
        services:
          kafka:
            image: apache/kafka:3.9.1
            ports: ["9092:9092"]
            options: --health-cmd "/opt/kafka/bin/kafka-broker-api-versions.sh --bootstrap-server localhost:9092"
        steps:
          - run: kcat -b localhost:9092 -L

Seen: Failed to acquire metadata: Local: Broker transport failure

Sources: GitHub's documentation of service containers, `options` with `--health-cmd`.
"""

from collections.abc import Iterator
from dataclasses import replace

from netdiag.deployment.model.deployment import Broker
from netdiag.deployment.model.vantage import own_addresses
from netdiag.deployment.sources.ci.job import CiJob
from netdiag.findings import Applicability, Edit, Finding, Related, Severity
from netdiag.kafka.images.reference import ImageFamily

ID = "ci-service-not-awaited"
SEVERITY = Severity.WARNING
_TOOLS = {
    ImageFamily.APACHE: "/opt/kafka/bin/kafka-broker-api-versions.sh",
    ImageFamily.BITNAMI: "kafka-broker-api-versions.sh",
    ImageFamily.CONFLUENT: "kafka-broker-api-versions",
}


def check(job: CiJob) -> Iterator[Finding]:
    """One finding for every broker that no health check and no step waits for."""
    for one in job.unawaited:
        broker = job.deployment.broker(one.service)
        if broker is None:
            continue
        related = () if one.step is None else (Related(location=one.step, message="gives up soon"),)
        yield Finding(
            rule=ID,
            severity=Severity.NOTE if one.step is None else SEVERITY,
            message=f"nothing waits until {one.service} is up before the steps begin",
            location=one.where,
            related=related,
            why="the runner waits for a service only if it has a health check",
            hint=f"add options to the service: {_health_check(broker) or '--health-cmd COMMAND'}",
            service=one.service,
            edits=_edits(job, broker),
        )


def _health_check(broker: Broker) -> str:
    """Options that ask a listener that answers in the broker's own container with the tool of its image, or ""."""
    tool = _TOOLS.get(broker.config.family)
    plain = [e.endpoint.port for e in broker.config.broker_listeners if _is_plain(broker, e.endpoint.listener)]
    found = [address for address in own_addresses(broker) if address.port in plain]
    if tool is None or not found:
        return ""
    return f'--health-cmd "{tool} --bootstrap-server {found[0]}" --health-interval 5s --health-retries 20'


def _edits(job: CiJob, broker: Broker) -> tuple[Edit, ...]:
    editor, options = broker.member.editor, _health_check(broker)
    if editor is None or not options or job.variant:
        return ()
    edit = editor.add_field("options", options)
    return () if edit is None else (replace(edit, applicability=Applicability.UNSAFE),)


def _is_plain(broker: Broker, listener: str) -> bool:
    return broker.config.protocol_map.get(listener) == "PLAINTEXT"
