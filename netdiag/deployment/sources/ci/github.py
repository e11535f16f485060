"""The jobs of a GitHub workflow that have services, as deployments.

The runner creates a network for each job and starts the services on it, each with its id as alias. Steps of a job
without `container` run on the runner itself, which reaches mapped ports on localhost and resolves no id. Steps of a job
with one run in a container on that network. Services are started before the first step, and the runner waits for those
that have a health check.

Source: GitHub's workflow syntax (`jobs.<job_id>.services`, `.container`, `.strategy.matrix`) and its page on service
containers; `command` and `entrypoint` since April 2026.
"""

from collections.abc import Iterator
from collections.abc import Mapping as MappingABC
from dataclasses import replace
from itertools import product

from netdiag.compose.positions import Source, Text
from netdiag.compose.problems import ComposeError, Problems
from netdiag.compose.project import EnvironmentVariable, ExtraHost, Service, ServiceNetwork
from netdiag.compose.service import read_service
from netdiag.compose.values import Entry, Mapping, Scalar, Sequence, Value, no_files
from netdiag.deployment.sources.ci.command_lines import compose_ups, containers_started
from netdiag.deployment.sources.ci.docker_options import DockerOptions, docker_options
from netdiag.deployment.sources.ci.expressions import Known, evaluated, named, without_unknown
from netdiag.deployment.sources.ci.job import NETWORK, DeclaredJob, Place, Step
from netdiag.deployment.sources.ci.shell_words import commands
from netdiag.deployment.sources.documents import (
    documents,
    key_span,
    mapping_in,
    no_variables,
    scalars_of,
    text_in,
    texts_in,
)
from netdiag.findings import FileLocation

_MOST_COMBINATIONS = 256
_MOST_VARIANTS = 16
_MOST_JOBS = 500

Combination = dict[str, Text]


def workflow_jobs(source: Source) -> Iterator[DeclaredJob]:
    """The jobs with services of a workflow, one for each combination of its matrix that changes them."""
    top = documents(source)[0]
    jobs = mapping_in(top, "jobs")
    shared = scalars_of(mapping_in(top, "env"))
    entries = jobs.entries if jobs is not None else {}
    if len(entries) > _MOST_JOBS:
        raise ComposeError(
            f"a workflow of {len(entries)} jobs is too large, the limit is {_MOST_JOBS}", span=source.span(0, 0)
        )
    for name, entry in entries.items():
        if isinstance(entry.value, Mapping):
            yield from _variants(name, entry.key.span, entry.value, shared)


def _variants(name: str, where: FileLocation, job: Mapping, shared: MappingABC[str, Text]) -> Iterator[DeclaredJob]:
    yield from _followed(name, where, job, shared)
    services = mapping_in(job, "services")
    if services is None or not services.entries:
        return
    container = job.get("container")
    written = [services, *([container] if container is not None else [])]
    keys = {key for value in written for text in _texts(value) for key in named(text.value, "matrix")}
    for combination in _combinations(job, keys):
        known: dict[str, Text | str] = {f"matrix.{key.lower()}": text for key, text in combination.items()}
        env = {**shared, **scalars_of(mapping_in(job, "env"))}
        for key, text in env.items():
            value = evaluated(text, known)
            if value is not None:
                known[f"env.{key.lower()}"] = value
        variant = ", ".join(f"{key}={text.value}" for key, text in combination.items())
        yield _job(name, where, job, services, env, known, variant)


def _followed(name: str, where: FileLocation, job: Mapping, shared: MappingABC[str, Text]) -> Iterator[DeclaredJob]:
    """What steps on the runner start by `docker run` and `docker compose up`, each as a job of its own."""
    known: dict[str, Text | str] = {}
    if _has_container(job, known) is not False:
        return
    env = {**shared, **scalars_of(mapping_in(job, "env"))}
    known |= {f"env.{key.lower()}": text for key, text in env.items() if evaluated(text, known) is not None}
    steps = tuple(_steps(job, known))
    started = DeclaredJob(
        name=name,
        where=where,
        place=Place.RUNNER,
        services=(),
        steps=steps,
        variables={key: evaluated(text, known) for key, text in env.items()},
        followed=True,
    )
    texts = [step.run for step in steps if step.run is not None and "docker" in step.run.value]
    for lines in containers_started(texts):
        services = tuple(lines.project.services.values())
        yield replace(started, services=services, networks=lines.project.networks)
    for folder, text in _scripts(job):
        for compose in compose_ups(text, folder):
            yield replace(started, compose=compose)


def _scripts(job: Mapping) -> Iterator[tuple[str, Text]]:
    """The scripts of steps that may start a project, each with the folder that it runs in where that is known."""
    steps = job.get("steps")
    defaults = mapping_in(job, "defaults")
    usual = mapping_in(defaults, "run") if defaults is not None else None
    for item in steps.items if isinstance(steps, Sequence) else ():
        run = text_in(item, "run") if isinstance(item, Mapping) else None
        if run is None or "compose" not in run.value or not isinstance(item, Mapping):
            continue
        folder = text_in(item, "working-directory") or (text_in(usual, "working-directory") if usual else None)
        if folder is None or "$" not in folder.value:
            yield folder.value if folder is not None else "", run


def _job(
    name: str,
    where: FileLocation,
    job: Mapping,
    services: Mapping,
    env: MappingABC[str, Text],
    known: Known,
    variant: str,
) -> DeclaredJob:
    in_container = _has_container(job, known)
    # Steps that are given an address of the runner may use its ports.
    hosts = _container_hosts(job, known)
    found: list[Service] = []
    unknown: set[str] = set()
    healthy: set[str] = set()
    for key, entry in services.entries.items():
        if not isinstance(entry.value, Mapping):
            continue
        service, is_known, is_checked = _service(("jobs", name, "services", key), key, entry, entry.value, known)
        found.append(service if in_container is False or hosts else replace(service, ports=()))
        if not is_known or in_container is None:
            unknown.add(key)
        if is_checked:
            healthy.add(key)
    variables = {key: evaluated(text, known) for key, text in env.items()}
    return DeclaredJob(
        name=name,
        where=where,
        place=Place.CONTAINER if in_container else Place.RUNNER,
        services=tuple(found),
        steps=tuple(_steps(job, known)),
        variables=variables,
        hosts=hosts,
        unknown=frozenset(unknown),
        healthy=frozenset(healthy),
        variant=variant,
    )


def _has_container(job: Mapping, known: Known) -> bool | None:
    """Whether steps run in a container; None where an expression decides."""
    value = job.get("container")
    if isinstance(value, Mapping):
        value = value.get("image")
    if not isinstance(value, Scalar):
        return False
    image = evaluated(value.text, known)
    if image is not None:
        return bool(image.value.strip())
    # An expression that is only a part of the image leaves an image.
    return True if without_unknown(value.text, known).value.strip() else None


def _container_hosts(job: Mapping, known: Known) -> tuple[ExtraHost, ...]:
    """The names that the options of the job container add to its hosts file."""
    container = mapping_in(job, "container")
    if container is None:
        return ()
    options, _ = _options(container, known)
    return tuple(_added_hosts(options))


def _added_hosts(options: DockerOptions) -> Iterator[ExtraHost]:
    for text in options.all("--add-host"):
        name, _, address = text.value.partition("=" if "=" in text.value else ":")
        if name and address:
            yield ExtraHost(name=name, address=address.strip("[]"), span=text.span)


def _service(
    path: tuple[str, ...], name: str, entry: Entry, declared: Mapping, known: Known
) -> tuple[Service, bool, bool]:
    """The service, whether its ports and options are known, and whether it has a health check of its own."""
    fields: dict[str, Entry] = {}
    is_known = True
    image = text_in(declared, "image")
    if image is not None:
        fields["image"] = _entry(declared, "image", _scalar(without_unknown(image, known)))
    env = mapping_in(declared, "env")
    if env is not None:
        fields["environment"] = _entry(declared, "env", _environment(env, known))
    ports = []
    for text in texts_in(declared, "ports"):
        port = evaluated(text, known)
        is_known = is_known and port is not None
        ports += [_scalar(port)] if port is not None else []
    written = declared.get("ports")
    if written is not None:
        fields["ports"] = _entry(declared, "ports", Sequence(items=tuple(ports), span=written.span))
    if declared.get("volumes") is not None:
        volumes = [evaluated(text, known) for text in texts_in(declared, "volumes")]
        items = tuple(_scalar(text) for text in volumes if text is not None)
        fields["volumes"] = _entry(declared, "volumes", Sequence(items=items, span=declared.entries["volumes"].span))
    for key in ("command", "entrypoint"):
        words = _command_words(declared, key, known)
        if words is not None:
            fields[key] = _entry(
                declared, key, Sequence(items=tuple(map(_scalar, words)), span=declared.entries[key].span)
            )
    problems = Problems()
    made = Mapping(entries=fields, span=declared.span)
    service = read_service(problems, name, Entry(key=entry.key, value=made), no_variables, no_files)
    options, options_known = _options(declared, known)
    service = with_options(service, options, alias=name)
    checked = options.last("--health-cmd") is not None and "--no-healthcheck" not in options.switches
    return (
        replace(service, path=path, variables_key="env"),
        is_known and options_known,
        checked or not options_known,
    )


def with_options(service: Service, options: DockerOptions, *, alias: str, network: str = NETWORK) -> Service:
    """A service with what options of `docker create` say about it, on a network under an alias and those of options."""
    aliases = tuple(Text(value=name, span=service.span) for name in [alias]) + options.all("--network-alias")
    variables = dict(service.environment)
    for item in options.all("--env"):
        name, equals, _ = item.value.partition("=")
        text = item.slice(len(name) + 1, len(item)) if equals else None
        variables[name] = EnvironmentVariable(
            name=name, value=text, key_span=item.span, entry_span=item.span, form="list"
        )
    hostname, container = options.last("--hostname"), options.last("--name")
    return replace(
        service,
        environment=variables,
        hostname=hostname or service.hostname,
        container_name=container or service.container_name,
        user=options.last("--user") or service.user,
        extra_hosts=(*service.extra_hosts, *_added_hosts(options)),
        networks=(ServiceNetwork(network=network, span=service.span, aliases=aliases),),
    )


def _options(declared: Mapping, known: Known) -> tuple[DockerOptions, bool]:
    text = text_in(declared, "options")
    if text is None:
        return DockerOptions(), True
    value = evaluated(text, known)
    if value is None:
        return docker_options(_split(without_unknown(text, known))), False
    return docker_options(_split(value)), True


def _split(text: Text) -> list[Text]:
    """The words of `options`, which the runner splits as a shell does, whatever the lines."""
    return [word.text for command in commands(text) for word in command]


def _command_words(declared: Mapping, key: str, known: Known) -> list[Text] | None:
    value = declared.get(key)
    if isinstance(value, Sequence):
        return [without_unknown(text, known) for text in texts_in(declared, key)]
    text = text_in(declared, key)
    return None if text is None else _split(without_unknown(text, known))


def _environment(env: Mapping, known: Known) -> Mapping:
    """The variables; one with an expression that is not known is set, to nobody knows what."""
    entries: dict[str, Entry] = {}
    for key, entry in env.entries.items():
        if isinstance(entry.value, Scalar):
            value = evaluated(entry.value.text, known)
            scalar = Scalar(kind="null", text=entry.value.text) if value is None else _scalar(value)
            entries[key] = Entry(key=entry.key, value=scalar)
    return Mapping(entries=entries, span=env.span)


def _steps(job: Mapping, known: Known) -> Iterator[Step]:
    steps = job.get("steps")
    for item in steps.items if isinstance(steps, Sequence) else ():
        if not isinstance(item, Mapping):
            continue
        run, uses = text_in(item, "run"), text_in(item, "uses")
        own = {key: evaluated(text, known) for key, text in scalars_of(mapping_in(item, "env")).items()}
        where = next((key_span(item, key) for key in ("run", "uses", "name") if key in item.entries), item.span)
        yield Step(where=where, run=run, uses=uses.value if uses else "", variables=own)


def _combinations(job: Mapping, keys: set[str]) -> list[Combination]:
    """The combinations of the matrix, as far as the named keys tell them apart; an empty one where it is not known."""
    strategy = mapping_in(job, "strategy")
    matrix = mapping_in(strategy, "matrix") if strategy is not None else None
    if matrix is None or not keys:
        return [{}]
    axes = {
        key: [_flat(key, item) for item in entry.value.items]
        for key, entry in matrix.entries.items()
        if key not in ("include", "exclude") and isinstance(entry.value, Sequence)
    }
    unknown = any(
        isinstance(entry.value, Scalar)
        for key, entry in matrix.entries.items()
        if key.lower() in keys or key == "include"
    )
    size = 1
    for values in axes.values():
        size *= len(values)
    if unknown or size > _MOST_COMBINATIONS:
        axes = {key: values for key, values in axes.items() if key.lower() in keys}
        size = 1
        for values in axes.values():
            size *= len(values)
        if size > _MOST_COMBINATIONS:
            return [{}]
    found = [dict(pair for part in parts for pair in part.items()) for parts in product(*axes.values())] if axes else []
    found = [one for one in found if not any(_matches(one, out) for out in _items(matrix, "exclude"))]
    originals = list(found)
    names = set(axes)
    for item in _items(matrix, "include"):
        fits = [one for one in originals if _extends(one, item, names)]
        if fits and originals:
            for one in fits:
                one.update(item)
        else:
            found.append(dict(item))
    kept: dict[tuple[tuple[str, str], ...], Combination] = {}
    for one in found or [{}]:
        chosen = {key: text for key, text in one.items() if _root(key).lower() in keys}
        kept.setdefault(tuple((key, text.value) for key, text in sorted(chosen.items())), chosen)
    return list(kept.values())[:_MOST_VARIANTS]


def _extends(combination: Combination, item: Combination, axes: set[str]) -> bool:
    """Whether an item of `include` changes no value of an axis in a combination."""
    return all(
        key not in combination or _root(key) not in axes or combination[key].value == text.value
        for key, text in item.items()
    )


def _root(key: str) -> str:
    return key.partition(".")[0]


def _matches(combination: Combination, pattern: Combination) -> bool:
    return bool(pattern) and all(key in combination and combination[key].value == t.value for key, t in pattern.items())


def _items(matrix: Mapping, key: str) -> list[Combination]:
    value = matrix.get(key)
    if not isinstance(value, Sequence):
        return []
    return [
        {k: t for name, entry in item.entries.items() for k, t in _flat(name, entry.value).items()}
        for item in value.items[:_MOST_COMBINATIONS]
        if isinstance(item, Mapping)
    ]


def _flat(key: str, value: Value) -> Combination:
    """A value of an axis; the fields of a mapping are `key.field`."""
    match value:
        case Scalar():
            return {key: value.text}
        case Mapping():
            return {
                k: t for name, entry in value.entries.items() for k, t in _flat(f"{key}.{name}", entry.value).items()
            }
        case Sequence():
            return {}


def _texts(value: Value) -> Iterator[Text]:
    match value:
        case Scalar():
            yield value.text
        case Sequence():
            for item in value.items:
                yield from _texts(item)
        case Mapping():
            for entry in value.entries.values():
                yield from _texts(entry.value)


def _scalar(text: Text) -> Scalar:
    return Scalar(kind="str", text=text)


def _entry(declared: Mapping, key: str, value: Value) -> Entry:
    return Entry(key=declared.entries[key].key, value=value)
