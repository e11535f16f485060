"""The survey of public files: its list, its data, its page, the tool on repositories made here, and the bar."""

import hashlib
import json
import os
import re
import subprocess
from collections import Counter
from functools import partial
from pathlib import Path

import pytest

from netdiag.render.analysis.figure import vega_svg
from netdiag.rules.all_rules import ALL
from tests.figures import Report
from tests.house.tree import ROOT
from tools.survey import checking, judging, listing, page
from tools.survey.snapshots import Snapshot, snapshot, snapshots, write_tree

FOLDER = ROOT / "docs" / "survey"
SNAPSHOTS = "NETDIAG_SURVEY_SNAPSHOTS"
COMPOSE = """services:
  kafka:
    image: ${IMAGE}
    container_name: ${NAME}
    ports: ["9092:9092"]
    environment:
      KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
      KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://localhost:9092
  zookeeper:
    image: zookeeper:3.9
  app:
    image: app
    environment: {KAFKA_BOOTSTRAP_SERVERS: "kafka:9092"}
"""


def test_the_list_is_well_formed() -> None:
    files = listing.read_list(FOLDER / "files.csv")
    assert len(files) >= 500
    for file in files:
        assert re.fullmatch(r"[\w.-]+/[\w.-]+", file.repository)
        assert re.fullmatch(r"[0-9a-f]{40}", file.commit)
        assert re.fullmatch(r"[0-9a-f]{64}", file.sha256)
        assert file.kind in (listing.COMPOSE, listing.GITHUB, listing.GITLAB)
        assert not {"..", ""} & set(file.path.split("/"))
    assert len({file.sha256 for file in files}) == len(files)
    assert max(Counter(file.repository for file in files).values()) <= listing.MOST_OF_A_REPOSITORY
    assert json.loads((FOLDER / "sampling.json").read_text())["taken"] == len(files)


def test_the_results_are_those_of_the_list() -> None:
    files = [(file.repository, file.path) for file in listing.read_list(FOLDER / "files.csv")]
    outcomes = checking.read_outcomes(FOLDER / "outcomes.csv")
    assert [(one.repository, one.path) for one in outcomes] == files
    assert not [one for one in outcomes if one.status == checking.GONE]
    assert not [one for one in outcomes if "crash" in one.reason or "longer" in one.reason]
    findings = checking.read_findings(FOLDER / "findings.csv")
    assert {one.rule for one in findings} <= {rule.ID for rule in ALL}
    assert {one.repository for one in findings} <= {repository for repository, _ in files}


def test_every_finding_that_is_drawn_is_judged() -> None:
    findings = checking.read_findings(FOLDER / "findings.csv")
    judged = judging.read_judgements(FOLDER / "judgements.csv")
    drawn = [one for severity in judging.JUDGED for one in judging.draw(findings, severity)]
    assert [(one.repository, one.path, one.line, one.rule, one.severity) for one in judged] == [
        (one.repository, one.path, one.line, one.rule, one.severity) for one in drawn
    ]
    assert {one.judgement for one in judged} <= {judging.TRUE, judging.FALSE, judging.UNDECIDABLE}
    assert [one for one in judged if not one.reason] == []


@pytest.mark.bar("survey")
def test_the_precision_is_what_is_promised(figure: Report) -> None:
    judged = judging.read_judgements(FOLDER / "judgements.csv")
    for severity, least in (("error", 0.98), ("warning", 0.95)):
        found = judging.precision(judged, severity)
        low, high = found.interval
        figure(f"precision of {severity}s", f"{100 * found.share:.1f} % ({100 * low:.1f} to {100 * high:.1f} %)")
        figure(f"{severity}s judged, undecidable", f"{judging.DRAWN}, {found.undecidable}")
        assert found.true + found.false + found.undecidable == judging.DRAWN
        assert found.share >= least


@pytest.mark.slow
def test_the_page_and_its_charts_are_those_of_the_data() -> None:
    told = "`python -m tools.survey page` writes them"
    assert (ROOT / "docs" / "survey.md").read_text(encoding="utf-8") == page.page(FOLDER), told
    outcomes = checking.read_outcomes(FOLDER / "outcomes.csv")
    findings = checking.read_findings(FOLDER / "findings.csv")
    for name, spec in page.charts(outcomes, findings).items():
        assert (FOLDER / f"{name}.svg").read_text(encoding="utf-8") == vega_svg(spec), told


def test_the_interval_is_that_of_wilson() -> None:
    assert judging.wilson(100, 100) == pytest.approx((0.9630, 1.0), abs=1e-4)
    assert judging.wilson(95, 100) == pytest.approx((0.8882, 0.9785), abs=1e-4)
    assert judging.wilson(0, 0) == (0.0, 1.0)


def test_what_looks_like_a_file_with_kafka() -> None:
    compose = b"services:\n  k:\n    image: confluentinc/cp-kafka:7.9.2\n"
    assert listing.kind("x/stack.yaml", compose) == listing.COMPOSE
    assert listing.kind("node_modules/x/stack.yaml", compose) is None
    assert listing.kind("x/stack.json", compose) is None
    assert listing.kind("docker-compose.yml", b"k:\n  image: wurstmeister/kafka\n") == listing.COMPOSE
    assert listing.kind("values.yml", b"k:\n  image: wurstmeister/kafka\n") is None
    assert listing.kind(".github/workflows/ci.yml", b"jobs: {a: {services: {k: {image: apache/kafka}}}}\n") == "github"
    assert listing.kind(".gitlab-ci.yml", b"services: [postgres]\n") is None


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Snapshots of two repositories: one with a stack, its .env behind a link and a copy of it, one with the same."""
    _commit(tmp_path / "a+stack", {"compose.yml": COMPOSE, "copy/compose.yml": COMPOSE, "vars": "IMAGE=x\n"})
    _commit(tmp_path / "b+fork", {"compose.yml": COMPOSE, "known.yml": COMPOSE + "# known\n"})
    return tmp_path


def _commit(repository: Path, texts: dict[str, str]) -> None:
    for path, text in texts.items():
        (repository / path).parent.mkdir(parents=True, exist_ok=True)
        (repository / path).write_text(text)
    (repository / "empty").mkdir()
    (repository / "empty" / "picture.png").write_bytes(b"\x89PNG")
    (repository / "defaults.env").write_text("IMAGE=confluentinc/cp-kafka:7.9.2\n")
    (repository / ".env").symlink_to("defaults.env")
    (repository / "outside.env").symlink_to("/etc/passwd")
    (repository / "above.env").symlink_to("../../etc/passwd")
    git = partial(subprocess.run, cwd=repository, check=True, capture_output=True)
    git(["git", "init", "--quiet"])
    git(["git", "add", "--all"])
    git(["git", "-c", "user.name=x", "-c", "user.email=x@example.org", "commit", "--quiet", "--message", "x"])
    (repository / ".git").rename(repository / "repo")


def test_copies_and_known_files_are_not_listed(folder: Path) -> None:
    files, counts = listing.choose(folder, [("b/fork", "known.yml")])
    assert len(files) == 1
    assert files[0].sha256 == hashlib.sha256(COMPOSE.encode()).hexdigest()
    assert (counts.repositories, counts.candidates, counts.known, counts.duplicates) == (2, 4, 1, 2)
    kept = folder / "files.csv"
    listing.write_list(kept, files)
    assert listing.read_list(kept) == files


def test_a_tree_has_configuration_folders_and_links_that_stay_inside(folder: Path, tmp_path: Path) -> None:
    (one, _) = snapshots(folder)
    tree = tmp_path / "tree"
    tree.mkdir()
    write_tree(one, one.head(), tree)
    assert (tree / ".env").read_text() == "IMAGE=confluentinc/cp-kafka:7.9.2\n"
    assert not any(path.is_symlink() for path in tree.rglob("*"))
    assert not (tree / "outside.env").exists()
    assert not (tree / "above.env").exists()
    assert (tree / "empty").is_dir()
    assert not (tree / "empty" / "picture.png").exists()


@pytest.mark.slow
def test_a_file_is_checked_and_repaired(folder: Path) -> None:
    (one,) = [one for one in snapshots(folder) if one.repository == "a/stack"]
    digest = hashlib.sha256(COMPOSE.encode()).hexdigest()
    good = listing.File(repository="a/stack", commit=one.head(), path="compose.yml", sha256=digest, kind="compose")
    other = listing.File(repository="b/fork", commit="0" * 40, path="compose.yml", sha256="0" * 64, kind="compose")
    told: list[str] = []

    def find(repository: str, commit: str) -> Snapshot | None:
        found = snapshot(folder, repository)
        return found if found and found.has(commit) else None

    outcomes, findings = checking.check_all([good, other], find, tell=told.append)
    assert [found.status for found in outcomes] == [checking.CHECKED, checking.GONE]
    stack = outcomes[0]
    assert (stack.host, stack.containers, stack.lan) == (checking.WORKS, checking.MISLED, checking.MISLED)
    assert (stack.fix, stack.unsafe) == ("broken", "green")
    assert "advertised-loopback-for-remote-clients" in {found.rule for found in findings}
    assert told == ["b/fork compose.yml: not there, or other bytes than listed"]
    kept = folder / "outcomes.csv"
    checking.write_outcomes(kept, outcomes)
    assert checking.read_outcomes(kept) == outcomes


@pytest.mark.bar("survey", long=True)
def test_a_second_run_says_the_same(tmp_path: Path, figure: Report) -> None:
    """Needs the snapshots that the list was made of, or others that have its commits."""
    snapshots_at = os.environ.get(SNAPSHOTS)
    assert snapshots_at, f"{SNAPSHOTS} names the folder of snapshots; `python -m tools.survey check` downloads them"
    files = listing.read_list(FOLDER / "files.csv")
    where = Path(snapshots_at)
    outcomes, findings = checking.check_all(files, lambda repository, _: snapshot(where, repository))
    figure("files checked", sum(one.status == checking.CHECKED for one in outcomes))
    figure("findings", len(findings))
    kept = checking.read_outcomes(FOLDER / "outcomes.csv")
    figure("files with another outcome than in docs/survey", sum(a != b for a, b in zip(outcomes, kept, strict=True)))
    assert outcomes == kept
    assert findings == checking.read_findings(FOLDER / "findings.csv")
