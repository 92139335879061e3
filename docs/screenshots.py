"""Takes the pictures of README and docs/report.md: python docs/screenshots.py (extra "test" and Chromium).

README's own first example is run, and its tree and curve are drawn in both themes. A gradient-boosted model of a table
that ships with scikit-learn is distilled, its report is written, and Debian's Chromium opens it in the light and the
dark theme, and as wide as a phone.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image
from playwright.sync_api import Browser, sync_playwright
from sklearn.datasets import load_wine
from sklearn.ensemble import GradientBoostingClassifier

import fidelitree as ft
from fidelitree.display.frontier_chart import chart
from fidelitree.display.wording import at_least

FIGURES = Path(__file__).parent / "figures"
FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
WHOLE = 100  # pixels that no page is as short as: such a picture is as high as its page
COLOURS = 256  # a page has few; a palette makes the files a third as large


def write_report(folder: Path) -> Path:
    """Distil a model that tells three growers of wine apart."""
    data = load_wine(as_frame=True)
    growers = np.array(["Rossi", "Bianchi", "Verdi"])
    model = GradientBoostingClassifier(random_state=0).fit(data.data, growers[data.target])
    result = ft.distill(model.predict, ft.ProductSpace.from_data(data.data), epsilon=0.05, seed=0)
    return result.report(folder / "report.html")


FIRST = """<!doctype html><meta charset="utf-8"><style>
:root {{ color-scheme: light dark }}
body {{ margin: 0; padding: 20px 26px; width: 1008px; box-sizing: border-box; font: 14px/1.4 system-ui, sans-serif;
  background: light-dark(#fff, #0d1117); color: light-dark(#1f2328, #e6edf3) }}
h2 {{ font-size: 15px; margin: 0 0 6px }}
h2 + svg {{ margin-bottom: 16px }}
svg.fidelitree {{ color: inherit !important; background: none !important; max-width: 100%; height: auto }}
</style>
<h2>{leaves} leaves agree with a forest of 150 trees on at least {agreement} of inputs</h2>{tree}
<h2>Every size has its certificate; all of them hold together, with 95% confidence</h2>{curve}
"""


def write_first(folder: Path) -> Path:
    """The tree and the curve of README's first example, as a page."""
    readme = (FIGURES.parents[1] / "README.md").read_text(encoding="utf-8")
    names: dict[str, Any] = {}
    exec(readme.split("```python\n")[1].split("```")[0], names)
    front: ft.Frontier = names["front"]
    knee, place = front.knee, [point.leaves for point in front].index(front.knee.leaves)
    page = FIRST.format(
        leaves=knee.leaves,
        agreement=at_least(knee.error_bound),
        tree=ft.export.to_svg(knee.tree),
        curve=chart(front.marks, place),
    )
    path = folder / "first.html"
    path.write_text(page, encoding="utf-8")
    return path


def take(browser: Browser, opened: Path, name: str, scheme: str, size: tuple[int, int]) -> None:
    """One picture from the top; a report has an input typed in."""
    width, height = size
    page = browser.new_page(
        viewport={"width": width, "height": height},
        color_scheme=scheme,  # type: ignore[arg-type]
        reduced_motion="reduce",
    )
    page.goto(opened.as_uri())
    if page.locator("button[type=submit]").count():
        page.click("button[type=submit]")
        page.evaluate("window.scrollTo(0, 0); document.querySelector('.canvas').scrollTo(0, 0)")
    path = FIGURES / f"{name}.png"
    page.screenshot(path=path, full_page=height == WHOLE)
    page.close()
    picture = Image.open(path).convert("RGB")
    few = picture.quantize(COLOURS, method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    few.save(path, optimize=True)
    print(f"{path.name}: {path.stat().st_size:,} bytes")


def main() -> None:
    """All of them."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        report, first = write_report(Path(folder)), write_first(Path(folder))
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        for scheme in ("light", "dark"):
            take(browser, report, f"report-{scheme}", scheme, (1200, 1750))
            take(browser, first, f"first-{scheme}", scheme, (1008, WHOLE))
        take(browser, report, "report-phone", "light", (390, 1900))
        browser.close()


if __name__ == "__main__":
    main()
