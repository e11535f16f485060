"""A teaching lab told to the learner: each step with its reason and its command by hand, what works, what is left."""

from collections.abc import Iterable, Sequence

from netdiag.render.screen import Line, Run, Screen, Style, hanging, paint
from netdiag.topology.tutorial_lab import Step, Trial, command

_INDENT = "   "


def step_text(lab: str, number: int, step: Step, screen: Screen) -> str:
    """What a step is about, why, and how it is done by hand."""
    lines: list[Line] = [
        (Run(f"{number}. ", Style.BOLD), screen.run(step.title, Style.BOLD)),
        *hanging((Run(_INDENT),), step.why, screen),
        *((Run(f"{_INDENT}$ ", Style.DIM), screen.run(command(lab, each), Style.PLACE)) for each in step.actions),
        (),
    ]
    return paint(lines, screen)


def passed_over_text(number: int, step: Step, because: str, screen: Screen) -> str:
    """That a step cannot be shown here, in one line."""
    words = (
        Run(f"{number}. ", Style.BOLD),
        screen.run(f"{step.title}, ", Style.BOLD),
        Run("skipped", Style.WARNING),
    )
    return paint([(*words, screen.run(f": {because}")), ()], screen)


def trials_text(results: Iterable[tuple[Trial, str]], screen: Screen) -> str:
    """What was tried between the namespaces of the lab, and what came of it."""
    lines: list[Line] = [(Run("tried", Style.BOLD),)]
    for trial, result in results:
        style = Style.GOOD if result == "connected" else Style.BAD
        arrow = screen.glyphs.arrow
        lines.append(
            (
                screen.run(f"{_INDENT}{trial.source} {arrow} {trial.target} ({trial.address}), {trial.what}: "),
                screen.run(result, style),
            )
        )
    return paint([*lines, ()], screen)


def invitation_text(commands: Sequence[tuple[str, str]], screen: Screen) -> str:
    """What to do next: commands, each with what it is for."""
    longest = max(len(words) for words, _ in commands)
    return paint(
        [
            (Run("next", Style.BOLD),),
            *(
                (
                    Run(f"{_INDENT}$ ", Style.DIM),
                    screen.run(f"{words:<{longest}}", Style.PLACE),
                    screen.run(f"  {what}"),
                )
                for words, what in commands
            ),
        ],
        screen,
    )


def left_text(left: Iterable[tuple[str, str]], screen: Screen) -> str:
    """What was left where it is, a line each."""
    return paint(
        [
            (Run("left: ", Style.WARNING), screen.run(what, Style.BOLD), screen.run(f": {because}"))
            for what, because in left
        ],
        screen,
    )
