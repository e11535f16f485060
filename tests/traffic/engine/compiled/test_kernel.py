"""The decorator of the kernels."""

import numpy as np

from netdiag.traffic.engine.compiled.kernel import inlined, kernel, merged


def test_a_kernel_is_compiled_and_gives_what_its_text_says() -> None:
    @kernel
    def total(values: np.ndarray) -> int:
        result = 0
        for index in range(len(values)):
            result += values[index]
        return result

    assert total(np.arange(10)) == 45
    assert total.py_func(np.arange(5)) == 10  # type: ignore[attr-defined]


def test_what_is_put_into_its_caller_says_the_same() -> None:
    @inlined
    def doubled(value: int) -> int:
        return 2 * value

    @merged
    def first_above(values: np.ndarray, least: int) -> int:
        for index in range(len(values)):
            if doubled(values[index]) > least:
                return index
        return -1

    @kernel
    def both(values: np.ndarray) -> tuple[int, int]:
        return first_above(values, 7), first_above(values, 100)

    assert both(np.arange(10)) == (4, -1)
    assert first_above(np.arange(10), 7) == 4
