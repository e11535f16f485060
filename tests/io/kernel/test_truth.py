"""Bar `topology-truth`: in labs of 5, 50 and 200 namespaces nothing is missing and nothing is invented."""

import pytest

from tests.figures import Report
from tests.io.kernel import socket_statistics, truth
from tests.io.kernel.truth import add_filters, hold
from tests.netlab.compare import Comparison
from tests.netlab.lab import netlab

HOSTILE = (
    "tcp   LISTEN 0      7    [::1%lo]:9093    [::]:*    "
    'users:(("a) pid=1,fd=2",pid=17,fd=3),("b",pid=18,fd=3)) ino:5 sk:2 v6only:1 <->'
)
LONG = pytest.mark.bar("topology-truth", long=True)


@pytest.mark.bar("topology-truth")
@pytest.mark.parametrize(
    "count",
    [
        5,
        pytest.param(50, marks=pytest.mark.bar("topology-truth", long=True)),
        pytest.param(200, marks=pytest.mark.bar("topology-truth", long=True)),
    ],
)
def test_a_lab_is_read_as_it_is(count: int, figure: Report) -> None:
    with netlab(count) as lab:
        add_filters(lab)
        result = hold(lab)
    figure(f"objects compared with {count} namespaces", result.compared.total())
    figure(f"fields compared with {count} namespaces", result.fields)
    figure(f"missing with {count} namespaces", len(result.missing))
    figure(f"extra with {count} namespaces", len(result.extra))
    figure(f"differing with {count} namespaces", len(result.differing))
    figure(f"veth ends compared with {count} namespaces", result.compared["veth"])
    figure(
        f"multicast neighbours that came or went with {count} namespaces",
        result.compared["multicast neighbour in passing"],
    )
    assert result.equal, str(result)
    # a comparison of nothing with nothing would be equal, too
    assert result.compared["veth"] >= 2 * count
    assert result.compared["socket"] >= 4 * count
    assert result.compared["namespace"] == count + 1
    assert result.compared["filter rule"] >= 14
    assert result.compared["namespace of lsns"] >= 1
    assert result.compared["namespace of ip netns"] == count + 1 - 5


def test_only_groups_that_the_kernel_notes_itself_may_come_and_go() -> None:
    told = "{'lladdr': '33:33:00:00:00:02', 'state': ['NOARP'], 'router': False}"
    passing = f"neighbour ('port1', 'ff02::2', False): {told}"
    kept = [
        f"neighbour ('port1', 'fe80::2', False): {told}",
        f"neighbour ('port1', 'ff02::2', False): {told.replace('NOARP', 'PERMANENT')}",
        f"fdb ('port1', 'ff02::2', False): {told}",
    ]
    result = Comparison(missing=[passing, *kept], extra=[passing])
    truth._pass_over_multicast(result)
    assert (result.missing, result.extra) == (kept, [])
    assert result.compared["multicast neighbour in passing"] == 2


def test_a_line_of_ss_is_read_whatever_a_process_calls_itself() -> None:
    ((name, fields),) = socket_statistics.parse(HOSTILE)
    assert name == ("tcp", "::1", 9093, 5)
    assert fields == {"queue": 0, "backlog": 7, "pids": [17, 18], "v6only": True, "bound": True}
