"""A client repeatedly fails to authenticate.

Why: Retrying does not correct a wrong password or mechanism. Clients reconnect after every failure, which fills the
broker's log and may lock the account.

Bad:
    errors:
      - {client: "10.0.0.9:40312", broker: "10.0.0.2:9094", client_id: orders, api_key: 36, error_code: 58,  # <- here
         mechanism: SCRAM-SHA-256, times: 12, calls: 12, last: 30}

Good:
    errors:
      - {client: "10.0.0.9:40312", broker: "10.0.0.2:9094", client_id: orders, api_key: 36, error_code: 58,
         mechanism: SCRAM-SHA-256, times: 1, calls: 9, last: 0}

Seen: SaslAuthenticationException: Authentication failed; UnsupportedSaslMechanismException

Sources: KIP-152; Kafka protocol guide, error codes 33, 34 and 58.
"""

from collections.abc import Iterator

from netdiag.findings import Finding, Severity
from netdiag.kafka.error_codes import ILLEGAL_SASL_STATE, UNSUPPORTED_SASL_MECHANISM, error_name
from netdiag.rules.wire_findings import during, finding, times, who
from netdiag.traffic.facts import WireView

ID = "wire-authentication-failing"
SEVERITY = Severity.ERROR

SASL_AUTHENTICATION_FAILED = 58
CODES = frozenset({SASL_AUTHENTICATION_FAILED, UNSUPPORTED_SASL_MECHANISM, ILLEGAL_SASL_STATE})
# A person may mistype a password once or twice.
_LEAST = 3


def check(view: WireView) -> Iterator[Finding]:
    """One finding for every client and broker whose authentications mostly fail."""
    for each in view.errors:
        if each.error_code not in CODES or each.times < _LEAST or each.times * 2 < each.calls:
            continue
        mechanism = f" with {each.mechanism}" if each.mechanism else ""
        offered = each.error_code == UNSUPPORTED_SASL_MECHANISM
        yield finding(
            ID,
            SEVERITY,
            each,
            f"{who(each)} fails to authenticate{mechanism} to {each.broker} {times(each.times)} in "
            f"{during(each.seconds)} ({error_name(each.error_code)})",
            why="the listener does not offer the mechanism"
            if offered
            else "the broker does not accept these credentials",
            hint="set sasl.mechanism to one that the listener enables (sasl.enabled.mechanisms)"
            if offered
            else "correct the client's user and password, or create the user on this cluster",
        )
