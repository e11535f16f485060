"""A Service leads to a port of brokers that their containers do not name.

Why: A targetPort in words is the name of a port of the container. Without such a port, the Service has no endpoints
there, and connections to it go nowhere.

Bad:
    apiVersion: v1
    kind: Service
    metadata:
      name: kafka
    spec:
      selector: {app: kafka}
      ports:
        - port: 9092
          targetPort: client  # <- here
    ---
    apiVersion: apps/v1
    kind: StatefulSet
    metadata:
      name: kafka
    spec:
      serviceName: kafka-pods
      template:
        metadata:
          labels: {app: kafka}
        spec:
          containers:
            - name: kafka
              image: apache/kafka:3.9.1
              ports: [{name: clients, containerPort: 9092}]
              env:
                - {name: KAFKA_NODE_ID, value: "1"}
                - {name: KAFKA_PROCESS_ROLES, value: "broker,controller"}
                - {name: KAFKA_LISTENERS, value: "PLAINTEXT://:9092,CONTROLLER://:9093"}
                - {name: KAFKA_ADVERTISED_LISTENERS, value: "PLAINTEXT://kafka:9092"}
                - {name: KAFKA_CONTROLLER_LISTENER_NAMES, value: CONTROLLER}
                - {name: KAFKA_CONTROLLER_QUORUM_VOTERS, value: "1@localhost:9093"}
                - {name: KAFKA_LISTENER_SECURITY_PROTOCOL_MAP, value: "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT"}

Good:
    apiVersion: v1
    kind: Service
    metadata:
      name: kafka
    spec:
      selector: {app: kafka}
      ports:
        - port: 9092
          targetPort: clients
    ---
    apiVersion: apps/v1
    kind: StatefulSet
    metadata:
      name: kafka
    spec:
      serviceName: kafka-pods
      template:
        metadata:
          labels: {app: kafka}
        spec:
          containers:
            - name: kafka
              image: apache/kafka:3.9.1
              ports: [{name: clients, containerPort: 9092}]
              env:
                - {name: KAFKA_NODE_ID, value: "1"}
                - {name: KAFKA_PROCESS_ROLES, value: "broker,controller"}
                - {name: KAFKA_LISTENERS, value: "PLAINTEXT://:9092,CONTROLLER://:9093"}
                - {name: KAFKA_ADVERTISED_LISTENERS, value: "PLAINTEXT://kafka:9092"}
                - {name: KAFKA_CONTROLLER_LISTENER_NAMES, value: CONTROLLER}
                - {name: KAFKA_CONTROLLER_QUORUM_VOTERS, value: "1@localhost:9093"}
                - {name: KAFKA_LISTENER_SECURITY_PROTOCOL_MAP, value: "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT"}

Seen: Bootstrap broker kafka:9092 (id: -1 rack: null) disconnected

Sources: Kubernetes 1.34, "Service", port definitions.
"""

from collections.abc import Iterator

from netdiag.deployment.model.kubernetes import Manifests
from netdiag.findings import Finding, Severity

ID = "kubernetes-service-target-port"
SEVERITY = Severity.ERROR


def check(manifests: Manifests) -> Iterator[Finding]:
    """One finding for every port of a Service of brokers that leads to a name which no container has."""
    for service in manifests.services:
        if not service.brokers or service.made_by:
            continue
        # Ports of the pods of an operator stand in no file.
        if any(broker.subdomain.endswith("-kafka-brokers") for broker in manifests.of(service.brokers)):
            continue
        for port in service.ports:
            if port.target is None:
                yield Finding(
                    rule=ID,
                    severity=SEVERITY,
                    message=f"port {port.port} of Service {service.name} leads to a port that no container names",
                    location=port.where,
                    why="a Service has no endpoints at a port whose name no container has",
                    hint="give targetPort the number, or the name that the container has for it",
                    service=service.name,
                )
