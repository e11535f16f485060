"""A broker refuses requests because they are too large.

Why: The broker and the topic limit the size of a record batch (message.max.bytes, 1 MB), and the broker limits the size
of a request (socket.request.max.bytes, 100 MB). The records never arrive; a client that retries sends the same bytes
again.

Bad:
    oversized:
      - {client: "10.0.0.9:40312", broker: "10.0.0.2:9092", client_id: images, topic: uploads,  # <- here
         error_code: 10, times: 3, largest: 3000000, last: 4}

Good:
    oversized: []
    request_counts:
      - {client: "10.0.0.9:40312", broker: "10.0.0.2:9092", client_id: images, api_key: 0, lowest: 9, highest: 9,
         times: 3}

Seen: RecordTooLargeException; MESSAGE_TOO_LARGE; Invalid receive (size = ... larger than 104857600)

Sources: Kafka documentation: message.max.bytes, max.message.bytes, max.request.size, socket.request.max.bytes.
"""

from collections.abc import Iterator

from netdiag.findings import Finding, Severity
from netdiag.kafka.error_codes import error_name
from netdiag.rules.wire_findings import finding, size, times, who
from netdiag.traffic.facts import WireView

ID = "wire-request-too-large"
SEVERITY = Severity.ERROR


def check(view: WireView) -> Iterator[Finding]:
    """One finding for every client, topic and kind of refusal."""
    for each in view.oversized:
        to = f" to topic {each.topic}" if each.topic else ""
        what = f"{who(each)} sends {size(each.largest)} at once{to}"
        if each.error_code:
            message = f"{what}, but {each.broker} refuses it with {error_name(each.error_code)} ({times(each.times)})"
            hint = f"send smaller batches (max.request.size, batch.size), or raise max.message.bytes of {each.topic}"
        else:
            message = f"{what} in one request, more than a broker accepts, and gets no response ({times(each.times)})"
            hint = "send smaller requests, or raise socket.request.max.bytes of the broker"
        yield finding(ID, SEVERITY, each, message, why="a request that is too large is refused every time", hint=hint)
