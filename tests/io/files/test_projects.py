"""Which files a project has: as compose finds them, and as they are named one by one."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from netdiag.errors import InputError, NetdiagError
from netdiag.io.files.projects import (
    ProjectFiles,
    ProjectReader,
    ReadOptions,
    find_project,
    is_project_name,
    project_at,
    project_of,
)
from tests.compose.test_oracle import ask_compose, differences
from tests.figures import Report as Figure


def one(hostname: str, more: str = "") -> str:
    """A project of one service that tells which file was read."""
    return f"services: {{a: {{image: 'x:${{T:-none}}', hostname: {hostname}{more}}}}}\n"


BASES = {name: one(name.replace(".", "-")) for name in ("compose.yaml", "compose.yml", "docker-compose.yml")}
OVERRIDE = "services: {a: {environment: {FROM: override}}}\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """Files, the folder one stands in, the options and the environment."""

    files: Mapping[str, str]
    here: str = "."
    chain: tuple[str, ...] = ()
    environ: Mapping[str, str] = field(default_factory=dict)
    env_files: tuple[str, ...] = ()
    directory: str | None = None
    name: str | None = None
    profiles: tuple[str, ...] = ()

    @property
    def options(self) -> tuple[str, ...]:
        """The same for compose."""
        words = [word for file in self.env_files for word in ("--env-file", file)]
        words += [word for name in self.profiles for word in ("--profile", name)]
        words += ["--project-directory", self.directory] if self.directory is not None else []
        return (*words, *(["-p", self.name] if self.name is not None else []))


# Without a broker in it every profile would be looked at.
PROFILES = "services: {a: {image: apache/kafka}, p: {image: x, profiles: [p]}, q: {image: x, profiles: [q, r]}}\n"
LAYOUTS = {
    "first of all names": Layout(files=BASES),
    "second name": Layout(files={k: v for k, v in BASES.items() if k != "compose.yaml"}),
    "docker-compose.yml before .yaml": Layout(
        files={"docker-compose.yaml": one("yaml"), "docker-compose.yml": one("yml")}
    ),
    "override of another stem": Layout(files={**BASES, "docker-compose.override.yaml": OVERRIDE}),
    "first of the overrides": Layout(
        files={**BASES, "docker-compose.override.yml": OVERRIDE, "compose.override.yml": one("over")}
    ),
    "a folder above": Layout(
        files={**BASES, "compose.override.yaml": OVERRIDE, "sub/deep/x": "", ".env": "T=up\n"}, here="sub/deep"
    ),
    "the .env here before the one above": Layout(
        files={**BASES, "sub/.env": "T=here\n", ".env": "T=up\nU=2\n"}, here="sub"
    ),
    "a folder as compose.yaml": Layout(files={"compose.yaml/x": "", "compose.yml": one("yml")}),
    "no file": Layout(files={"x": ""}),
    "-f leaves the override": Layout(files={**BASES, "compose.override.yml": OVERRIDE}, chain=("compose.yml",)),
    "-f twice": Layout(files={**BASES, "o.yml": OVERRIDE}, chain=("compose.yml", "o.yml")),
    "-f of a folder": Layout(
        files={
            "sub/a.yml": one("a", ", env_file: v.env"),
            "sub/v.env": "A=1\n",
            "sub/.env": "T=sub\n",
            ".env": "T=here\n",
        },
        chain=("sub/a.yml",),
    ),
    "-f of two folders": Layout(
        files={"sub/a.yml": one("a"), "b/o.yml": "services: {a: {env_file: v.env}}\n", "sub/v.env": "A=1\n"},
        chain=("sub/a.yml", "b/o.yml"),
    ),
    "-f gone": Layout(files=BASES, chain=("gone.yml",)),
    "COMPOSE_FILE": Layout(
        files={**BASES, "sub/a.yml": one("a"), "sub/.env": "T=sub\n"}, environ={"COMPOSE_FILE": "sub/a.yml"}
    ),
    "COMPOSE_FILE of two": Layout(files={**BASES, "o.yml": OVERRIDE}, environ={"COMPOSE_FILE": "compose.yml:o.yml"}),
    "COMPOSE_PATH_SEPARATOR": Layout(
        files={**BASES, "o.yml": OVERRIDE}, environ={"COMPOSE_FILE": "compose.yml|o.yml", "COMPOSE_PATH_SEPARATOR": "|"}
    ),
    "COMPOSE_FILE in .env": Layout(
        files={**BASES, "sub/a.yml": one("a"), "sub/.env": "T=sub\nU=1\n", ".env": "COMPOSE_FILE=sub/a.yml\nT=here\n"}
    ),
    "COMPOSE_FILE in an env file": Layout(files={**BASES, "e": "COMPOSE_FILE=compose.yml\n"}, env_files=("e",)),
    "-f before COMPOSE_FILE": Layout(files=BASES, chain=("compose.yml",), environ={"COMPOSE_FILE": "compose.yaml"}),
    "COMPOSE_FILE gone": Layout(files=BASES, environ={"COMPOSE_FILE": "gone.yml"}),
    "COMPOSE_FILE empty": Layout(files=BASES, environ={"COMPOSE_FILE": ""}),
    "COMPOSE_FILE with an empty end": Layout(files=BASES, environ={"COMPOSE_FILE": "compose.yml:"}),
    "environment before .env": Layout(files={**BASES, ".env": "T=file\n"}, environ={"T": "shell"}),
    "env files in order": Layout(
        files={**BASES, "1": "T=1\nU=1\n", "2": "T=2${U}\n", ".env": "T=no\n"}, env_files=("1", "2")
    ),
    "env file gone": Layout(files=BASES, env_files=("gone",)),
    "COMPOSE_DISABLE_ENV_FILE": Layout(files={**BASES, ".env": "T=1\n"}, environ={"COMPOSE_DISABLE_ENV_FILE": "1"}),
    "COMPOSE_DISABLE_ENV_FILE of nothing": Layout(files=BASES, environ={"COMPOSE_DISABLE_ENV_FILE": "maybe"}),
    "bad .env": Layout(files={**BASES, ".env": "A B=1\n"}),
    "--project-directory": Layout(
        files={"a.yml": one("a", ", env_file: v.env"), "sub/v.env": "A=1\n", "sub/.env": "T=sub\n", ".env": "T=here\n"},
        chain=("a.yml",),
        directory="sub",
    ),
    "search in --project-directory": Layout(files={**BASES, "sub/compose.yml": one("sub")}, directory="sub"),
    "search above --project-directory": Layout(files={**BASES, "sub/v.env": "A=1\n"}, directory="sub"),
    "-p": Layout(files={"compose.yaml": "name: own\n" + one("'${COMPOSE_PROJECT_NAME}'")}, name="given"),
    "-p of no name": Layout(files=BASES, name="Given"),
    "COMPOSE_PROJECT_NAME": Layout(
        files={"compose.yaml": "name: own\n" + one("'${COMPOSE_PROJECT_NAME}'")}, environ={"COMPOSE_PROJECT_NAME": "e"}
    ),
    "COMPOSE_PROJECT_NAME in .env": Layout(files={**BASES, ".env": "COMPOSE_PROJECT_NAME=e\n"}),
    "COMPOSE_PROJECT_NAME of no name": Layout(files=BASES, environ={"COMPOSE_PROJECT_NAME": "A.b"}),
    "the name of the file as a variable": Layout(
        files={"compose.yaml": "name: Own.${T}\n" + one("'${COMPOSE_PROJECT_NAME}'")}, environ={"T": "t"}
    ),
    "the name of the folder as a variable": Layout(files={"compose.yaml": one("'${COMPOSE_PROJECT_NAME}'")}),
    "the last file's name": Layout(
        files={"a": "name: a\n" + one("a"), "b": "name: b\n", "c": "services: {}\n"}, chain=("a", "b", "c")
    ),
    "no profile": Layout(files={"compose.yaml": PROFILES}),
    "a profile": Layout(files={"compose.yaml": PROFILES}, profiles=("p",)),
    "two profiles": Layout(files={"compose.yaml": PROFILES}, profiles=("p", "r")),
    "all profiles": Layout(files={"compose.yaml": PROFILES}, profiles=("*",)),
    "COMPOSE_PROFILES": Layout(files={"compose.yaml": PROFILES}, environ={"COMPOSE_PROFILES": "q, p"}),
    "COMPOSE_PROFILES in .env": Layout(files={"compose.yaml": PROFILES, ".env": "COMPOSE_PROFILES=p\n"}),
    "--profile before COMPOSE_PROFILES": Layout(
        files={"compose.yaml": PROFILES}, profiles=("q",), environ={"COMPOSE_PROFILES": "p"}
    ),
    "an empty profile": Layout(files={"compose.yaml": PROFILES}, environ={"COMPOSE_PROFILES": ""}),
}


def put(folder: Path, files: Mapping[str, str]) -> None:
    """Write the files of a layout."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def files_of(layout: Layout, options: ReadOptions) -> ProjectFiles:
    """What the command would read; NetdiagError where it reads nothing."""
    if layout.name is not None and not is_project_name(layout.name):
        raise InputError("no name")
    if layout.chain:
        return project_of(layout.chain, layout.directory)
    found = find_project(options)
    if found is None:
        raise InputError("no file")
    return found


@pytest.mark.bar("loader")
def test_projects_are_found_as_compose_finds_them(
    compose_v2: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, figure: Figure
) -> None:
    wrong = {}
    for number, (title, layout) in enumerate(LAYOUTS.items()):
        top = tmp_path / f"Layout.{number}"
        put(top, layout.files)
        here = top / layout.here
        monkeypatch.chdir(here)
        verdict = ask_compose(compose_v2, here, layout.chain, layout.environ, *layout.options, profiles=())
        environ = {"PATH": os.environ.get("PATH", ""), "HOME": str(here), "PWD": str(here), **layout.environ}
        options = ReadOptions(
            environ=environ,
            env_files=layout.env_files,
            project_directory=layout.directory,
            project_name=layout.name,
            profiles=layout.profiles or None,
        )
        try:
            files = files_of(layout, options)
            project = ProjectReader(files, options).read()
        except NetdiagError as error:
            said = [] if verdict.model is None else [f"compose accepts, netdiag: {error}"]
        else:
            folder = here / files.folder
            said = [f"compose refuses: {verdict.message}"] if verdict.model is None else []
            said += [] if verdict.model is None else differences(project, verdict.model, folder)
        if said:
            wrong[title] = said
    figure("project discovery as compose", f"{len(LAYOUTS) - len(wrong)} of {len(LAYOUTS)}", "layouts")
    assert wrong == {}


def test_a_file_is_a_project_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    put(tmp_path, {**BASES, "sub/other.yml": one("a"), "sub/docker-compose.override.yml": OVERRIDE})
    assert project_at("-") == ProjectFiles(files=("-",))
    assert project_at("compose.yaml") == ProjectFiles(files=("compose.yaml",))
    assert project_at("compose.yml") == ProjectFiles(files=("compose.yml",))
    assert project_at("sub/other.yml") == ProjectFiles(files=("sub/other.yml",), folder="sub", alone=True)
    orphan = ProjectFiles(files=("sub/docker-compose.override.yml",), folder="sub", alone=True)
    assert project_at("sub/docker-compose.override.yml") == orphan
    assert project_at("sub/other.yml", "elsewhere").folder == "elsewhere"


@pytest.mark.parametrize(
    ("files", "folder"), [(("a/compose.yml", "b/over.yml"), "a"), (("compose.yml",), ""), (("-", "b/over.yml"), "")]
)
def test_the_first_file_says_where_the_configuration_is(files: tuple[str, ...], folder: str) -> None:
    assert ProjectFiles(files=files).configuration_folder == folder


def test_the_file_that_compose_would_take_brings_its_override_and_the_override_its_base(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    put(tmp_path, {**{f"sub/{name}": text for name, text in BASES.items()}, "sub/compose.override.yml": OVERRIDE})
    both = ProjectFiles(files=("sub/compose.yaml", "sub/compose.override.yml"), folder="sub")
    for path in ("sub/compose.yaml", "sub/compose.override.yml", "sub", "sub//compose.yaml"):
        assert project_at(path) == both
    assert project_at("sub/compose.yml").files == ("sub/compose.yml",)
    assert [os.path.normpath(file) for file in project_at("./sub/").files] == list(both.files)


def test_a_folder_without_a_compose_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no compose file in this folder"):
        project_at(str(tmp_path))


def test_the_name_of_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "a.yml").write_text(one("a"), encoding="utf-8")
    (tmp_path / "link").symlink_to("real")
    monkeypatch.chdir(tmp_path / "link")

    def name(files: ProjectFiles, **environ: str) -> str | None:
        return ProjectReader(files, ReadOptions(environ=environ)).read().name

    here = ProjectFiles(files=("a.yml",))
    assert name(here) == "real"
    assert name(here, PWD=str(tmp_path / "link")) == "link"
    assert name(here, PWD=str(tmp_path)) == "real"
    assert name(ProjectFiles(files=("../real/a.yml",), folder="../real")) == "real"


def test_dotenv_of_the_place_where_the_search_began_wins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path, {".env": "A=up\nB=${A}\n", "sub/.env": "A=here\n", "compose.yml": one("'${A}-${B}'")})
    monkeypatch.chdir(tmp_path / "sub")
    reader = ProjectReader(ProjectFiles(files=("../compose.yml",), folder="..", start=""), ReadOptions())
    hostname = reader.read().services["a"].hostname
    assert hostname is not None
    assert hostname.value == "here-here"
    assert list(reader.contents) == ["../compose.yml", ".env", "../.env"]
