"""The rules, and what each has to say of itself."""

import difflib

from netdiag.compose.load import load
from netdiag.compose.positions import Source
from netdiag.deployment.sources.compose import from_compose
from netdiag.errors import UsageError
from netdiag.findings import Applicability
from netdiag.render.findings.edits import repair, unified_diff
from netdiag.rules.all_rules import ALL
from netdiag.rules.declared import check_deployment
from netdiag.rules.rule import Rule, RulePage, rule_page
from netdiag.rules.selection import known_ids
from netdiag.rules.topology import TOPOLOGY
from netdiag.rules.wire import WIRE
from netdiag.values import dataclass

_EXAMPLE = "compose.yml"


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleExplanation:
    """A rule, its page, and the repair of its bad example: a command and the patch that it makes, if there is one."""

    rule: Rule
    page: RulePage
    repair: str = ""

    @property
    def sections(self) -> tuple[tuple[str, str], ...]:
        """Headings and texts in the order in which people read them; some texts are empty."""
        return (
            ("Why", self.page.why),
            ("Bad", self.page.bad),
            ("Good", self.page.good),
            ("Repair", self.repair),
            ("Seen", self.page.seen),
            ("Sources", self.page.sources),
        )


def all_rules() -> tuple[RuleExplanation, ...]:
    """Every rule with its page; repairs are left out."""
    return tuple(RuleExplanation(rule=rule, page=rule_page(rule.__doc__ or "")) for rule in ALL)


def explain_rule(name: str) -> RuleExplanation:
    """A rule by its id; UsageError where no rule has it."""
    rule = next((known for known in ALL if name == known.ID), None)
    if rule is None:
        close = difflib.get_close_matches(name, known_ids(), 1)
        hint = f"; did you mean {close[0]}?" if close else "; `netdiag rules` lists them"
        raise UsageError(f"no rule is called {name!r}{hint}")
    page = rule_page(rule.__doc__ or "")
    return RuleExplanation(rule=rule, page=page, repair=_repair(rule, page))


def _repair(rule: Rule, page: RulePage) -> str:
    """None for captures and machines."""
    if rule in WIRE or rule in TOPOLOGY:
        return ""
    bad = page.bad.encode()
    found = check_deployment(from_compose(load(Source(_EXAMPLE, bad), default_name="example")))
    made = repair((finding for finding in found if finding.rule == rule.ID), {_EXAMPLE: bad})
    if not made.files:
        return ""
    unsafe = any(finding.applicability is Applicability.UNSAFE for finding in made.applied)
    options = "--fix --unsafe-fixes" if unsafe else "--fix"
    return f"netdiag check-listeners {options}\n" + unified_diff(_EXAMPLE, bad, made.files[_EXAMPLE]).decode()
