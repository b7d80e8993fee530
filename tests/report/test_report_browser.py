"""The HTML page in a real headless Chromium, from ``file://``: no error, no request, nothing but text."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fabric import Recipe, fabricate
from test_report_html import HOSTILE, hostile

from tipc.report.finish import write_page
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
    """Type into the filter and wait for the next frame, in which it is applied."""
    driver.execute_script("document.getElementById('search').value = ''")
    driver.find_element("id", "search").send_keys(text)
    driver.execute_async_script("requestAnimationFrame(() => requestAnimationFrame(arguments[0]))")


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
    assert not chromium.find_element("id", "p1c1").get_attribute("open")
    chromium.execute_script("location.hash = 'p1c1'")
    chromium.execute_async_script("setTimeout(arguments[0], 50)")
    assert chromium.find_element("id", "p1c1").get_attribute("open")


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
    chromium.execute_script("location.hash = 'p3c1'")
    inside = unpacked(chromium, "#p3c1 > .inside")
    assert "<script>alert(1)" in inside.text
    assert chromium.execute_script("return document.scripts.length") == before
    assert chromium.execute_script("return document.images.length") == 0
    assert chromium.get_log("browser") == []


@pytest.mark.parametrize("width", [360, 1280])
def test_nothing_sticks_out_at_the_side(chromium: Any, tmp_path: Path, width: int) -> None:
    recipe = Recipe(models=("a_model_with_quite_a_long_name_indeed",), precisions=("fp32", "amp", "pact"))
    path = tmp_path / "report.html"
    write_page([view_of(*fabricate(tmp_path, recipe))], path)
    metrics = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": False}
    chromium.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    opened(chromium, path)
    for element in chromium.find_elements("css selector", "details"):
        chromium.execute_script("arguments[0].open = true", element)
    assert chromium.execute_script("return document.documentElement.scrollWidth") <= width
    chromium.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_in_the_dark_the_page_is_dark(chromium: Any, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    write_page([view_of(*fabricate(tmp_path))], path)
    colours = []
    for scheme in ("light", "dark"):
        feature = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
        chromium.execute_cdp_cmd("Emulation.setEmulatedMedia", feature)
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
        "document.getElementById('p3c1').open = document.getElementById('p3').open = true"
    )
    step = unpacked(chromium, "#p3c1 details.step")
    step.find_element("tag name", "summary").send_keys(" ")
    assert "train.py --epochs=4" in step.text
    assert step.find_element("tag name", "a").get_attribute("href").endswith("/logs/3-5.log")
    assert chromium.get_log("browser") == []
    typed(chromium, "model_007")
    assert visible(chromium, "details.cell") == 2
    # What is off the screen is not laid out: that is what keeps a page of this size light.
    style = "return getComputedStyle(document.querySelector('details.plan')).contentVisibility"
    assert chromium.execute_script(style) == "auto"
