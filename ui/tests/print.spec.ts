// A report on paper: black on white whatever the screen's scheme is, as wide as the paper, and with nothing on it that only a pointer can use.
import { expect, test } from "@playwright/test";
import { PAGES, open } from "./pages";

/** An A4 page between margins of 1 cm, CSS pixels. */
const PAPER = 718;
const CONTROLS = ".choices, .slider, .checkboxes, nav.links, details:not([open])";

for (const name of PAGES) {
  test(`${name} is printed whole, black on white`, async ({ page }) => {
    await page.emulateMedia({ colorScheme: "dark" });
    const faults = await open(page, name);
    await page.setViewportSize({ width: PAPER, height: 1000 });
    await page.emulateMedia({ media: "print", colorScheme: "dark" });
    await expect(page.locator("h1").first()).toBeVisible();
    const [background, ink] = await page.evaluate(() => {
      const { backgroundColor, color } = getComputedStyle(document.body);
      return [backgroundColor, color];
    });
    expect([background, ink]).toEqual(["rgb(255, 255, 255)", "rgb(0, 0, 0)"]);
    for (const control of await page.locator(CONTROLS).all()) await expect(control).toBeHidden();
    // What is wider than the paper is cut off, as nobody can scroll it.
    const cut = await page.evaluate((paper) => {
      const wide = [...document.querySelectorAll("main table, main svg, main canvas, main p, main pre")];
      return wide.filter((each) => each.getBoundingClientRect().right > paper + 1).map(({ outerHTML }) => outerHTML.slice(0, 120));
    }, PAPER);
    expect(cut).toEqual([]);
    expect((await page.pdf({ format: "A4" })).length).toBeGreaterThan(10_000);
    expect(faults).toEqual([]);
  });
}
