"""Targets of every kind, as fields."""

import struct

from netdiag.linux.xtables.blob import Blob
from netdiag.linux.xtables.targets import decode_target, reject_kind
from tests.linux.xtables.samples import TARGETS, nat, old_nat


def test_both_structs_of_a_translation_say_the_same() -> None:
    expected = {"first": "10.0.0.1", "last": "10.0.0.1", "ports": [80, 80]}
    assert decode_target("DNAT", 2, Blob(nat(3, "10.0.0.1", "10.0.0.1", 80, 80), 4)) == expected
    assert decode_target("DNAT", 0, Blob(old_nat(3, "10.0.0.1", "10.0.0.1", 80, 80), 4)) == expected


def test_rejections_have_one_vocabulary() -> None:
    found = [reject_kind(word) for word in ("tcp-reset", "icmp-proto-unreachable", "icmp6-adm-prohibited")]
    assert found == ["tcp reset", "icmp prot-unreachable", "icmpv6 admin-prohibited"]


def test_what_is_not_known() -> None:
    assert decode_target("MYSTERY", 0, Blob(b"", 4)) is None
    assert decode_target("SNAT", 0, Blob(struct.pack("=I", 2) + bytes(30), 4)) is None


def test_all_samples_are_known() -> None:
    assert [name for name, revision, data, _ in TARGETS if decode_target(name, revision, Blob(data, 4)) is None] == []
