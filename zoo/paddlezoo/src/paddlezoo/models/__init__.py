"""The segmentation networks, by the names that TIPC gives them. Each builder takes the number of classes (its
default is that of the published weights) and gives a layer from images to a list of logits, the one that
counts first."""

from __future__ import annotations

from collections.abc import Callable

from paddle import nn

from paddlezoo.models.deeplabv3p import deeplabv3p_resnet50
from paddlezoo.models.fcn import fcn_hrnetw18, fcn_hrnetw18_small
from paddlezoo.models.ocrnet import ocrnet_hrnetw18, ocrnet_hrnetw48
from paddlezoo.models.pp_liteseg import pp_liteseg_stdc1, pp_liteseg_stdc2
from paddlezoo.models.pphumanseg_lite import pphumanseg_lite

MODELS: dict[str, Callable[..., nn.Layer]] = {
    "pp_liteseg_stdc1": pp_liteseg_stdc1,
    "pp_liteseg_stdc2": pp_liteseg_stdc2,
    "pphumanseg_lite": pphumanseg_lite,
    "fcn_hrnetw18_small": fcn_hrnetw18_small,
    "deeplabv3p_resnet50": deeplabv3p_resnet50,
    "fcn_hrnetw18": fcn_hrnetw18,
    "ocrnet_hrnetw18": ocrnet_hrnetw18,
    "ocrnet_hrnetw48": ocrnet_hrnetw48,
}
