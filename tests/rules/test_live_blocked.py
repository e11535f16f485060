"""What is said of an address that fails."""

from netdiag.deployment.observations import Reason
from netdiag.findings import Severity
from netdiag.rules.live_blocked import told
from netdiag.rules.live_meant import blocked
from tests.rules.test_live_meant import seen


def test_it_says_who_gets_further_and_what_the_configuration_says() -> None:
    foretold = "foretold: {fails: unresolved, because: no such name}"
    view = seen(
        f'{{vantage: container app, bootstrap: "kafka:9092", fails: unresolved, because: SERVFAIL, {foretold}}}',
        '{vantage: inside kafka, bootstrap: "kafka:9092", fails: refused}',
    )
    (block,) = blocked(view, Reason.UNRESOLVED)
    finding = told("r", Severity.ERROR, block, words="is not resolved", hint="h")
    assert finding.message == "from container app: kafka:9092, INTERNAL of kafka, is not resolved"
    assert finding.why == "SERVFAIL; the configuration says: no such name; it is resolved from inside kafka"
