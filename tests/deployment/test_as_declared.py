"""What files say of what runs, as values."""

from netdiag.deployment.sources.declared_services import DeclaredService, DeclaredServices, DeclaredText


def test_the_environment_is_not_shown_with_the_service() -> None:
    service = DeclaredService(name="kafka", where=None, environment={"A": DeclaredText(value="hunter2")})
    assert "hunter2" not in repr(DeclaredServices(services={"kafka": service}))
