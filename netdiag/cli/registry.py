"""`netdiag registry`: what brokers have registered with their cluster."""

from typing import Annotated

from typer import Argument, Context, Option

from netdiag.cli.command import (
    ClientProperties,
    EngineHost,
    EnvFiles,
    FailOn,
    Profiles,
    ProjectChain,
    ProjectDirectory,
    ProjectName,
    console_of,
    read_options,
    refuse,
    words,
)
from netdiag.cli.console import write_text
from netdiag.cli.exit_status import ExitStatus
from netdiag.findings import Severity


def registry(
    context: Context,
    file: Annotated[
        str | None,
        Argument(metavar="FILE", help="A compose file or folder whose project runs. Default: everything that runs."),
    ] = None,
    chain: ProjectChain = None,
    project_directory: ProjectDirectory = None,
    project_name: ProjectName = None,
    container: Annotated[
        list[str] | None, Option("--container", metavar="NAME", help="Only this container; repeatable.")
    ] = None,
    zookeeper: Annotated[
        str | None,
        Option("--zookeeper", metavar="HOST:PORT[/PATH]", help="Read this ZooKeeper from here, and ask no engine."),
    ] = None,
    zookeeper_digest: Annotated[
        str | None,
        Option("--zookeeper-digest", metavar="FILE", help="Log in to ZooKeeper with the user:password in this file."),
    ] = None,
    zookeeper_jaas: Annotated[
        str | None,
        Option(
            "--zookeeper-jaas", metavar="FILE", help="Log in to ZooKeeper by SASL, as section Client of this file says."
        ),
    ] = None,
    zookeeper_properties: Annotated[
        str | None,
        Option(
            "--zookeeper-properties",
            metavar="FILE",
            help="Connect to ZooKeeper with TLS, as zookeeper.ssl.* in this file say.",
        ),
    ] = None,
    client_properties: ClientProperties = None,
    timeout: Annotated[
        float, Option("--timeout", metavar="SECONDS", min=0.1, max=600, help="Timeout of each step.")
    ] = 4.0,
    as_json: Annotated[bool, Option("--json", help="JSON for programs (docs/output.md).")] = False,
    fail_on: FailOn = Severity.WARNING,
    env_file: EnvFiles = None,
    profile: Profiles = None,
    host: EngineHost = None,
) -> ExitStatus:
    """Show what brokers have registered with ZooKeeper or KRaft, beside what they declare and tell clients.

    netdiag asks ZooKeeper and the brokers from inside their containers, and reads the metadata of a KRaft cluster from
    the data directories. It changes nothing. The exit status is 1 if something is wrong, 4 if no broker runs.
    """
    from netdiag.app.configuration import CheckOptions
    from netdiag.app.registry import RegistryOptions, read_registry
    from netdiag.render.registry import registry_json, registry_text

    asks_engine = file or chain or project_name or container or host
    refuse((zookeeper and asks_engine, "--zookeeper asks no engine: name no project, container or --host beside it"))
    console = console_of(context)
    read = read_options(directory=project_directory, name=project_name, env_files=env_file, profiles=profile)
    report = read_registry(
        RegistryOptions(
            check=CheckOptions(files=(file,) if file else (), project_files=tuple(chain or ()), read=read),
            containers=words(container),
            host=host,
            zookeeper=zookeeper,
            digest_file=zookeeper_digest,
            zookeeper_jaas=zookeeper_jaas,
            zookeeper_properties=zookeeper_properties,
            client_properties=client_properties,
            timeout=timeout,
        ),
        console,
    )
    if as_json:
        write_text(registry_json(report.clusters, report.findings))
    elif report.clusters:
        write_text(registry_text(report.clusters, report.findings, console.screen, full=console.verbose))
    else:
        console.notice("no broker runs with ZooKeeper or KRaft")
    if any(finding.severity.at_least(fail_on) for finding in report.findings):
        return ExitStatus.FINDINGS
    if not report.clusters:
        return ExitStatus.NOTHING_TO_CHECK
    return ExitStatus.CLEAN if any(one.registries for one in report.clusters) else ExitStatus.COULD_NOT_LOOK
