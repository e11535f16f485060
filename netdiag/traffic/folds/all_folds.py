"""The written-out list of the folds, and of the views of several tables that some of them are of."""

from collections.abc import Mapping

from netdiag.traffic.folds import exchanges
from netdiag.traffic.folds.fold import Fold, View

VIEWS: Mapping[str, View] = {**exchanges.VIEWS}
ALL: Mapping[str, Fold] = {**exchanges.FOLDS}
