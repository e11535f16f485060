"""What stands below a matrix or a trace, each as text and as values of JSON: causes, the mesh of a cluster, security.

The mesh, which member reaches which, has a sentence for each kind of edge, a grid where not all of them hold, and every
cut edge by name. Security has a block for each port with its certificate and what is wrong with it.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from netdiag.deployment.model.causes import Cause, Certainty, Explanation, Repair
from netdiag.deployment.model.verdict import Answered, Contact, Unknown
from netdiag.deployment.prediction.mesh import Edge, EdgeKind, Mesh, edge_outcome, is_cut
from netdiag.kafka.security import Certificate, CertificateFault, SaslOffer, TlsHandshake
from netdiag.render.redact import redacted
from netdiag.render.report import SeenPort
from netdiag.render.screen import Line, Run, Screen, Style, hanging, width, wrap
from netdiag.render.wording import first_names, plural

_STYLES = {Certainty.PROVEN: Style.BAD, Certainty.FOUND: Style.BAD}
_MOST_EVIDENCE = 3
_MOST_REPAIRS = 3
# More groups of connections with the same causes are counted; JSON has them all.
_MOST_GROUPS = 12
_MOST_NAMES = 6


def cause_lines(causes: Sequence[Cause], screen: Screen, *, indent: str = "  ") -> Iterator[Line]:
    """The likeliest cause with its evidence and repairs, then the others in a line each."""
    for number, cause in enumerate(causes):
        certainty = f" ({cause.certainty.value})" if cause.certainty is not Certainty.FOUND else ""
        yield (
            Run(indent),
            Run(cause.mechanism.value, _STYLES.get(cause.certainty, Style.HALF)),
            screen.run(f"{certainty}: {redacted(cause.because)}"),
        )
        if number:
            continue
        for line in cause.evidence[:_MOST_EVIDENCE]:
            yield (screen.run(f"{indent}  evidence: {redacted(line)}", Style.DIM),)
        for repair in cause.repairs[:_MOST_REPAIRS]:
            yield from _repair(repair, screen, indent)


def explained_lines(explained: Sequence[Explanation], screen: Screen) -> list[Line]:
    """A block for every different explanation, with the connections that it is of."""
    groups: dict[tuple[Cause, ...], list[Explanation]] = {}
    for one in explained:
        groups.setdefault(one.causes, []).append(one)
    lines: list[Line] = []
    for causes, members in list(groups.items())[:_MOST_GROUPS]:
        addresses = list(dict.fromkeys(str(one.address) for one in members))
        vantages = list(dict.fromkeys(one.vantage for one in members))
        who = f"{first_names(vantages, _MOST_NAMES)} {screen.glyphs.arrow} {first_names(addresses, _MOST_NAMES)}"
        lines += [(Run("why ", Style.BOLD), screen.run(who, Style.BOLD)), *cause_lines(causes, screen)]
    if len(groups) > _MOST_GROUPS:
        lines.append((Run(f"why: {len(groups) - _MOST_GROUPS} more; --format json has all", Style.DIM),))
    return lines


def cause_value(cause: Cause) -> dict[str, Any]:
    """One cause as JSON."""
    return {
        "mechanism": cause.mechanism.value,
        "certainty": cause.certainty.value,
        "because": redacted(cause.because),
        "evidence": [redacted(line) for line in cause.evidence],
        "repairs": [
            {"text": redacted(one.text), "confirmed": one.confirmed, "because": redacted(one.because)}
            for one in cause.repairs
        ],
    }


def explained_value(input_name: str, explained: Explanation) -> dict[str, Any]:
    """One explained connection as JSON; the likeliest cause stands first."""
    return {
        "input": input_name,
        "vantage": explained.vantage,
        "host": explained.address.host,
        "port": explained.address.port,
        "causes": [cause_value(cause) for cause in explained.causes],
    }


def _repair(repair: Repair, screen: Screen, indent: str) -> Iterator[Line]:
    said = "tested in the model" if repair.confirmed else repair.because
    style = Style.GOOD if repair.confirmed else Style.HALF
    yield (
        Run(f"{indent}  repair: "),
        screen.run(redacted(repair.text)),
        screen.run(f" ({redacted(said)})", style),
    )


_INDENT = "  "
_GAP = "  "
_MOST_NAMED = 40


def mesh_lines(mesh: Mesh, screen: Screen, *, name: str = "") -> list[Line]:
    """The lines; none where there are no edges. `name` is the input, where there are several."""
    if not mesh.edges:
        return []
    title = "Connections between members of the cluster" + (f": {name}" if name else "")
    lines: list[Line] = [(screen.run(title, Style.BOLD), Run("  (from inside each member)", Style.DIM))]
    for kind in EdgeKind:
        edges = [edge for edge in mesh.edges if edge.kind is kind]
        if edges:
            lines += _kind(kind, edges, screen)
    return lines + [line for source, because in mesh.skipped for line in _skipped(source, because, screen)]


def edge_value(input_name: str, edge: Edge) -> dict[str, Any]:
    """One edge; `cut` is null where nobody looked, or could not tell."""
    return {
        "input": input_name,
        "kind": edge.kind.value,
        "source": edge.source,
        "target": edge.target or None,
        "host": edge.address.host,
        "port": edge.address.port,
        "predicted": _contact_value(edge, edge.predicted),
        "observed": _contact_value(edge, edge.observed),
        "cut": is_cut(edge),
    }


def _kind(kind: EdgeKind, edges: Sequence[Edge], screen: Screen) -> Iterator[Line]:
    seen = [edge for edge in edges if edge.observed is not None]
    cut = [edge for edge in seen if is_cut(edge)]
    open_ = [edge for edge in seen if is_cut(edge) is None]
    if not seen:
        yield (Run(f"{_INDENT}{kind.value}: "), Run(f"{plural(len(edges), 'connection')} not checked", Style.DIM))
        return
    if not cut and not open_:
        yield (Run(f"{_INDENT}{kind.value}: "), Run(_all_hold(len(seen)), Style.GOOD))
        return
    text = (
        f"{len(cut)} of {plural(len(seen), 'connection')} fail"
        if cut
        else f"{plural(len(open_), 'connection')} unknown"
    )
    yield (Run(f"{_INDENT}{kind.value}: "), Run(text, Style.BAD if cut else Style.HALF))
    yield from _grid(edges, screen)
    for edge in [*cut, *open_][:_MOST_NAMED]:
        yield from _named(edge, screen)
    if len(cut) + len(open_) > _MOST_NAMED:
        yield (Run(f"{_INDENT * 2}and {len(cut) + len(open_) - _MOST_NAMED} more", Style.DIM),)


def _all_hold(count: int) -> str:
    return "the only connection works" if count == 1 else f"all {count} connections work"


def _grid(edges: Sequence[Edge], screen: Screen) -> Iterator[Line]:
    """Sources downwards, targets across; nothing where it would not fit."""
    sources = sorted({edge.source for edge in edges})
    targets = sorted({_target(edge) for edge in edges})
    words = {(edge.source, _target(edge)): edge for edge in edges}
    heads = [screen.visible(target) for target in targets]
    cells = [[_cell(words.get((source, target))) for target in targets] for source in sources]
    names = [screen.visible(source) for source in sources]
    first = max(map(width, names))
    columns = [max(width(head), *(width(row[i].text) for row in cells)) for i, head in enumerate(heads)]
    if len(_INDENT) * 2 + first + sum(column + len(_GAP) for column in columns) > screen.width:
        return
    yield (
        Run(_INDENT * 2 + " " * first),
        *(Run(_GAP + _filled(head, column), Style.BOLD) for head, column in zip(heads, columns, strict=True)),
    )
    for name, row in zip(names, cells, strict=True):
        runs = [Run(_INDENT * 2 + _filled(name, first))]
        for run, column in zip(row, columns, strict=True):
            runs += [Run(_GAP), Run(_filled(run.text, column), run.style)]
        yield tuple(runs)


def _cell(edge: Edge | None) -> Run:
    if edge is None:
        return Run("-", Style.DIM)
    if edge.observed is None:
        return Run("?", Style.DIM)
    word = edge_outcome(edge, edge.observed)
    cut = is_cut(edge)
    return Run(word, Style.HALF if cut is None else Style.BAD if cut else Style.GOOD)


def _target(edge: Edge) -> str:
    return edge.target or str(edge.address)


def _named(edge: Edge, screen: Screen) -> Iterator[Line]:
    assert edge.observed is not None
    at = f" at {edge.address}" if edge.target else ""
    word = edge_outcome(edge, edge.observed)
    head = f"{edge.source} {screen.glyphs.arrow} {_target(edge)}{at}: {word}"
    predicted = edge.predicted
    expected = None if predicted is None or isinstance(predicted, Unknown) else edge_outcome(edge, predicted)
    differs = f"; predicted: {expected}" if expected not in (None, word) else ""
    text = screen.visible(redacted(f"{head}, {edge.observed.because}{differs}"))
    for number, part in enumerate(wrap(text, max(30, screen.width - len(_INDENT) * 3))):
        yield (Run(_INDENT * (2 if number == 0 else 3)), Run(part))


def _skipped(source: str, because: str, screen: Screen) -> Iterator[Line]:
    yield from hanging((Run(_INDENT),), redacted(f"not checked from {source}: {because}"), screen, Style.DIM)


def _filled(text: str, columns: int) -> str:
    return text + " " * (columns - width(text))


def _contact_value(edge: Edge, contact: Contact | None) -> dict[str, Any] | None:
    if contact is None:
        return None
    answered = contact if isinstance(contact, Answered) else None
    return {
        "outcome": edge_outcome(edge, contact),
        "answered_by": answered.node_id if answered else None,
        "because": redacted(contact.because) or None,
    }


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
