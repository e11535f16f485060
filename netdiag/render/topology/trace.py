"""The path of a connection through the kernel, and what a real connection did: as text and as JSON, version 1.

The text says where the path ends and why, then has it hop by hop, then what was seen of the real connection.
"""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from netdiag import __version__
from netdiag.deployment.model.causes import Cause
from netdiag.linux.ruleset import RuleAddress
from netdiag.render.matrix.sections import cause_lines, cause_value
from netdiag.render.redact import redacted
from netdiag.render.screen import Line, Run, Screen, Style, paint
from netdiag.render.topology.json import path_value
from netdiag.render.wording import endpoint_text, plural
from netdiag.topology.graph import Hop, Path, PathEnd, Topology
from netdiag.topology.inventory import LinkId
from netdiag.topology.path.attempts import Agreement, Proof

_STYLES = {PathEnd.CONNECTED: Style.GOOD, PathEnd.UNKNOWN: Style.HALF}
_AGREEMENTS = {Agreement.AGREES: Style.GOOD, Agreement.DISAGREES: Style.BAD, Agreement.OPEN: Style.HALF}
_WORD = 10
_MOST_RULES = 6

FORMAT = "netdiag-trace"

VERSION = 1

Value = dict[str, Any]


def trace_text(
    topology: Topology,
    path: Path,
    screen: Screen,
    proof: Proof | None = None,
    *,
    causes: Sequence[Cause] = (),
    full: bool = False,
) -> str:
    """The text; `full` draws the way of the answer, too, where it ends well."""
    drawing = _Drawing(topology, screen, full=full)
    why = [(Run("why", Style.BOLD),), *cause_lines(causes, screen)] if causes else []
    blocks = [list(drawing.verdict(path)), why, list(drawing.way(path))]
    if proof is not None:
        blocks.append(list(drawing.proof(proof)))
    return paint([line for block in blocks if block for line in (*block, ())][:-1], screen)


def trace_document(topology: Topology, path: Path, proof: Proof | None = None, causes: Sequence[Cause] = ()) -> Value:
    """The document; namespaces are named by inode, `places` tells what people call those of the way."""
    met = {path.source, *(hop.netns for hop in path.hops)} | ({path.target} if path.target is not None else set())
    names = {str(place.netns): place.name for place in topology.places if place.netns in met}
    return {
        "format": FORMAT,
        "version": VERSION,
        "netdiag": __version__,
        "places": names,
        "path": {**path_value(path), "errno": path.errno},
        "proof": None if proof is None else _proof(proof),
        "causes": [cause_value(cause) for cause in causes],
    }


class _Drawing:
    def __init__(self, topology: Topology, screen: Screen, *, full: bool) -> None:
        self._topology = topology
        self._screen = screen
        self._full = full

    def verdict(self, path: Path) -> Iterator[Line]:
        arrow = self._screen.glyphs.arrow
        errno = f" ({path.errno})" if path.errno else ""
        yield (
            self._run(f"{self._place(path.source)} {arrow} {endpoint_text(path.destination, path.port)}: ", Style.BOLD),
            Run(path.end.value + errno, _STYLES.get(path.end, Style.BAD)),
        )
        where = f"in {self._place(path.target)}: " if path.target is not None and path.target != path.source else ""
        yield (self._run(f"  {where}{path.because}"),)

    def way(self, path: Path) -> Iterator[Line]:
        there, back = self._parted(path)
        for answer, hops in ((False, there), (True, back)):
            for netns, group in groupby(hops, key=lambda hop: hop.netns):
                title = f"{self._place(netns)}, the response" if answer else self._place(netns)
                yield (self._run(title, Style.PLACE),)
                for hop in group:
                    yield from self._hop(hop)
        hidden = sum(1 for hop in path.hops if hop.details.get("answer")) - len(back)
        if hidden:
            yield (Run(f"and back: {plural(hidden, 'hop')}", Style.DIM),)

    def _parted(self, path: Path) -> tuple[list[Hop], list[Hop]]:
        """The way there and the answers; an answer that comes back well says nothing new."""
        there = [hop for hop in path.hops if not hop.details.get("answer")]
        back = [hop for hop in path.hops if hop.details.get("answer")]
        lost = bool(path.hops) and path.end not in (
            PathEnd.CONNECTED,
            PathEnd.CLOSED,
            PathEnd.REFUSED,
            PathEnd.NO_ROUTE,
        )
        lost = lost and bool(path.hops[-1].details.get("answer"))
        return there, back if self._full or lost else []

    def _hop(self, hop: Hop) -> Iterator[Line]:
        yield (
            Run(f"  {hop.kind.value:<{_WORD}} ", Style.DIM),
            self._run(hop.what),
        )
        shown = hop.rules if self._full else hop.rules[:1]
        for rule in shown[:_MOST_RULES]:
            yield self._rule(rule)
        more = len(hop.rules) - len(shown[:_MOST_RULES])
        if more and self._full:
            yield (Run(f"{'':{_WORD + 5}}and {plural(more, 'rule')} more", Style.DIM),)

    def _rule(self, rule: RuleAddress) -> Line:
        return (self._run(f"{'':{_WORD + 5}}{rule}: {redacted(rule.text)}", Style.DIM),)

    def proof(self, proof: Proof) -> Iterator[Line]:
        took = f"{proof.seconds:.2f} s" if proof.seconds >= 0.01 else "at once"
        said = proof.errno or "connected"
        yield (
            self._run(f"a real connection: {said}, {took}, {plural(proof.attempts, 'attempt')}; ", Style.BOLD),
            Run(f"{proof.agreement.value}", _AGREEMENTS[proof.agreement]),
        )
        yield (self._run(f"  {proof.because}"),)
        yield from self._moved(proof)
        for seen in proof.seen:
            what = (
                "packet and response"
                if seen.first and seen.answer
                else "packet, no response"
                if seen.first
                else "nothing"
            )
            style = Style.DIM if seen.first else Style.BAD
            yield (Run(f"  {'seen':<{_WORD}} ", Style.DIM), self._run(f"{self._link(seen.link)}: {what}", style))
        for note in proof.notes:
            yield (Run("  note: ", Style.NOTE), self._run(redacted(note)))

    def _moved(self, proof: Proof) -> Iterator[Line]:
        for moved in proof.moved:
            word = "consistent with" if moved.others else "counted by"
            yield (
                Run(f"  {word} ", Style.DIM),
                self._run(f"{moved.rule} in {self._place(moved.netns)}: {redacted(moved.rule.text)}"),
            )

    def _place(self, netns: int | None) -> str:
        place = self._topology.place(netns) if netns is not None else None
        return place.name if place is not None else f"net:[{netns}]"

    def _link(self, at: LinkId) -> str:
        link = self._topology.inventory.link(at)
        return f"{link.ifname if link else at.ifindex} in {self._place(at.netns)}"

    def _run(self, text: str, style: Style = Style.PLAIN) -> Run:
        return self._screen.run(text, style)


def _proof(proof: Proof) -> Value:
    return {
        "end": proof.end.value,
        "errno": proof.errno,
        "seconds": round(proof.seconds, 3),
        "attempts": proof.attempts,
        "agreement": proof.agreement.value,
        "because": proof.because,
        "seen": [
            {"netns": one.link.netns, "ifindex": one.link.ifindex, "first": one.first, "answer": one.answer}
            for one in proof.seen
        ],
        "moved": [
            {
                "netns": one.netns,
                "rule": str(one.rule),
                "text": one.rule.text,
                "packets": one.packets,
                "others": one.others,
            }
            for one in proof.moved
        ],
        "notes": list(proof.notes),
    }
