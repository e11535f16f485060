"""How many examples a property test takes."""

from hypothesis import settings

# What Hypothesis takes where nobody says otherwise.
_USUAL = 100


def examples(count: int) -> settings:
    """`count` of them in make test; 100 times as many for the bar `properties`, whose profile says so."""
    return settings(max_examples=count * settings().max_examples // _USUAL)
