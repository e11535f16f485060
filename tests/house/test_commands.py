"""Every command that a test runs is installed by a stage, or is in every Debian."""

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests import tools
from tests.house.tree import ROOT, modules, name
from tests.lab import prerequisites

# In every Debian that has apt, or asked for by README.
EVERYWHERE = {
    *("apt-config", "apt-get", "bash", "cat", "chroot", "df", "dpkg-deb", "false", "git", "sh", "sleep", "tar", "true"),
}
# What is looked for and may be absent: the tests or bars go another way.
OPTIONAL = {"plotnetcfg", "cargo", "rustc"}
# A name of the tests for netdiag's own way to capture, without a command.
NO_COMMAND = {"scapy"}
# These ask for what is not there.
OF_TOOLS_ITSELF = (ROOT / "tests" / "test_tools.py", Path(__file__).resolve())


@dataclass(frozen=True, slots=True, kw_only=True)
class Wrapper:
    """A function that hands one of its own arguments to `tool`."""

    module: str
    function: str
    position: int


def test_every_command_that_a_test_asks_for_is_installed_by_the_stage_tools() -> None:
    asked = {command: place for path in _tests() for command, place in _asked(path)}
    asked = {command: place for command, place in asked.items() if command not in NO_COMMAND}
    assert asked.keys() >= {"kcat", "tshark", "nsenter", "dumpcap", "iptables-legacy", "capinfos"}
    # `tool` itself refuses those of EVERYWHERE; a wrapper may leave them out, which cannot be seen here
    assert not {
        command: place
        for command, place in asked.items()
        if command not in {*tools.COMMANDS, *tools.FOR_BARS, *EVERYWHERE}
    }


def test_every_other_command_that_a_test_runs_is_somebodys() -> None:
    listed = {*tools.COMMANDS, *prerequisites.COMMANDS, *EVERYWHERE, *OPTIONAL}
    run = {command: place for path in _tests() for command, place in _run(path)}
    assert run.keys() >= {"mount", "unshare", "ps"}
    assert not {command: place for command, place in run.items() if command not in listed}


def test_one_that_is_not_listed_is_found_however_it_is_asked_for(tmp_path: Path) -> None:
    module = tmp_path / "asking.py"
    module.write_text(
        "import pytest\n"
        "from tests.tools import tool\n"
        "def needs(place, command): tool(command)\n"
        "class Lab:\n"
        "    def host(self, *words): tool(words[0])\n"
        "    def go(self): self.host('four', 'x')\n"
        "@pytest.mark.parametrize(('engine', 'x'), [('five', 1), pytest.param('six', 2)])\n"
        "def test_it(engine, x):\n"
        "    tool('one')\n"
        "    for each in ('two', 'three'):\n"
        "        tool(each)\n"
        "    tool(engine)\n"
        "    needs('here', 'seven')\n"
        "TOOLS = ('eight', 'nine')\n"
        "WORLD = World(tools=TOOLS)\n"
    )
    wrappers = list(_wrappers(module, "asking"))
    found = {command for command, _ in _asked_in(ast.parse(module.read_text()), "asking", wrappers)}
    assert found == {"one", "two", "three", "four", "five", "six", "seven", "eight", "nine"}


def _tests() -> list[Path]:
    images = ROOT / "tests" / "lab" / "images"
    return [path for path in modules("tests") if path not in OF_TOOLS_ITSELF and not path.is_relative_to(images)]


@cache
def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def _dotted(path: Path) -> str:
    return name(path).removesuffix(".py").replace("/", ".")


def _asked(path: Path) -> Iterator[tuple[str, str]]:
    for command, line in _asked_in(_tree(path), _dotted(path), _all_wrappers()):
        yield command, f"{name(path)}:{line}"


@cache
def _all_wrappers() -> tuple[Wrapper, ...]:
    return tuple(wrapper for path in _tests() for wrapper in _wrappers(path, _dotted(path)))


def _wrappers(path: Path, module: str) -> Iterator[Wrapper]:
    """The functions of a module that ask for what they are given."""
    tree = _tree(path)
    for function in ast.walk(tree) if "tests.tools.tool" in _imported(tree) else ():
        if not isinstance(function, ast.FunctionDef):
            continue
        names = [argument.arg for argument in (*function.args.posonlyargs, *function.args.args)]
        names = names[1:] if names[:1] == ["self"] else names
        for given in (call.args[0] for call in _calls(function, "tool")):
            if isinstance(given, ast.Name) and given.id in names:
                yield Wrapper(module=module, function=function.name, position=names.index(given.id))
            elif _is_first_of(given, function.args.vararg):
                yield Wrapper(module=module, function=function.name, position=len(names))


def _asked_in(tree: ast.Module, module: str, wrappers: Sequence[Wrapper]) -> Iterator[tuple[str, int]]:
    imported = _imported(tree)
    near = [one for one in wrappers if one.module == module or f"{one.module}.{one.function}" in imported]
    for made in _calls(tree, "World"):
        yield from (text for word in made.keywords if word.arg == "tools" for text in _elements(word.value, tree))
    if not near and "tests.tools.tool" not in imported:
        return
    for call in _calls(tree, "tool"):
        yield from _texts(call.args[0])
    for wrapper in near:
        for call in _calls(tree, wrapper.function):
            yield from (text for given in call.args[wrapper.position :][:1] for text in _texts(given))
    for node in ast.walk(tree):
        if isinstance(node, ast.For) and isinstance(node.target, ast.Name) and node.target.id in _named(node):
            yield from _elements(node.iter, tree)
        elif isinstance(node, ast.FunctionDef):
            for decorator in node.decorator_list:
                if isinstance(decorator, ast.Call) and ast.unparse(decorator.func) == "pytest.mark.parametrize":
                    yield from _parameters(decorator, _named(node))


def _named(tree: ast.AST) -> set[str]:
    """The variables that are handed to `tool` there."""
    return {call.args[0].id for call in _calls(tree, "tool") if isinstance(call.args[0], ast.Name)}


def _parameters(decorator: ast.Call, names: set[str]) -> Iterator[tuple[str, int]]:
    """The values of a parameter that a test hands to `tool`."""
    called, values = decorator.args[:2]
    told = [text for text, _ in (*_texts(called), *_elements(called))]
    told = [one.strip() for text in told for one in text.split(",")]
    for value in values.elts if isinstance(values, ast.List | ast.Tuple) else ():
        row = value.args if isinstance(value, ast.Call) else value.elts if isinstance(value, ast.Tuple) else [value]
        for parameter, given in zip(told, row, strict=False):
            if parameter in names:
                yield from _texts(given)


def _run(path: Path) -> Iterator[tuple[str, str]]:
    """The commands that begin a list of words, as it is handed to whatever runs it, and those that are looked for."""
    tree = _tree(path)
    imported = _imported(tree)
    runners = {"subprocess.run", "subprocess.Popen", "subprocess.check_output"}
    runners |= {"run"} if "tests.lab.processes.run" in imported else set()
    finders = {"shutil.which"} | ({"find"} if "tests.debian.find" in imported else set())
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not node.args:
            continue
        called, given = ast.unparse(node.func), node.args[0]
        if called in finders:
            yield from ((text, f"{name(path)}:{line}") for text, line in _texts(given))
        elif called in runners and isinstance(given, ast.List | ast.Tuple):
            yield from ((text, f"{name(path)}:{line}") for first in given.elts[:1] for text, line in _texts(first))


@cache
def _imported(tree: ast.Module) -> set[str]:
    """Everything that a module imports by name."""
    return {
        f"{node.module}.{alias.name}"
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


def _calls(tree: ast.AST, function: str) -> Iterator[ast.Call]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            called = node.func
            if (isinstance(called, ast.Name) and called.id == function) or (
                isinstance(called, ast.Attribute) and called.attr == function
            ):
                yield node


def _is_first_of(given: ast.expr, words: ast.arg | None) -> bool:
    return (
        words is not None
        and isinstance(given, ast.Subscript)
        and isinstance(given.value, ast.Name)
        and given.value.id == words.arg
    )


def _texts(node: ast.expr) -> Iterator[tuple[str, int]]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value.rpartition("/")[2], node.lineno


def _elements(node: ast.expr, tree: ast.Module | None = None) -> Iterator[tuple[str, int]]:
    """The texts of a list, also of one that the module of that tree has given a name."""
    if isinstance(node, ast.Name) and tree is not None:
        named = [one for one in tree.body if isinstance(one, ast.Assign) and ast.unparse(one.targets[0]) == node.id]
        node = named[0].value if named else node
    if isinstance(node, ast.List | ast.Tuple):
        for element in node.elts:
            yield from _texts(element)
