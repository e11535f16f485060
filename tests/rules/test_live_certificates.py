"""Certificates: one finding for every listener and fault."""

from netdiag.deployment.live_view import LiveView, SecuredPort
from netdiag.deployment.observations import Address
from netdiag.findings import Severity
from netdiag.kafka.security import CertificateFault, SecuritySight, Spoken, TlsSight
from netdiag.rules.live_certificates import certificate_findings
from tests.deployment.stacks import deployment_of, five_brokers


def shown(vantage: str, host: str, member: str = "") -> SecuredPort:
    faults = ((CertificateFault.EXPIRED, "it ended"), (CertificateFault.WEAK_KEY, "RSA 512"))
    tls = TlsSight(versions=(), cipher="", chain=(), wants_client=False, needs_client=False, faults=faults)
    listener = "EXTERNAL" if member else ""
    address = Address(host=host, port=9091)
    sight = SecuritySight(spoken=Spoken.SSL, tls=tls)
    return SecuredPort(vantage=vantage, address=address, member=member, listener=listener, sight=sight)


def test_the_same_listener_under_two_names_is_told_of_once() -> None:
    ports = (shown("docker host", "localhost", "broker-1"), shown("LAN", "lab", "broker-1"), shown("LAN", "stranger"))
    view = LiveView(deployment=deployment_of(five_brokers()), security=ports)
    expired = (CertificateFault.EXPIRED,)
    found = list(certificate_findings(view, "r", Severity.ERROR, expired, says="has expired", hint="renew it"))
    assert [(f.message, f.service) for f in found] == [
        ("the certificate of EXTERNAL of broker-1 has expired: localhost:9091 and lab:9091", "broker-1"),
        ("the certificate of stranger:9091 has expired: stranger:9091", None),
    ]
    assert {f.why for f in found} == {"expired: it ended"}
