"""Lists, images, masks, transforms, configs and deploy.yaml; and what is said of bad ones."""

from __future__ import annotations

import io
import tarfile
from pathlib import Path

import numpy as np
import pytest
import yaml
from PIL import Image
from seg_helpers import SEGMENTATION, make_data

from paddlezoo.errors import ZooError
from paddlezoo.seg import config, data, deploy, pictures, transforms
from paddlezoo.seg.transforms import Sample

pytestmark = pytest.mark.paddle
RANDOM = np.random.default_rng


def a_sample(height: int = 20, width: int = 30) -> Sample:
    random = RANDOM(1)
    image = random.integers(0, 256, (height, width, 3)).astype(np.uint8)
    return Sample(image, random.integers(0, 3, (height, width)).astype(np.uint8))


def test_a_list_names_the_pairs_and_where_they_are_said(tmp_path: Path) -> None:
    make_data(tmp_path)
    pairs = data.read_list(tmp_path / "list.txt", tmp_path)
    assert [pair.image.name for pair in pairs] == ["0.png", "1.png", "2.png", "3.png"]
    assert pairs[2].where == f"{tmp_path}/list.txt:3"


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("images/9.png masks/9.png", r"list.txt:5: no such file: .*images/9.png"),
        ("images/0.png", r"list.txt:5: expected an image and a mask"),
    ],
)
def test_a_bad_line_of_a_list_is_named(tmp_path: Path, line: str, told: str) -> None:
    make_data(tmp_path)
    with (tmp_path / "list.txt").open("a") as file:
        file.write(line + "\n")
    with pytest.raises(ZooError, match=told):
        data.read_list(tmp_path / "list.txt", tmp_path)


@pytest.mark.parametrize(
    ("mask", "told"),
    [
        (np.full((40, 40), 7, np.uint8), r"list.txt:1: .*class 7 is out of range: there are 2 classes"),
        (np.zeros((40, 30), np.uint8), r"list.txt:1: .*the mask is 30x40 and its image 40x40"),
        (np.zeros((40, 40, 3), np.uint8), r"a mask has one channel of class numbers, this one has 3"),
    ],
)
def test_a_mask_that_does_not_fit_is_named_with_file_and_line(
    tmp_path: Path, mask: np.ndarray, told: str
) -> None:
    make_data(tmp_path)
    Image.fromarray(mask).save(tmp_path / "masks/0.png")
    pairs = data.Pairs(data.read_list(tmp_path / "list.txt", tmp_path), [], 2)
    with pytest.raises(ZooError, match=told):
        pairs[0]


def test_class_255_is_ignored_and_not_out_of_range(tmp_path: Path) -> None:
    make_data(tmp_path)
    Image.fromarray(np.full((40, 40), 255, np.uint8)).save(tmp_path / "masks/0.png")
    _, mask = data.Pairs(data.read_list(tmp_path / "list.txt", tmp_path), [], 2)[0]
    assert (mask == 255).all()


def test_a_truncated_image_is_named_with_its_line(tmp_path: Path) -> None:
    make_data(tmp_path)
    path = tmp_path / "images/1.png"
    path.write_bytes(path.read_bytes()[:200])
    with pytest.raises(ZooError, match=r"list.txt:2: .*1.png: damaged image"):
        data.Pairs(data.read_list(tmp_path / "list.txt", tmp_path), [], 2)[1]


def test_images_are_found_as_a_file_a_folder_and_a_list(tmp_path: Path) -> None:
    make_data(tmp_path)
    assert data.find_images(tmp_path / "images/1.png") == [tmp_path / "images/1.png"]
    assert len(data.find_images(tmp_path / "images")) == 4
    assert data.find_images(tmp_path / "list.txt") == data.find_images(tmp_path / "images")


def test_the_batches_of_an_iteration_depend_on_its_number_alone() -> None:
    whole = list(data.Iterations(5, 2, 1, 9, seed=3))
    assert list(data.Iterations(5, 2, 4, 9, seed=3)) == whole[3:]
    assert sorted(index for batch in whole[:5] for _, index in batch) == sorted([0, 1, 2, 3, 4] * 2)


def test_processes_share_the_samples_of_an_iteration() -> None:
    alone = list(data.Iterations(12, 4, 1, 6, seed=0))
    two = zip(*(data.Iterations(12, 2, 1, 6, 0, rank, 2) for rank in (0, 1)), strict=True)
    assert [a + b for a, b in two] == alone


def test_what_is_random_depends_on_seed_epoch_and_number(tmp_path: Path) -> None:
    make_data(tmp_path)
    steps = transforms.build(
        [{"type": "RandomPaddingCrop", "crop_size": [16, 16]}, {"type": "RandomDistort"}]
    )
    pairs = data.Pairs(data.read_list(tmp_path / "list.txt", tmp_path), steps, 2, seed=5)
    first, again, later = pairs[1, 2][0], pairs[1, 2][0], pairs[2, 2][0]
    assert np.array_equal(first, again)
    assert not np.array_equal(first, later)


def test_resize_takes_width_and_height_and_keeps_class_numbers() -> None:
    sample = transforms.Resize(target_size=[12, 8])(a_sample(), RANDOM(0))
    assert sample.image.shape == (8, 12, 3)
    assert sample.mask is not None
    assert set(np.unique(sample.mask)) <= {0, 1, 2}


def test_a_crop_of_what_is_too_small_is_padded_with_a_class_that_is_ignored() -> None:
    sample = transforms.RandomPaddingCrop(crop_size=[40, 10])(a_sample(), RANDOM(0))
    assert sample.image.shape == (10, 40, 3)
    assert sample.mask is not None
    assert (sample.mask[:, 30:] == 255).all()
    assert (sample.mask[:, :30] < 3).all()


def test_a_flip_turns_image_and_mask_together() -> None:
    sample = a_sample()
    flipped = transforms.RandomHorizontalFlip(prob=1)(sample, RANDOM(0))
    assert sample.mask is not None
    assert flipped.mask is not None
    assert np.array_equal(flipped.image[:, 0], sample.image[:, -1])
    assert np.array_equal(flipped.mask[:, 0], sample.mask[:, -1])


def test_step_scaling_stays_within_its_bounds() -> None:
    scaling = transforms.ResizeStepScaling(0.5, 2.0, 0.25)
    widths = {scaling(a_sample(), RANDOM(seed)).image.shape[1] for seed in range(60)}
    assert widths == {15, 22, 30, 38, 45, 52, 60}


def test_distortion_keeps_the_range_and_nothing_happens_without_probability() -> None:
    sample = a_sample()
    still = transforms.RandomDistort(brightness_prob=0, contrast_prob=0, saturation_prob=0, hue_prob=0)
    assert np.array_equal(still(sample, RANDOM(0)).image, sample.image)
    wild = transforms.RandomDistort(0.9, 1, 0.9, 1, 0.9, 1, 90, 1)(sample, RANDOM(0)).image
    assert wild.min() >= 0
    assert wild.max() <= 255


def test_normalize_is_that_of_paddleseg() -> None:
    image = transforms.apply([transforms.Normalize()], a_sample(), RANDOM(0)).image
    expected = (a_sample().image.transpose(2, 0, 1) / 255 - 0.5) / 0.5
    assert image.shape == (3, 20, 30)
    assert np.allclose(image, expected, atol=1e-6)


@pytest.mark.parametrize(
    ("entry", "told"),
    [
        ({"type": "Resise"}, "'Resise' is not a transform; known are Resize"),
        ({"type": "Resize", "size": 3}, "Resize has no parameter size"),
        ({"type": "Resize", "target_size": [3]}, r"must be \[width, height\]"),
        ({"type": "Normalize", "std": [0, 1, 1]}, "standard deviations above 0"),
    ],
)
def test_a_transform_that_is_not_known_is_named(entry: dict[str, object], told: str) -> None:
    with pytest.raises(ZooError, match=told):
        transforms.build([entry])


def test_a_config_builds_on_its_base_mapping_by_mapping(tmp_path: Path) -> None:
    base = make_data(tmp_path)
    child = tmp_path / "child.yml"
    child.write_text(f"_base_: {base.name}\niters: 9\nmodel: {{num_classes: 5}}\n")
    settings = config.read(child)
    assert (settings.iters, settings.model.num_classes, settings.model.type) == (9, 5, "pphumanseg_lite")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("modle: {}", "modle: Extra inputs are not permitted"),
        ("model: {num_classes: 1}", "model.num_classes: Input should be greater than or equal to 2"),
        ("loss: {coef: [1, 2]}", "loss: .*1 types and 2 coef"),
        ("_base_: child.yml", "_base_ goes round in a circle"),
        ("a: }", "child.yml:2: not YAML"),
    ],
)
def test_what_is_wrong_in_a_config_is_named(tmp_path: Path, text: str, told: str) -> None:
    base = make_data(tmp_path)
    child = tmp_path / "child.yml"
    child.write_text(text if "_base_" in text else f"_base_: {base.name}\n{text}\n")
    with pytest.raises(ZooError, match=told):
        config.read(child)


def test_deploy_yaml_gives_the_batch_that_evaluation_sees(tmp_path: Path) -> None:
    make_data(tmp_path)
    steps = [{"type": "Resize", "target_size": [24, 16]}, {"type": "Normalize"}]
    entry = {
        "model": "model.pdmodel",
        "params": "model.pdiparams",
        "transforms": steps,
        "output_op": "argmax",
    }
    (tmp_path / "deploy.yaml").write_text(yaml.safe_dump({"Deploy": entry}))
    deployment = deploy.read(tmp_path)
    paths = data.find_images(tmp_path / "images")
    built = transforms.build(steps)
    expected = [transforms.apply(built, Sample(data.read_image(path)), RANDOM(0)).image for path in paths]
    assert np.array_equal(deployment.preprocess(paths), np.stack(expected))
    assert deployment.prefix == tmp_path / "model"


@pytest.mark.parametrize("text", ["Deploy: {}", "other: 1", "- 1", "{"])
def test_a_deploy_yaml_that_is_none_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "deploy.yaml").write_text(text)
    with pytest.raises(ZooError, match=r"deploy\.yaml"):
        deploy.read(tmp_path)


def test_an_overlay_colours_what_is_not_background() -> None:
    image = np.full((4, 4, 3), 100, np.uint8)
    mask = np.eye(4, dtype=np.uint8)
    drawn = np.asarray(pictures.overlay(image, mask))
    assert (drawn[0, 1] == 100).all()
    assert drawn[0, 0].tolist() == [114, 50, 50]
    assert np.array_equal(np.asarray(pictures.mask_picture(mask)), mask)


def test_the_lite_data_is_what_the_script_draws() -> None:
    import runpy

    path = SEGMENTATION / "lite_data.tar"
    assert path.stat().st_size < 4_000_000
    drawn = runpy.run_path(str(SEGMENTATION / "tools/make_lite_data.py"))["draw_all"](2022)
    with tarfile.open(path) as archive:
        stored = {name: archive.extractfile(name).read() for name in archive.getnames()}
    assert stored.keys() == drawn.keys()
    for name in stored:
        if name.endswith((".png", ".txt")):  # a JPEG's bytes are another codec's business
            same = [
                Image.open(io.BytesIO(each)).tobytes() if name.endswith("g") else each
                for each in (stored[name], drawn[name])
            ]
            assert same[0] == same[1], name
    classes = {"people": 2, "street": 19}
    for name, content in stored.items():
        if name.endswith(".png"):
            assert np.asarray(Image.open(io.BytesIO(content))).max() < classes[name.split("/")[1]]
