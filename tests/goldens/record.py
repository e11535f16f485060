"""`python -m tests.goldens.record`: write down what the engine says now. For a change of the engine that is meant.

`hashes.json` holds, for every capture of the tree, of the corpus beside it and of the damaged ones by their seeds, the
number of rows of each table and a hash of them; `rows/` holds the rows of the captures in the tree.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.fuzz.captures.mutations import damaged
from tests.goldens.rows_of import Lines, rows_of, summary
from tests.house.tree import ROOT

HERE = Path(__file__).parent
HASHES = HERE / "hashes.json"
ROWS = HERE / "rows"
CORPUS = ROOT.parent / "shared" / "corpus" / "pcaps"
SEEDS = range(1000)


def in_tree() -> dict[str, Path]:
    """The captures of the repository, by their path in it."""
    folders = (ROOT / "compose", ROOT / "tests" / "fuzz" / "captures")
    return {str(path.relative_to(ROOT)): path for folder in folders for path in sorted(folder.rglob("*.pcap*"))}


def in_corpus() -> dict[str, Path]:
    """The captures that others have published, by their path in the corpus; none where it is not there."""
    return {str(path.relative_to(CORPUS)): path for path in sorted(CORPUS.rglob("*.pcap*"))}


def of_seed(seed: int, folder: Path) -> Lines:
    """The rows of the damaged capture of a seed, which is written into the folder for that."""
    path = folder / f"{seed}.pcap"
    path.write_bytes(damaged(seed).data)
    return rows_of(path)


def full_rows(name: str, lines: Lines) -> Iterator[tuple[Path, str]]:
    """The files that hold all rows of a capture, with their content."""
    for table, rows in lines.items():
        if rows:
            yield ROWS / Path(name).stem / f"{table}.jsonl", "".join(rows)


def recorded() -> dict[str, Any]:
    """What `hashes.json` says."""
    loaded: dict[str, Any] = json.loads(HASHES.read_text(encoding="utf-8"))
    return loaded


def main() -> None:
    """Write everything anew."""
    tree = {name: rows_of(path) for name, path in in_tree().items()}
    for name, lines in tree.items():
        for path, text in full_rows(name, lines):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    with TemporaryDirectory() as folder:
        seeds = {str(seed): summary(of_seed(seed, Path(folder))) for seed in SEEDS}
    corpus = {name: summary(rows_of(path)) for name, path in in_corpus().items()}
    said = {"tree": {name: summary(lines) for name, lines in tree.items()}, "corpus": corpus, "damaged": seeds}
    text = ",\n".join(
        f' "{part}": {{\n'
        + ",\n".join(f"  {json.dumps(name)}: {json.dumps(each)}" for name, each in entries.items())
        + "\n }"
        for part, entries in said.items()
    )
    HASHES.write_text(f"{{\n{text}\n}}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
