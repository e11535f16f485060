"""A variable of a broker names another one that is not defined above it.

Why: Kubernetes replaces $(NAME) by the value of a variable that stands earlier in the list, and leaves every other
one as it is. The broker then gets the letters $(NAME).

Bad:
    apiVersion: apps/v1
    kind: StatefulSet
    metadata:
      name: kafka
    spec:
      serviceName: kafka
      template:
        spec:
          containers:
            - name: kafka
              image: confluentinc/cp-kafka:7.9.2
              env:
                - {name: KAFKA_ZOOKEEPER_CONNECT, value: "zookeeper:2181"}
                - name: KAFKA_ADVERTISED_LISTENERS
                  value: PLAINTEXT://$(POD_NAME).kafka:9092  # <- here
                - name: POD_NAME
                  valueFrom: {fieldRef: {fieldPath: metadata.name}}

Good:
    apiVersion: apps/v1
    kind: StatefulSet
    metadata:
      name: kafka
    spec:
      serviceName: kafka
      template:
        spec:
          containers:
            - name: kafka
              image: confluentinc/cp-kafka:7.9.2
              env:
                - {name: KAFKA_ZOOKEEPER_CONNECT, value: "zookeeper:2181"}
                - name: POD_NAME
                  valueFrom: {fieldRef: {fieldPath: metadata.name}}
                - name: KAFKA_ADVERTISED_LISTENERS
                  value: PLAINTEXT://$(POD_NAME).kafka:9092

Seen: Unable to parse PLAINTEXT://$(POD_NAME).kafka:9092 to a broker endpoint

Sources: Kubernetes 1.34, "Define Dependent Environment Variables".
"""

from collections.abc import Iterator

from netdiag.deployment.model.kubernetes import Manifests
from netdiag.findings import Finding, Related, Severity

ID = "kubernetes-variable-unexpanded"
SEVERITY = Severity.ERROR


def check(manifests: Manifests) -> Iterator[Finding]:
    """One finding for every name that stays as it is."""
    for one in manifests.unexpanded:
        below = one.defined
        yield Finding(
            rule=ID,
            severity=SEVERITY,
            message=f"$({one.name}) in {one.variable} of {one.broker} stays as it is",
            location=one.where,
            related=(Related(location=below, message="it is defined here, too late"),) if below is not None else (),
            why="Kubernetes replaces names of variables that are defined above",
            hint=f"define {one.name} above {one.variable}",
            service=one.broker,
        )
