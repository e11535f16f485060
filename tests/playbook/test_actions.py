"""The set of actions is closed, and what they give has fields."""

from netdiag.playbook.actions import ACTIONS, ActionName


def test_every_action_is_described() -> None:
    assert set(ACTIONS) == set(ActionName)
    for action in ACTIONS.values():
        assert action.gives
        assert all(fields and len(set(fields)) == len(fields) for fields in action.gives.values())


def test_only_files_are_read_without_live() -> None:
    assert [name for name, action in ACTIONS.items() if not action.live] == [ActionName.LINT, ActionName.ANALYZE]
