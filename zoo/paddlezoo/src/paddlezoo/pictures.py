"""Reading pictures so that a damaged one is an error, finding them, and writing on them."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont, UnidentifiedImageError

from paddlezoo.checkpoint import write_bytes
from paddlezoo.errors import ZooError, explain_os_error

SUFFIXES = (".jpg", ".jpeg", ".png", ".bmp", ".webp")


def read(path: str | Path) -> Image.Image:
    """The picture in RGB, wholly decoded; ZooError names a file that is missing, cut short or no picture."""
    try:
        with Image.open(path) as image:
            return image.convert("RGB")
    except FileNotFoundError:
        raise ZooError(f"{path}: no such image") from None
    except UnidentifiedImageError:
        raise ZooError(f"{path}: not an image, or damaged") from None
    except Image.DecompressionBombError as error:
        raise ZooError(f"{path}: {error}") from None
    except (SyntaxError, ValueError) as error:  # what Pillow raises for broken PNG and JPEG headers
        raise ZooError(f"{path}: damaged image ({error})") from None
    except OSError as error:
        reason = explain_os_error(error) if error.errno else f"damaged image ({error})"
        raise ZooError(f"{path}: {reason}") from None


def find(path: str | Path) -> list[Path]:
    """The picture, or all pictures of a folder in order; ZooError if there is none."""
    path = Path(path)
    if path.is_dir():
        found = sorted(p for p in path.rglob("*") if p.suffix.lower() in SUFFIXES)
        if not found:
            raise ZooError(f"{path}: no images in this folder ({', '.join(SUFFIXES)})")
        return found
    if not path.is_file():
        raise ZooError(f"{path}: no such image or folder")
    return [path]


def write(image: Image.Image, path: str | Path) -> None:
    """Save a picture at once or not at all; the suffix says the format."""
    path = Path(path)
    buffer = io.BytesIO()
    image.save(buffer, format="PNG" if path.suffix.lower() == ".png" else "JPEG", quality=92)
    write_bytes(path, lambda file: file.write(buffer.getvalue()))


def with_bars(image: Image.Image, rows: Sequence[tuple[str, float]]) -> Image.Image:
    """The picture with a panel below it: a line and a bar for each (label, probability)."""
    width = max(image.width, 320)
    size = max(13, width // 26)
    font = ImageFont.load_default(size)
    row_height = size + 10
    result = Image.new("RGB", (width, image.height + row_height * len(rows) + 8), (24, 26, 32))
    result.paste(image, ((width - image.width) // 2, 0))
    draw = ImageDraw.Draw(result)
    for number, (label, probability) in enumerate(rows):
        top = image.height + 6 + number * row_height
        bar = round((width - 12) * probability)
        draw.rectangle(
            (6, top, 6 + bar, top + row_height - 5), fill=(38, 110, 180) if number == 0 else (60, 66, 78)
        )
        draw.text((12, top + 1), label, font=font, fill=(255, 255, 255))
        text = f"{probability:.1%}"
        draw.text(
            (width - 12 - draw.textlength(text, font=font), top + 1), text, font=font, fill=(255, 255, 255)
        )
    return result
