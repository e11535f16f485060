"""From the bytes of a message body to what it tells."""

from netdiag.traffic.engine.bodies.facts import RequestFacts, ResponseFacts
from netdiag.traffic.engine.bodies.plain import request_facts, response_facts

__all__ = ["RequestFacts", "ResponseFacts", "request_facts", "response_facts"]
