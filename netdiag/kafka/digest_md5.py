"""SASL's DIGEST-MD5 from the client's side, without any I/O: one answer to a challenge, and the check of the server's.

RFC 2831, with authentication only (`qop=auth`), as ZooKeeper's servers and clients speak it.
"""

import hashlib

from netdiag.patterns import regex

# Of a challenge (RFC 2831, section 2.1.1, allows 2047 bytes).
LONGEST = 4096
_DIRECTIVE = regex(r'\s*([A-Za-z-]{1,40})\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s",]*))\s*(?:,|$)')
_FIRST = "00000001"


class ChallengeError(Exception):
    """What the server says is no challenge that can be answered; the text says why."""


class DigestMd5:
    """One login. `cnonce` is random text of the client, `uri` the service that is asked, as "zookeeper/host".

    `authzid` is who the client wants to be, "" where that goes without saying.
    """

    def __init__(self, *, username: str, password: str, uri: str, cnonce: str, authzid: str = "") -> None:
        self._username = username
        self._password = password
        self._uri = uri
        self._cnonce = cnonce
        self._authzid = authzid
        self._expected = ""

    def answer(self, challenge: bytes) -> bytes:
        """The response to the server's challenge; ChallengeError where it is none."""
        given = _directives(challenge)
        nonce = given.get("nonce")
        if nonce is None or given.get("algorithm") != "md5-sess":
            raise ChallengeError("it offers no login with DIGEST-MD5")
        if "auth" not in [word.strip() for word in given.get("qop", "auth").split(",")]:
            raise ChallengeError(f"it wants more than a login: qop is {given['qop'][:40]!r}")
        realm = given.get("realm", "")
        self._expected = self._digest("", realm, nonce)
        directives = {
            "username": _quoted(self._username),
            "realm": _quoted(realm),
            "nonce": _quoted(nonce),
            "cnonce": _quoted(self._cnonce),
            "nc": _FIRST,
            "qop": "auth",
            "digest-uri": _quoted(self._uri),
            "response": self._digest("AUTHENTICATE", realm, nonce),
        }
        if self._authzid:
            directives["authzid"] = _quoted(self._authzid)
        words = [f"{name}={value}" for name, value in directives.items()]
        return ",".join(["charset=utf-8", *words] if "charset" in given else words).encode()

    def is_proven_by(self, said: bytes) -> bool:
        """Whether the server's last words show that it knows the password, too."""
        try:
            return bool(self._expected) and _directives(said).get("rspauth") == self._expected
        except ChallengeError:
            return False

    def _digest(self, method: str, realm: str, nonce: str) -> str:
        secret = _md5(b":".join(map(_bytes, (self._username, realm, self._password))))
        who = (self._authzid,) if self._authzid else ()
        session = _md5(b":".join((secret, *(text.encode() for text in (nonce, self._cnonce, *who))))).hex()
        asked = _md5(f"{method}:{self._uri}".encode()).hex()
        return _md5(":".join((session, nonce, _FIRST, self._cnonce, "auth", asked)).encode()).hex()


def _md5(data: bytes) -> bytes:
    return hashlib.md5(data, usedforsecurity=False).digest()


def _bytes(text: str) -> bytes:
    """In ISO 8859-1 where that has all characters (section 2.1.2.1)."""
    try:
        return text.encode("iso-8859-1")
    except UnicodeEncodeError:
        return text.encode()


def _directives(said: bytes) -> dict[str, str]:
    if len(said) > LONGEST:
        raise ChallengeError("its challenge is too long")
    text = said.decode("utf-8", errors="replace")
    found: dict[str, str] = {}
    position = 0
    while position < len(text):
        match = _DIRECTIVE.match(text, position)
        if match is None:
            raise ChallengeError("its challenge cannot be read")
        found.setdefault(match[1].lower(), _unquoted(match[2]) if match[2] is not None else match[3])
        position = match.end()
    return found


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _unquoted(text: str) -> str:
    return regex(r"\\(.)").sub(r"\1", text)
