"""A broker's keystore as cp-kafka wants it, and kcat with TLS. Keys are made anew each time and trusted by nobody."""

import base64
from pathlib import Path

from tests.lab.lab import Lab
from tests.lab.processes import run
from tests.lab.vantages import Vantage

# The folder of the examples that a compose file mounts.
SECRETS = "./secrets:"
_PASSWORD = "only-for-tests"
_MAKE = f"""
keytool -genkeypair -alias kafka -keyalg RSA -dname CN=kafka -storetype PKCS12 -keystore /tmp/kafka.jks \\
  -storepass {_PASSWORD} -keypass {_PASSWORD} >&2 && base64 /tmp/kafka.jks
"""
_TLS = ("-X", "security.protocol=SSL", "-X", "enable.ssl.certificate.verification=false")


def write_secrets(lab: Lab, folder: Path) -> None:
    """kafka.jks, and its password in the file `credentials`."""
    folder.mkdir()
    made = run(lab.engine.host.argv_in_root(lab.client_root, ["sh", "-c", _MAKE]), timeout=60).stdout
    (folder / "kafka.jks").write_bytes(base64.b64decode(made))
    (folder / "credentials").write_text(_PASSWORD, encoding="utf-8")


def kcat_with_tls(lab: Lab, vantage: Vantage, bootstrap: str) -> tuple[str, str]:
    """The word and what was printed: "ok" where a client with TLS is told of brokers, else "bootstrap"."""
    words = ["kcat", "-L", "-m", "8", "-b", bootstrap, *_TLS]
    done = run(vantage.place.argv_in_root(lab.client_root, words), check=False, timeout=60)
    printed = done.stdout + done.stderr
    return ("ok" if done.returncode == 0 and " broker 1" in printed else "bootstrap"), printed
