"""A service of a swarm has endpoint_mode dnsrr and a port in ingress mode.

Why: The routing mesh sends what it accepts to a service's virtual address, and with endpoint_mode dnsrr there is none.
The swarm refuses the service, and docker stack deploy stops there. docker compose up ignores endpoint_mode. Ingress is
the mode of every port without another one, also of the short syntax.

Bad:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        deploy:
          endpoint_mode: dnsrr  # <- here
        ports: ["9092:9092"]
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_LISTENERS: IN://:19092,OUT://:9092
          KAFKA_ADVERTISED_LISTENERS: IN://kafka:19092,OUT://localhost:9092
          KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: IN:PLAINTEXT,OUT:PLAINTEXT
          KAFKA_INTER_BROKER_LISTENER_NAME: IN

Good:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        deploy:
          endpoint_mode: dnsrr
        ports:
          - {target: 9092, published: 9092, mode: host}
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_LISTENERS: IN://:19092,OUT://:9092
          KAFKA_ADVERTISED_LISTENERS: IN://kafka:19092,OUT://localhost:9092
          KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: IN:PLAINTEXT,OUT:PLAINTEXT
          KAFKA_INTER_BROKER_LISTENER_NAME: IN

Seen: EndpointSpec: port published with ingress mode can't be used with dnsrr mode

Sources: Docker documentation, Use Swarm mode routing mesh; swarmkit, controlapi/service.go (validateEndpointSpec).
"""

from collections.abc import Iterator

from netdiag.deployment.model.deployment import Deployment, HostKind
from netdiag.findings import Finding, Related, Severity

ID = "swarm-ingress-with-dnsrr"
SEVERITY = Severity.WARNING


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for every broker that a swarm refuses: an error where the files are for one."""
    is_swarm = deployment.platform.kind is HostKind.SWARM
    for broker in deployment.brokers:
        mode = broker.member.endpoint_mode
        ports = [port for port in broker.member.published if port.mode == "ingress"]
        if mode is None or mode.value.lower() != "dnsrr" or not ports:
            continue
        edit = mode.edit(0, len(mode.value), "vip")
        yield Finding(
            rule=ID,
            severity=Severity.ERROR if is_swarm else SEVERITY,
            message=f"a swarm refuses {broker.name}: endpoint_mode dnsrr with a port in ingress mode",
            location=mode.at(),
            related=tuple(Related(location=port.where, message="published in ingress mode") for port in ports),
            why="the routing mesh needs the virtual address of a service, and with dnsrr there is none",
            hint="use endpoint_mode vip, or mode: host in the long syntax of the port",
            service=broker.name,
            edits=(edit,) if edit else (),
        )
