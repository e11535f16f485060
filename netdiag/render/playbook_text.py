"""Playbooks as text: the list, one of them, what a line was recognised as, and a run as it goes and as it ends."""

from collections.abc import Sequence

from netdiag.render.screen import Line, Run, Screen, Style, paint, wrap
from netdiag.render.told_run import ToldConclusion, ToldPlaybook, ToldRun, ToldStep, ToldSymptom

_LOOKED = {"looked": Style.GOOD, "could not look": Style.HALF, "passed over": Style.DIM}


def playbook_list(playbooks: Sequence[tuple[str, str]], screen: Screen) -> str:
    """Name and title of each."""
    width = max((len(name) for name, _ in playbooks), default=0)
    return paint(((Run(f"{name:<{width}}  ", Style.BOLD), screen.run(title)) for name, title in playbooks), screen)


def playbook_page(playbook: ToldPlaybook, screen: Screen) -> str:
    """One playbook: what it means, the lines that lead to it, the steps, the causes."""
    lines: list[Line] = [(Run(playbook.name, Style.BOLD),), (screen.run(playbook.title),), ()]
    lines += _wrapped(playbook.means, screen, 0)
    lines += [(), (Run("Lines that lead here", Style.PLACE),)]
    for who, line in playbook.symptoms:
        lines += [(Run("    "), screen.run(who, Style.DIM)), (Run("      "), screen.run(line))]
    lines += [(), (Run("Steps", Style.PLACE),)]
    for step, action, live in playbook.steps:
        how = f" ({action}{', with --live' if live else ''})"
        lines.append((Run("    "), screen.run(step), screen.run(how, Style.DIM)))
    lines += [(), (Run("Causes", Style.PLACE),)]
    for conclusion in playbook.conclusions:
        lines += _conclusion(conclusion, screen)
    return paint(lines, screen)


def recognised_text(symptoms: Sequence[ToldSymptom], screen: Screen) -> str:
    """What lines were recognised as, best first."""
    lines: list[Line] = []
    for number, one in enumerate(symptoms):
        if number:
            lines.append(())
        lines.append((Run(one.playbook, Style.BOLD), Run("  "), screen.run(one.title)))
        times = f", {one.times} times" if one.times > 1 else ""
        lines.append((Run("    "), screen.run(f"line {one.number}, {one.who}{times}:", Style.DIM)))
        lines.append((Run("    "), screen.run(one.line[:400])))
        lines += _wrapped(one.means, screen, 4)
    return paint(lines, screen)


def step_text(step: ToldStep, screen: Screen) -> str:
    """A step that is over."""
    head = (
        Run(f"{step.state:<14}  ", _LOOKED[step.state]),
        screen.run(step.title),
        screen.run(f"  {step.told}" if step.told else "", Style.DIM),
    )
    lines: list[Line] = [head]
    if step.fix:
        lines.append((Run(" " * 16), screen.run(f"{screen.glyphs.arrow} {step.fix}", Style.PLACE)))
    lines += [(Run(" " * 16), screen.run(note, Style.DIM)) for note in step.notes]
    return paint(lines, screen)


def end_text(run: ToldRun, screen: Screen) -> str:
    """How a run ended: the cause with its evidence and repair, or that there is none."""
    lines: list[Line] = [()]
    if not run.reached:
        lines.append((screen.run(run.summary, Style.BOLD),))
        return paint(lines, screen)
    for number, one in enumerate(run.reached):
        if number:
            lines.append(())
        lines += _conclusion(one, screen, 0)
    return paint(lines, screen)


def _conclusion(one: ToldConclusion, screen: Screen, indent: int = 4) -> list[Line]:
    blank = " " * indent
    lines: list[Line] = [(Run(blank), Run(one.confidence, Style.WARNING), Run("  "), screen.run(one.name, Style.BOLD))]
    lines += _wrapped(one.cause, screen, indent + 4)
    for each in one.evidence:
        lines += _wrapped(f"seen: {each}", screen, indent + 4, Style.DIM)
    lines += _wrapped(f"{screen.glyphs.arrow} {one.repair}", screen, indent + 4, Style.GOOD)
    if one.rules:
        words = ", ".join(f"netdiag explain {rule}" for rule in one.rules)
        lines += _wrapped(f"more: {words}", screen, indent + 4, Style.DIM)
    return lines


def _wrapped(text: str, screen: Screen, indent: int, style: Style = Style.PLAIN) -> list[Line]:
    parts = wrap(screen.visible(text), max(30, screen.width - indent))
    return [(Run(" " * indent), Run(part, style)) for part in parts]
