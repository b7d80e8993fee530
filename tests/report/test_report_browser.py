"""The HTML page in a real headless Chromium, from ``file://``: no error, no request, nothing but text."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fabric import Recipe, fabricate
from test_report_html import HOSTILE, hostile

from tipc import language
from tipc.report.finish import write_page
from tipc.report.history.history_store import History
from tipc.report.view import view_of

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
DRIVER = shutil.which("chromedriver")
FLAGS = (
    *("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *(
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--disable-dev-shm-usage",
    ),
)


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    webdriver = pytest.importorskip("selenium.webdriver")
    if not BROWSER or not DRIVER:
        pytest.skip("there is no Chromium with its driver on this machine")
    options = webdriver.ChromeOptions()
    options.binary_location = BROWSER
    for flag in (*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
    driver.set_page_load_timeout(60)
    driver.set_script_timeout(300)  # a busy machine
    yield driver
    driver.quit()


def opened(driver: Any, path: Path) -> list[str]:
    """Open a page and return the addresses that were asked for."""
    driver.get("about:blank")
    driver.get_log("performance")
    driver.get_log("browser")
    driver.get(path.as_uri())
    events = [json.loads(entry["message"])["message"] for entry in driver.get_log("performance")]
    sent = [
        event["params"]["request"]["url"]
        for event in events
        if event["method"] == "Network.requestWillBeSent"
    ]
    return [address for address in sent if not address.startswith("data:")]


def visible(driver: Any, selector: str) -> int:
    script = "return [...document.querySelectorAll(arguments[0])].filter((one) => !one.hidden).length"
    return int(driver.execute_script(script, selector))


def unpacked(driver: Any, selector: str) -> Any:
    """Something inside a cell that has just been opened, once it is there."""
    wait = pytest.importorskip("selenium.webdriver.support.wait").WebDriverWait(driver, 60)
    return wait.until(lambda _: driver.find_elements("css selector", selector))[0]


def typed(driver: Any, text: str) -> None:
    """Type into the filter and wait until it is applied."""
    driver.execute_script("document.getElementById('search').value = ''")
    driver.find_element("id", "search").send_keys(text)
    settled(driver)


def settled(driver: Any) -> None:
    """Wait until what the filter says is applied; of a large page the packed part is read first."""
    wait = pytest.importorskip("selenium.webdriver.support.wait").WebDriverWait(driver, 60, 0.05)
    script = (
        "return document.getElementById('shown').dataset.done === document.getElementById('search').value"
    )
    wait.until(lambda _: driver.execute_script(script))


@contextmanager
def screen(
    driver: Any, width: int, height: int = 900, scheme: str = "light", media: str = ""
) -> Iterator[None]:
    """A window of this size, by day or by night, or on paper."""
    metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": media, "features": features})
    yield
    driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": []})


def several(tmp_path: Path) -> Path:
    """A page with nearly everything: failures of three causes, AMP, earlier runs, a comparison."""
    states = {
        "norm_train-gpu0,1-null/train": "failed",
        "pact_train-gpu0-null/infer-cpu-mkldnnTrue": "failed",
        "amp_train-gpu0-null/export": "timeout",
    }
    view = None
    for number in range(3):
        recipe = Recipe(
            precisions=("fp32", "amp", "pact"),
            states=states if number == 2 else {},
            started=1000.0 + 1000 * number,
            name=f"run{number}",
        )
        view = view_of(*fabricate(tmp_path, recipe))
        with History(tmp_path) as history:
            history.add(view)
    assert view is not None
    path = tmp_path / "report.html"
    write_page([view], path)
    return path


def open_all(driver: Any) -> None:
    driver.execute_script("for (const one of document.querySelectorAll('details')) one.open = true")


def test_the_page_opens_without_an_error_and_asks_for_nothing(chromium: Any, tmp_path: Path) -> None:
    view = view_of(*fabricate(tmp_path, Recipe(precisions=("fp32", "amp", "pact"))))
    path = tmp_path / "report.html"
    write_page([view], path)
    assert opened(chromium, path) == [path.as_uri()]
    assert chromium.get_log("browser") == []
    assert chromium.find_element("tag name", "h1").text == "PASSED on cpu"
    assert visible(chromium, "details.plan") == 3


def test_curves_are_drawn(chromium: Any, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    write_page([view_of(*fabricate(tmp_path))], path)
    opened(chromium, path)
    box = chromium.find_element("css selector", ".curve path").rect
    assert box["width"] > 100
    assert box["height"] > 20


def test_the_filter_works_by_text_by_state_and_from_the_keyboard(chromium: Any, tmp_path: Path) -> None:
    recipe = Recipe(
        models=("alpha", "beta"), precisions=("fp32", "amp"), states={"amp_train-gpu0,1": "failed"}
    )
    path = tmp_path / "report.html"
    write_page([view_of(*fabricate(tmp_path, recipe))], path)
    opened(chromium, path)
    assert visible(chromium, "details.cell") == 8
    typed(chromium, "beta amp_train")
    assert visible(chromium, "details.plan") == 1
    assert visible(chromium, "details.cell") == 2
    assert visible(chromium, "[data-of]") == 1
    assert chromium.find_element("id", "shown").text == "2 of 8 cells"
    typed(chromium, "<script> nothing")
    assert visible(chromium, "details.plan") == 0
    typed(chromium, "\ue00c")  # escape
    assert visible(chromium, "details.cell") == 8
    chromium.find_element("css selector", ".chips input[value='not-certified']").send_keys(" ")
    assert visible(chromium, "details.cell") == 2
    chromium.find_element("tag name", "body").send_keys("/")
    assert chromium.switch_to.active_element.get_attribute("id") == "search"


def test_a_link_to_a_closed_cell_opens_it(chromium: Any, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    write_page([view_of(*fabricate(tmp_path, Recipe(models=("alpha", "beta"))))], path)
    opened(chromium, path)
    name = "beta/train_infer_python/norm_train-gpu0,1-null"
    assert not chromium.find_element("id", name).get_attribute("open")
    chromium.execute_script("location.hash = arguments[0]", name)
    chromium.execute_async_script("setTimeout(arguments[0], 50)")
    assert chromium.find_element("id", name).get_attribute("open")


def test_hostile_text_stays_text(chromium: Any, tmp_path: Path) -> None:
    run, verdict = fabricate(tmp_path, Recipe(logs={"": HOSTILE + "\n" + "z" * 10_000_000 + "\n"}))
    assert verdict is not None
    findings = tuple(
        replace(one, plan="", cell="", step="", status="fail", message=HOSTILE, evidence={HOSTILE: HOSTILE})
        for one in verdict.findings
    )
    path = tmp_path / "report.html"
    write_page([view_of(hostile(run), replace(verdict, findings=findings))], path)
    assert opened(chromium, path) == [path.as_uri()]  # an alert would make the driver raise an error
    assert chromium.get_log("browser") == []
    assert chromium.execute_script("return document.scripts.length") == 1
    assert chromium.execute_script("return document.images.length") == 0
    assert "<script>alert(1)" in chromium.find_element("css selector", "details.plan summary b").text


def test_hostile_text_that_was_packed_stays_text(chromium: Any, tmp_path: Path) -> None:
    models = [f"model_{number}" for number in range(10)]
    run, verdict = fabricate(tmp_path, Recipe(models=models, logs={"": HOSTILE + "\n"}))
    assert verdict is not None
    findings = tuple(replace(one, message=HOSTILE, evidence={HOSTILE: HOSTILE}) for one in verdict.findings)
    path = tmp_path / "report.html"
    write_page([view_of(hostile(run), replace(verdict, findings=findings))], path)
    opened(chromium, path)
    before = chromium.execute_script("return document.scripts.length")
    chromium.execute_script("location.hash = document.querySelectorAll('details.cell')[7].id")
    inside = unpacked(chromium, "details.cell[open] > .inside")
    assert "<script>alert(1)" in inside.text
    assert chromium.execute_script("return document.scripts.length") == before
    assert chromium.execute_script("return document.images.length") == 0
    assert chromium.get_log("browser") == []


@pytest.mark.parametrize("width", [360, 1280])
def test_nothing_sticks_out_at_the_side(chromium: Any, home: Path, width: int) -> None:
    model = "a_model_with_quite_a_long_name_indeed_that_nobody_has_put_a_blank_into"
    for number, gpus in enumerate((("0", "0,1"), ("0",))):  # a cell is gone in the second
        recipe = Recipe(
            models=(model,),
            precisions=("fp32", "amp", "pact"),
            gpus=gpus,
            started=1000.0 + 1000 * number,
            name=f"run{number}",
        )
        view = view_of(*fabricate(home, recipe))
        with History(home) as history:
            history.add(view)
    path = home / "report.html"
    write_page([view], path)
    assert ">gone<" in path.read_text(encoding="utf-8")
    with screen(chromium, width):
        opened(chromium, path)
        open_all(chromium)
        assert chromium.execute_script("return document.documentElement.scrollWidth") <= width


def test_in_the_dark_the_page_is_dark(chromium: Any, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    write_page([view_of(*fabricate(tmp_path))], path)
    colours = []
    for scheme in ("light", "dark"):
        with screen(chromium, 1280, scheme=scheme):
            opened(chromium, path)
            colours.append(chromium.execute_script("return getComputedStyle(document.body).backgroundColor"))
    assert colours == ["rgb(247, 247, 245)", "rgb(20, 22, 26)"]


def test_a_thousand_cells_can_be_filtered_without_a_stutter(chromium: Any, tmp_path: Path) -> None:
    recipe = Recipe(models=[f"model_{number:03d}" for number in range(500)])
    path = tmp_path / "report.html"
    write_page([view_of(*fabricate(tmp_path, recipe))], path)
    opened(chromium, path)
    assert visible(chromium, "details.cell") == 1000
    chromium.execute_script(
        "document.querySelectorAll('details.cell')[7].open = "
        "document.querySelectorAll('details.plan')[3].open = true"
    )
    step = unpacked(chromium, "details.cell[open] details.step")
    step.find_element("tag name", "summary").send_keys(" ")
    assert "train.py --epochs=4" in step.text
    assert step.find_element("tag name", "a").get_attribute("href").endswith("/logs/3-5.log")
    assert chromium.get_log("browser") == []
    typed(chromium, "model_007")
    assert visible(chromium, "details.cell") == 2
    # What is off the screen is not laid out: that is what keeps a page of this size light.
    style = "return getComputedStyle(document.querySelector('details.plan')).contentVisibility"
    assert chromium.execute_script(style) == "auto"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1400])
@pytest.mark.parametrize("spoken", ["en", "zh"])
def test_axe_finds_no_violation(
    chromium: Any, home: Path, monkeypatch: pytest.MonkeyPatch, scheme: str, width: int, spoken: str
) -> None:
    axe = Path(pytest.importorskip("axe_core_python").__file__).parent / "axe.min.js"
    monkeypatch.setattr(language, "_chosen", spoken)
    path = several(home)
    with screen(chromium, width, scheme=scheme):
        opened(chromium, path)
        open_all(chromium)
        chromium.execute_script(axe.read_text(encoding="utf-8"))
        script = "axe.run().then((result) => arguments[0](result)).catch((error) => arguments[0](`${error}`))"
        result = chromium.execute_async_script(script)
    assert len(result["passes"]) > 20, "it looked"
    told = [
        f"{one['id']}: {node['target']} {node['failureSummary']}"
        for one in result["violations"]
        for node in one["nodes"][:3]
    ]
    assert told == []


def test_the_matrix_of_every_precision_fits_the_screen(chromium: Any, home: Path) -> None:
    path = several(home)
    with screen(chromium, 1400):
        opened(chromium, path)
        box = "document.querySelector('.matrix').parentElement"
        assert chromium.execute_script(f"return {box}.scrollWidth - {box}.clientWidth") == 0


def test_the_filter_finds_checks_and_errors_also_in_packed_cells(chromium: Any, tmp_path: Path) -> None:
    recipe = Recipe(
        models=[f"model_{number}" for number in range(10)],
        precisions=("fp32", "amp"),
        states={"norm_train-gpu0,1-null/train": "failed"},
        logs={"amp_train-gpu0-null/eval": "an odd word: xyzzy\n"},
    )
    path = tmp_path / "report.html"
    write_page([view_of(*fabricate(tmp_path, recipe))], path)
    opened(chromium, path)
    assert visible(chromium, "details.cell.packed") == 30
    typed(chromium, "TA201")
    assert visible(chromium, "details.cell") == 20
    assert visible(chromium, ".item") == 1, "failures of cells that are hidden are hidden with them"
    typed(chromium, "xyzzy model_7")
    assert visible(chromium, "details.cell") == 1
    typed(chromium, "FileNotFoundError")
    assert visible(chromium, "details.cell") == 10


def test_the_filter_is_in_the_address(chromium: Any, tmp_path: Path) -> None:
    recipe = Recipe(models=("alpha", "beta"), states={"gpu0,1-null/train": "failed"})
    path = tmp_path / "report.html"
    write_page([view_of(*fabricate(tmp_path, recipe))], path)
    opened(chromium, path)
    typed(chromium, "beta & co <b>")
    typed(chromium, "beta")
    chromium.find_element("css selector", ".chips input[value='failed']").send_keys(" ")
    assert visible(chromium, "details.cell") == 1
    address = chromium.current_url
    assert address.endswith("#?q=beta&hide=failed")
    chromium.get("about:blank")
    chromium.get(address)
    settled(chromium)
    assert visible(chromium, "details.cell") == 1
    chromium.get("about:blank")
    chromium.get(address.replace("#?", "#beta/train_infer_python/norm_train-gpu0-null/eval?"))
    unpacked(chromium, "details.step[open]")
    assert chromium.find_element("id", "search").get_attribute("value") == "beta"
    assert visible(chromium, "details.cell") == 1
    assert chromium.get_log("browser") == []


def test_a_link_to_a_step_of_a_packed_cell_opens_it(chromium: Any, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    models = [f"model_{number}" for number in range(10)]
    write_page([view_of(*fabricate(tmp_path, Recipe(models=models)))], path)
    opened(chromium, path)
    name = "model_7/train_infer_python/norm_train-gpu0,1-null/export"
    chromium.execute_script("location.hash = arguments[0]", name)
    unpacked(chromium, "details.step[open]")
    assert chromium.find_element("id", name).get_attribute("open")


def test_a_curve_and_the_timeline_are_read_out_under_the_pointer(chromium: Any, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    write_page([view_of(*fabricate(tmp_path))], path)
    with screen(chromium, 1400, 1600):
        opened(chromium, path)
        move = pytest.importorskip("selenium.webdriver").ActionChains(chromium)
        plot = chromium.find_element("css selector", ".curve .plot svg")
        move.move_to_element_with_offset(plot, -plot.rect["width"] // 2 + 1, 0).perform()
        assert chromium.find_element("css selector", ".cross span").text == "epoch 0, iter 0: 2.31"
        move.move_to_element_with_offset(plot, plot.rect["width"] // 2 - 1, 0).perform()
        assert chromium.find_element("css selector", ".cross span").text == "epoch 3, iter 2: 0.5661"
        drawn = chromium.find_element("css selector", ".drawn svg")
        move.move_to_element_with_offset(drawn, -drawn.rect["width"] // 2 + 9, -drawn.rect["height"] // 4)
        move.click().perform()
        assert chromium.find_element("css selector", ".readout").text.startswith(
            "mobilenet_v3_small · norm_train"
        )
        assert chromium.current_url.endswith("#mobilenet_v3_small/train_infer_python/norm_train-gpu0-null")


def test_on_a_phone_the_first_failure_is_on_the_first_screen(chromium: Any, home: Path) -> None:
    path = several(home)
    with screen(chromium, 390, 844):
        opened(chromium, path)
        failure = chromium.find_element("css selector", ".item .what").rect
        assert failure["y"] + failure["height"] < 844
        open_all(chromium)
        memory = chromium.find_elements("css selector", ".step summary b + b")
        assert all(one.is_displayed() for one in memory if one.text)
        assert [one.text for one in memory if one.text], "figures are not hidden"


def test_on_paper_everything_is_open_and_light(chromium: Any, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    write_page([view_of(*fabricate(tmp_path, Recipe(models=("alpha", "beta"))))], path)
    count = "return document.querySelectorAll('details.plan[open],details.cell[open]').length"
    with screen(chromium, 1000, scheme="dark", media="print"):
        opened(chromium, path)
        assert chromium.execute_script(count) == 0
        chromium.execute_script("dispatchEvent(new Event('beforeprint'))")
        assert chromium.execute_script(count) == 2 + 4
        assert not chromium.find_element("id", "search").is_displayed()
        colour = chromium.execute_script("return getComputedStyle(document.body).backgroundColor")
        assert colour == "rgb(255, 255, 255)"
        chromium.execute_script("dispatchEvent(new Event('afterprint'))")
        assert chromium.execute_script(count) == 0
