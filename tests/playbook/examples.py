"""A playbook to try things with."""

from netdiag.playbook.document import Playbook
from netdiag.playbook.load import load

TEXT = """\
playbook: 1
title: A port is closed
means: Nobody listens.
symptoms:
  - who: clients
    line: "cannot connect to {host}:{port}"
    example: "cannot connect to kafka:9092"
variables:
  bootstrap: {about: the address, default: "{host}:{port}"}
  other: {about: something else}
steps:
  - id: files
    title: what the files say
    action: lint
    with: {files: "{files}"}
  - id: live
    title: what runs
    action: matrix
  - id: log
    title: what it wrote
    action: log
    when: {step: live, of: findings, where: {rule: crash}}
conclusions:
  - id: maybe
    when: {of: findings, where: {rule: "maybe-*"}}
    confidence: possible
    cause: perhaps {host}
    repair: look at {bootstrap}
  - id: sure
    when: {step: live, of: cells, where: {verdict: "bootstrap: refused", port: ">9000"}}
    confidence: proven
    cause: "{host} refuses"
    repair: publish {port}
    rules: [some-rule]
"""


def playbook(text: str = TEXT, name: str = "closed-port") -> Playbook:
    """The playbook of a text."""
    return load(name, f"{name}.yml", text.encode())
