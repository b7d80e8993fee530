"""The names of the models: those of PaddleSeg's folders, and the specification's where it has others."""

from __future__ import annotations

ALIASES = {
    "pp_humanseg_lite": "pphumanseg_lite",
    "pp_humanseg_mobile": "fcn_hrnetw18_small",
    "pp_humanseg_server": "deeplabv3p_resnet50",
    "fcn_hrnet_w18": "fcn_hrnetw18",
}


def canonical(name: str) -> str:
    """The one name of a model, whichever of its names was given."""
    return ALIASES.get(name, name)
