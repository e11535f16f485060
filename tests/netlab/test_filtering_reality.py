"""What rules at random would do, predicted, and what they do to real connections."""

import random
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import pytest

from netdiag.io.kernel.packet_filter import addresses
from netdiag.linux.ruleset import Origin, Ruleset
from tests.figures import Report
from tests.lab.errors import LabError
from tests.netlab.filtering import counters_of, inside, ruleset_of
from tests.netlab.filtering_chance import attempts, iptables_rules, nft_rules
from tests.netlab.filtering_prediction import Prediction, predicted
from tests.netlab.filtering_world import Attempt, Outcome, World, made_world

KINDS = ("iptables-legacy", "iptables-nft", "nft", "both")
_FIXED = 7


@dataclass(slots=True)
class Tally:
    """How often the predicted came true; `unknown` are those that were not predicted."""

    agreed: int = 0
    unknown: int = 0
    counted: int = 0
    ways: dict[str, int] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_predicted_comes_true(kind: str, figure: Report) -> None:
    tally = measured(kind, rulesets=4, connections=14, seed=_FIXED)
    _report(tally, kind, figure)
    assert tally.agreed >= 28


@pytest.mark.bar("filtering-truth", long=True)
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_predicted_comes_true_at_length(kind: str, figure: Report) -> None:
    tally = measured(kind, rulesets=60, connections=24, seed=random.SystemRandom().randrange(1 << 32))
    _report(tally, kind, figure)


def _report(tally: Tally, kind: str, figure: Report) -> None:
    total = tally.agreed + len(tally.wrong)
    figure(
        f"{kind}: connections as predicted", f"{tally.agreed} of {total}, {tally.unknown} not predicted, {tally.ways}"
    )
    figure(f"{kind}: dropped where the rules that count it were predicted", tally.counted)
    assert not tally.wrong, "\n".join(tally.wrong)
    assert tally.unknown * 5 <= total + tally.unknown


def measured(kind: str, *, rulesets: int, connections: int, seed: int) -> Tally:
    """So many rulesets, one after the other, and so many connections through each."""
    tally = Tally()
    with made_world() as world:
        for number in range(rulesets):
            chance = random.Random(f"{seed} {kind} {number}")
            loaded(world, kind, chance)
            ruleset = ruleset_of(world.router)
            assert ruleset.unread == ()
            tried = attempts(chance, world, connections)
            predictions = [predicted(ruleset, attempt) for attempt in tried]
            outcomes = world.dial(tried)
            for attempt, prediction, outcome in zip(tried, predictions, outcomes, strict=True):
                if not _true(prediction, outcome):
                    # the machine may have been too busy: once more, alone
                    attempt = replace(attempt, source_port=world.source_port())
                    prediction, (outcome,) = predicted(ruleset, attempt), world.dial([attempt])
                _counted(tally, f"seed {seed} ruleset {number}: {attempt}", prediction, outcome)
            _watched(
                tally,
                world,
                ruleset,
                [one for one, told in zip(tried, predictions, strict=True) if told.hits and told.word == "dropped"],
            )
            emptied(world)
    return tally


def _watched(tally: Tally, world: World, ruleset: Ruleset, ending: Sequence[Attempt]) -> None:
    """Of one that gets no further than the router: the rules that are predicted count it, and no others.

    Where legacy iptables and nf_tables are mixed, or rules decide by chance, only what is certain is predicted.
    On a busy machine something else may still be on its way, so what counts three times in a row is meant.
    """
    mixed = len({table.origin is Origin.IPTABLES_LEGACY for table in ruleset.tables}) > 1
    mixed = mixed or any("statistic" in rule.text for rule in addresses(ruleset))
    for one in ending[:1]:
        always: set[str] | None = None
        for _ in range(3):
            again = replace(one, source_port=world.source_port())
            prediction = predicted(ruleset, again)
            before = counters_of(world.router, ruleset)
            world.dial([again])
            after = counters_of(world.router, ruleset)
            moved = {str(rule) for rule, count in after.items() if count != before[rule]}
            always = moved if always is None else always & moved
            hits = {str(rule) for rule in prediction.hits if rule in after}
            if prediction.word == "unknown" or always == hits:
                break
        if always == hits or (mixed and hits <= (always or set())):
            tally.counted += 1
        elif prediction.word != "unknown":
            tally.wrong.append(f"{again}: predicted {sorted(hits)}, but counted {sorted(always or ())}")


def _true(prediction: Prediction, outcome: Outcome) -> bool:
    told = not prediction.reached or (prediction.reached, prediction.seen) == (outcome.reached, outcome.seen)
    return prediction.word in ("unknown", "nowhere") or (prediction.word == outcome.word and told)


def _counted(tally: Tally, where: str, prediction: Prediction, outcome: Outcome) -> None:
    if prediction.word in ("unknown", "nowhere"):
        tally.unknown += 1
    elif _true(prediction, outcome):
        tally.agreed += 1
        tally.ways[outcome.word] = tally.ways.get(outcome.word, 0) + 1
    else:
        tally.wrong.append(f"{where}: {prediction}, but {outcome}")


def loaded(world: World, kind: str, chance: random.Random) -> None:
    """Rules of one kind, or of all three at once."""
    if kind in ("iptables-legacy", "iptables-nft", "both"):
        for command in ("iptables-legacy", "iptables-nft") if kind == "both" else (kind,):
            text = "".join(
                "\n".join([f"*{table}", *lines, "COMMIT", ""]) for table, lines in iptables_rules(chance).items()
            )
            inside(world.router, f"{command}-restore", stdin=text)
    if kind in ("nft", "both"):
        for _ in range(20):
            try:
                inside(world.router, "nft", "-f", "-", stdin=nft_rules(chance))
            except LabError:
                # some combinations of conditions make no sense to nft
                continue
            return
        raise AssertionError("no ruleset that nft would take")


def emptied(world: World) -> None:
    """No rules any more."""
    inside(world.router, "nft", "flush", "ruleset")
    for table in ("raw", "mangle", "nat", "filter"):
        text = inside(world.router, "iptables-legacy-save")
        if f"*{table}\n" in text:
            chains = [line for line in text.split(f"*{table}\n")[1].split("COMMIT")[0].splitlines() if line[:1] == ":"]
            own = [line for line in chains if line.split()[1] == "-"]
            policies = [f"{line.split()[0]} ACCEPT [0:0]" for line in chains if line not in own]
            inside(world.router, "iptables-legacy-restore", stdin="\n".join([f"*{table}", *policies, "COMMIT", ""]))
