"""Jobs of CI as their runner starts them: a network, the services on it by their ids, their ports on the runner.

kcat asks from where the steps run, the docker host or a container on that network, and must get what was predicted.
"""

from pathlib import Path

import pytest
from ruamel.yaml import YAML

from netdiag.deployment.model.verdict import parse_address
from netdiag.deployment.prediction.reachability import predict
from netdiag.deployment.sources.ci.job import CiJob, Place
from netdiag.findings import Severity
from netdiag.rules.ci import check_job
from tests.ci.workflows import jobs_of, workflow
from tests.lab.lab import Lab
from tests.lab.lead_topics import lead_topics
from tests.lab.oracles import Cell
from tests.live.examples import text_of
from tests.live.test_client_fails import vantage_of, word

BOOTSTRAPS = ("localhost:9092", "kafka:9092")
CONTAINER = "    container: python:3.13\n"
BY_NAME, LOCALHOST = "PLAINTEXT://kafka:9092", "PLAINTEXT://localhost:9092"
JOBS = {
    "runner told a name": workflow(BY_NAME),
    "runner told localhost": workflow(LOCALHOST),
    "container told a name": workflow(BY_NAME, job=CONTAINER),
    "container told localhost": workflow(LOCALHOST, job=CONTAINER),
}


def compose_of_job(text: str) -> str:
    """What the runner starts for the services of the one job, as a compose file."""
    loaded = YAML(typ="safe", pure=True).load(text)
    services = {
        name: {
            "image": service["image"],
            "environment": service["env"],
            "ports": service.get("ports", []),
            "networks": {"job": {"aliases": [name]}},
        }
        for name, service in loaded["jobs"]["test"]["services"].items()
    }
    return text_of({"services": services, "networks": {"job": {}}})


def predicted_words(job: CiJob) -> dict[str, str]:
    """The verdict of the steps at each address."""
    cells = predict(job.deployment, [job.steps], [parse_address(one) for one in BOOTSTRAPS])
    return {str(cell.bootstrap): cell.predicted.word.value for cell in cells if cell.predicted}


@pytest.mark.parametrize("text", JOBS.values(), ids=JOBS.keys())
def test_kcat_gets_what_the_steps_are_predicted_to_get(text: str, lab: Lab, tmp_path: Path) -> None:
    (job,) = jobs_of(text)
    file = tmp_path / "compose.yml"
    file.write_text(compose_of_job(text), encoding="utf-8")
    with lab.up(file) as stack:
        topic = lead_topics(stack)
        vantage = vantage_of(stack, "H" if job.place is Place.RUNNER else "C:job")
        cells = [Cell(vantage=vantage, bootstrap=address, topic=topic) for address in BOOTSTRAPS]
        answers = lab.oracles.ask_all(cells, ("kcat",))
    got = {cell.bootstrap: word(answers[cell, "kcat"], topic) for cell in cells}
    assert got == predicted_words(job)
    errors = [finding.rule for finding in check_job(job) if finding.severity is Severity.ERROR]
    assert errors == ([] if "ok" in got.values() else ["ci-steps-cannot-connect"])
