"""Every rule. Code that judges one kind of input imports only the rules of that kind."""

from netdiag.rules.ci import CI
from netdiag.rules.compose import COMPOSE
from netdiag.rules.declared import DECLARED
from netdiag.rules.kubernetes import KUBERNETES
from netdiag.rules.observed import OBSERVED
from netdiag.rules.rule import Rule
from netdiag.rules.topology import TOPOLOGY
from netdiag.rules.wire import WIRE

ALL: tuple[Rule, ...] = (*COMPOSE, *DECLARED, *CI, *KUBERNETES, *OBSERVED, *WIRE, *TOPOLOGY)
