"""Repairs of files that stand in memory, made as `--fix` makes them."""

from collections.abc import Mapping

from netdiag.app.repair import Repairs, tried
from netdiag.compose.dotenv import load_dotenv
from netdiag.compose.load import load
from netdiag.compose.positions import Source
from netdiag.compose.problems import ComposeError
from netdiag.deployment.sources.compose import from_compose
from netdiag.findings import Finding
from netdiag.render.report import Input, Problem, Report
from netdiag.rules.declared import check_deployment

FILE = "compose.yml"
OVERRIDE = "compose.override.yml"


def looked(files: Mapping[str, bytes]) -> Report:
    """What is found in a project: the compose file, its override where there is one, `.env`, and what they name."""

    def source(path: str) -> Source:
        return Source(path, files[path])

    try:
        dotenv = load_dotenv(source(".env"), {}) if ".env" in files else {}
        overrides = (source(OVERRIDE),) if OVERRIDE in files else ()
        project = load(source(FILE), overrides=overrides, dotenv=dotenv, read=files.get, default_name="t")
    except ComposeError as error:
        return Report(inputs=(Input(name=FILE, error=Problem(message=error.message)),), sources=files)
    if project.errors:
        message = "; ".join(problem.message for problem in project.errors)
        return Report(inputs=(Input(name=FILE, error=Problem(message=message)),), sources=files)
    return Report(inputs=(Input(name=FILE),), findings=check_deployment(from_compose(project)), sources=files)


def repaired(files: Mapping[str, bytes], *, unsafe: bool = True) -> Repairs:
    """The files with all repairs."""
    return tried(lambda replaced: looked({**files, **replaced}), {}, lambda path: True, unsafe=unsafe)


def findings(files: Mapping[str, bytes]) -> tuple[Finding, ...]:
    """All findings."""
    return looked(files).findings
