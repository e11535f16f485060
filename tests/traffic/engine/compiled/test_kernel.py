"""The decorator of the kernels."""

import numpy as np

from netdiag.traffic.engine.compiled.kernel import kernel


def test_a_kernel_is_compiled_and_gives_what_its_text_says() -> None:
    @kernel
    def total(values: np.ndarray) -> int:
        result = 0
        for index in range(len(values)):
            result += values[index]
        return result

    assert total(np.arange(10)) == 45
    assert total.py_func(np.arange(5)) == 10  # type: ignore[attr-defined]
