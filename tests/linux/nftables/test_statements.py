"""Statements in the words of nft."""

from netdiag.linux.nftables import statements
from netdiag.linux.rtnetlink import Detail


def test_limits_and_amounts() -> None:
    assert statements.limit({"rate": 10, "unit": 1, "burst": 5, "type": "packets"}) == "limit rate 10/second"
    fields: dict[str, Detail] = {"rate": 1024, "unit": 60, "burst": 512, "type": "bytes", "flags": 1}
    assert statements.limit(fields) == "limit rate over 1 kbytes/minute burst 512 bytes"
    assert statements.quota({"bytes": 10 << 20, "flags": 1}) == "quota over 10 mbytes"
    assert statements.connection_limit({"count": 3}) == "ct count 3"


def test_logs() -> None:
    assert (
        statements.log({"prefix": "x ", "level": 6, "flags": 3})
        == 'log prefix "x " level info flags tcp sequence,options'
    )
    assert statements.log({"group": 5, "snaplen": 10, "threshold": 2}) == "log group 5 snaplen 10 queue-threshold 2"
    assert statements.log({"flags": 0x2F}) == "log flags all"


def test_rejections_that_go_without_saying() -> None:
    assert statements.reject({"type": "icmp", "code": 3, "kind": "icmp port-unreachable"}, "ip") == "reject"
    assert statements.reject({"type": "icmpx", "code": 1}, "inet") == "reject"
    assert statements.reject({"type": "tcp reset", "kind": "tcp reset"}, "ip") == "reject with tcp reset"


def test_targets_of_translations() -> None:
    assert statements.target("10.0.0.1", "10.0.0.9", "80", "90", brackets=False) == "10.0.0.1-10.0.0.9:80-90"
    assert statements.target("fd00::1", "fd00::1", "80", "80", brackets=True) == "[fd00::1]:80"
    assert statements.target("", "", "80", "", brackets=True) == ":80"
    assert statements.range_flags({"range_flags": 12}) == "random,persistent"


def test_the_rest() -> None:
    assert statements.queue({"num": 3, "total": 3, "flags": 1}) == "queue flags bypass to 3-5"
    assert statements.object_reference({"type": "ct helper", "name": "f"}) == 'ct helper set "f"'
    assert (
        statements.inner_statements([["limit", {"rate": 1, "unit": 1}], ["counter", {}]])
        == "limit rate 1/second counter"
    )
    assert statements.synproxy({"flags": 3, "mss": 1460, "wscale": 7}) == "synproxy mss 1460 wscale 7"
