"""Diagnose lines of a log: the symptom is recognised, and its playbook run until a cause is found."""

from collections.abc import Callable, Sequence

from netdiag.app.playbook import PlaybookOptions, RunListener, performed, playbooks
from netdiag.app.playbook_actions import Actions
from netdiag.app.progress import SILENT, Listener
from netdiag.playbook.recognise import Recognised, recognised
from netdiag.playbook.runner import End, Run, variables_of
from netdiag.values import dataclass

# So many symptoms are followed.
_LIMIT = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """The symptoms that were recognised, best first, and the runs of their playbooks."""

    symptoms: tuple[Recognised, ...]
    runs: tuple[Run, ...]


def diagnose(
    lines: Sequence[str],
    options: PlaybookOptions,
    listener: Listener = SILENT,
    runs: RunListener | None = None,
    followed: Callable[[Sequence[Recognised]], None] = lambda symptoms: None,
) -> Diagnosis:
    """Recognise, and run; `followed` hears of the symptoms whose playbooks will run, before the first does."""
    symptoms = recognised(lines, playbooks())
    best = symptoms[:_LIMIT]
    followed(best)
    made: list[Run] = []
    with Actions(options.subject, listener) as actions:
        for one in best:
            variables = variables_of(one.playbook, one.values, options.variables)
            made.append(performed(one.playbook, variables, actions.perform, live=options.live, runs=runs))
            if made[-1].end is End.CAUSE:
                break
    return Diagnosis(symptoms=tuple(symptoms), runs=tuple(made))
