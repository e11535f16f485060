"""What ports told about their security, as the JSON of `check-listeners`."""

from typing import Any

from netdiag.kafka.security import Certificate, SaslSight, TlsSight
from netdiag.render.redact import redacted
from netdiag.render.report import SeenPort


def security_value(seen: SeenPort) -> dict[str, Any]:
    """One port by one name."""
    port, sight = seen.port, seen.port.sight
    return {
        "input": seen.input,
        "vantage": port.vantage,
        "address": str(port.address),
        "broker": port.member or None,
        "listener": port.listener or None,
        "spoken": sight.spoken.value,
        "detail": redacted(sight.detail) or None,
        "tls": _tls(sight.tls) if sight.tls else None,
        "sasl": _sasl(sight.sasl) if sight.sasl else None,
    }


def _tls(tls: TlsSight) -> dict[str, Any]:
    return {
        "versions": list(tls.versions),
        "cipher": tls.cipher or None,
        "wants_client": tls.wants_client,
        "needs_client": tls.needs_client,
        "faults": [{"fault": fault.value, "detail": detail} for fault, detail in tls.faults],
        "chain": [_certificate(certificate) for certificate in tls.chain],
    }


def _certificate(certificate: Certificate) -> dict[str, Any]:
    return {
        "subject": certificate.subject,
        "issuer": certificate.issuer,
        "names": list(certificate.names),
        "addresses": list(certificate.addresses),
        "not_before": certificate.not_before.isoformat(),
        "not_after": certificate.not_after.isoformat(),
        "key": certificate.key,
        "signature": certificate.signature,
        "is_authority": certificate.is_authority,
        "sha256": certificate.fingerprint,
    }


def _sasl(sasl: SaslSight) -> dict[str, Any]:
    return {
        "mechanisms": list(sasl.mechanisms),
        "mechanism": sasl.mechanism or None,
        "authenticated": sasl.authenticated,
        "error": redacted(sasl.error) or None,
    }
