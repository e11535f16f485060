"""What a verdict says in a cell, in one word, and in a footnote, hop by hop."""

import re
from collections.abc import Sequence
from typing import assert_never

from netdiag.deployment.observations import Answered, Failed, Unknown
from netdiag.deployment.verdict import Cell, EndpointOutcome, Verdict, Word
from netdiag.render.screen import Glyphs, Style
from netdiag.render.wording import addresses_text, numbers_text

_DIGITS = re.compile(r"\d+")
_SPELLED = {
    "unresolved": "unresolved",
    "refused": "refused",
    "timeout": "no answer",
    "unreachable": "unreachable",
    "closed": "closed without an answer",
    "not-kafka": "something other than Kafka answers",
    "tls": "the listener wants TLS",
    "sasl": "the listener wants SASL",
    "wrong-broker": "another broker answers",
    "unknown": "cannot be told",
}


def effective(cell: Cell) -> Verdict | None:
    """What was observed where somebody could look, else what is predicted."""
    if cell.observed is not None and (cell.observed.word is not Word.UNKNOWN or cell.predicted is None):
        return cell.observed
    return cell.predicted


def word(verdict: Verdict, glyphs: Glyphs) -> str:
    """The verdict in a word; an arrow before it says that the bootstrap address answers and the next hop fails."""
    match verdict.word:
        case Word.OK | Word.UNKNOWN:
            return verdict.word.value
        case Word.PARTIAL:
            return str(verdict)
        case Word.BOOTSTRAP | Word.ADVERTISED | Word.WRONG_BROKER | Word.NOT_KAFKA | Word.TLS | Word.SASL:
            text = verdict.reason or verdict.word.value
            return text if verdict.advertised is None else f"{glyphs.arrow}{text}"
        case _:
            assert_never(verdict.word)


def style(verdict: Verdict) -> Style:
    """Green, yellow, red or dim."""
    return {Word.OK: Style.GOOD, Word.PARTIAL: Style.HALF, Word.UNKNOWN: Style.DIM}.get(verdict.word, Style.BAD)


def explanation(verdict: Verdict) -> str:
    """Both hops in a sentence or two."""
    match verdict.bootstrap:
        case Failed(reason=reason, because=because):
            return _with_reason(_SPELLED[reason.value], because)
        case Unknown(because=because):
            return _with_reason(_SPELLED[Word.UNKNOWN.value], because)
        case Answered():
            return _second_hop(verdict, verdict.bootstrap)
        case _:
            assert_never(verdict.bootstrap)


def _second_hop(verdict: Verdict, answered: Answered) -> str:
    who = "a broker" if answered.node_id is None else f"broker {answered.node_id}"
    on = f" on {answered.listener}" if answered.listener else ""
    if not verdict.endpoints:
        return f"{who} answers{on}, but knows of no broker to send the client to"
    groups: dict[str, list[EndpointOutcome]] = {}
    for outcome in verdict.endpoints:
        groups.setdefault(outcome.outcome, []).append(outcome)
    parts = [_endpoint_group(name, group, alone=len(groups) == 1) for name, group in groups.items()]
    return f"{who} answers{on} and advertises {'; '.join(parts)}"


def _endpoint_group(outcome: str, group: Sequence[EndpointOutcome], *, alone: bool) -> str:
    where = addresses_text([o.endpoint.address for o in group])
    if not alone:
        ids = numbers_text([o.endpoint.node_id for o in group])
        where += f" ({'broker' if len(group) == 1 else 'brokers'} {ids})"
    if outcome == Word.OK.value:
        return f"{where}: ok"
    return f"{where}: {_with_reason(_SPELLED.get(outcome, outcome), _because(outcome, group))}"


def _because(outcome: str, group: Sequence[EndpointOutcome]) -> str:
    """The reasons of a group; those that differ in numbers only are told once."""
    if outcome == Word.WRONG_BROKER.value:
        ids = [o.contact.node_id for o in group if isinstance(o.contact, Answered) and o.contact.node_id is not None]
        return f"it is broker {numbers_text(ids)}" if ids else ""
    reasons = {_DIGITS.sub("#", o.contact.because): o.contact.because for o in reversed(group) if o.contact.because}
    return "; ".join(reversed(reasons.values()))


def _with_reason(text: str, because: str) -> str:
    return f"{text}, {because}" if because else text
