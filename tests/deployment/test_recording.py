"""Observed cells to JSON and back."""

import json

import pytest

from netdiag.deployment.mechanism import Mechanism
from netdiag.deployment.observations import Address, Answered, Contact, Failed, NodeEndpoint, Reason, Unknown
from netdiag.deployment.recording import from_json, to_json
from netdiag.deployment.verdict import Cell, judge
from netdiag.errors import InputError

ONE, TWO = (NodeEndpoint(node_id=n, host=f"broker-{n}", port=9092) for n in (1, 2))
ANSWER = Answered(node_id=1, cluster_id="c", brokers=(ONE, TWO), listener="INTERNAL", ip="10.0.0.1", because="x")
REFUSED = Failed(reason=Reason.REFUSED, because="refused", ip="10.0.0.2", mechanism=Mechanism.NOBODY_LISTENS)


def cell(bootstrap: Contact, **endpoints: Contact) -> Cell:
    verdict = judge(bootstrap, lambda endpoint: endpoints[f"n{endpoint.node_id}"])
    return Cell(vantage="docker host", bootstrap=Address(host="::1", port=9092), observed=verdict)


CELLS = (
    cell(ANSWER, n1=ANSWER, n2=REFUSED),
    cell(ANSWER, n1=Unknown(because="no time"), n2=REFUSED),
    cell(Answered(node_id=None, cluster_id=None)),
    cell(Failed(reason=Reason.UNRESOLVED, because="NXDOMAIN")),
    cell(Unknown(because="too many")),
)


def test_there_and_back() -> None:
    assert from_json(json.loads(json.dumps(to_json(CELLS)))) == CELLS
    assert [str(c.observed) for c in CELLS] == [
        "partial 1/2",
        "unknown",
        "advertised: no-brokers",
        "bootstrap: unresolved",
        "unknown",
    ]


def test_cells_that_nobody_observed_are_left_out() -> None:
    assert to_json([Cell(vantage="x", bootstrap=Address(host="h", port=1))])["cells"] == []


@pytest.mark.parametrize(
    "document",
    [
        None,
        [],
        {"version": 2, "cells": []},
        {"version": 1},
        {"version": 1, "cells": [{}]},
        {"version": 1, "cells": ["text"]},
        {"version": 1, "cells": [to_json(CELLS)["cells"][0] | {"contact": {}}]},
        {"version": 1, "cells": [to_json(CELLS)["cells"][0] | {"contact": {"sideways": {}}}]},
        {"version": 1, "cells": [to_json(CELLS)["cells"][3] | {"contact": {"failed": {"reason": "mood"}}}]},
    ],
)
def test_what_is_no_recording(document: object) -> None:
    with pytest.raises(InputError):
        from_json(document)
