"""What pages that need nothing else share: their content security policy, and data that their script reads.

Style and script are ours and named by their digests in the policy (CSP level 3), so that nothing else runs in the page.
Foreign names are text everywhere: escaped in HTML and SVG, in the data as JSON without a "<", and put in place by
textContent.
"""

import json
from base64 import b64encode
from hashlib import sha256


def security_policy(style: str, script: str) -> str:
    """The policy of a page that has this style and this script, and fetches nothing."""
    styles, scripts = (f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'" for text in (style, script))
    return f"default-src 'none'; style-src {styles}; script-src {scripts}; base-uri 'none'; form-action 'none'"


def script_json(data: object) -> str:
    """JSON that can stand in a script element: nothing in it ends the element or begins a comment."""
    text = json.dumps(data, ensure_ascii=True, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
