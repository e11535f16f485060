"""The page of the survey, and its charts, from the data files."""

import json
import textwrap
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from netdiag.render.analysis.figure import vega_svg
from tools.survey.checking import (
    ABSENT,
    CHECKED,
    MISLED,
    NO_BROKER,
    NO_WAY,
    PARTLY,
    SECURED,
    UNKNOWN,
    UNREADABLE,
    WORKS,
    Finding,
    Outcome,
    read_findings,
    read_outcomes,
)
from tools.survey.judging import DRAWN, FALSE, JUDGED, SEED, Judgement, Precision, draw, precision, read_judgements
from tools.survey.listing import COMPOSE, MOST_OF_A_REPOSITORY, File, read_list

VERDICTS = (WORKS, SECURED, PARTLY, MISLED, NO_WAY, UNKNOWN)
MEANING = {
    WORKS: "a client works through some address",
    SECURED: "a client with the right TLS or SASL settings can work",
    PARTLY: "a client reaches some of the brokers",
    MISLED: "a broker answers, then sends the client to an address that fails",
    NO_WAY: "no address leads to a broker",
    UNKNOWN: "depends on what is not in the files",
}
COLOURS = {
    WORKS: "#2e7d32",
    SECURED: "#81c784",
    PARTLY: "#fbc02d",
    MISLED: "#c62828",
    NO_WAY: "#9e9e9e",
    UNKNOWN: "#cfd8dc",
}
MOST_RULES = 15
_FONT = "sans-serif"


def write_page(folder: Path) -> None:
    """Write docs/survey.md and the charts of a folder of data."""
    outcomes = read_outcomes(folder / "outcomes.csv")
    findings = read_findings(folder / "findings.csv")
    for name, spec in charts(outcomes, findings).items():
        _write(folder / f"{name}.svg", vega_svg(spec))
    _write(folder.with_suffix(".md"), page(folder))


def page(folder: Path) -> str:
    """The text of the page."""
    files = read_list(folder / "files.csv")
    outcomes = read_outcomes(folder / "outcomes.csv")
    findings = read_findings(folder / "findings.csv")
    judgements = read_judgements(folder / "judgements.csv")
    sampling = json.loads((folder / "sampling.json").read_text(encoding="utf-8"))
    lines = (
        *_beginning(files, outcomes),
        *_who_connects(outcomes),
        *_mistakes(findings),
        *_repairs(outcomes),
        *_unread(outcomes),
        *_precision(findings, judgements),
        *_choice(sampling),
    )
    return "\n".join((*(wrapped for line in lines for wrapped in _wrapped(line)), _AGAIN))


def _wrapped(line: str) -> list[str]:
    if line.startswith(("|", "!", "#", "<")):
        return [line]
    more = "  " if line.startswith("- ") else ""
    return textwrap.wrap(line, 120, subsequent_indent=more, break_long_words=False, break_on_hyphens=False) or [""]


def charts(outcomes: Sequence[Outcome], findings: Sequence[Finding]) -> dict[str, Mapping[str, Any]]:
    """The specification of each chart by the name of its file."""
    checked = _checked(outcomes)
    rows = [
        {"place": place, "verdict": verdict, "order": VERDICTS.index(verdict), "files": count}
        for place, field in _PLACES
        for verdict, count in _verdicts(checked, field).items()
    ]
    connects = _chart(
        rows,
        height=150,
        y={"field": "place", "type": "nominal", "sort": [place for place, _ in _PLACES], "title": None},
        x={"field": "files", "type": "quantitative", "stack": "zero", "title": "files"},
        color={
            "field": "verdict",
            "type": "nominal",
            "scale": {"domain": list(VERDICTS), "range": [COLOURS[one] for one in VERDICTS]},
            "legend": {"title": None, "orient": "bottom"},
        },
        order={"field": "order", "type": "quantitative"},
    )
    rules = [
        {"rule": rule, "severity": severity, "files": count}
        for rule, severities in _rules(findings)[:MOST_RULES]
        for severity, count in severities.items()
    ]
    mistakes = _chart(
        rules,
        height=24 * MOST_RULES,
        y={
            "field": "rule",
            "type": "nominal",
            "sort": [row["rule"] for row in rules],
            "title": None,
            "axis": {"labelLimit": 300},
        },
        x={"field": "files", "type": "quantitative", "stack": "zero", "title": "files"},
        color={
            "field": "severity",
            "type": "nominal",
            "scale": {"domain": ["error", "warning"], "range": ["#c62828", "#fbc02d"]},
            "legend": {"title": None, "orient": "bottom"},
        },
    )
    return {"connects": connects, "mistakes": mistakes}


_PLACES = (("docker host", "host"), ("containers on its networks", "containers"), ("LAN machine", "lan"))


def _chart(rows: Sequence[Mapping[str, Any]], *, height: int, **encoding: Any) -> dict[str, Any]:
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "width": 520,
        "height": height,
        "background": "white",
        # Wider on the left than the text takes here: other fonts are wider.
        "padding": {"left": 60, "top": 12, "right": 12, "bottom": 12},
        "config": {"font": _FONT, "view": {"stroke": None}},
        "data": {"values": list(rows)},
        "mark": {"type": "bar"},
        "encoding": encoding,
    }


def _checked(outcomes: Sequence[Outcome]) -> list[Outcome]:
    return [one for one in outcomes if one.status == CHECKED]


def _verdicts(checked: Sequence[Outcome], field: str) -> dict[str, int]:
    found = Counter(getattr(one, field) for one in checked)
    return {verdict: found[verdict] for verdict in VERDICTS}


def _rules(findings: Sequence[Finding]) -> list[tuple[str, dict[str, int]]]:
    """Rules with the number of files in which each reports an error, or a warning and no error; most frequent first."""
    worst: dict[tuple[str, str, str], str] = {}
    for one in findings:
        key = (one.repository, one.path, one.rule)
        if one.severity in ("error", "warning") and worst.get(key) != "error":
            worst[key] = one.severity
    counts: dict[str, dict[str, int]] = {}
    for (_, _, rule), severity in worst.items():
        counts.setdefault(rule, {"error": 0, "warning": 0})[severity] += 1
    return sorted(counts.items(), key=lambda item: (-sum(item[1].values()), item[0]))


def _share(part: int, whole: int) -> str:
    return f"{part} ({100 * part / whole:.0f} %)" if whole else str(part)


def _table(headings: Sequence[str], rows: Sequence[Sequence[object]]) -> list[str]:
    lines = [headings, ["---"] + ["--:"] * (len(headings) - 1), *rows]
    return ["| " + " | ".join(map(str, line)) + " |" for line in lines]


def _beginning(files: Sequence[File], outcomes: Sequence[Outcome]) -> list[str]:
    checked = _checked(outcomes)
    serious = sum(one.errors + one.warnings > 0 for one in checked)
    kinds = Counter(one.kind for one in files)
    return [
        "<!-- Written by `python -m tools.survey page` from the files in docs/survey. -->",
        "",
        "# A survey of public files",
        "",
        f"We let netdiag check {len(files)} files with Kafka from {len({one.repository for one in files})} public "
        f"repositories: {kinds[COMPOSE]} Compose files and {len(files) - kinds[COMPOSE]} CI files. {len(checked)} of "
        f"them have a broker, and netdiag reports an error or a warning in {_share(serious, len(checked))} of these.",
        "",
        "No file was run. What follows is what netdiag says of them, and [how often it is "
        "right](#how-often-netdiag-is-right).",
        "",
    ]


def _who_connects(outcomes: Sequence[Outcome]) -> list[str]:
    checked = _checked(outcomes)
    rows = []
    for verdict in VERDICTS:
        counts = [_verdicts(checked, field)[verdict] for _, field in _PLACES]
        rows.append([f"{verdict}: {MEANING[verdict]}", *counts])
    absent = [sum(getattr(one, field) == ABSENT for one in checked) for _, field in _PLACES]
    rows.append(["there is no such place, or netdiag predicts nothing", *absent])
    return [
        "## Who can connect",
        "",
        "For each file, what the best of all addresses gives a client in three places:",
        "",
        "![Who can connect](survey/connects.svg)",
        "",
        *_table(["", "docker host", "containers", "LAN machine"], rows),
        "",
        "Many stacks are meant for one of these places only, so not every file that fails somewhere is broken. But "
        "*misled* "
        "is the trap that netdiag exists for: the port is open, the first answer comes, and then the client gets "
        "stuck.",
        "",
    ]


def _mistakes(findings: Sequence[Finding]) -> list[str]:
    rows = [
        [f"[{rule}](rules/{rule}.md)", counts["error"], counts["warning"]]
        for rule, counts in _rules(findings)[:MOST_RULES]
    ]
    return [
        "## The most frequent mistakes",
        "",
        "The number of files in which a rule reports an error or a warning. Notes are not counted.",
        "",
        "![The most frequent mistakes](survey/mistakes.svg)",
        "",
        *_table(["rule", "error", "warning"], rows),
        "",
        "Some of the errors came with time. A file that names `:latest` and configures ZooKeeper worked until the "
        "image "
        "changed beneath it.",
        "",
    ]


def _repairs(outcomes: Sequence[Outcome]) -> list[str]:
    broken = [one for one in _checked(outcomes) if one.errors or one.warnings]
    rows = []
    for command, field in (("`--fix`", "fix"), ("`--fix --unsafe-fixes`", "unsafe")):
        found = Counter(getattr(one, field) for one in broken)
        rows.append(
            [command, _share(found["green"] + found["clean"], len(broken)), _share(found["green"], len(broken))]
        )
    return [
        "## What netdiag repairs",
        "",
        f"Of the {len(broken)} files with an error or a warning, after a repair and a second check:",
        "",
        *_table(["command", "no error or warning is left", "and the matrix is green"], rows),
        "",
        "The matrix is green if a client works from the docker host or from containers, and in neither of these "
        "places a "
        "broker answers and then misleads it. `--fix` alone repairs only what cannot change which clients a listener "
        "serves. "
        "What netdiag does not repair is mostly for people to decide: which version to run, which file is missing.",
        "",
    ]


def _unread(outcomes: Sequence[Outcome]) -> list[str]:
    reasons = Counter(one.reason for one in outcomes if one.status == UNREADABLE)
    rows = [[f"cannot be read: {reason}", count] for reason, count in sorted(reasons.items())]
    rows += [["no broker in it, only clients or tools", sum(one.status == NO_BROKER for one in outcomes)]]
    rows += [
        ["depends on other files or on variables: unknown from every place", _unknown_everywhere(_checked(outcomes))]
    ]
    return [
        "## What netdiag could not tell",
        "",
        *_table(["", "files"], rows),
        "",
    ]


def _unknown_everywhere(checked: Sequence[Outcome]) -> int:
    return sum({one.host, one.containers, one.lan} <= {UNKNOWN, ABSENT} for one in checked)


def _precision(findings: Sequence[Finding], judgements: Sequence[Judgement]) -> list[str]:
    rows = []
    for severity in JUDGED:
        found = precision(judgements, severity)
        rows.append([f"{severity}s", found.true, found.false, found.undecidable, _precision_text(found)])
    reasons = [one for one in judgements if one.judgement == FALSE]
    wrong = [f"- [{one.rule}](rules/{one.rule}.md): {one.reason}" for one in reasons]
    errors, warnings = (len(draw(findings, severity, count=len(findings))) for severity in JUDGED)
    return [
        "## How often netdiag is right",
        "",
        f"We drew {DRAWN} of {errors} errors and {DRAWN} of {warnings} warnings at random (the seed is “{SEED}”), "
        "at most one of a rule in a file, and judged each by the text of the file: whether Compose, the start "
        "script of the image, the broker or a client does what netdiag says.",
        "",
        *_table(["", "true", "false", "undecidable", "precision (95 % interval)"], rows),
        "",
        *(["The false ones:", "", *wrong, ""] if wrong else []),
        "Precision is the share of true findings among those that could be decided; the interval is Wilson's. A "
        "finding is "
        "judged for the file as it is in the repository. If a variable or a file is missing there, and netdiag says "
        "what "
        "follows, that is true, although its authors may have it on their machines; if a script or a Makefile of the "
        "repository sets the variable, it is false.",
        "",
        "The draw came after the last repair of a rule, but it is not wholly fresh: an earlier draw, with another "
        "seed, had "
        "shown false findings that led to repairs, and with so few findings most of the present ones were in it, "
        "too. Who "
        "judged also works on netdiag. [judgements.csv](survey/judgements.csv) has every judgement with its reason, "
        "so that "
        "you can judge again.",
        "",
    ]


def _precision_text(found: Precision) -> str:
    low, high = found.interval
    return f"{100 * found.share:.1f} % ({100 * low:.1f} to {100 * high:.1f} %)"


def _choice(sampling: Mapping[str, int]) -> list[str]:
    return [
        "## How the files were chosen",
        "",
        f"We took {sampling['repositories']} public repositories from an index of GitHub: those that hold a file "
        f"with a "
        "telling name (`docker-compose-kafka.yml`, `kafka/docker-compose.yml`, `kafka-cluster/docker-compose.yml`), "
        "repositories with telling names (kafka-docker, spring-kafka, kafka-example, event-driven, debezium), and "
        "well-known projects that use Kafka in their tests. So small examples and exercises weigh more here than what "
        "companies keep to themselves. This is not a random sample of all Kafka in Docker.",
        "",
        f"In {sampling['repositories'] - sampling['without']} of them were {sampling['candidates']} files that look "
        f"like a "
        "Compose file, a GitHub workflow or a `.gitlab-ci.yml` with Kafka. Of these we left out "
        f"{sampling['known']} that netdiag was developed with and copies of them, {sampling['duplicates']} copies of "
        f"another file, byte for byte, and {sampling['beyond']} because at most {MOST_OF_A_REPOSITORY} files of a "
        f"repository are taken, in an order that only chance decides. {sampling['taken']} remained. Copies with a "
        f"changed "
        "comment are still among them.",
        "",
        "netdiag checks each file with its repository around it: `.env`, files in `env_file`, base files, "
        "Dockerfiles and "
        "mounted configurations are read where the repository has them. Variables of a shell are unset. Folders "
        "belong to "
        "user 1000. Each check has 60 seconds and 2 GB; none needed them.",
        "",
    ]


_AGAIN = """\
## Do it again

The repository has no text of these files, only the [list](survey/files.csv) with repository, commit, path and SHA-256.
In a clone with the extra `report`, this fetches the commits from GitHub into `.cache/survey`, compares the hashes,
checks every file and writes the data and this page again:

```sh
python -m tools.survey check && python -m tools.survey page
```

What netdiag said is in [outcomes.csv](survey/outcomes.csv) (a line for each file) and
[findings.csv](survey/findings.csv) (rule and line of each finding). A newer netdiag may say something else.
"""


def _write(path: Path, text: str) -> None:
    new = path.with_name(f".{path.name}.new")
    new.write_text(text, encoding="utf-8")
    new.replace(path)
