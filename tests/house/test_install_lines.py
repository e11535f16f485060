"""No text of ours makes anybody install the package of the index that is called `netdiag`: it is somebody else's.

Read are commands, lists of requirements, and requirements in prose.
"""

import re
import tomllib
from collections.abc import Iterator

import pytest
from ruamel.yaml import YAML

from netdiag import distribution
from netdiag.distribution import NAME, NATIVE_NAME, install_command, install_line
from tests.each import each
from tests.house.tree import ROOT, files, name

# As words of a shell, or as the items of a list.
_GAP = r"""(?:[ \t]+|["']?[ \t]*,\s*["']?)"""
_OPTIONS = rf"(?:{_GAP}-[\w-]+)*"
# All operands are packages; or the first one is, and what follows are words for its command.
_INSTALLS = (
    rf"\bpip[\d.]*{_OPTIONS}{_GAP}(?:install|download|wheel)|\bpipx{_OPTIONS}{_GAP}(?:install|inject)"
    rf"|\buv{_OPTIONS}{_GAP}tool{_GAP}install|\b(?:uv|poetry|pdm){_OPTIONS}{_GAP}add|\$[({{]?PIP[)}}]?"
)
_RUNS = rf"\buvx|\buv{_OPTIONS}{_GAP}tool{_GAP}run|\bpipx{_OPTIONS}{_GAP}run"
_COMMAND = re.compile(rf"""(?:(?P<installs>{_INSTALLS})|(?P<runs>{_RUNS}))(?={_GAP}|["'])""")
_END_OF_WORDS = re.compile(r"`|&&|[;|\n]|\s#")
_END_OF_LIST = re.compile(r"""["']\s*[])]|\n\s*\n""")
_PACKAGE_OPTIONS = ("--from", "--spec", "--with")
_VALUE_OPTIONS = (*_PACKAGE_OPTIONS, "-p", "--python", "-i", "--index-url", "--with-requirements")

_LIST = re.compile(r"""dependencies"?[ ]*[:=]\s*(?P<items>\[(?:"[^"]*"|'[^']*'|[^]"'])*\]|(?:[ \t#]*-[ ].*\n?)+)""")
_VARIABLE = re.compile(r"NETDIAG_PACKAGE\b[ ]*[:=][ ]*(?P<items>.*)")
_IN_PROSE = re.compile(
    rf"(?<![\w./-])(?P<items>netdiag[\w.-]*(?:\[(?:{'|'.join(distribution.LIBRARIES)}|all)\b|[=~!<>]=\d))",
    re.IGNORECASE,
)
_NAMED = re.compile(r"(?P<name>netdiag(?:[-_.]\w+)*)(?:\[[^]]*\]?)?(?P<rest>.*)", re.IGNORECASE)
_ARCHIVE = re.compile(r"\.(?:whl|zip|tgz|tar\.gz)$")


def commands(text: str) -> Iterator[tuple[int, list[str]]]:
    """The line and the packages of every command of an installer."""
    for found in _COMMAND.finditer(text):
        is_list = "," in found.group() or text[found.end()] in "\"'"
        rest = text[found.end() :] if is_list else re.sub(r"\\\n", "  ", text[found.end() :])
        end = (_END_OF_LIST if is_list else _END_OF_WORDS).search(rest)
        words = _words(rest[: end.start()] if end else rest)
        yield _line(text, found.start()), _first(words) if found["runs"] else words


def foreign(text: str, *, file: str = "") -> list[str]:
    """Line and name of what would get somebody else's package, or one that is not there yet."""
    asked = list(commands(text))
    for pattern in (_LIST, _VARIABLE, _IN_PROSE):
        asked += [(_line(text, match.start()), _words(match["items"])) for match in pattern.finditer(text)]
    if re.fullmatch(r"(?:.*/)?(?:requirements|constraints)[\w.-]*\.(?:txt|in)", file):
        asked += [(number, _words(line)[:2]) for number, line in enumerate(text.splitlines(), 1)]
    allowed = {distribution.NAME, distribution.NATIVE_NAME} if distribution.PUBLISHED else set()
    if file == "pyproject.toml":
        # An extra that is made of the others names the project that it belongs to.
        allowed.add(distribution.NAME)
    found = set()
    for line, words in asked:
        for at, word in enumerate(words):
            name = _distribution(word.rpartition("=")[2] if word.startswith("--") else word)
            if name is not None and name not in allowed and words[at + 1 : at + 2] != ["@"]:
                found.add((line, word))
    return [f"{file}:{line}: {word}" for line, word in sorted(found)]


def _line(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1


def _words(text: str) -> list[str]:
    """Without quotes, and without the brackets and commas around words."""
    words = re.split(r"""[\s"'(){}]+|,(?![^\[\s]*\])""", text)
    return [word for word in (word.lstrip("[").rstrip(",") for word in words) if word]


def _first(words: list[str]) -> list[str]:
    """What a runner of commands installs: what its options say, otherwise the package called as the command."""
    packages: list[str] = []
    left = iter(words)
    for word in left:
        option, is_set, value = word.partition("=")
        if not word.startswith("-"):
            return packages if any(word in ("--from", "--spec") for word in words) else [*packages, word]
        if not is_set and option in _VALUE_OPTIONS:
            value = next(left, "")
        if option in _PACKAGE_OPTIONS:
            packages.append(value)
    return packages


def _distribution(word: str) -> str | None:
    """The name on the index that a word asks for, if it is one of ours or looks like one; None for paths and URLs."""
    found = _NAMED.fullmatch(word)
    if found is None or _ARCHIVE.search(found["name"]):
        return None
    if re.match(r"[/\\]|@(?:git\+|https?:|file:)", found["rest"]):
        return None
    return re.sub(r"[-_.]+", "-", found["name"]).lower()


PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
README = (ROOT / "README.md").read_text(encoding="utf-8")
TEMPLATE = ROOT / "templates" / "netdiag.gitlab-ci.yml"
NOT_THERE_YET = "is not on the package index yet"

# What each of them installs is the tree that it is a part of, published or not.
FROM_THE_TREE = {
    "Dockerfile": ".",
    "Makefile": ".",
    "action.yml": "$GITHUB_ACTION_PATH",
    "compose/spark.yml": "/src[spark]",
}

# {} is a name on the index; this file must not hold what it looks for.
ASKING = (
    ("README.md", "pip install {}"),
    ("README.md", "pip install '{}[live]'"),
    ("README.md", "say `pip install -U {}`, then"),
    ("README.md", "pip install '.[live]' in a clone of {}"),
    ("README.md", "the extra ({}[live]) is missing"),
    ("README.md", "python3 -m pip --quiet install --upgrade ruff {}==0.1"),
    ("README.md", "pip download {}"),
    ("README.md", "pip3.12 install {}"),
    ("README.md", "pipx install {}"),
    ("README.md", "pipx inject ruff {}"),
    ("README.md", "pipx run {} check-listeners"),
    ("README.md", "pipx run --spec {} x"),
    ("README.md", "uvx {} check-listeners compose.yml"),
    ("README.md", "uvx {}@latest"),
    ("README.md", "uvx --from '{}[live]' x"),
    ("README.md", "uvx --python 3.13 --with={} ruff"),
    ("README.md", "uv tool install {}"),
    ("README.md", "uv tool run {}"),
    ("README.md", "uv pip install {}"),
    ("README.md", "uv add {}"),
    ("README.md", "poetry add {}"),
    ("README.md", "any requirement such as {}>=0.1"),
    ("Dockerfile", "RUN /opt/x/bin/pip install --no-cache-dir \\\n    --no-compile \\\n    {}\n"),
    ("Makefile", "\t@$(PIP) {}\n"),
    ("a.yml", "script: [pip, install, {}]"),
    ("a.yml", "variables:\n  NETDIAG_PACKAGE: {}\n"),
    ("a.py", '["python", "-m", "pip", "install", "--quiet", "{}"]'),
    ("a.py", 'run(\n    "pip",\n    "install",\n    "{}[live]",\n)'),
    ("a.py", '# dependencies = ["ruff", "{}"]'),
    ("requirements.txt", "ruff\n{}\n"),
    ("sub/requirements-dev.in", "{}[live] ; python_version > '3'\n"),
    (".pre-commit-config.yaml", "  additional_dependencies: [ruff, '{}']"),
    (".pre-commit-config.yaml", "  additional_dependencies:\n    - ruff\n    - {}\n"),
    ("README.md", "```yaml\n  additional_dependencies: ['x[y]', {}]\n```"),
)
HARMLESS = (
    "pip install .",
    "pip install '.[live]'",
    "pip install --editable '.[live]' && {} --version",
    "pip install '.[live]'; {} check-listeners",
    "pip install '.[live]'   # in a clone of {}",
    "`pip install .` in a clone of {}",
    "pip install './{}_kafka-0.1.0-py3-none-any.whl[live]'",
    "pip install dist/{}_kafka-0.1.0-py3-none-any.whl",
    "pip install ./{}",
    "pip install ../{}/",
    "pip install 'git+https://example.org/group/{}.git@v1'",
    "pip install '{} @ git+https://example.org/group/x.git'",
    'pip install "$NETDIAG_PACKAGE"\n{} --version',
    "pip uninstall {}",
    "docker build --tag {}:0.1.0 .",
    "uvx --from . {} check-listeners",
    "uvx --from git+https://example.org/group/{}.git {} rules",
    "uvx ruff check {}",
    "pipx run --spec . {} rules",
    "NETDIAG_PACKAGE: https://example.org/group/{}/-/archive/v1/{}-v1.tar.gz",
    "additional_dependencies: []\nname: {}",
    "import {}\n{}[0] >= 3",
)


def test_no_text_of_the_tree_asks_for_it() -> None:
    found = [
        line
        for path in files()
        # Cargo's crates are another world, with names of its own.
        if path.name not in ("Cargo.toml", "Cargo.lock")
        if not path.is_symlink()
        for line in foreign(path.read_bytes().decode("utf-8", errors="replace"), file=name(path))
    ]
    assert not found, "\n".join(found)


@each("published", [False, True])
@each(("file", "text"), ASKING)
def test_every_way_to_ask_is_seen(file: str, text: str, published: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(distribution, "PUBLISHED", published)
    line = next(number for number, line in enumerate(text.splitlines(), 1) if "{}" in line)
    for asked in ("netdiag", "Netdiag", "netdiag-native"):
        found = foreign(text.format(asked), file=file)
        assert found
        assert all(asked in each and int(each.split(":")[1]) <= line for each in found)
    for ours in (NAME, NAME.replace("-", "_"), NATIVE_NAME):
        assert bool(foreign(text.format(ours), file=file)) is not published


@pytest.mark.parametrize("text", HARMLESS)
def test_what_installs_from_elsewhere_is_left_alone(text: str) -> None:
    assert not foreign(text.replace("{}", "netdiag"), file="README.md")


def test_of_the_project_itself_only_its_own_name_may_be_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(distribution, "PUBLISHED", False)
    text = 'all = ["{}[live]"]\ndependencies = ["x"]\n'
    assert not foreign(text.format(NAME), file="pyproject.toml")
    assert foreign(text.format("netdiag"), file="pyproject.toml")
    assert foreign(text.format(NAME), file="tests/pyproject.toml")


@pytest.mark.parametrize("published", [False, True])
def test_a_hint_installs_nothing_else_even_where_all_behind_its_command_is_copied(
    published: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(distribution, "PUBLISHED", published)
    ((_, words),) = commands(install_line("live", "capture"))
    assert words == [f"{NAME}[live,capture]" if published else ".[live,capture]"]
    assert not foreign(install_line("live", "capture"))


@pytest.mark.parametrize("file", FROM_THE_TREE)
def test_what_is_built_from_the_tree_installs_the_tree(file: str) -> None:
    words = [word for _, words in commands((ROOT / file).read_text(encoding="utf-8")) for word in words]
    assert FROM_THE_TREE[file] in words


def test_the_package_is_called_as_the_constant_says() -> None:
    assert PROJECT["name"] == NAME
    assert set(PROJECT["optional-dependencies"]) == {*distribution.LIBRARIES, "all"}
    assert PROJECT["optional-dependencies"]["all"] == [f"{NAME}[{','.join(distribution.LIBRARIES)}]"]
    assert set(PROJECT["scripts"]) == {"netdiag"}


def test_pages_install_as_the_constant_says() -> None:
    for extras in ((), ("live",), ("live", "capture"), ("all",)):
        assert f"\n    {install_command(*extras)}  " in README
    assert "`netdiag` there is another project's" in README
    assert NAME in README
    for page in (README, TEMPLATE.read_text(encoding="utf-8")):
        assert (NOT_THERE_YET in page) is not distribution.PUBLISHED


def test_the_template_installs_as_the_constant_says() -> None:
    job = YAML(typ="safe", pure=True).load(TEMPLATE.read_text(encoding="utf-8"))["netdiag"]
    assert job["variables"]["NETDIAG_PACKAGE"] == (NAME if distribution.PUBLISHED else "")
