"""Run a playbook: over what files and the engine say now, or over what was recorded in a bundle."""

import re
from collections.abc import Mapping, Sequence

from netdiag.app.playbook_actions import Actions, Subject
from netdiag.app.playbook_views import run_view, symptom_view
from netdiag.app.progress import SILENT, Listener
from netdiag.errors import UsageError
from netdiag.io.files.playbooks import find, read_bundle, shipped, text_of, write_bundle
from netdiag.playbook.bundle import Recorded, recorded, to_json
from netdiag.playbook.conditions import Outcome
from netdiag.playbook.document import Playbook, Step
from netdiag.playbook.load import GIVEN, load
from netdiag.playbook.recognise import Recognised
from netdiag.playbook.runner import Perform, Run, Taken, run, variables_of
from netdiag.render.playbooks import diagnosis_markdown
from netdiag.values import dataclass

_CAPTURE = re.compile(r"\.(?:p?cap|pcapng)(?:\.(?:gz|zst|xz|bz2|lz4))?$", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaybookOptions:
    """What a run looks at: compose files and captures, with `live` also what runs; seconds for each connection."""

    live: bool = False
    files: tuple[str, ...] = ()
    host: str | None = None
    timeout: float = 4.0
    client_properties: str | None = None

    @property
    def variables(self) -> dict[str, str]:
        """The variables that the files give; a file is a capture by its name, else a compose file."""
        found: dict[str, list[str]] = {"files": [], "capture": []}
        for file in self.files:
            found["capture" if _CAPTURE.search(file) else "files"].append(file)
        return {name: "\n".join(files) for name, files in found.items() if files}

    @property
    def subject(self) -> Subject:
        """The same for the actions."""
        declared = tuple(file for file in self.files if not _CAPTURE.search(file))
        return Subject(files=declared, host=self.host, timeout=self.timeout, client_properties=self.client_properties)


class RunListener:
    """Hears how runs of playbooks go; as it is it does nothing."""

    def begun(self, playbook: Playbook) -> None:
        """A run begins."""

    def step(self, taken: Taken) -> None:
        """A step is over."""

    def ended(self, run: Run) -> None:
        """The run is over."""


def playbooks() -> tuple[Playbook, ...]:
    """The playbooks that come with netdiag."""
    return shipped()


def playbook_named(name: str) -> Playbook:
    """The playbook of that name, or in the file of that path."""
    return find(name, shipped())


def run_playbook(
    name: str,
    variables: Mapping[str, str],
    options: PlaybookOptions,
    listener: Listener = SILENT,
    runs: RunListener | None = None,
) -> Run:
    """Run one playbook; UsageError for a variable that it does not have."""
    playbook = playbook_named(name)
    known = (*playbook.variables, *GIVEN)
    unknown = [each for each in variables if each not in known]
    if unknown:
        raise UsageError(
            f"playbook {playbook.name} has no variable '{unknown[0]}'", hint=f"its variables are {', '.join(known)}"
        )
    given = variables_of(playbook, {}, {**variables, **options.variables})
    with Actions(options.subject, listener) as actions:
        return performed(playbook, given, actions.perform, live=options.live, runs=runs)


def replay_bundle(path: str, runs: RunListener | None = None) -> tuple[Run, ...]:
    """The runs over what a bundle holds; nothing else is looked at."""
    return tuple(_replayed(record, path, runs) for record in read_bundle(path).runs)


def save_bundle(path: str, found: Sequence[Recognised], runs: Sequence[tuple[Run, str]], *, live: bool) -> None:
    """Write a bundle of runs, each with the name that its playbook was found by; secrets are hidden."""
    records = [recorded(made, text_of(name, made.playbook), live=live) for made, name in runs]
    page = diagnosis_markdown([symptom_view(one) for one in found], [run_view(made) for made, _ in runs])
    write_bundle(path, to_json(found, records), page)


def performed(
    playbook: Playbook,
    variables: Mapping[str, str],
    perform: Perform,
    *,
    live: bool,
    runs: RunListener | None = None,
) -> Run:
    """A run whose listener hears of its beginning, its steps and its end."""
    runs = runs or RunListener()
    runs.begun(playbook)
    made = run(playbook, variables, perform, live=live, tell=runs.step)
    runs.ended(made)
    return made


def _replayed(record: Recorded, path: str, runs: RunListener | None) -> Run:
    def perform(step: Step, arguments: Mapping[str, str]) -> Outcome:
        return record.outcomes.get(step.id, Outcome(why_not="it is not in the bundle"))

    playbook = load(record.name, f"{path}: {record.name}.yml", record.text.encode())
    return performed(playbook, record.variables, perform, live=record.live, runs=runs)
