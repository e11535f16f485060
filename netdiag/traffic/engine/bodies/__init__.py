"""From the bytes of a message body to what it tells."""

from netdiag.traffic.engine.bodies.facts import RequestFacts, ResponseFacts
from netdiag.traffic.engine.bodies.read import Bodies, request_facts, response_facts
from netdiag.traffic.engine.bodies.walkers import BodyWalker

__all__ = ["Bodies", "BodyWalker", "RequestFacts", "ResponseFacts", "request_facts", "response_facts"]
