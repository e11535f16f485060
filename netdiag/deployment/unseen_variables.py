"""A broker some of whose variables nobody here sees, because a file of them is missing: what is shown holds.

What its image requires and what its image would take without being told counts as unknown.
"""

from collections.abc import Mapping
from dataclasses import replace

from netdiag.kafka.broker_config import BrokerConfig, Mode, broker_config
from netdiag.kafka.images.reference import ImageReference
from netdiag.kafka.images.settings import Launch, Provenance, image_default


def config_of_shown(
    image: ImageReference, environment: Mapping[str, str | None], launch: Launch | None = None
) -> BrokerConfig:
    """The configuration as far as the variables that are shown decide it."""
    shown = dict(environment)
    config = broker_config(image, shown, launch)
    while (refusal := config.refusal) is not None and refusal.missing and refusal.variable not in shown:
        shown[refusal.variable] = None
        config = broker_config(image, shown, launch)
    settings = {
        name: replace(setting, value=None) if setting.provenance is Provenance.IMAGE_DEFAULT else setting
        for name, setting in config.settings.items()
    }
    named = any(shown.get(variable) for variable in config.cluster_id_variables)
    config = replace(config, settings=settings, cluster_id=config.cluster_id if named else None)
    if config.mode is not Mode.UNDECIDED:
        return config
    roles = image_default("process.roles", None)
    return replace(config, settings={"process.roles": roles, **settings})
