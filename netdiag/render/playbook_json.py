"""Runs of playbooks and recognised symptoms as JSON, version 1."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from netdiag import __version__
from netdiag.render.told_run import ToldConclusion, ToldRun, ToldSymptom

FORMAT = "netdiag-diagnosis"
VERSION = 1


def diagnosis_json(symptoms: Sequence[ToldSymptom], runs: Sequence[ToldRun]) -> str:
    """The document and a line break; of a playbook run by name there are no symptoms."""
    document = {
        "format": FORMAT,
        "version": VERSION,
        "netdiag": __version__,
        "symptoms": [{**asdict(one), "values": dict(one.values)} for one in symptoms],
        "runs": [_run(run) for run in runs],
    }
    return json.dumps(document, indent=2, ensure_ascii=True) + "\n"


def _run(run: ToldRun) -> dict[str, Any]:
    return {
        "playbook": run.playbook,
        "title": run.title,
        "variables": dict(run.variables),
        "end": run.end,
        "summary": run.summary,
        "steps": [asdict(step) for step in run.steps],
        "conclusions": [_conclusion(one) for one in run.reached],
    }


def _conclusion(one: ToldConclusion) -> dict[str, Any]:
    return asdict(one)
