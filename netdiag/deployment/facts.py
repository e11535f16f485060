"""Declared facts put into a project: images of one's own become those that they are made from."""

from collections.abc import Mapping
from dataclasses import replace

from netdiag.compose.project import Project, Service


def with_images(project: Project, images: Mapping[str, str]) -> Project:
    """The project with every image that `images` knows replaced; the place of the value stays.

    An entry with a tag is meant for this tag alone and wins over one without; an image without a tag takes over
    the tag of the service.
    """
    if not images:
        return project
    return replace(
        project,
        services={name: _aliased(service, images) for name, service in project.services.items()},
        disabled={name: _aliased(service, images) for name, service in project.disabled.items()},
    )


def _aliased(service: Service, images: Mapping[str, str]) -> Service:
    if service.image is None:
        return service
    known = image_behind(service.image.value, images)
    # Without segments nobody takes a stretch of the new value for text of the file.
    return service if known is None else replace(service, image=replace(service.image, value=known, segments=()))


def image_behind(image: str, images: Mapping[str, str]) -> str | None:
    """The image that this one is made from; None where nobody says."""
    named = image.partition("@")[0]
    repository, tag = _split(named)
    found = images.get(image) or images.get(named)
    if found is not None:
        return found
    found = images.get(repository)
    if found is None or "@" in found or _split(found)[1]:
        return found
    return f"{found}:{tag}" if tag else found


def _split(image: str) -> tuple[str, str]:
    """Repository and tag; a port of the registry is no tag."""
    head, slash, last = image.rpartition("/")
    name, _, tag = last.partition(":")
    return f"{head}{slash}{name}", tag
