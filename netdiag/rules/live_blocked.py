"""Findings about addresses that are meant for somebody and fail at the first hop."""

from netdiag.deployment.observations import Reason
from netdiag.findings import Finding, Severity
from netdiag.rules.live_meant import Blocked, place
from netdiag.rules.live_words import listed


def told(rule: str, severity: Severity, block: Blocked, *, words: str, hint: str) -> Finding:
    """The finding; `words` say in the message what the address does."""
    broker, listener = block.whose.broker.name, block.whose.listener
    return Finding(
        rule=rule,
        severity=severity,
        message=f"from {listed(block.places)}: {block.address}, {listener} of {broker}, {words}",
        location=place(block.whose),
        why=_why(block),
        hint=hint,
        service=broker,
        listener=listener,
    )


def _why(block: Blocked) -> str:
    """What was seen, what the configuration says to that, and who gets further."""
    said = [block.failed.because]
    if block.foretold is not None and block.foretold.because != block.failed.because:
        said.append(f"the configuration says: {block.foretold.because}")
    if block.better:
        verb = "is resolved" if block.failed.reason is Reason.UNRESOLVED else "answers"
        said.append(f"it {verb} from {listed(block.better)}")
    return "; ".join(said)
