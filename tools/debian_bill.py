"""Adds Debian's packages to a bill of materials in CycloneDX's JSON.

`dpkg-query --show --showformat '${Package} ${Version} ${Architecture}\\n' | python tools/debian_bill.py FILE`
"""

import json
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from urllib.parse import quote


def components(lines: Iterable[str]) -> list[dict[str, str]]:
    """One for each line `NAME VERSION ARCHITECTURE`; a package URL names it."""
    found = []
    for line in lines:
        name, version, architecture = line.split()
        url = f"pkg:deb/debian/{quote(name, safe='')}@{quote(version, safe='')}?arch={architecture}"
        found.append({"type": "library", "bom-ref": url, "name": name, "version": version, "purl": url})
    return found


def main(arguments: list[str], lines: Iterable[str]) -> int:
    """Write the file anew, whole or not at all."""
    file = Path(arguments[0])
    bill: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    added = components(lines)
    if not added:
        print("no package of Debian was listed", file=sys.stderr)
        return 1
    bill["components"] = [*bill.get("components", []), *added]
    temporary = file.with_name(f"{file.name}.new")
    temporary.write_text(json.dumps(bill, indent=2) + "\n", encoding="utf-8")
    os.replace(temporary, file)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], sys.stdin))
