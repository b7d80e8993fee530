"""The benchmark log of inference scripts, import-compatible with AutoLog.

``import auto_log; auto_log.AutoLogger(...)`` works unchanged in the scripts of PaddleSeg, PaddleOCR and
PaddleClas. Importing it is light: psutil, pynvml and paddle are touched only when they are needed.
"""

from auto_log.autolog import AutoLogger
from auto_log.times import Times

__all__ = ["AutoLogger", "Times"]
