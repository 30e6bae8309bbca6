// axe finds nothing, on any page, in both schemes and at both widths.
import AxeBuilder from "@axe-core/playwright";
import { expect, test } from "@playwright/test";
import { PAGES, SCHEMES, WIDTHS, open } from "./pages";

/** Pages that have all that others have are looked at in each way, the others once in each scheme. */
const WHOLE = ["slower", "layers", "measured"];

for (const name of PAGES) {
  test(`axe has no finding in ${name}`, async ({ page }) => {
    test.setTimeout(90_000);
    for (const [at, colorScheme] of SCHEMES.entries()) {
      for (const width of WHOLE.includes(name) ? WIDTHS : [WIDTHS[at] ?? WIDTHS[0]]) {
        await page.setViewportSize({ width, height: 900 });
        await page.emulateMedia({ colorScheme });
        await open(page, name);
        const { violations } = await new AxeBuilder({ page }).analyze();
        expect(violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html).slice(0, 3)]), `${colorScheme}, ${width} px`).toEqual([]);
      }
    }
  });
}

test("axe has no finding in what a figure and a slice open", async ({ page }) => {
  for (const colorScheme of SCHEMES) {
    await page.emulateMedia({ colorScheme });
    await open(page, "slower");
    await page.locator("table[data-contrast] button").first().click();
    const figure = await new AxeBuilder({ page }).include("dialog").analyze();
    expect(figure.violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html).slice(0, 3)])).toEqual([]);
    await page.keyboard.press("Escape");
    await page.getByRole("slider", { name: "slice" }).fill("3");
    await page.getByRole("button", { name: "All of this slice" }).click();
    const slice = await new AxeBuilder({ page }).include("dialog").analyze();
    expect(slice.violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html).slice(0, 3)])).toEqual([]);
  }
});
