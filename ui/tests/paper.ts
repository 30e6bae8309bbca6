// What every page is held to on paper: black on white whatever the screen's scheme is, as wide as the paper, and with nothing on it that only
// a pointer can use.
import { expect } from "@playwright/test";
import type { Page } from "@playwright/test";

/** An A4 page between margins of 1 cm, CSS pixels. */
const PAPER = 718;
const CONTROLS = ".choices, .slider, .checkboxes, .tools, .actions, section.live button, ul.queue button, table.runs input, nav.links, details:not([open])";

export async function expectOnPaper(page: Page): Promise<void> {
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
}
