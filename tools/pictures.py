"""Draw docs/images: screens of a report, `plurule demo` and a figure.

Needs selenium, chromium-driver, Pillow and script.

Run it from the checkout: python tools/pictures.py
"""

from __future__ import annotations

import base64
import io
import runpy
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

from PIL import Image
from rich.ansi import AnsiDecoder
from rich.console import Console
from selenium import webdriver

from plurule import RuleListClassifier
from plurule.datasets import load_canteen_dishes

PICTURES = Path(__file__).parents[1] / "docs" / "images"
WIDTH, PHONE = 1240, 390
LEARNED_FROM = 3000
"""Dishes; the others are new to the rules."""


class Screen(NamedTuple):
    """A picture of a part of the report."""

    name: str
    height: int
    script: str
    """Run before; what it returns is the top of the picture."""
    width: int = WIDTH
    dark: bool = False


TOP_OF = "return document.querySelector('{}').getBoundingClientRect().top + window.scrollY - 70"
COMPARE = (
    "const other = document.getElementById('compare'); other.value = '4'; other.dispatchEvent(new Event('change')); "
)
SCREENS = [
    Screen("report", 1180, "document.querySelectorAll('#rule-table button.open')[2].click(); return 0"),
    Screen("report-what-if", 1240, COMPARE + TOP_OF.format("#what-if")),
    Screen("report-label", 820, "location.hash = '#label-11'; return 0"),
    Screen("report-dependencies", 1240, TOP_OF.format("#dependencies")),
    Screen("report-phone", 900, "return 0", PHONE, dark=True),
]


def page() -> str:
    """The report that is drawn."""
    dishes = load_canteen_dishes()
    classifier = RuleListClassifier().fit(dishes[:LEARNED_FROM])
    return classifier.rule_list_.to_html(dishes[LEARNED_FROM:], title="Labels of canteen dishes")


def terminal(folder: Path) -> str:
    """What `plurule demo` shows in a terminal of 80 columns, as HTML; its report is written into a folder."""
    demo = f"stty cols 80; {sys.executable} -m plurule demo"
    command = ["script", "-qec", demo, "/dev/null"]
    shown = subprocess.run(command, capture_output=True, check=True, text=True, cwd=folder).stdout
    shown = shown.replace(str(folder), "/home/me")
    console = Console(record=True, width=80, file=io.StringIO())
    for line in AnsiDecoder().decode(shown.replace("\r", "")):
        console.print(line)
    return console.export_html(inline_styles=True, code_format=TERMINAL)


TERMINAL = (
    '<!doctype html><meta charset="utf-8"><body style="margin:0;background:#fff"><pre style="font:14px/1.35 monospace;'
    'margin:12px 16px;display:inline-block">{code}</pre></body>'
)


def photograph(browser: Any, path: Path, screen: Screen) -> Image.Image:
    """A part of a page, with few colours so that it stays small."""
    size = {"width": screen.width, "height": screen.height, "deviceScaleFactor": 1, "mobile": screen.width < WIDTH}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    scheme = {"name": "prefers-color-scheme", "value": "dark" if screen.dark else "light"}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})
    browser.get("about:blank")
    browser.get(path.as_uri())
    top = browser.execute_script(screen.script)
    browser.execute_async_script("setTimeout(arguments[0], 300)")
    clip = {"x": 0, "y": top, "width": screen.width, "height": screen.height, "scale": 1}
    taken = browser.execute_cdp_cmd("Page.captureScreenshot", {"captureBeyondViewport": True, "clip": clip})
    return Image.open(io.BytesIO(base64.b64decode(taken["data"]))).convert("RGB").quantize(128)


def draw_pruning() -> None:
    """Draw the figure of normal and relaxed pruning, by the script of the gallery."""
    program = runpy.run_path(str(PICTURES.parents[1] / "examples" / "plot_03_relaxed_or_normal.py"))
    program["fig"].savefig(PICTURES / "relaxed-pruning.png", dpi=80)


def main() -> None:
    """Write the pictures."""
    draw_pruning()
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or ""
    for flag in ("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--force-prefers-reduced-motion"):
        options.add_argument(flag)
    browser = webdriver.Chrome(options=options, service=webdriver.ChromeService(shutil.which("chromedriver") or ""))
    PICTURES.mkdir(exist_ok=True)
    try:
        with tempfile.TemporaryDirectory() as folder:
            report, demo = Path(folder) / "report.html", Path(folder) / "demo.html"
            report.write_text(page(), encoding="utf-8")
            demo.write_text(terminal(Path(folder)), encoding="utf-8")
            for path, screen in [
                *((report, screen) for screen in SCREENS),
                (demo, Screen("demo", 1010, "return 0", 720)),
            ]:
                picture = PICTURES / f"{screen.name}.png"
                photograph(browser, path, screen).save(picture, optimize=True)
                print(f"{picture}: {picture.stat().st_size // 1000} kB")
    finally:
        browser.quit()


if __name__ == "__main__":
    main()
