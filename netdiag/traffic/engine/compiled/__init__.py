"""The engine again, as array kernels: what is usual in a capture by numba, all else by the engine in plain Python."""
