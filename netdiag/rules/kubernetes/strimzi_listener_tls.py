"""A listener of Strimzi does without the TLS that it needs.

Why: A router tells connections apart by the name in their TLS greeting, so route and ingress do not work without. A
client shows its certificate (authentication `tls`), and a broker one of your own (`brokerCertChainAndKey`), in TLS
only. The operator refuses the whole resource, and the cluster stays as it was.

Bad:
    apiVersion: kafka.strimzi.io/v1
    kind: Kafka
    metadata:
      name: my-cluster
    spec:
      kafka:
        listeners:
          - name: external
            port: 9094
            type: route
            tls: false  # <- here

Good:
    apiVersion: kafka.strimzi.io/v1
    kind: Kafka
    metadata:
      name: my-cluster
    spec:
      kafka:
        listeners:
          - name: external
            port: 9094
            type: route
            tls: true

Seen: Listener configuration is not valid: [listener external is Route or Ingress type listener and requires enabled …

Sources: Strimzi 1.2 (`ListenersValidator`).
"""

from collections.abc import Iterator

from netdiag.deployment.model.kubernetes import Exposure, Manifests, StrimziListener
from netdiag.deployment.sources.documents import key_span, mapping_in, text_in
from netdiag.deployment.sources.kubernetes.strimzi import exposure_of, has_tls
from netdiag.findings import Finding, Severity
from netdiag.rules.kubernetes_findings import called, edit_of, strimzi_listeners

ID = "strimzi-listener-tls"
SEVERITY = Severity.ERROR


def check(manifests: Manifests) -> Iterator[Finding]:
    """One finding for every listener without TLS that has something which needs it, or a certificate without a key."""
    for cluster, listener in strimzi_listeners(manifests):
        why = _needs(listener)
        if why and has_tls(listener) is False:
            tls = listener.tls
            yield Finding(
                rule=ID,
                severity=SEVERITY,
                message=f"{called(listener)} of {cluster.name} needs TLS",
                location=tls.span if tls is not None else listener.where,
                why=why,
                hint="write tls: true",
                service=cluster.name,
                edits=edit_of(tls, 0, len(tls), "true", safe=False) if tls is not None else (),
            )
        certificate = mapping_in(listener.configuration, "brokerCertChainAndKey") if listener.configuration else None
        missing = [
            key
            for key in ("secretName", "certificate", "key")
            if certificate is not None and not ((text := text_in(certificate, key)) and text.value)
        ]
        if missing and listener.configuration is not None:
            yield Finding(
                rule=ID,
                severity=SEVERITY,
                message=f"the certificate of {called(listener)} of {cluster.name} has no {missing[0]}",
                location=key_span(listener.configuration, "brokerCertChainAndKey"),
                why="Strimzi looks for the certificate and its key in a Secret by these names",
                hint=f"add {missing[0]}",
                service=cluster.name,
            )


def _needs(listener: StrimziListener) -> str:
    """Why a listener needs TLS; empty where it does not."""
    if exposure_of(listener) in (Exposure.ROUTE, Exposure.INGRESS):
        return "a router tells connections apart by the name in their TLS greeting"
    if listener.authentication is not None and listener.authentication.value == "tls":
        return "with authentication tls, clients show their certificate in TLS"
    if listener.configuration is not None and listener.configuration.get("brokerCertChainAndKey") is not None:
        return "a certificate of your own is shown in TLS only"
    return ""
