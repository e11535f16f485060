"""Where the pages of the rules can be read: an absolute address, or nowhere that is known.

The pages are docs/rules of this project, wherever it is published. Whoever runs netdiag from a published copy says
so in NETDIAG_RULE_PAGES, as action.yml does; without it no output names an address, and SARIF holds the pages whole.
"""

import re
from collections.abc import Mapping

VARIABLE = "NETDIAG_RULE_PAGES"
# The address to take where the variable is not set; there is none until the project has a place of its own.
PUBLISHED: str | None = None
_ADDRESS = re.compile(r"https?://[A-Za-z0-9][A-Za-z0-9.:-]*(?:/[A-Za-z0-9._~@:+%/-]*)?")


def rule_pages(environ: Mapping[str, str]) -> str | None:
    """The address of the folder of the pages; None where nobody told, or told what is no plain address."""
    told = environ.get(VARIABLE) or PUBLISHED
    return told if told and _ADDRESS.fullmatch(told) else None
