"""A live check of a stack in the lab: look, observe, predict, side by side."""

import time
from dataclasses import dataclass, replace
from pathlib import Path

from netdiag.config import Facts
from netdiag.deployment.model.vantage import bootstraps
from netdiag.deployment.model.verdict import Address, Cell
from netdiag.deployment.observation.observed_relays import observed_relays
from netdiag.deployment.prediction.reachability import predict
from netdiag.io.engine.live_deployment import Live, OtherVantages, read_live
from netdiag.io.network.observation import Observed, observe
from tests.lab.stack import Stack

# Seconds for one step: a machine that is slow or busy takes more than the four of the command. Bars hold it to four.
PATIENCE = 15.0
SCENARIOS = Path(__file__).resolve().parents[2] / "compose" / "scenarios"


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """What one live check gave; `seconds` is its wall time without imports."""

    live: Live
    observed: Observed
    cells: tuple[Cell, ...]
    seconds: float

    def words(self, vantage: str) -> dict[str, str]:
        """The observed verdicts of a vantage by bootstrap address."""
        return {str(c.bootstrap): str(c.observed) for c in self.cells if c.vantage == vantage}

    @property
    def disagreements(self) -> list[str]:
        """The cells where prediction and observation differ."""
        return [
            f"{c.vantage} {c.bootstrap}: predicted {c.predicted}, observed {c.observed}"
            for c in self.cells
            if str(c.predicted) != str(c.observed)
        ]


def check(
    stack: Stack, *, addresses: tuple[Address, ...] = (), timeout: float = PATIENCE, names: tuple[str, ...] = ()
) -> Check:
    """A live check of the stack's project, or of the containers named, from every vantage and the LAN."""
    begin = time.perf_counter()
    live = read_live(
        host=stack.engine.docker_host,
        project=None if names else stack.project,
        names=names,
        vantages=OtherVantages(netns=(stack.engine.record.lan_netns,), everywhere=True),
    )
    asked = addresses or bootstraps(live.deployment)
    observed = observe(live.vantages, asked, timeout=timeout)
    seconds = time.perf_counter() - begin
    places = [each.vantage for each in live.vantages]
    # The lab's resolvers know no names but those of the containers.
    deployment = replace(live.deployment.with_down(live.stopped), facts=Facts(resolves={"*": ""}))
    deployment = replace(deployment, relays=deployment.relays + observed_relays(deployment, places, observed.cells))
    predicted = predict(deployment, places, asked)
    known = {(c.vantage, c.bootstrap): c.predicted for c in predicted}
    cells = tuple(
        Cell(
            vantage=c.vantage,
            bootstrap=c.bootstrap,
            predicted=known[(c.vantage, c.bootstrap)],
            observed=c.observed,
        )
        for c in observed.cells
    )
    return Check(live=live, observed=observed, cells=cells, seconds=seconds)
