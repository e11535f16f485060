"""`python -m tests.fuzz.native`: coverage-guided fuzzing of the capture engine, target by target (see `native/fuzz`).

It goes on where it was: what inputs reached is kept in the machine's cache, hours of core time and executions in
`native/fuzz/hours`, so that hours of several machines add up. It fuzzes for so many `--minutes`, or until every target
has so many `--hours` with this version of the engine; `--fresh` begins with the corpus of the tree and always at the
same seed, and keeps nothing, as CI does; `--minimise` chooses that corpus anew from all that is known. Exit 1 on a
finding, or where hours are lacking; 3 where nothing can be built.

Needs a C++ compiler, and any Rust that builds the engine: the flags are those of `cargo fuzz`, none of which needs a
nightly.
"""

import argparse
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from tests import debian
from tests.bars.measuring import report
from tests.lab.cache import cache_root, locked
from tests.lab.errors import LabError
from tests.rust import note

NATIVE = Path(__file__).parent.parent.parent / "native"
CORPUS = NATIVE / "fuzz" / "corpus"
HOURS = NATIVE / "fuzz" / "hours"
# Each with the longest input, in bytes.
TARGETS = {"capture": 8192, "tcp": 4096, "messages": 4096, "unpacking": 4096, "logs": 4096, "state": 8192}
# What one input may take: seconds of CPU, MiB of all memory. (The heap of Rust has a bound of its own, in native/fuzz.)
SECONDS, MEMORY = 10.0, 512
# So long a target runs before the next has its turn.
SLICE = 120.0
# What of a corpus is kept in the tree, for each target.
MOST_FILES, MOST_BYTES = 120, 60_000

_FLAGS = (
    "-Cpasses=sancov-module",
    *(f"-Cllvm-args=-sanitizer-coverage-{what}" for what in ("level=4", "inline-8bit-counters", "pc-table")),
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
)
_INTERRUPTED = 130


class CannotBuild(Exception):
    """What is lacking for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """What was done for a target with one version of the engine; `here` is what of it was done with these sources."""

    seconds: float = 0.0
    executions: int = 0
    here: float = 0.0
    sources: str = ""

    def __add__(self, other: "Work") -> "Work":
        here = other.here + (self.here if self.sources == other.sources else 0.0)
        return Work(
            seconds=self.seconds + other.seconds,
            executions=self.executions + other.executions,
            here=here,
            sources=other.sources,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Slice:
    """One run of a target."""

    seconds: float
    executions: int
    status: int
    said: str


class Fuzzed:
    """One target: its program, the folder of what is kept of it, and where chance begins; 0 for anywhere.

    `hours` is the folder of what was done for it, if that is not `home`.
    """

    def __init__(self, name: str, programs: Path, home: Path, *, hours: Path | None = None, seed: int = 0) -> None:
        self.name = name
        self.seed = seed
        self.program = programs / name
        self.corpus = home / name / "corpus"
        self.findings = home / name / "findings"
        self._record = (hours or home) / f"{name}.json"
        self._lock = home / f"{name}.lock"
        # The tree may change while the program that was made of it runs.
        self._sources = sources()
        for folder in (self.corpus, self.findings):
            folder.mkdir(parents=True, exist_ok=True)

    def run(self, seconds: float) -> Slice:
        """For so long, or until something is found."""
        said = self._fuzz(f"-max_total_time={max(1, round(seconds))}", self.corpus, CORPUS / self.name)
        self._keep(said)
        return said

    def work(self, version: str) -> Work:
        """All that was done with a version."""
        try:
            return Work(**json.loads(self._record.read_text())[version])
        except (OSError, KeyError):
            return Work()

    def complaints(self) -> Iterator[str]:
        """What is still wrong of all that was ever found; inputs that do no harm (any more) go to the corpus."""
        for path in sorted(self.findings.iterdir()):
            wrong = self._wrong(path)
            if wrong:
                yield f"{self.name}: {wrong}: {path}"
            else:
                path.rename(self.corpus / hashlib.sha1(path.read_bytes(), usedforsecurity=False).hexdigest())

    def minimise(self) -> None:
        """Choose few inputs that reach what all of them reach, as far as there is room in the tree."""
        with tempfile.TemporaryDirectory() as folder:
            chosen = Path(folder)
            self._fuzz("-set_cover_merge=1", chosen, self.corpus, CORPUS / self.name)
            inputs = sorted(chosen.iterdir(), key=lambda path: path.stat().st_size)
            share = min(1.0, MOST_FILES / len(inputs), MOST_BYTES / sum(path.stat().st_size for path in inputs))
            shutil.rmtree(CORPUS / self.name, ignore_errors=True)
            (CORPUS / self.name).mkdir(parents=True)
            # Of all sizes as many.
            for place in range(int(len(inputs) * share)):
                path = inputs[int(place / share)]
                shutil.copy(path, CORPUS / self.name / path.name)

    def _fuzz(self, *words: str | Path) -> Slice:
        flags = (
            f"-artifact_prefix={self.findings}{os.sep}",
            f"-max_len={TARGETS[self.name]}",
            f"-seed={self.seed}",
            # By the clock, on a machine that has other things to do; `_wrong` holds it against seconds of CPU.
            "-timeout=120",
            f"-report_slow_units={round(SECONDS)}",
            f"-rss_limit_mb={MEMORY}",
            "-print_final_stats=1",
        )
        return _run([self.program, *flags, *words])

    def _keep(self, done: Slice) -> None:
        added = Work(seconds=done.seconds, executions=done.executions, here=done.seconds, sources=self._sources)
        self._record.parent.mkdir(parents=True, exist_ok=True)
        with locked(self._lock):
            all_work = json.loads(self._record.read_text()) if self._record.exists() else {}
            all_work[version()] = asdict(self.work(version()) + added)
            self._record.write_text(json.dumps(all_work, indent=1) + "\n")

    def _wrong(self, path: Path) -> str | None:
        alone = _run([self.program, "-timeout=600", f"-rss_limit_mb={MEMORY}", path])
        if alone.status != 0:
            lines = alone.said.splitlines()
            telling = [line for line in lines if "panicked at" in line or "ERROR: libFuzzer" in line]
            return " ".join(telling[:1]) or f"exit {alone.status}"
        return f"{alone.seconds:.1f} s of CPU" if alone.seconds > SECONDS else None


def _run(command: Sequence[str | Path]) -> Slice:
    """A program to its end, and how it ended; where this one is told to end, so is that one, in its own way."""
    with tempfile.TemporaryFile() as said:
        program = subprocess.Popen(command, stdout=said, stderr=said, start_new_session=True)
        try:
            _, status, used = os.wait4(program.pid, 0)
        except KeyboardInterrupt:
            program.send_signal(signal.SIGINT)
            _, status, used = os.wait4(program.pid, 0)
            program.returncode = status = _INTERRUPTED
        else:
            program.returncode = status = os.waitstatus_to_exitcode(status)
        said.seek(0)
        text = said.read().decode(errors="replace")
    counted = re.search(r"stat::number_of_executed_units:\s*(\d+)", text)
    numbers = re.findall(r"^#(\d+)", text, re.MULTILINE)
    executions = int(counted[1]) if counted else int(numbers[-1]) if numbers else 0
    return Slice(seconds=used.ru_utime + used.ru_stime, executions=executions, status=status, said=text)


def version() -> str:
    """That of the engine."""
    found = re.search(r'^version = "(.*)"', (NATIVE / "Cargo.toml").read_text(), re.MULTILINE)
    assert found is not None
    return found[1]


def sources() -> str:
    """What the engine is made of, as a digest."""
    total = hashlib.sha256()
    for path in (*sorted((NATIVE / "wire").rglob("*.rs")), NATIVE / "Cargo.lock"):
        total.update(path.read_bytes())
    return total.hexdigest()[:16]


def build(*, quickly: bool = False) -> Path:
    """The folder of the programs; made where it is not up to date.

    Quickly: on the crates that `cargo test` has made, so that these are not looked into.
    """
    if shutil.which("cargo") is None:
        raise CannotBuild("there is no cargo")
    if not any(shutil.which(compiler) for compiler in ("c++", "g++", "clang++")):
        if not debian.can_install():
            raise CannotBuild("there is no C++ compiler (Debian package g++)")
        try:
            debian.install(["g++"])
        except LabError as error:
            raise CannotBuild(str(error)) from error
    made = Path(os.environ.get("CARGO_TARGET_DIR") or NATIVE / "target")
    flags = " ".join(_FLAGS)
    if quickly:
        # Of all members, as there, so that crates have the same features.
        words = ["--workspace", "--features", "netdiag-fuzz/libfuzzer"]
        own = {"RUSTC_WORKSPACE_WRAPPER": str(NATIVE / "fuzz" / "rustc"), "COVERAGE": flags, "CARGO_INCREMENTAL": "0"}
        made /= "debug"
    else:
        said = subprocess.run(["rustc", "-vV"], check=True, capture_output=True, text=True).stdout
        host = next(line.split()[1] for line in said.splitlines() if line.startswith("host:"))
        # With a target, what only helps to build is built without these flags.
        words = ["--package", "netdiag-fuzz", "--features", "libfuzzer", "--profile", "fuzz", "--target", host]
        own = {"RUSTFLAGS": flags}
        made = made / host / "fuzz"
    command = ["cargo", "build", "--locked", "--bins", *words]
    print(" ".join(command), flush=True)
    subprocess.run(command, cwd=NATIVE, env={**os.environ, **own}, check=True)
    return made


def fuzz(targets: Sequence[Fuzzed], *, minutes: float | None, hours: float) -> bool:
    """In turns, each until something is found; whether it was broken off."""
    end = time.monotonic() + minutes * 60 if minutes is not None else None
    due = list(targets)
    while due := [one for one in due if minutes is not None or one.work(version()).seconds < hours * 3600]:
        turn = tuple(due)
        for place, one in enumerate(turn):
            left = SLICE if end is None else (end - time.monotonic()) / (len(turn) - place)
            if left < 1:
                return False
            done = one.run(min(SLICE, left))
            print(f"{one.name}: {done.executions} executions, {done.seconds:.0f} s of CPU", flush=True)
            if done.status == _INTERRUPTED:
                return True
            if done.status != 0:
                print(done.said[-3000:], flush=True)
            if list(one.complaints()):
                due.remove(one)
    return False


def main(arguments: Sequence[str]) -> int:
    """0 when nothing is wrong, and as much was done as was asked for."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.native")
    parser.add_argument("--minutes", type=float, help="so long, by the clock")
    parser.add_argument("--hours", type=float, default=1.0, help="until each has so many hours of core time")
    parser.add_argument("--target", action="append", choices=[*TARGETS], help="this one and no others; again for more")
    parser.add_argument("--fresh", action="store_true", help="keep nothing; where nothing can be built, note it")
    parser.add_argument("--minimise", action="store_true", help="choose the corpus in the tree anew")
    options = parser.parse_args(arguments)
    # Also where it runs in the background, and SIGTERM in the same way: what was done is kept.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)
    try:
        programs = build(quickly=options.fresh)
    except CannotBuild as why:
        if not options.fresh:
            print(why)
            return 3
        note(f"fuzzing of native/: {why}")
        return 0
    except subprocess.CalledProcessError:
        return 1
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) if options.fresh else cache_root() / "fuzz"
        hours = Path(folder) if options.fresh else HOURS
        targets = [
            Fuzzed(name, programs, home, hours=hours, seed=int(options.fresh)) for name in options.target or TARGETS
        ]
        if options.minimise:
            for one in targets:
                one.minimise()
            return 0
        is_broken_off = fuzz(targets, minutes=options.minutes, hours=options.hours)
        complaints = [wrong for one in targets for wrong in one.complaints()] if not is_broken_off else []
        lacking = _told(targets, options.hours if options.minutes is None else 0.0)
    print("\n".join(complaints))
    report("findings", len(complaints))
    if is_broken_off:
        return _INTERRUPTED
    return 1 if complaints or lacking else 0


def _told(targets: Sequence[Fuzzed], hours: float) -> bool:
    """Report what was done so far; whether hours are lacking."""
    is_lacking = False
    for one in targets:
        work = one.work(version())
        done = f"{work.seconds / 3600:.2f} h of core time ({work.here / 3600:.2f} h with these sources), "
        report(one.name, f"{done}{work.executions:,} executions, {len(list(one.corpus.iterdir())):,} inputs kept")
        is_lacking |= work.seconds < hours * 3600
    return is_lacking


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
