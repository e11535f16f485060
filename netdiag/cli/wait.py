"""`netdiag wait`: for scripts, which go on once the clients of a Compose file can work."""

from typing import Annotated

from typer import Argument, Context, Option

from netdiag.cli.command import (
    ClientProperties,
    EngineHost,
    EnvFiles,
    Profiles,
    ProjectChain,
    ProjectDirectory,
    ProjectName,
    console_of,
    parsed,
    read_options,
    words,
)
from netdiag.cli.console import write_text
from netdiag.cli.exit_status import ExitStatus


def wait(
    context: Context,
    file: Annotated[
        str | None, Argument(metavar="FILE", help="The compose file or folder. Default: the file that Compose finds.")
    ] = None,
    chain: ProjectChain = None,
    project_directory: ProjectDirectory = None,
    project_name: ProjectName = None,
    timeout: Annotated[
        float, Option("--timeout", metavar="SECONDS", min=0.1, max=86400, help="How long to wait.")
    ] = 60.0,
    client: Annotated[
        list[str] | None,
        Option("--client", metavar="SERVICE", help="Wait for this client only; repeatable. Default: all of the file."),
    ] = None,
    bootstrap: Annotated[
        str | None,
        Option("--bootstrap", metavar="HOST:PORT", help="Also wait until this works from the docker host; commas."),
    ] = None,
    env_file: EnvFiles = None,
    profile: Profiles = None,
    host: EngineHost = None,
    client_properties: ClientProperties = None,
) -> ExitStatus:
    """Wait until every client that a Compose file declares can work.

    A client can work when its bootstrap servers answer, every broker that they advertise answers too, both from inside
    the client's container, and every topic has a leader. Without declared clients, netdiag tries the published ports
    from the docker host. While it waits, netdiag prints what is missing; it creates no topic and no container. The exit
    status is 0 when all clients can work, 1 when the time is up, 3 when netdiag cannot connect from where a client is.
    """
    from netdiag.app.configuration import CheckOptions
    from netdiag.app.wait import WaitOptions
    from netdiag.app.wait import wait as wait_for_clients
    from netdiag.deployment.model.verdict import parse_bootstraps

    console = console_of(context)
    read = read_options(directory=project_directory, name=project_name, env_files=env_file, profiles=profile)
    result = wait_for_clients(
        WaitOptions(
            check=CheckOptions(files=(file,) if file else (), project_files=tuple(chain or ()), read=read),
            timeout=timeout,
            clients=words(client),
            bootstraps=parsed(parse_bootstraps, bootstrap) if bootstrap else (),
            host=host,
            client_properties=client_properties,
        ),
        console,
    )
    who = ", ".join(result.clients)
    if not result.lacking:
        write_text(console.screen.visible(f"ready after {result.seconds:.1f} s: {who}") + "\n")
        return ExitStatus.CLEAN
    for lack in result.lacking:
        write_text(console.screen.visible(f"{'unknown' if lack.unseen else 'not ready'}: {lack}") + "\n")
    return ExitStatus.COULD_NOT_LOOK if result.unseen else ExitStatus.FINDINGS
