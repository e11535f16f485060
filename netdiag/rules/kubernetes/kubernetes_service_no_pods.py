"""A Service by whose name brokers are known selects none of their pods.

Why: A Service leads to the pods whose labels have all that its selector asks for. With a label spelled differently it
leads nowhere, and the pods have no names below it.

Bad:
    apiVersion: v1
    kind: Service
    metadata:
      name: kafka  # <- here
    spec:
      clusterIP: None
      selector: {app: kafka-broker}
      ports: [{port: 9092}]
    ---
    apiVersion: apps/v1
    kind: StatefulSet
    metadata:
      name: kafka
    spec:
      serviceName: kafka
      template:
        metadata:
          labels: {app: kafka}
        spec:
          containers:
            - name: kafka
              image: apache/kafka:3.9.1
              env:
                - {name: KAFKA_NODE_ID, value: "1"}
                - {name: KAFKA_PROCESS_ROLES, value: "broker,controller"}
                - {name: KAFKA_LISTENERS, value: "PLAINTEXT://:9092,CONTROLLER://:9093"}
                - {name: KAFKA_ADVERTISED_LISTENERS, value: "PLAINTEXT://kafka-0.kafka:9092"}
                - {name: KAFKA_CONTROLLER_LISTENER_NAMES, value: CONTROLLER}
                - {name: KAFKA_CONTROLLER_QUORUM_VOTERS, value: "1@localhost:9093"}
                - {name: KAFKA_LISTENER_SECURITY_PROTOCOL_MAP, value: "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT"}

Good:
    apiVersion: v1
    kind: Service
    metadata:
      name: kafka
    spec:
      clusterIP: None
      selector: {app: kafka}
      ports: [{port: 9092}]
    ---
    apiVersion: apps/v1
    kind: StatefulSet
    metadata:
      name: kafka
    spec:
      serviceName: kafka
      template:
        metadata:
          labels: {app: kafka}
        spec:
          containers:
            - name: kafka
              image: apache/kafka:3.9.1
              env:
                - {name: KAFKA_NODE_ID, value: "1"}
                - {name: KAFKA_PROCESS_ROLES, value: "broker,controller"}
                - {name: KAFKA_LISTENERS, value: "PLAINTEXT://:9092,CONTROLLER://:9093"}
                - {name: KAFKA_ADVERTISED_LISTENERS, value: "PLAINTEXT://kafka-0.kafka:9092"}
                - {name: KAFKA_CONTROLLER_LISTENER_NAMES, value: CONTROLLER}
                - {name: KAFKA_CONTROLLER_QUORUM_VOTERS, value: "1@localhost:9093"}
                - {name: KAFKA_LISTENER_SECURITY_PROTOCOL_MAP, value: "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT"}

Seen: Couldn't resolve server kafka-0.kafka:9092 from bootstrap.servers as DNS resolution failed for kafka-0.kafka

Sources: Kubernetes 1.34, "Service" and "DNS for Services and Pods".
"""

from collections.abc import Iterator

from netdiag.deployment.model.kubernetes import KubernetesService, Manifests
from netdiag.findings import Finding, Related, Severity
from netdiag.rules.kubernetes_findings import file_of

ID = "kubernetes-service-no-pods"
SEVERITY = Severity.WARNING


def check(manifests: Manifests) -> Iterator[Finding]:
    """One finding for every Service without pods beside brokers that are known by its name."""
    for service in manifests.services:
        if service.finds_pods or not service.selects or service.made_by:
            continue
        known = next(
            (
                broker
                for broker in manifests.brokers
                if broker.namespace == service.namespace
                and file_of(broker.where) == file_of(service.where)
                and (broker.subdomain == service.name or _is_told(service, manifests))
            ),
            None,
        )
        if known is not None:
            yield Finding(
                rule=ID,
                severity=SEVERITY,
                message=f"Service {service.name} selects no pod of these manifests",
                location=service.where,
                related=(Related(location=known.where, message="these brokers are known by its name"),),
                why="a Service leads to the pods whose labels have all that its selector asks for",
                hint="give the selector the labels of the template",
                service=service.name,
            )


def _is_told(service: KubernetesService, manifests: Manifests) -> bool:
    """Whether brokers advertise the name of a Service."""
    told = (one.told for broker in manifests.brokers for one in broker.listeners if one.told is not None)
    return any(service.name in address.host.split(".")[:2] for address in told)
