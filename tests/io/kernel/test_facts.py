"""The facts of one namespace: each for itself, so that what the kernel refuses does not cost the others."""

import errno
import os

import pytest

from netdiag.io.kernel import facts as under_test
from netdiag.io.kernel.calls import Calls
from netdiag.io.kernel.channel import ROUTE, SOCK_DIAG, Channel, Refused
from netdiag.io.kernel.facts import FactReader
from netdiag.linux.netlink.routes import request_routes

ROUTES = request_routes()


class Moody(Channel):
    """A channel to this kernel that spoils the answers about routes, or does not come about at all."""

    spoil: str = ""

    def __init__(self, protocol: int, buffer: bytearray | None = None) -> None:
        if self.spoil == f"protocol {protocol}":
            raise Refused("protocol not supported", number=errno.EPROTONOSUPPORT)
        super().__init__(protocol, buffer=buffer)

    def payloads(self, request: bytes) -> list[bytes]:
        found = super().payloads(request)
        if request == ROUTES:
            if self.spoil == "refused":
                raise Refused("operation not supported", number=errno.EOPNOTSUPP)
            if self.spoil == "interrupted":
                self.interrupted = True
            if self.spoil == "malformed":
                return [*found[:1], b"x", *found[1:]]
        return found


@pytest.mark.parametrize(
    ("spoil", "expected"),
    [
        ("", []),
        ("refused", ["routes of net:[5]: operation not supported"]),
        ("interrupted", ["routes of net:[5]: they changed every time they were read"]),
        ("malformed", ["routes of net:[5]: not understood: "]),
        (f"protocol {SOCK_DIAG}", ["listeners of net:[5]: protocol not supported"]),
    ],
)
def test_one_fact_that_is_missing_does_not_cost_the_others(
    spoil: str, expected: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(under_test, "Channel", Moody)
    monkeypatch.setattr(Moody, "spoil", spoil)
    found = FactReader(Calls(), {}, 5).read(5)
    told = [f"{one.what}: {one.because}" for one in found.unread]
    assert [line[: len(start)] for line, start in zip(told, expected, strict=True)] == expected
    assert [link.ifname for link in found.links if link.loopback] == ["lo"]
    assert (found.rules, found.settings.ip_forward is None) != ((), True)
    if spoil in ("", "interrupted"):
        assert found.routes


def test_a_kernel_without_rtnetlink_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(under_test, "Channel", Moody)
    monkeypatch.setattr(Moody, "spoil", f"protocol {ROUTE}")
    before = os.listdir("/proc/self/fd")
    found = FactReader(Calls(), {}, 5).read(5)
    assert [one.what for one in found.unread] == ["network of net:[5]"]
    assert found.links == ()
    assert os.listdir("/proc/self/fd") == before
