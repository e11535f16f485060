"""A way through the kernel as JSON, version 1, with what a real connection did if there was one."""

from collections.abc import Sequence
from typing import Any

from netdiag import __version__
from netdiag.render.causes import cause_value
from netdiag.render.topology.document import path_value
from netdiag.topology.explained import Cause
from netdiag.topology.graph import Topology
from netdiag.topology.hops import Path
from netdiag.topology.proof import Proof

FORMAT = "netdiag-trace"
VERSION = 1

Value = dict[str, Any]


def path_document(topology: Topology, path: Path, proof: Proof | None = None, causes: Sequence[Cause] = ()) -> Value:
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
