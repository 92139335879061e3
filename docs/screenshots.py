"""Takes the pictures of docs/report.md: python docs/screenshots.py (needs the extra "test" and Chromium).

A gradient-boosted model of a table that ships with scikit-learn is distilled, its report is written, and Debian's
Chromium opens it in the light and the dark theme, and as wide as a phone.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import numpy as np
from PIL import Image
from playwright.sync_api import Browser, sync_playwright
from sklearn.datasets import load_wine
from sklearn.ensemble import GradientBoostingClassifier

import fidelitree as ft

FIGURES = Path(__file__).parent / "figures"
FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
COLOURS = 256  # a page has few; a palette makes the files a third as large


def write_report(folder: Path) -> Path:
    """Distil a model that tells three growers of wine apart."""
    data = load_wine(as_frame=True)
    growers = np.array(["Rossi", "Bianchi", "Verdi"])
    model = GradientBoostingClassifier(random_state=0).fit(data.data, growers[data.target])
    result = ft.distill(model.predict, ft.ProductSpace.from_data(data.data), epsilon=0.05, seed=0)
    return result.report(folder / "report.html")


def take(browser: Browser, report: Path, name: str, scheme: str, size: tuple[int, int, float]) -> None:
    """One picture: the report with an input typed in, from the top."""
    width, height, scale = size
    page = browser.new_page(
        viewport={"width": width, "height": height},
        color_scheme=scheme,  # type: ignore[arg-type]
        device_scale_factor=scale,
        reduced_motion="reduce",
    )
    page.goto(report.as_uri())
    page.click("button[type=submit]")
    page.evaluate("window.scrollTo(0, 0); document.querySelector('.canvas').scrollTo(0, 0)")
    path = FIGURES / f"report-{name}.png"
    page.screenshot(path=path)
    page.close()
    picture = Image.open(path).convert("RGB")
    few = picture.quantize(COLOURS, method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    few.save(path, optimize=True)
    print(f"{path.name}: {path.stat().st_size:,} bytes")


def main() -> None:
    """All three."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        report = write_report(Path(folder))
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        take(browser, report, "light", "light", (1200, 1750, 1.0))
        take(browser, report, "dark", "dark", (1200, 1750, 1.0))
        take(browser, report, "phone", "light", (390, 1900, 1.0))
        browser.close()


if __name__ == "__main__":
    main()
