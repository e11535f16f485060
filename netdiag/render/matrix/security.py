"""What ports show of their security: as text, and as values of the JSON of check-listeners.

The text has a block for each port with its certificate and what is wrong with it.
"""

from collections.abc import Iterator
from typing import Any

from netdiag.kafka.security import Certificate, CertificateFault, SaslOffer, TlsHandshake
from netdiag.render.redact import redacted
from netdiag.render.report import SeenPort
from netdiag.render.screen import Line, Run, Screen, Style
from netdiag.render.wording import first_names

_NAMES_SHOWN = 6
# Rather a warning than a fault.
_MILD = frozenset({CertificateFault.EXPIRES_SOON, CertificateFault.WEAK_KEY, CertificateFault.WEAK_SIGNATURE})


def security_lines(ports: tuple[SeenPort, ...], screen: Screen) -> list[Line]:
    """The section; what several addresses of one listener show alike stands there once."""
    lines: list[Line] = [(Run("Protocol of each port", Style.BOLD), Run("  (observed)", Style.DIM))]
    groups: dict[tuple[object, ...], list[SeenPort]] = {}
    for seen in ports:
        port = seen.port
        key = (seen.input, port.member, port.listener, port.sight) if port.member else (seen.input, port)
        groups.setdefault(key, []).append(seen)
    for group in groups.values():
        lines += _port_lines(group, screen)
    return lines


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
        "tls": _tls_value(sight.tls) if sight.tls else None,
        "sasl": _sasl_value(sight.sasl) if sight.sasl else None,
    }


def _port_lines(group: list[SeenPort], screen: Screen) -> Iterator[Line]:
    port = group[0].port
    sight = port.sight
    where = ", ".join(dict.fromkeys(str(seen.port.address) for seen in group))
    whose = f"  listener {port.listener} of {port.member}" if port.member else ""
    yield (
        Run("  "),
        screen.run(where, Style.BOLD),
        screen.run(f"  {sight.spoken.value}", Style.PLACE),
        screen.run(whose, Style.DIM),
        screen.run(f", seen from {port.vantage}", Style.DIM),
    )
    if sight.detail:
        yield (Run("    "), screen.run(redacted(sight.detail)))
    if sight.tls is not None:
        yield from _tls_lines(sight.tls, screen)
    if sight.sasl is not None:
        yield _sasl_line(sight.sasl, screen)


def _tls_lines(tls: TlsHandshake, screen: Screen) -> Iterator[Line]:
    offers = ", ".join(tls.versions) or "unknown version"
    cipher = f" with {tls.cipher}" if tls.cipher else ""
    client = ""
    if tls.wants_client:
        client = "; requires a client certificate" if tls.needs_client else "; accepts a client certificate"
    yield (Run("    "), screen.run(f"{offers}{cipher}{client}"))
    if tls.chain:
        yield (Run("    "), screen.run(_certificate_text(tls.chain[0])))
    for above in tls.chain[1:]:
        yield (Run("    "), screen.run(f"  under {above.subject} until {above.not_after:%Y-%m-%d}"))
    for fault, detail in tls.faults:
        style = Style.WARNING if fault in _MILD else Style.ERROR
        yield (Run("    "), screen.run(fault.value, style), screen.run(f": {detail}"))


def _certificate_text(own: Certificate) -> str:
    names = first_names((*own.names, *own.addresses), _NAMES_SHOWN)
    by = "itself" if own.subject == own.issuer else own.issuer
    return (
        f"{own.subject} by {by} until {own.not_after:%Y-%m-%d}, {own.key}, for {names or own.common_name or 'nobody'}"
    )


def _sasl_line(sasl: SaslOffer, screen: Screen) -> Line:
    offers = ", ".join(sasl.mechanisms) or "unknown mechanisms"
    line: list[Run] = [Run("    "), screen.run(f"SASL: {offers}")]
    if sasl.authenticated:
        line.append(screen.run(f"; authenticated with {sasl.mechanism}", Style.GOOD))
    elif sasl.authenticated is False:
        line += [Run("; "), screen.run("not authenticated", Style.ERROR), screen.run(f": {redacted(sasl.error)}")]
    return tuple(line)


def _tls_value(tls: TlsHandshake) -> dict[str, Any]:
    return {
        "versions": list(tls.versions),
        "cipher": tls.cipher or None,
        "wants_client": tls.wants_client,
        "needs_client": tls.needs_client,
        "faults": [{"fault": fault.value, "detail": detail} for fault, detail in tls.faults],
        "chain": [_certificate_value(certificate) for certificate in tls.chain],
    }


def _certificate_value(certificate: Certificate) -> dict[str, Any]:
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


def _sasl_value(sasl: SaslOffer) -> dict[str, Any]:
    return {
        "mechanisms": list(sasl.mechanisms),
        "mechanism": sasl.mechanism or None,
        "authenticated": sasl.authenticated,
        "error": redacted(sasl.error) or None,
    }
