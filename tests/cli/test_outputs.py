"""Several formats in one run, each to its own place."""

import json
import re
import subprocess
import sys
from pathlib import Path
from xml.etree.ElementTree import fromstring

import pytest
import typer

from netdiag.cli.outputs import Format, Output, paired, spelled_out
from tests.cli.shell import BROKEN, CLEAN, environment, netdiag
from tests.house.tree import ROOT
from tests.render.test_sarif import run_of

T, J, S = Format.TEXT, Format.JSON, Format.SARIF


@pytest.mark.parametrize(
    ("words", "outputs"),
    [
        ([], [(T, None)]),
        (["a"], [(T, "a")]),
        ([J], [(J, None)]),
        ([J, "a"], [(J, "a")]),
        (["a", J], [(J, "a")]),
        ([S, "a", J], [(S, "a"), (J, None)]),
        ([J, S, "a"], [(J, None), (S, "a")]),
        (["a", S, J], [(S, "a"), (J, None)]),
        ([S, "a", J, "b", T], [(S, "a"), (J, "b"), (T, None)]),
        (["a", "b"], None),
        (["a", S, "b"], None),
        ([S, "a", "b", J], None),
    ],
)
def test_pairs(words: list[Format | str], outputs: list[tuple[Format, str | None]] | None) -> None:
    order = ["files", *("format" if isinstance(word, Format) else "output" for word in words), "live"]
    formats = [word for word in words if isinstance(word, Format)]
    paths = [word for word in words if not isinstance(word, Format)]
    if outputs is None:
        with pytest.raises(typer.BadParameter, match="belongs to the --format before it"):
            paired(order, formats, paths)
    else:
        assert paired(order, formats, paths) == tuple(Output(format=form, path=path) for form, path in outputs)


def test_an_option_with_a_value_if_one_likes() -> None:
    words = ["--live", "--watch=2.5", "--watch", "--", "--watch=1"]
    assert spelled_out(words) == ["--live", "--watch", "--every=2.5", "--watch", "--", "--watch=1"]


def test_several_outputs_and_one_status(tmp_path: Path) -> None:
    (tmp_path / "a b.yml").write_text(BROKEN)
    words = [
        "--format",
        "sarif",
        "--output",
        "a.sarif",
        "--format",
        "github",
        "-o",
        "-",
        "--format=junit",
        "-o",
        "j.xml",
    ]
    words += ["--format", "gitlab", "-og.json"]
    done = netdiag("check-listeners", *words, "a b.yml", cwd=tmp_path)
    assert done.returncode == 1, done.stderr
    assert done.stdout.startswith(b"::error title=netdiag listener-bound-to-foreign-address,file=a b.yml,line=8,")
    (result,) = run_of((tmp_path / "a.sarif").read_text())["results"]
    artifact = result["locations"][0]["physicalLocation"]["artifactLocation"]
    assert artifact == {"uri": "a%20b.yml", "uriBaseId": "%SRCROOT%"}
    assert fromstring((tmp_path / "j.xml").read_bytes()).attrib["failures"] == "1"
    assert json.loads((tmp_path / "g.json").read_bytes())[0]["location"]["path"] == "a b.yml"
    assert not (tmp_path / "-").exists()


@pytest.mark.parametrize(("stack", "status"), [(BROKEN, 1), (CLEAN, 0), ("services: [", 3), ("services: {}\n", 4)])
def test_all_formats_of_a_report(tmp_path: Path, stack: str, status: int) -> None:
    (tmp_path / "compose.yml").write_text(stack)
    words = [word for form in Format for word in ("--format", form, "--output", f"out.{form}")]
    done = netdiag("check-listeners", *words, str(tmp_path / "compose.yml"), cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (status, b"", b"")
    for form in Format:
        text = (tmp_path / f"out.{form}").read_text(encoding="utf-8")
        # Text and version 1 of JSON name the file as the user did; whoever reads the others knows it by its place.
        assert form in (T, J) or str(tmp_path) not in text
    run_of((tmp_path / "out.sarif").read_text())


@pytest.mark.parametrize(
    "words",
    [
        "--format sarif --format json",
        "--format sarif --format json --output -",
        "--format sarif --output a --output b",
        "--format sarif --output a --format json --output ./a",
        "--format text --output a --diff --format json",
    ],
)
def test_what_is_unclear_is_wrong_usage(tmp_path: Path, words: str) -> None:
    (tmp_path / "compose.yml").write_text(BROKEN)
    done = netdiag("check-listeners", *words.split(), cwd=tmp_path)
    assert done.returncode == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["compose.yml"]


def test_one_file_that_cannot_be_written_does_not_lose_the_others(tmp_path: Path) -> None:
    (tmp_path / "compose.yml").write_text(BROKEN)
    words = ["--format", "sarif", "--output", "no/such/folder", "--format", "concise"]
    done = netdiag("check-listeners", *words, cwd=tmp_path)
    assert done.returncode == 3
    assert done.stdout.startswith(b"compose.yml:8:")
    assert b"no/such/folder" in done.stderr


def test_a_format_that_is_not_asked_for_is_not_imported(tmp_path: Path) -> None:
    (tmp_path / "compose.yml").write_text(CLEAN)
    code = """
import subprocess
import sys
from netdiag.cli.main import run
try:
    run()
finally:
    formats = "netdiag.render.formats."
    loaded = sorted(name.removeprefix(formats) for name in sys.modules if name.startswith(formats))
    print(*loaded, "xml.etree" in sys.modules)
"""
    for form, expected in (("concise", "text False"), ("json", "json False")):
        done = subprocess.run(
            [sys.executable, "-c", code, "check-listeners", "--format", form],
            cwd=tmp_path,
            env=environment(),
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.stdout.splitlines()[-1] == expected


def test_every_format_is_documented() -> None:
    page = (ROOT / "docs/output.md").read_text(encoding="utf-8")
    table = re.findall(
        r"^\| `([a-z]+)` \|", page.partition("## netdiag check-listeners")[2].partition("\n## ")[0], re.M
    )
    assert table == [form.value for form in Format]
