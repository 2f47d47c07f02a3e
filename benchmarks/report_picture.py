"""Draws docs/images/report.png: the report on the embedded flags in Chromium (needs selenium, chromium-driver, Pillow).

Run it from the checkout: python benchmarks/report_picture.py
"""

from __future__ import annotations

import base64
import io
import shutil
import tempfile
from pathlib import Path

from PIL import Image
from selenium import webdriver

from plurule import RuleListClassifier
from plurule.datasets import load_world_flags
from plurule.lifts import KLN

WIDTH, HEIGHT = 1240, 1480
PICTURE = Path(__file__).parents[1] / "docs" / "images" / "report.png"


def page() -> str:
    """The report that is drawn."""
    flags = load_world_flags()
    classifier = RuleListClassifier(lift=KLN(k=0.2)).fit(flags)
    return classifier.rule_list_.to_html(flags.X, flags.Y, title="Flags of the world")


def photograph(path: Path) -> bytes:
    """The top of a page, with one rule opened."""
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or ""
    for flag in ("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", f"--window-size={WIDTH},{HEIGHT}"):
        options.add_argument(flag)
    browser = webdriver.Chrome(options=options, service=webdriver.ChromeService(shutil.which("chromedriver") or ""))
    try:
        browser.get(path.as_uri())
        browser.execute_script("document.querySelectorAll('#rule-table button.open')[3].click()")
        clip = {"x": 0, "y": 0, "width": WIDTH, "height": HEIGHT, "scale": 1}
        taken = browser.execute_cdp_cmd("Page.captureScreenshot", {"captureBeyondViewport": True, "clip": clip})
    finally:
        browser.quit()
    return base64.b64decode(taken["data"])


def main() -> None:
    """Write the picture, with few colours so that it stays small."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "report.html"
        path.write_text(page(), encoding="utf-8")
        image = Image.open(io.BytesIO(photograph(path))).convert("RGB")
    PICTURE.parent.mkdir(exist_ok=True)
    image.quantize(128).save(PICTURE, optimize=True)
    print(f"{PICTURE}: {PICTURE.stat().st_size // 1000} kB")


if __name__ == "__main__":
    main()
