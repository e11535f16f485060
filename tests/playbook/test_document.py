"""A playbook knows whether it touches what runs."""

from tests.playbook.examples import TEXT, playbook


def test_offline() -> None:
    assert not playbook().is_offline
    begin, end = TEXT.index("  - id: live"), TEXT.index("conclusions:")
    only_files = TEXT[:begin] + TEXT[end:]
    end = only_files.index("  - id: sure")
    assert playbook(only_files[:end]).is_offline
