"""The matrix of what runs: what was observed from every vantage at every bootstrap address, beside its prediction.

A check of files, which observes nothing, does without this module and all that it loads.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from netdiag.deployment.model.deployment import Deployment
from netdiag.deployment.model.vantage import Vantage
from netdiag.deployment.model.verdict import Address, Cell
from netdiag.deployment.observation.live_view import SeenName, identified
from netdiag.deployment.prediction.reachability import predict
from netdiag.render.report import Matrix


def observed_matrix(
    name: str,
    deployment: Deployment,
    places: tuple[Vantage, ...],
    addresses: tuple[Address, ...],
    observed: Iterable[Cell],
    *,
    names: Iterable[SeenName] = (),
    stopped: Mapping[str, str],
    speaks: str,
) -> Matrix:
    """The matrix of what runs, each prediction beside what was observed there, by a client that `speaks` a protocol.

    `names` are what names gave that have several addresses; `stopped` says by member name why a broker does not run.
    """
    deployment = deployment.with_down(stopped)
    seen = {(cell.vantage, cell.bootstrap): cell for cell in identified(deployment, places, observed, names)}
    predicted = predict(deployment, places, addresses, speaks=speaks)
    cells = tuple(
        cell if one is None else replace(cell, observed=one.observed, seconds=one.seconds)
        for cell in predicted
        for one in (seen.get((cell.vantage, cell.bootstrap)),)
    )
    return Matrix(input=name, vantages=places, cells=cells, not_running=stopped)
