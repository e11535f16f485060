"""`netdiag wait`: for scripts, which go on once the clients of a Compose file can work."""

import os
from typing import Annotated

from typer import Argument, Context, Option

from netdiag.cli.command import EngineHost, console_of, parsed, words
from netdiag.cli.console import write_text
from netdiag.cli.exit_status import ExitStatus


def wait(
    context: Context,
    file: Annotated[
        str | None, Argument(metavar="FILE", help="The compose file or folder. Default: the file that Compose finds.")
    ] = None,
    chain: Annotated[
        list[str] | None,
        Option(
            "--file", "-f", metavar="FILE", help="A file of the project; repeatable, later files override earlier ones."
        ),
    ] = None,
    project_directory: Annotated[
        str | None, Option("--project-directory", metavar="DIR", help="The folder for relative paths and .env.")
    ] = None,
    project_name: Annotated[
        str | None, Option("--project-name", "-p", metavar="NAME", help="The name of the project.")
    ] = None,
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
    env_file: Annotated[
        list[str] | None,
        Option("--env-file", metavar="FILE", help="Read variables from this file instead of .env; repeatable."),
    ] = None,
    profile: Annotated[
        list[str] | None,
        Option("--profile", metavar="NAME", help="Include services of this profile, * for all; repeatable."),
    ] = None,
    host: EngineHost = None,
    client_properties: Annotated[
        str | None,
        Option("--client-properties", metavar="FILE", help="Connect with the TLS and SASL settings of this client."),
    ] = None,
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
    from netdiag.deployment.model.contact import parse_bootstraps
    from netdiag.io.files.projects import ReadOptions

    console = console_of(context)
    read = ReadOptions(
        environ=os.environ,
        env_files=tuple(env_file or ()),
        project_directory=project_directory,
        project_name=project_name,
        profiles=tuple(profile) if profile else None,
    )
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
