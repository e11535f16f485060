"""Where compose exists: it reads every case as netdiag does, and refuses the same ones."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from netdiag.compose.problems import ComposeError
from tests.compose.all_cases import ALL, TOPICS
from tests.compose.cases import Case
from tests.compose.oracle import ask_compose, differences, load_folder
from tests.figures import Report as Figure

# case -> why netdiag says something else than compose
KNOWN = {
    "port {target: 80, published: '9000-8000'}": "compose prints it, and starting the container fails",
    "port {target: 80, published: x}": "compose prints it, and starting the container fails",
    "port {target: 0}": "compose prints it, and there is no port 0 to publish",
    "include project_directory is missing": "compose takes the folder above one that does not exist",
    "port '8080:80', {target: 80, published: 8080}": "compose takes the number 8080 for another port than '8080'",
}


@pytest.mark.bar("loader")
def test_every_case_is_what_compose_says(compose_v2: Path, tmp_path: Path, figure: Figure) -> None:
    with ThreadPoolExecutor() as pool:
        jobs = [(compose_v2, tmp_path / f"case{number}", case) for number, case in enumerate(ALL)]
        results = list(pool.map(lambda job: disagreement(*job), jobs))
    wrong = {case.name: text for case, text in zip(ALL, results, strict=True) if text}
    figure("compose projects of our own as compose", f"{len(ALL) - len(wrong)} of {len(ALL)}", "cases")
    for topic, cases in TOPICS.items():
        equal = sum(case.name not in wrong for case in cases)
        figure(f"{topic} cases as compose", f"{equal} of {len(cases)}", "cases")
    unknown = [f"{name}: {text}" for name, text in wrong.items() if name not in KNOWN]
    assert not unknown, "\n".join(unknown)
    assert set(KNOWN) <= set(wrong), "no longer different"


def test_cases_have_names_of_their_own() -> None:
    assert len({case.name for case in ALL}) == len(ALL)


def disagreement(compose: Path, folder: Path, case: Case) -> str:
    """What compose and netdiag disagree about, empty when they agree."""
    for name, text in case.files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
    verdict = ask_compose(compose, folder, case.chain, case.environ)
    loaded = load_folder(folder, case.chain, case.environ)
    refusal = loaded.message if isinstance(loaded, ComposeError) else ""
    if not refusal and not isinstance(loaded, ComposeError) and loaded.errors:
        refusal = loaded.errors[0].message
    if verdict.model is None:
        return "" if refusal else f"compose refuses: {verdict.message}"
    if isinstance(loaded, ComposeError) or refusal:
        return f"compose accepts, netdiag: {refusal}"
    return "; ".join(differences(loaded, verdict.model, folder))
