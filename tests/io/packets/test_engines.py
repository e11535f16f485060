"""Which engine is taken, and the reason that is given."""

import shutil
from collections.abc import Sequence

import pytest

from netdiag.errors import InputError
from netdiag.io.packets import engines
from netdiag.io.packets.engines import AUTO, SCAPY, SCAPY_RATE, Tool, choose
from netdiag.io.packets.places import HOST, Place


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    names: list[str] = ["tcpdump", "dumpcap"]
    monkeypatch.setattr(shutil, "which", lambda name: name if name in names else None)
    return names


def busy(monkeypatch: pytest.MonkeyPatch, rate: int) -> None:
    def rates(places: Sequence[Place]) -> int:
        return rate

    monkeypatch.setattr(engines, "_rate", rates)


def test_ours_where_it_keeps_up(installed: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    busy(monkeypatch, 1200)
    engine = choose(AUTO, (), "tcp")
    assert (engine.name, engine.tool, engine.why) == (
        SCAPY,
        None,
        "there are 1,200 packets/s; scapy keeps up with 200,000",
    )


@pytest.mark.parametrize(("there", "expected"), [(["tcpdump", "dumpcap"], "tcpdump"), (["dumpcap"], "dumpcap")])
def test_a_tool_for_more(
    installed: list[str], monkeypatch: pytest.MonkeyPatch, there: list[str], expected: str
) -> None:
    installed[:] = there
    busy(monkeypatch, SCAPY_RATE + 1)
    engine = choose(AUTO, (), "tcp")
    assert (engine.name, engine.tool) == (expected, Tool(expected))
    assert "200,001 packets/s" in engine.why


def test_no_tool_for_more(installed: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    installed.clear()
    busy(monkeypatch, SCAPY_RATE + 1)
    assert "tcpdump and dumpcap are missing" in choose(AUTO, (), "").why
    with pytest.raises(InputError, match="is not installed"):
        choose("tcpdump", (), "")


def test_tags_are_seen_by_libpcap_alone(installed: list[str]) -> None:
    assert choose(AUTO, (), "vlan 7 and tcp").tool is Tool.TCPDUMP
    with pytest.raises(InputError, match="VLAN tags"):
        choose(SCAPY, (), "vlan 7")
    installed.clear()
    with pytest.raises(InputError, match="VLAN tags"):
        choose(AUTO, (), "vlan")


def test_the_rate_is_measured() -> None:
    place = Place(HOST)
    assert engines._rate([place]) >= 0
    place.close()
