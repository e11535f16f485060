"""A logarithmic histogram of durations: which bucket a duration falls into, and which duration a bucket stands for.

A bucket is as wide as a 128th of the power of two below it, so its middle is within 0.4 % of everything in it. Whole
numbers only, no logarithm: every machine and every engine gives the same bucket, and counts by bucket may be added in
any order.
"""

# 2**7 buckets between a power of two and the next.
PRECISION = 7
_WITHIN = 1 << PRECISION
# Half a bucket, relative to the least in it.
RELATIVE_ERROR = 0.5 / _WITHIN


def bucket_of(nanoseconds: int) -> int:
    """The bucket of a duration; what is below zero (clocks) counts as zero."""
    if nanoseconds < 2 * _WITHIN:
        return max(0, nanoseconds)
    shift = nanoseconds.bit_length() - 1 - PRECISION
    return (shift << PRECISION) + (nanoseconds >> shift)


def middle_of(bucket: int) -> float:
    """The duration in nanoseconds that a bucket stands for."""
    shift = max(0, (bucket >> PRECISION) - 1)
    return float(bucket) if not shift else (bucket - (shift << PRECISION) + 0.5) * float(1 << shift)
