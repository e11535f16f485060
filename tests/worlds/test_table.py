"""Every row of the decision table on every engine of the lab: what the table says, what is predicted, what happens.

`make bars BARS=reachability-table`. Besides the rows, every container's view of every address of them is compared.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from netdiag.deployment.model.vantage import VantageKind
from netdiag.deployment.model.verdict import Answered, Cell, Contact, Failed
from netdiag.deployment.observation.live_view import LiveVantage
from netdiag.deployment.prediction.reachability import predict
from netdiag.io.engine.live_deployment import OtherVantages, read_live
from netdiag.io.network.observation import observe
from tests.figures import Report
from tests.lab.engine import HOST_ADDRESS
from tests.lab.errors import LabImpossible
from tests.lab.lab import Lab, start_lab
from tests.lab.processes import run
from tests.lab.releases import PODMAN, RELEASES
from tests.lab.stack import Stack
from tests.worlds import table
from tests.worlds.comparison import wait_until_listening
from tests.worlds.random_world import STUB
from tests.worlds.table import CHANGES, GATEWAY_MODES, HOST, LAN, PARENT, ROUTED, ROUTED_LAN, ROWS, Change, Row

_CONNECTION = {"refused", "timeout", "unreachable", "closed", "unresolved"}
_PATIENCE = 6.0
# Silent where a neighbour is remembered, unreachable where nobody has talked to it before.
EITHER = {("a2", "10.80.0.13:9092")}


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """A cell, first hop only."""

    vantage: str
    address: str
    predicted: str
    observed: str
    why: str

    @property
    def vantage_and_address(self) -> tuple[str, str]:
        """Which cell it is."""
        return self.vantage, self.address

    def __str__(self) -> str:
        return f"{self.vantage} -> {self.address}: predicted {self.predicted}, observed {self.observed} ({self.why})"


@pytest.mark.bar("reachability-table", long=True)
@pytest.mark.parametrize("proxy", [True, False], ids=["proxy", "no-proxy"])
@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.usefixtures("compose_v2")
def test_rows_come_true(tmp_path: Path, figure: Report, release: str, proxy: bool) -> None:
    _compare_rows(tmp_path, figure, release, proxy=proxy)


@pytest.mark.bar("podman", long=True)
@pytest.mark.usefixtures("compose_v2")
def test_rows_come_true_with_podman(tmp_path: Path, figure: Report) -> None:
    _compare_rows(tmp_path, figure, PODMAN, proxy=False)


def _compare_rows(tmp_path: Path, figure: Report, release: str, *, proxy: bool) -> None:
    (tmp_path / "compose.yml").write_text(json.dumps(table.document(release)))
    shutil.copyfile(Path(__file__).with_name("stub.py"), tmp_path / STUB)
    (tmp_path / STUB).chmod(0o755)
    where = release if release == PODMAN else f"{release}, proxy {'on' if proxy else 'off'}"
    try:
        with (
            start_lab(release=release, userland_proxy=proxy) as lab,
            lab.up(tmp_path / "compose.yml", project="table", wait="none") as stack,
        ):
            wait_until_listening(stack)
            lab.engine.docker("pause", "table-a4")
            seen, surprises = _rows(lab, stack, release, proxy=proxy)
            # Podman stops no paused container.
            lab.engine.docker("unpause", "table-a4")
    except LabImpossible as error:
        pytest.skip(str(error))
    decided = [one for one in seen if "unknown" not in (one.predicted, one.observed)]
    wrong = [one for one in decided if one.predicted != one.observed and one.vantage_and_address not in EITHER]
    print(f"\n{where}", *wrong, *surprises, sep="\n")
    figure(f"rows of the table, {where}", f"{len(surprises)} come out otherwise")
    figure(
        f"cells predicted, {where}", f"{len(decided) - len(wrong)}/{len(decided)}, {len(seen) - len(decided)} unknown"
    )
    assert surprises == []
    assert [str(one) for one in wrong] == []


def _rows(lab: Lab, stack: Stack, release: str, *, proxy: bool) -> tuple[list[Seen], list[str]]:
    """The cells of the stack as it is and after each change, and the rows that are not as the table has them."""
    groups = [Change(rows=(*ROWS, *GATEWAY_MODES, *PARENT)), *CHANGES, _with_route(lab)]
    seen: list[Seen] = []
    surprises: list[str] = []
    for number, change in enumerate(groups):
        rows = [row for row in change.rows if row.on(release, proxy=proxy)]
        _run(lab, change.do)
        try:
            found = _look(lab, stack, rows)
        finally:
            _run(lab, change.undo)
        by_cell = {(one.vantage, one.address): one for one in found}
        for row in rows:
            one = by_cell[row.vantage, str(row.address)]
            wanted = row.on(release, proxy=proxy)
            if one.observed not in (wanted or "").split("|"):
                surprises.append(
                    f"row {row.number} {row.vantage} -> {row.address}: {wanted} there, {one.observed} here"
                )
        asked = {(row.vantage, str(row.address)) for row in rows if row.modelled}
        whole = number == 0
        seen += [one for one in found if (one.vantage, one.address) in asked or (whole and one.vantage != ROUTED_LAN)]
    return seen, surprises


def _with_route(lab: Lab) -> Change:
    route = f"ip -n {lab.engine.record.lan_netns} route %s 10.80.0.0/16 via {HOST_ADDRESS}"
    return Change(rows=ROUTED, do=(route % "add",), undo=(route % "del",))


def _run(lab: Lab, commands: Iterable[str]) -> None:
    for command in commands:
        run(lab.engine.host.argv(["sh", "-c", command]), env=lab.engine.environment)


def _look(lab: Lab, stack: Stack, rows: Sequence[Row]) -> list[Seen]:
    everywhere = OtherVantages(netns=(lab.engine.record.lan_netns,), everywhere=True)
    live = read_live(host=lab.engine.docker_host, project=stack.project, vantages=everywhere)
    names = {each.vantage.label: _name(each, routed=rows[0].vantage == ROUTED_LAN) for each in live.vantages}
    wanted = {row.vantage for row in rows}
    vantages = [each for each in live.vantages if names[each.vantage.label] in wanted]
    addresses = tuple(dict.fromkeys(row.address for row in rows))
    observed = observe(vantages, addresses, timeout=_PATIENCE).cells
    down = frozenset(live.stopped)
    predicted = predict(live.deployment.with_down(down), [each.vantage for each in vantages], addresses)
    return [_seen(names, before, after) for before, after in zip(predicted, observed, strict=True)]


def _name(vantage: LiveVantage, *, routed: bool) -> str:
    match vantage.vantage.kind:
        case VantageKind.DOCKER_HOST:
            return HOST
        case VantageKind.LAN:
            return ROUTED_LAN if routed else LAN
    return vantage.vantage.member or vantage.vantage.label


def _seen(names: dict[str, str], before: Cell, after: Cell) -> Seen:
    assert (before.vantage, before.bootstrap) == (after.vantage, after.bootstrap)
    assert before.predicted is not None
    assert after.observed is not None
    first, second = before.predicted.bootstrap, after.observed.bootstrap
    return Seen(
        vantage=names[before.vantage],
        address=str(before.bootstrap),
        predicted=_word(first),
        observed=_word(second),
        why=f"predicted: {first.because}; observed: {second.because}",
    )


def _word(contact: Contact) -> str:
    match contact:
        case Answered():
            return "accepted"
        case Failed():
            return contact.reason.value if contact.reason.value in _CONNECTION else "accepted"
    return "unknown"
