"""Files that were opened and pictures that were drawn, against what was fed and predicted."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tipc.certify.compare.drawn import classes_on, drawn_of_another, drawn_otherwise, samples_of
from tipc.certify.compare.files_fed import (
    Fed,
    by_channel,
    difference,
    not_of_images,
    not_of_its_files,
    owners,
    what_was_fed,
)

RANDOM = np.random.default_rng(3)


def photograph(height: int = 120, width: int = 160) -> Any:
    """Smooth patches of colour, as photographs have them."""
    coarse = RANDOM.integers(0, 256, (7, 9, 3))
    rows, columns = np.arange(height) * 7 // height, np.arange(width) * 9 // width
    return coarse[rows][:, columns].astype("uint8")


def fed_of(file: Any, size: int = 32) -> Any:
    """Resized and normalised."""
    rows = (np.arange(size) + 0.5) * file.shape[0] / size
    columns = (np.arange(size) + 0.5) * file.shape[1] / size
    small = file[rows.astype(int)][:, columns.astype(int)].astype("float32") / 255
    return ((small - 0.45) / 0.22).transpose(2, 0, 1)


EVALUATED = {str(index): photograph() for index in range(3)}
DEPLOYED = {str(index): photograph() for index in range(2)}
HONEST = np.stack([fed_of(file) for file in EVALUATED.values()])
DEPLOY = np.stack([fed_of(file) for file in DEPLOYED.values()])


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda fed: fed, ""),
        (lambda fed: fed[:, ::-1], "BGR"),
        (lambda fed: fed[:, :, ::-1], "upside down"),
        (lambda fed: fed * 0.22 + 0.45, "another mean or scale"),
        (lambda fed: fed * 0.22, "another mean or scale"),
        (lambda fed: fed + RANDOM.standard_normal(fed.shape) * 9, ""),
    ],
    ids=["alike", "BGR", "upside down", "not normalised", "not scaled", "noise"],
)
def test_what_the_deployment_does_to_its_own_files_is_held_against_the_evaluation(
    change: Any, words: str
) -> None:
    told = difference(what_was_fed(HONEST, EVALUATED), what_was_fed(change(DEPLOY), DEPLOYED))
    if words:
        assert words in str(told)
    else:
        assert told is None


def test_grey_images_tell_no_order() -> None:
    grey = {"a": np.repeat(photograph()[:, :, :1], 3, 2)}
    fed = what_was_fed(fed_of(grey["a"])[None], grey)
    assert (fed.pictures, fed.order) == (1, "")
    assert fed.slope == pytest.approx(1 / 0.22, rel=0.1)


MASKS = np.zeros((2, 48, 64), "int64")
MASKS[0, :20, 10:50] = 1
MASKS[1, 30:, :30] = 2
PALETTE = np.array([[0, 0, 0], [128, 0, 0], [0, 128, 0]], "uint8")


def drawn(mask: Any) -> Any:
    """A mask in colours, at another size."""
    return PALETTE[mask.repeat(3, 0).repeat(3, 1)]


def test_pictures_of_classes_follow_from_the_prediction() -> None:
    assert drawn_otherwise([drawn(mask) for mask in MASKS], MASKS) == (2, 2, "")


def test_blank_pictures_show_no_prediction_of_several_classes() -> None:
    blank = [np.zeros((144, 192, 3), "uint8") for _mask in MASKS]
    assert drawn_otherwise(blank, MASKS) == (2, 0, "")
    assert drawn_otherwise(blank, MASKS * 0) == (0, 0, ""), "one class, one colour"
    assert drawn_otherwise(blank[:1], [MASKS[0] * 0, MASKS[1]]) == (0, 0, ""), "the first may be it"


def test_a_picture_that_is_named_after_another_image_is_found() -> None:
    samples = {"a": [MASKS[0]], "b": [MASKS[1]]}
    honest = [("a", drawn(MASKS[0])), ("b", drawn(MASKS[1]))]
    assert drawn_of_another(honest, samples) == (2, [])
    assert drawn_of_another([("a", drawn(MASKS[1])), ("b", drawn(MASKS[0]))], samples) == (2, ["a", "b"])
    assert drawn_of_another([("c", drawn(MASKS[1]))], samples) == (0, []), "of an image that is not known"
    alike = {"a": [MASKS[0]], "b": [MASKS[0]]}
    assert drawn_of_another([("b", drawn(MASKS[0]))], alike) == (1, []), "both are answered alike"


def test_pictures_that_are_upside_down_are_found() -> None:
    assert drawn_otherwise([drawn(mask[::-1]) for mask in MASKS], MASKS) == (2, 0, "upside down")


def test_pictures_of_something_else_are_not_taken_for_the_prediction() -> None:
    other = RANDOM.integers(0, 3, (48, 64))
    looked, straight, turned = drawn_otherwise([drawn(other)], MASKS)
    assert (looked, straight, turned) == (1, 0, "")


def test_a_picture_without_the_margins_of_its_image_is_known() -> None:
    padded = np.zeros((1, 64, 64), "int64")
    padded[0, :48] = MASKS[0]
    assert drawn_otherwise([drawn(MASKS[0])], padded) == (1, 1, "")
    middle = np.zeros((1, 64, 64), "int64")
    middle[0, 8:56] = MASKS[1]
    assert drawn_otherwise([drawn(MASKS[1])], middle) == (1, 1, "")


def test_speckled_classes_are_looked_up_at_the_pixels_of_a_large_picture() -> None:
    speckles = RANDOM.integers(0, 3, (300, 400))
    picture = PALETTE[speckles]
    assert drawn_otherwise([picture], [speckles]) == (1, 1, "")


def test_noise_in_place_of_pictures_is_told_by_neighbouring_pixels() -> None:
    smooth = np.cumsum(np.cumsum(RANDOM.standard_normal((2, 3, 200, 150)), 2), 3)
    noise = RANDOM.standard_normal((2, 3, 200, 150))
    nothing = Fed()
    told = not_of_images(noise, smooth, nothing, nothing, shared=False)
    assert told is not None
    assert "was fed noise" in str(told)
    for evaluated, deployed in ((smooth, smooth), (noise, noise), (smooth, noise)):
        assert not_of_images(evaluated, deployed, nothing, nothing, shared=False) is None


def test_images_that_are_noise_themselves_may_be_fed_as_they_are() -> None:
    """A deployment that enlarges them makes them smoother."""
    noise = RANDOM.standard_normal((2, 3, 16, 16))
    enlarged = noise.repeat(2, 2).repeat(2, 3)
    of_files, of_one = Fed(pictures=2), Fed(pictures=1)
    assert not_of_images(noise, enlarged, of_files, Fed(), shared=True) is None
    assert not_of_images(noise, enlarged, of_one, Fed(), shared=True) is not None
    assert not_of_images(noise, enlarged, Fed(), of_files, shared=True) is not None


def test_a_picture_that_is_padded_to_a_long_line_is_no_noise() -> None:
    """A word of text is short and its line is long: the middle is padding."""
    smooth = np.cumsum(np.cumsum(RANDOM.standard_normal((2, 3, 32, 100)), 2), 3)
    padded = np.zeros((2, 3, 32, 320))
    padded[..., :100] = smooth
    constant = np.zeros((2, 3, 32, 320))
    for evaluated in (padded, constant):
        assert not_of_images(evaluated, smooth, Fed(), Fed(), shared=False) is None
    noise = np.zeros((2, 3, 32, 320))
    noise[..., :100] = RANDOM.standard_normal((2, 3, 32, 100))
    assert not_of_images(noise, smooth, Fed(), Fed(), shared=False) is not None


def test_other_images_are_told_by_the_figures_of_their_channels() -> None:
    draw = np.random.default_rng(3)
    normalised = draw.normal(0, 1, (4, 3, 8, 8))
    assert "much the same" in str(by_channel(normalised, 0.8 * draw.normal(0.3, 1, (2, 3, 8, 8))))
    pixels = draw.uniform(0, 255, (2, 3, 8, 8))
    assert "far apart" in str(by_channel(normalised, pixels))
    assert "far apart" in str(by_channel(normalised, normalised + 9))
    assert "far apart" in str(by_channel(normalised, normalised[:, :1]))


def test_photographs_tell_nothing_nor_do_pictures_of_one_colour_of_one_class() -> None:
    noise = RANDOM.integers(0, 256, (40, 40, 3)).astype("uint8")
    assert drawn_otherwise([noise, np.zeros((9, 9, 3), "uint8")], MASKS * 0) == (0, 0, "")


def test_masks_are_read_from_scores_and_from_classes() -> None:
    scores = np.eye(3, dtype="float32")[MASKS].transpose(0, 3, 1, 2)
    for output in (scores, MASKS[:, None], MASKS):
        samples = samples_of(output)
        assert len(samples) == 2
        for sample, mask in zip(samples, MASKS, strict=True):
            numbers = np.unique(mask, return_inverse=True)[1].reshape(48, 64)
            assert (classes_on(sample, 48, 64) == numbers).all()
    assert not samples_of(np.zeros((2, 5), "float32"))


def test_each_picture_is_of_the_file_that_it_is_like() -> None:
    turned = HONEST[[2, 0, 1]]
    assert owners(turned, EVALUATED) == ["2", "0", "1"]
    assert owners(turned[:, ::-1, ::-1], EVALUATED) == ["2", "0", "1"], "BGR and upside down"
    assert owners(RANDOM.standard_normal(HONEST.shape), EVALUATED) == ["", "", ""]
    twins = {"a": EVALUATED["0"], "b": EVALUATED["0"]}
    assert owners(HONEST[:1], twins) == [""], "which of two alike does not show"


def test_a_deployment_that_opens_its_files_and_feeds_others_is_found() -> None:
    others = np.stack([fed_of(photograph()) for _ in range(3)])
    evaluated = what_was_fed(HONEST, EVALUATED)
    told = not_of_its_files(HONEST, others, evaluated, what_was_fed(others, EVALUATED))
    assert "nothing that the deployment was fed" in str(told)
    for honest in (HONEST[:2], HONEST[:, :, :16]):  # of another form: it may be a part of each
        assert not_of_its_files(HONEST, honest, evaluated, what_was_fed(honest, EVALUATED)) is None
