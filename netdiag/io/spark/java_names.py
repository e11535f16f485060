"""Names of Java that Python has asked for once, kept: py4j asks anew whenever a class or a method of one is named.

That was half of all its words, and Java looks through all methods of a class for each of them.
"""

from typing import Any

from py4j.java_gateway import JavaClass, JavaMember, JVMView


def keep_found_names(gateway: Any) -> None:
    """Have a gateway ask for each name once."""
    gateway.jvm.__class__ = _Names


def keep_objects(gateway: Any) -> None:
    """Have Java keep what it has handed to Python until it ends, for a session that ends soon: a word less for each."""
    gateway._gateway_client.gateway_property.enable_memory_management = False


class _Class(JavaClass):  # type: ignore[misc]
    def __getattr__(self, name: str) -> Any:
        return _kept(self, name, super().__getattr__(name))


class _Names(JVMView):  # type: ignore[misc]
    def __getattr__(self, name: str) -> Any:
        return _kept(self, name, super().__getattr__(name))


def _kept(owner: Any, name: str, found: Any) -> Any:
    """Classes and methods stay what they are; the value of a field need not."""
    if type(found) is JavaClass:
        found.__class__ = _Class
    if isinstance(found, JavaClass | JavaMember):
        owner.__dict__[name] = found
    return found
