"""Certificates of every kind, made anew each time: authorities, servers and clients, right and wrong."""

import datetime
import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.x509.oid import NameOID

Key = rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey
NOW = datetime.datetime.now(datetime.UTC).replace(microsecond=0)


def days(count: float) -> datetime.datetime:
    """So many days from now."""
    return NOW + datetime.timedelta(days=count)


@dataclass(frozen=True, slots=True, kw_only=True)
class Issued:
    """A certificate with its key, and who issued it (None: itself)."""

    certificate: x509.Certificate
    key: Key
    issuer: "Issued | None" = None

    @property
    def pem(self) -> bytes:
        """The certificate alone."""
        return self.certificate.public_bytes(serialization.Encoding.PEM)

    @property
    def der(self) -> bytes:
        """The certificate alone, in binary."""
        return self.certificate.public_bytes(serialization.Encoding.DER)

    def key_pem(self, password: bytes | None = None) -> bytes:
        """The key as PKCS#8."""
        how = serialization.BestAvailableEncryption(password) if password else serialization.NoEncryption()
        return self.key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, how)

    def write(self, path: Path, *, with_issuers: bool = True) -> Path:
        """Key and chain in one PEM file, as a server reads it; the root is not part of a chain."""
        chain, above = [self.pem], self.issuer
        while with_issuers and above is not None and above.issuer is not None:
            chain.append(above.pem)
            above = above.issuer
        path.write_bytes(b"".join([self.key_pem(), *chain]))
        path.chmod(0o600)
        return path


def issue(
    name: str,
    *,
    by: Issued | None = None,
    names: Sequence[str] = (),
    addresses: Sequence[str] = (),
    valid: tuple[float, float] = (-1, 365),
    bits: int = 2048,
    curve: ec.EllipticCurve | None = None,
    authority: bool = False,
) -> Issued:
    """A certificate for `name`; `valid` in days from now."""
    key: Key = ec.generate_private_key(curve) if curve else rsa.generate_private_key(65537, bits)
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(by.certificate.subject if by else subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(days(valid[0]))
        .not_valid_after(days(valid[1]))
        .add_extension(x509.BasicConstraints(ca=authority, path_length=None), critical=True)
    )
    if names or addresses:
        alternatives: list[x509.GeneralName] = [x509.DNSName(given) for given in names]
        alternatives += [x509.IPAddress(ipaddress.ip_address(given)) for given in addresses]
        builder = builder.add_extension(x509.SubjectAlternativeName(alternatives), critical=False)
    certificate = builder.sign(by.key if by else key, hashes.SHA256())
    return Issued(certificate=certificate, key=key, issuer=by)


def authority(
    name: str = "Test Authority", *, by: Issued | None = None, valid: tuple[float, float] = (-1, 3650)
) -> Issued:
    """An authority, its own or under another; on a curve, which is made quickly."""
    return issue(name, by=by, valid=valid, curve=ec.SECP256R1(), authority=True)
