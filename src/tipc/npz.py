"""Files of arrays (``.npz``) that somebody else has written: any bytes, and never a pickle."""

from __future__ import annotations

import lzma
import struct
import tokenize
import zipfile
import zlib
from typing import TYPE_CHECKING, Any

from tipc.bounded import Name, open_regular

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST_BYTES = 8 * 2**30  # of all arrays, unpacked
# What numpy, zipfile and their decompressors raise for a file that is damaged.
DAMAGE = (
    *(
        AttributeError,
        EOFError,
        LookupError,
        MemoryError,
        OverflowError,
        RuntimeError,
        SyntaxError,
        TypeError,
    ),
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error, tokenize.TokenError),
)


def read_npz(path: Name) -> dict[str, NDArray[Any]]:
    """The arrays by their names, in the file's order; OSError or ValueError for what is no such file."""
    import numpy

    with open_regular(path) as raw:
        if raw.read(2) != b"PK":  # numpy would take it for a pickle, and advise to load that
            raise ValueError("it is not an .npz file")
        raw.seek(0)
        try:
            with numpy.load(raw, allow_pickle=False) as file:
                if sum(info.file_size for info in file.zip.infolist()) > MOST_BYTES:
                    raise ValueError(f"it unpacks to more than {MOST_BYTES >> 30} GiB")
                return {name: file[name] for name in file.files}
        except DAMAGE as error:
            raise ValueError(f"a damaged file: {type(error).__name__}: {error}"[:300]) from None
