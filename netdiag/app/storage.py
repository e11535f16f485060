"""What a broker left in its data directories: which node of which cluster wrote them, and what they hold."""

from netdiag.io.files.data_directory import read_data_directory
from netdiag.kafka.storage import DataDirectory


def read_storage(paths: tuple[str, ...]) -> tuple[DataDirectory, ...]:
    """The data directories, in their order; InputError where one cannot be read, or is none."""
    return tuple(read_data_directory(path) for path in paths)
