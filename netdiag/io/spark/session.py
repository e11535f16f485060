"""A Spark session of our own: on this machine unless told otherwise, quiet, and gone without a trace at the end.

What Java and Spark print goes into a log that lives as long as the session; when something fails its last lines are
part of the error. A local session listens on 127.0.0.1 only and has no web pages. On a cluster executors are given
netdiag itself; Python, pyarrow and numpy they must have. What SPARK_CONF_DIR says holds where nothing is set here.

The package goes to executors as it is, without its examples. The capture engine is a compiled module, which Python
cannot import out of an archive: Spark unpacks it, and `engine_here` finds it where none is installed. Names and dates
in the archives are those of the files and of no day, so that the same package makes the same bytes.

What a job failed of becomes one line: the reason out of the stacks of Java and Python around it (`translated_errors`).
"""

import logging
import os
import re
import signal
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from threading import Thread
from typing import Any

from py4j.protocol import Py4JError
from pyspark import SparkConf, SparkContext, SparkFiles
from pyspark.errors import PySparkException
from pyspark.java_gateway import launch_gateway
from pyspark.sql import SparkSession, SQLContext

from netdiag.errors import NetdiagError
from netdiag.io.java import java_home
from netdiag.io.spark import class_archive
from netdiag.io.spark.java_names import keep_found_names, keep_objects
from netdiag.traffic import native

ENGINE = "netdiag_native.zip"

_DATES = (1980, 1, 1, 0, 0, 0)
_LEFT_BEHIND = frozenset({"data", "__pycache__"})
LOCAL = "local[*]"
_LOOPBACK = "127.0.0.1"
_JAVA = "spark.driver.extraJavaOptions"
_STOP_TIMEOUT = 20.0
_SHOWN = 3
# Half the start of a session is Java compiling its own code; a short life is better off with the quick compiler.
_QUICK = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Dsun.reflect.inflationThreshold=2147483647")
# Java looks through all of its heap whenever its classes outgrow this, which is 20 MB unless it is told.
_CLASSES = "-XX:MetaspaceSize=256m"
# Rows stay in files and payload in Python, so 2 GB are sorting and grouping, which go on disk beyond it. Where whole
# tables are asked, all of it is taken from the start: what does not fit is told at once. Folded tables rarely need it,
# and taking it costs 1 to 5 s of CPU.
_HEAP = "2g"
_FIXED_HEAP = (f"-Xms{_HEAP}", "-XX:+AlwaysPreTouch")
# So is the code that Spark would write and compile for every question: half of what a small question costs.
_INTERPRETED = {"spark.sql.codegen.wholeStage": "false", "spark.sql.codegen.factoryMode": "NO_CODEGEN"}
_LOGGING = """
status = error
appender.log.type = Console
appender.log.name = log
appender.log.target = SYSTEM_ERR
appender.log.layout.type = PatternLayout
appender.log.layout.pattern = %p %c{1}: %m%n%ex
rootLogger.level = warn
rootLogger.appenderRef.log.ref = log
"""
_SAME_PYTHON = (
    "set PYSPARK_PYTHON to a Python of the same version as this one, with pyarrow and numpy, on every executor"
)
_LOST = (
    "Spark gives a task up after four attempts; give the executors more memory, or set --partitions to a higher number"
)
_TOO_LARGE = (
    "the kernel kills what takes too much memory (see `dmesg`); give it more, or set --partitions to a higher number"
)


def package_archive(folder: Path) -> Path:
    """The package as a zip file in this folder."""
    return _archive(folder / "netdiag.zip", Path(str(files("netdiag"))))


def engine_archive(folder: Path) -> Path:
    """The capture engine as a zip file in this folder; an error where there is none."""
    native.version()
    return _archive(folder / ENGINE, Path(str(files(native.MODULE))))


def engine_here() -> None:
    """In an executor: have the capture engine found that the driver has sent, where none is installed."""
    if find_spec(native.MODULE) is None:
        with suppress(Exception):
            sys.path.append(SparkFiles.get(ENGINE))


def missing_engine() -> Iterator[tuple[str, str]]:
    """What an executor lacks to read captures, and what to do about it."""
    engine_here()
    try:
        native.version()
    except NetdiagError as error:
        here = f"{sys.platform}, Python {sys.version.split()[0]}"
        yield f"{error.message} (this is {here})", f"on every worker, {error.hint}"


def _archive(archive: Path, root: Path) -> Path:
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as written:
        for path in sorted(root.rglob("*")):
            inside = path.relative_to(root)
            if path.is_file() and _LEFT_BEHIND.isdisjoint(inside.parts):
                entry = zipfile.ZipInfo(f"{root.name}/{inside.as_posix()}", _DATES)
                entry.compress_type = zipfile.ZIP_DEFLATED
                written.writestr(entry, path.read_bytes())
    return archive


@contextmanager
def spark_session(
    master: str = LOCAL,
    *,
    partitions: int | None = None,
    quick: bool = True,
    small: bool = True,
    settings: Mapping[str, str] | None = None,
    classes: Sequence[str] | None = None,
    stop_timeout: float = _STOP_TIMEOUT,
) -> Iterator[SparkSession]:
    """A session that is stopped at the end of the block, with its Java process and everything it put on disk.

    `partitions` of a shuffle (as many as cores by default); `quick` for a life of a minute, without it Java takes the
    time to compile what runs long, and one of this machine takes all of its memory at once. `small`: questions to a few
    thousand rows; Spark writes no code of its own then.
    `classes`: what Java is told of an archive of classes; to use ours where there is one, unless it is said. It is
    killed where it has not ended after `stop_timeout` seconds.
    """
    home = java_home(os.environ)
    # What it says is in the exception, too.
    logging.getLogger("DataFrameQueryContextLogger").disabled = True
    with tempfile.TemporaryDirectory(prefix="netdiag-spark-") as folder:
        # A Java of its own puts the command of the session together.
        environment = {"JAVA_HOME": home, "SPARK_LAUNCHER_OPTS": " ".join((*_QUICK, "-XX:-UsePerfData"))}
        if is_local(master):
            environment |= {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": _LOOPBACK}
        elif is_here(master):
            environment["SPARK_LOCAL_IP"] = _LOOPBACK
        found = _settings(master, folder, partitions, quick, small)
        kept = class_archive.options(os.environ, home) if classes is None else classes
        found[_JAVA] = " ".join((found[_JAVA], *kept))
        conf = SparkConf(loadDefaults=False).setAll(list(found.items()))
        conf.setAll(list((settings or {}).items()))
        log = Path(folder, "log")
        archives = () if is_local(master) else (package_archive(Path(folder)), engine_archive(Path(folder)))
        with log.open("wb") as output:
            may_kill = is_local(master) and classes is None
            yield from _running(conf, environment, output, log, archives, quick, stop_timeout, may_kill)


def is_here(master: str) -> bool:
    """Whether this master can be reached from this machine only, so that its workers are here, too."""
    host = re.fullmatch(r"spark://(\[[^]]*\]|[^:,/]*)(:\d+)?", master)
    return host is not None and (host[1] == "localhost" or host[1].startswith("127."))


def is_local(master: str) -> bool:
    """Whether this master is a part of this machine."""
    return re.fullmatch(r"local(\[.*\])?", master) is not None


def _running(
    conf: SparkConf,
    environment: Mapping[str, str],
    output: Any,
    log: Path,
    archives: Sequence[Path],
    quick: bool,
    stop_timeout: float,
    may_kill: bool,
) -> Iterator[SparkSession]:
    gateway = None
    paths = list(sys.path)
    try:
        try:
            with _environment(environment), _interruptible():
                with signals_deferred():
                    gateway = launch_gateway(conf, {"stdout": output, "stderr": output})  # type: ignore[no-untyped-call]
                keep_found_names(gateway)
                if quick:
                    keep_objects(gateway)
                session = SparkSession(SparkContext(conf=conf, gateway=gateway))
            for archive in archives:
                if archive.name == ENGINE:
                    session.sparkContext.addArchive(str(archive))
                else:
                    session.sparkContext.addPyFile(str(archive))
        except Exception as error:
            raise NetdiagError(
                f"Spark does not start: {reason_of(error)}{_last(log)}", hint="check --master and the Java runtime"
            ) from error
        kill = may_kill and not _logs_events(session)
        done = False
        try:
            yield session
            done = True
        finally:
            # After an error or an interruption, other threads may still wait for Java.
            if kill and done:
                _kill_java(session, gateway)
            else:
                with suppress(Exception):
                    session.stop()
    finally:
        sys.path[:] = paths
        _end_java(gateway, stop_timeout)


def reason_of(error: BaseException) -> str:
    """The first line of what Spark says, without the stack of Java below it."""
    if isinstance(error, PySparkException):
        text = error.getMessage() or str(error)
    else:
        inner = getattr(error, "java_exception", None)
        text = str(inner.toString()) if inner is not None else str(error)
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[0] if lines else type(error).__name__


def _settings(master: str, folder: str, partitions: int | None, quick: bool, small: bool) -> dict[str, str]:
    settings = Path(folder, "log4j2.properties")
    settings.write_text(_LOGGING, encoding="ascii")
    scratch = Path(folder, "scratch")
    scratch.mkdir()
    java = [
        f"-Dlog4j2.configurationFile={settings.as_uri()}",
        f"-Djava.io.tmpdir={scratch}",
        "-XX:-UsePerfData",
        _CLASSES,
    ]
    if quick:
        java += _QUICK
    elif is_local(master):
        java += _FIXED_HEAP
    found = {
        "spark.master": master,
        "spark.app.name": "netdiag",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        _JAVA: " ".join(java),
        "spark.sql.warehouse.dir": str(Path(folder, "warehouse")),
        "spark.sql.catalogImplementation": "in-memory",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.execution.arrow.maxRecordsPerBatch": "65536",
        "spark.sql.shuffle.partitions": str(partitions or os.cpu_count() or 2),
        # The tables of a capture are small by the measure that plans anew at run time.
        "spark.sql.adaptive.enabled": "false",
        # Rows that stand in the plan itself are gone through by every rule that looks for expressions.
        "spark.sql.execution.arrow.localRelationThreshold": "0",
        # Where in Python a column was made: a dozen words with Java for every one of thousands.
        "spark.python.sql.dataFrameDebugging.enabled": "false",
        # Memory is taken a page at a time, by every grouping and every sorting: 64 MiB each, had Spark the say.
        "spark.buffer.pageSize": "1m",
        # So many groups are found by hashes before Spark turns to sorting all rows instead; 128 is its own number.
        "spark.sql.objectHashAggregate.sortBased.fallbackThreshold": "20000",
        # A machine that is busy answers its own heartbeats late.
        "spark.executor.heartbeatInterval": "60s",
        "spark.network.timeout": "600s",
    }
    if small:
        found |= _INTERPRETED
    if is_local(master):
        found |= {
            "spark.driver.bindAddress": _LOOPBACK,
            "spark.driver.host": _LOOPBACK,
            "spark.local.dir": str(scratch),
            "spark.driver.memory": _HEAP,
        }
    elif quick:
        found["spark.executor.extraJavaOptions"] = " ".join(_QUICK)
    if is_here(master):
        found |= {"spark.driver.bindAddress": _LOOPBACK, "spark.driver.host": _LOOPBACK}
    return found


@contextmanager
def _environment(values: Mapping[str, str]) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


@contextmanager
def _interruptible() -> Iterator[None]:
    """Keep the handler of interrupts: pyspark puts its own in its place and leaves it there."""
    try:
        before: Any = signal.getsignal(signal.SIGINT)
    except ValueError:
        before = None
    try:
        yield
    finally:
        with suppress(ValueError, TypeError):
            signal.signal(signal.SIGINT, before)


@contextmanager
def signals_deferred() -> Iterator[None]:
    """Hear of signals at the end of the block.

    What a handler raises while Python forks is lost and leaves logging locked; raised while a thread starts, it leaves
    a thread that nobody waits for.
    """
    heard: list[int] = []
    before: dict[signal.Signals, Any] = {}
    # Signals are heard in the main thread only.
    with suppress(ValueError):
        for each in (signal.SIGINT, signal.SIGTERM):
            before[each] = signal.signal(each, lambda number, _: heard.append(number))
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
        for number in heard:
            signal.raise_signal(number)


def _logs_events(session: SparkSession) -> bool:
    """Whether a file of events is to be ended, or somebody else's listener is to hear of the end."""
    asked = session.conf
    return asked.get("spark.eventLog.enabled", None) == "true" or asked.get("spark.extraListeners", None) is not None


def _kill_java(session: SparkSession, gateway: Any) -> None:
    """End Java as it is: to stop in order takes a second, and all that it has lies in the folder of the session."""
    context: Any = session.sparkContext
    accumulators = context._accumulatorServer
    # It waits for Java, would tell that Java is gone, and takes a second to stop.
    accumulators.handle_error = lambda *_: None
    gateway.proc.kill()
    Thread(target=accumulators.shutdown, daemon=True).start()
    context._jsc = context._accumulatorServer = None
    context.stop()
    SparkSession._instantiatedSession = SparkSession._activeSession = None
    SQLContext._instantiatedContext = None


def _end_java(gateway: Any, timeout: float) -> None:
    """End the Java process: it goes by itself when its standard input ends."""
    if gateway is None:
        return
    with suppress(Exception):
        gateway.shutdown()
    SparkContext._gateway = None
    SparkContext._jvm = None
    process = getattr(gateway, "proc", None)
    if process is None:
        return
    with suppress(OSError):
        process.stdin.close()
    try:
        process.wait(timeout)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _last(log: Path) -> str:
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines() if log.exists() else []
    told = [line for line in lines if line.strip() and not line.startswith(("\tat ", "WARNING: Using incubator"))]
    return f" ({'; '.join(told[-_SHOWN:])})" if told else ""


def _ours(match: re.Match[str]) -> NetdiagError:
    return NetdiagError(match[1].strip())


def _version(match: re.Match[str]) -> NetdiagError:
    return NetdiagError(f"the executors have Python {match[1]}, netdiag runs on {match[2]} here", hint=_SAME_PYTHON)


def _library(match: re.Match[str]) -> NetdiagError:
    library = match[1].partition(".")[0]
    return NetdiagError(
        f"the Python of the executors has no '{library}'", hint=f"install {library} there, or {_SAME_PYTHON}"
    )


def _interpreter(match: re.Match[str]) -> NetdiagError:
    return NetdiagError(f"the executors have no '{match[1]}'", hint=_SAME_PYTHON)


def _lost(match: re.Match[str]) -> NetdiagError:
    return NetdiagError(f"an executor was lost again and again: {match[1].strip()}", hint=_LOST)


def _crashed(match: re.Match[str]) -> NetdiagError:
    return NetdiagError("a Python worker of Spark was killed, or crashed", hint=_TOO_LARGE)


def _no_start(match: re.Match[str]) -> NetdiagError:
    said = [line.strip() for line in (match["said"] or "").splitlines() if line.strip()]
    return NetdiagError(": ".join(("the Python of the executors does not start", *said[-1:])), hint=_SAME_PYTHON)


# The first that is found in what Spark says is the reason; what is ours is told as we said it.
_REASONS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], NetdiagError]], ...] = (
    (re.compile(r"^\s*(?:\w+\.)*netdiag\.errors\.\w+: (.+)$", re.MULTILINE), _ours),
    (re.compile(r"different version: ([\d.]+\d) than that in driver: ([\d.]+\d)"), _version),
    (re.compile(r"ModuleNotFoundError: No module named '([^']+)'"), _library),
    (re.compile(r"Cannot run program \"([^\"]+)\""), _interpreter),
    (re.compile(r"^Error from python worker:\n(?P<said>(?: [^\n]*\n)*)", re.MULTILINE), _no_start),
    (re.compile(r"reading the port number from pyspark\.daemon's stdout(?P<said>)"), _no_start),
    (re.compile(r"Python worker exited unexpectedly \(crashed\)"), _crashed),
    (re.compile(r"ExecutorLostFailure \(([^\n]+)"), _lost),
)


@contextmanager
def translated_errors() -> Iterator[None]:
    """What Spark raises in this block becomes a NetdiagError with the reason."""
    try:
        yield
    except (Py4JError, PySparkException) as error:
        raise failure(error) from error


def failure(error: BaseException) -> NetdiagError:
    """The reason of what Spark raised."""
    text = str(error)
    for pattern, said in _REASONS:
        if match := pattern.search(text):
            return said(match)
    return NetdiagError(f"a job of Spark failed: {reason_of(error)}")
