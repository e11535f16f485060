"""What the files say of services that run: as little of it as a comparison takes, each with the place it stands at."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from netdiag.findings import FileLocation


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclaredText:
    """A value and where it is written; None for one that the files leave to something else."""

    value: str
    where: FileLocation | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclaredPort:
    """A port that is to be published; `published` None is any free one."""

    target: int
    published: int | None
    host_ip: str
    protocol: str
    where: FileLocation | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclaredService:
    """One service. `networks` are the engine's names of them; `environment` holds what the files set.

    `is_built`: the image is made on the spot, whatever it is called. `is_broker`: it starts Kafka.
    """

    name: str
    where: FileLocation | None
    image: DeclaredText | None = None
    is_built: bool = False
    is_broker: bool = False
    environment: Mapping[str, DeclaredText] = field(default_factory=dict, repr=False)
    ports: tuple[DeclaredPort, ...] = ()
    networks: Mapping[str, FileLocation | None] = field(default_factory=dict)
    network_mode: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Foretold:
    """A finding about the files that says what the broker of a service prints instead of starting."""

    rule: str
    service: str
    prints: str
    message: str
    hint: str
    where: FileLocation


@dataclass(frozen=True, slots=True, kw_only=True)
class AsDeclared:
    """The services of the files by name, and the refusals to start that follow from them."""

    services: Mapping[str, DeclaredService] = field(default_factory=dict)
    foretold: tuple[Foretold, ...] = ()
