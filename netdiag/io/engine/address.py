"""Which engine is meant, decided as the docker command line decides it.

In order: `--host` or `--context`, `DOCKER_HOST`, `DOCKER_CONTEXT`, the current context of the configuration file, the
default socket.
"""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path

from netdiag.engine.container import flag, text
from netdiag.errors import EngineError, InputError
from netdiag.values import dataclass

DEFAULT_URL = "unix:///var/run/docker.sock"
CONTEXT_URL = "context://"
"""`context://NAME` is the engine of the Docker context NAME, wherever the URL of an engine is taken."""
_DEFAULT_CONTEXT = "default"


@dataclass(frozen=True, slots=True, kw_only=True)
class TlsFiles:
    """The client's certificate material; `verify` is whether the server's certificate is checked."""

    ca: str | None
    certificate: str | None
    key: str | None
    verify: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineAddress:
    """Where the engine's API is, and what said so."""

    url: str
    said_by: str
    tls: TlsFiles | None = None

    @property
    def unix_socket(self) -> str | None:
        """The path of the socket, for an engine that is reached by one."""
        scheme, _, path = self.url.partition("://")
        return path if scheme == "unix" else None

    @property
    def hint(self) -> str:
        """What to try where the engine there does not do what it should."""
        return f"name another engine with --host, --context or DOCKER_HOST (in use: {self.said_by})"


def find_engine(host: str | None, environment: Mapping[str, str], home: Path) -> EngineAddress:
    """The engine that the docker command line would talk to; `host` is a URL, or `context://NAME`."""
    folder = Path(environment["DOCKER_CONFIG"]) if environment.get("DOCKER_CONFIG") else home / ".docker"
    if host and host.startswith(CONTEXT_URL):
        return _of_context(folder / "contexts", host.removeprefix(CONTEXT_URL), "--context", environment)
    if host:
        return EngineAddress(url=normalised(host), said_by="--host", tls=_tls_of(environment))
    if environment.get("DOCKER_HOST"):
        return _of_default(environment)
    context, said_by = environment.get("DOCKER_CONTEXT", ""), "DOCKER_CONTEXT"
    if not context:
        context, said_by = _current_context(folder / "config.json"), "the current docker context"
    return _of_context(folder / "contexts", context, said_by, environment)


def normalised(url: str) -> str:
    """The URL in full: a bare path is a unix socket, a bare host:port is TCP, as for the command line."""
    if "://" in url:
        scheme, _, rest = url.partition("://")
        if scheme == "unix" and not rest:
            return DEFAULT_URL
        if scheme not in ("unix", "tcp", "ssh", "http", "https", "npipe"):
            raise InputError(f'"{scheme}" is not a known scheme', where=url, hint="use unix://, tcp:// or ssh://")
        return url
    return f"unix://{url}" if url.startswith("/") else f"tcp://{url}"


def _current_context(path: Path) -> str:
    try:
        document: object = json.loads(path.read_bytes())
    except FileNotFoundError:
        return ""
    except (OSError, ValueError) as error:
        raise EngineError(f"cannot be read: {error}", where=str(path)) from error
    return text(document, "currentContext")


def _of_default(environment: Mapping[str, str]) -> EngineAddress:
    """The context that needs no configuration: `DOCKER_HOST`, else the default socket."""
    host = environment.get("DOCKER_HOST")
    url, said_by = (normalised(host), "DOCKER_HOST") if host else (DEFAULT_URL, "the default")
    return EngineAddress(url=url, said_by=said_by, tls=_tls_of(environment))


def _of_context(contexts: Path, name: str, said_by: str, environment: Mapping[str, str]) -> EngineAddress:
    if name in ("", _DEFAULT_CONTEXT):
        return _of_default(environment)
    identifier = hashlib.sha256(name.encode()).hexdigest()
    path = contexts / "meta" / identifier / "meta.json"
    try:
        document: object = json.loads(path.read_bytes())
    except FileNotFoundError as error:
        raise EngineError(
            f'there is no docker context "{name}"', where=said_by, hint="list them with `docker context ls`"
        ) from error
    except (OSError, ValueError) as error:
        raise EngineError(f"cannot be read: {error}", where=str(path)) from error
    url = text(document, "Endpoints", "docker", "Host")
    if not url:
        raise EngineError(f'docker context "{name}" has no engine address', where=str(path))
    folder = contexts / "tls" / identifier / "docker"
    skip = flag(document, "Endpoints", "docker", "SkipTLSVerify")
    tls = _tls_in(folder, verify=not skip) if folder.is_dir() else None
    return EngineAddress(url=normalised(url), said_by=f'docker context "{name}" ({said_by})', tls=tls)


def _tls_of(environment: Mapping[str, str]) -> TlsFiles | None:
    """DOCKER_TLS_VERIFY and DOCKER_CERT_PATH; only TCP engines look at it."""
    folder = environment.get("DOCKER_CERT_PATH", "")
    verify = environment.get("DOCKER_TLS_VERIFY", "") != ""
    return _tls_in(Path(folder), verify=verify) if folder and verify else None


def _tls_in(folder: Path, *, verify: bool) -> TlsFiles:
    found = {name: str(folder / name) for name in ("ca.pem", "cert.pem", "key.pem") if (folder / name).is_file()}
    return TlsFiles(ca=found.get("ca.pem"), certificate=found.get("cert.pem"), key=found.get("key.pem"), verify=verify)
