// axe finds nothing, on any page with all of it unfolded and in any dialog, in both schemes and at both widths.
import AxeBuilder from "@axe-core/playwright";
import { expect, test } from "@playwright/test";
import type { Page } from "@playwright/test";
import { MEASURED, PAGES, SCHEMES, WIDTHS, open, unfold } from "./pages";

/** Does this in each way in which a page may be looked at. */
async function inEachWay(page: Page, look: (way: string) => Promise<void>): Promise<void> {
  for (const colorScheme of SCHEMES) {
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 900 });
      await page.emulateMedia({ colorScheme });
      await look(`${colorScheme}, ${width} px`);
    }
  }
}

async function expectNoFinding(axe: AxeBuilder, way: string): Promise<void> {
  const { violations } = await axe.analyze();
  expect(violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html).slice(0, 3)]), way).toEqual([]);
}

/** Of a dialog that is open. */
async function expectNoFindingInDialog(page: Page, way: string): Promise<void> {
  await expect(page.getByRole("dialog")).toBeVisible();
  await unfold(page);
  await expectNoFinding(new AxeBuilder({ page }).include("dialog"), way);
  await page.keyboard.press("Escape");
  await expect(page.getByRole("dialog")).toBeHidden();
}

for (const name of PAGES) {
  test(`axe has no finding in ${name}, unfolded`, async ({ page }) => {
    test.setTimeout(180_000);
    await inEachWay(page, async (way) => {
      await open(page, name);
      await unfold(page);
      await expect(page.locator("details:not([open])")).toHaveCount(0);
      await expectNoFinding(new AxeBuilder({ page }), way);
    });
  });
}

test("axe has no finding in what a figure and a slice open", async ({ page }) => {
  test.setTimeout(90_000);
  await inEachWay(page, async (way) => {
    await open(page, "slower");
    await page.locator("table[data-contrast] button").first().click();
    await expectNoFindingInDialog(page, `a figure, ${way}`);
    await page.getByRole("slider", { name: "slice" }).fill("3");
    await page.getByRole("button", { name: "All of this slice" }).click();
    await expectNoFindingInDialog(page, `a slice, ${way}`);
  });
});

for (const name of MEASURED) test("axe has no finding in what a figure of one request opens", async ({ page }) => {
  test.setTimeout(90_000);
  await inEachWay(page, async (way) => {
    await open(page, name);
    await unfold(page);
    await page.locator("tr[data-request][data-metric]").first().getByRole("button").click();
    await expectNoFindingInDialog(page, way);
  });
});
