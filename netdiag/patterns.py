"""Regular expressions that are compiled when they are first used.

Compiling takes 0.1 ms and more; a module with many patterns may use one of them, and often none.
"""

import re
from typing import TYPE_CHECKING, AnyStr

if TYPE_CHECKING:
    regex = re.compile
else:

    def regex(text: AnyStr, flags: int = 0) -> "_Pattern":
        """What `re.compile` gives, later."""
        return _Pattern(text, flags)

    class _Pattern:
        def __init__(self, text: AnyStr, flags: int) -> None:
            self._text = text
            self._flags = flags

        def __getattr__(self, name: str) -> object:
            value = getattr(re.compile(self._text, self._flags), name)
            # Found without this method from now on.
            setattr(self, name, value)
            return value
