"""Findings about the certificates that were shown, one for every listener and fault."""

from collections.abc import Iterator

from netdiag.deployment.live_view import LiveView, SecuredPort
from netdiag.findings import ContainerLocation, Finding, Severity
from netdiag.kafka.security import CertificateFault
from netdiag.rules.live_meant import written
from netdiag.rules.live_words import listed


def certificate_findings(
    view: LiveView, rule: str, severity: Severity, faults: tuple[CertificateFault, ...], *, says: str, hint: str
) -> Iterator[Finding]:
    """The findings; `says` is what the message tells of the certificate, before the addresses where it was shown."""
    groups: dict[tuple[str, str, CertificateFault, str], list[SecuredPort]] = {}
    for seen in view.security:
        for fault, detail in seen.sight.tls.faults if seen.sight.tls else ():
            if fault in faults:
                whose = (seen.member, seen.listener) if seen.member else (str(seen.address), "")
                groups.setdefault((*whose, fault, detail), []).append(seen)
    for (name, listener, fault, detail), found in groups.items():
        broker = view.deployment.broker(name)
        addresses = listed(str(one.address) for one in found)
        yield Finding(
            rule=rule,
            severity=severity,
            message=f"the certificate of {f'{listener} of {name}' if listener else name} {says}: {addresses}",
            location=ContainerLocation(container=name, part=listener),
            why=f"{fault.value}: {detail}" if detail else fault.value,
            hint=hint,
            related=written(view, broker, "advertised.listeners") if broker else (),
            service=name if broker else None,
            listener=listener or None,
        )
