"""What an editor shows beside a document: hints behind addresses, and Markdown that explains a place."""

from collections.abc import Iterator, Sequence

from netdiag.deployment.declared_addresses import DeclaredAddress, Role
from netdiag.deployment.model.vantage import Vantage, VantageKind
from netdiag.deployment.model.verdict import Address, Failed, Mechanism, Verdict, Word
from netdiag.findings import FileLocation
from netdiag.patterns import regex
from netdiag.render.findings.finding_text import plain
from netdiag.render.matrix.matrix_text import effective_verdict, verdict_explanation, verdict_word
from netdiag.render.report import AddressRow, Report
from netdiag.render.rule_pages import escaped, rule_markdown
from netdiag.render.screen import UNICODE
from netdiag.rules.rule import rule_page
from netdiag.rules.selection import WITHOUT_RULE

_MARKS = {Word.OK: "✓", Word.PARTIAL: "◐", Word.AMBIGUOUS: "◐", Word.UNKNOWN: "?"}
_FAILS = "✗"
_SHORT = {VantageKind.DOCKER_HOST: "host", VantageKind.LAN: "LAN", VantageKind.OTHER_NETWORK: "elsewhere"}
# Brokers that share the text of one address (an anchor, a template) beyond these are counted.
_MOST_OWNERS = 3
_MOST_LINES = 40
_MOST_FOREIGN = 300
_MENTION = regex(rb"netdiag:\s*ignore(?:-file)?\s*\[([^\]\n]{0,2000})\]")
_ID = regex(rb"[a-z0-9-]+")


class AddressTexts:
    """The addresses in the files of a report, and what there is to say about each of them."""

    def __init__(self, report: Report) -> None:
        self._places: dict[str, dict[FileLocation, dict[AddressRow, None]]] = {}
        for row in report.addresses:
            where = row.address.where
            self._places.setdefault(where.path, {}).setdefault(where, {})[row] = None
        self._cells: dict[tuple[str, Address], list[tuple[Vantage, Verdict]]] = {}
        for matrix in report.matrices:
            vantages = {vantage.label: vantage for vantage in matrix.vantages}
            for cell in matrix.cells:
                verdict = effective_verdict(cell)
                if verdict is not None:
                    known = self._cells.setdefault((matrix.input, cell.bootstrap), [])
                    known.append((vantages[cell.vantage], verdict))

    def places(self, path: str) -> Iterator[tuple[FileLocation, tuple[AddressRow, ...]]]:
        """The places in a file where addresses stand, each with all that stand there: brokers may share a text."""
        return ((place, tuple(rows)) for place, rows in self._places.get(path, {}).items())

    def hint(self, rows: Sequence[AddressRow]) -> str:
        """From where an address works, in a few words; empty for what listeners bind, and without a prediction."""
        texts: dict[str, str] = {}
        for row in rows:
            text = _hint(self._of(row), row.address)
            if text:
                texts.setdefault(text, row.address.owner)
        if len(texts) < 2:
            return next(iter(texts), "")
        shown = [f"{plain(owner)}: {text}" for text, owner in texts.items()]
        more = f"; {len(shown) - _MOST_OWNERS} more" if len(shown) > _MOST_OWNERS else ""
        return "; ".join(shown[:_MOST_OWNERS]) + more

    def markdown(self, rows: Sequence[AddressRow]) -> str:
        """What an address is, and what a client gets at it from every vantage: both hops, in words."""
        parts = []
        for row in rows[:_MOST_OWNERS]:
            cells = self._of(row)
            lines = [
                f"- {_mark(verdict)} {_foreign(vantage.label)}: {_foreign(verdict_explanation(verdict))}"
                for vantage, verdict in cells[:_MOST_LINES]
            ]
            lines += [f"- and {len(cells) - _MOST_LINES} more"] if len(cells) > _MOST_LINES else []
            parts.append("\n".join([_title(row.address), "", *lines]).rstrip())
        if len(rows) > _MOST_OWNERS:
            parts.append(f"and {len(rows) - _MOST_OWNERS} more")
        return "\n\n".join(parts)

    def _of(self, row: AddressRow) -> list[tuple[Vantage, Verdict]]:
        """What the vantages get at an address; at one that a client is given, that client alone."""
        if row.address.role is Role.LISTENER:
            return []
        cells = self._cells.get((row.input, row.address.address), [])
        if row.address.role is not Role.BOOTSTRAP:
            return cells
        return [(vantage, verdict) for vantage, verdict in cells if vantage.member == row.address.owner]


def rule_mentions(data: bytes) -> Iterator[tuple[int, int, str]]:
    """The ids of rules in comments that ignore them: first and last byte, and the id."""
    for mention in _MENTION.finditer(data):
        for word in _ID.finditer(data, mention.start(1), mention.end(1)):
            yield word.start(), word.end(), word[0].decode()


def rule_markdown_of(name: str) -> str | None:
    """The page of a rule; None where there is none of that name."""
    from netdiag.rules.all_rules import ALL  # every rule: whoever asks for none does not pay for it

    if name in WITHOUT_RULE:
        return f"**{name}**: {escaped(WITHOUT_RULE[name])}"
    rule = next((known for known in ALL if name == known.ID), None)
    if rule is None:
        return None
    return f"**{name}** ({rule.SEVERITY.value})\n\n{rule_markdown(rule_page(rule.__doc__ or ''))}"


def _hint(cells: Sequence[tuple[Vantage, Verdict]], address: DeclaredAddress) -> str:
    if not cells:
        return ""
    if address.role is Role.BOOTSTRAP:
        return _outcome(cells[0][1])
    outcomes: dict[str, str] = {}
    networks = {
        vantage.label: _outcome(verdict)
        for vantage, verdict in cells
        if vantage.kind is VantageKind.CONTAINER and vantage.member is None
    }
    for vantage, verdict in cells:
        if vantage.kind in (VantageKind.BROKER, VantageKind.OTHER_NETWORK) or vantage.label.startswith("inside "):
            continue
        if vantage.kind is VantageKind.LAN and not verdict.usable:
            continue
        if vantage.label in networks:
            if len(set(networks.values())) == 1:
                outcomes["containers"] = networks[vantage.label]
            else:
                outcomes[plain(vantage.label).removeprefix("container ")] = networks[vantage.label]
        else:
            outcomes[_SHORT.get(vantage.kind, plain(vantage.label))] = _outcome(verdict)
    return " · ".join(f"{name} {outcome}" for name, outcome in outcomes.items())


def _outcome(verdict: Verdict) -> str:
    mark = _mark(verdict)
    if verdict.usable:
        return mark
    if isinstance(verdict.bootstrap, Failed) and verdict.bootstrap.mechanism is Mechanism.OWN_LOOPBACK:
        return f"{mark} localhost"
    return mark if mark == "?" else f"{mark} {verdict_word(verdict, UNICODE)}"


def _mark(verdict: Verdict) -> str:
    return _MARKS.get(verdict.word, _FAILS)


def _title(address: DeclaredAddress) -> str:
    owner, where = _code(address.owner), _code(str(address.address))
    listener = f"Listener {_code(address.listener)} of {owner}" if address.listener else f"A listener of {owner}"
    match address.role:
        case Role.ADVERTISED:
            return f"{listener} advertises {where}. Who can connect there:"
        case Role.LISTENER:
            return f"{listener} listens on {where}."
        case Role.BOOTSTRAP:
            return f"{owner} connects to {where}:"


def _code(text: str) -> str:
    return "`" + plain(text)[:_MOST_FOREIGN].replace("`", "'") + "`"


def _foreign(text: str) -> str:
    return escaped(plain(text).replace("`", "'"))
