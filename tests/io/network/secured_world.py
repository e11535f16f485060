"""Certificates in a folder, and the settings of a client that trusts them."""

from dataclasses import dataclass, field
from pathlib import Path

from tests.io.network.authorities import Issued, authority, issue
from tests.io.network.secured_servers import PASSWORD, USER


@dataclass(slots=True)
class World:
    """Certificates and the files that name them."""

    folder: Path
    root: Issued = field(default_factory=authority)

    def __post_init__(self) -> None:
        (self.folder / "ca.pem").write_bytes(self.root.pem)
        other = authority("Another Authority")
        (self.folder / "other.pem").write_bytes(other.pem)
        issue("client", by=self.root).write(self.folder / "client.pem")

    def server(self, issued: Issued) -> Path:
        return issued.write(self.folder / f"{issued.certificate.serial_number}.pem")

    def properties(
        self, protocol: str, *, trust: str = "ca.pem", extra: str = "", mechanism: str = "", password: str = PASSWORD
    ) -> Path:
        lines = [
            f"security.protocol={protocol}",
            "ssl.truststore.type=PEM",
            f"ssl.truststore.location={self.folder / trust}",
        ]
        if mechanism:
            module = f'x.LoginModule required username="{USER}" password="{password}";'
            lines += [f"sasl.mechanism={mechanism}", f"sasl.jaas.config={module}"]
        path = self.folder / "client.properties"
        path.write_text("\n".join([*lines, extra, ""]), encoding="utf-8")
        return path
