// A page opened from disk with scripts off: all that matters is there.
import { expect, test } from "@playwright/test";
import { PAGES, WIDTHS, expectToFit, open, resultOf } from "./pages";

test.use({ javaScriptEnabled: false });

for (const name of PAGES) {
  test(`${name} answers, shows every gate and how to repeat it`, async ({ page }) => {
    await open(page, name);
    await expect(page.locator("h1")).toBeVisible();
    const result = resultOf(name);
    for (const gate of result.slices.length > 0 ? result.trust.gates : []) {
      const shown = page.locator(".gates li").filter({ hasText: gate.text });
      await expect(shown).toBeVisible();
      await expect(shown).toHaveClass(gate.holds ? "holds" : "fails");
    }
    await expect(page.locator("footer")).toContainText(String(result.run.seed));
    await expect(page.locator("footer code").first()).toBeVisible();
    await expect(page.locator("#slices")).toBeHidden();
  });
}

test("an untrusted run says so before anything else", async ({ page }) => {
  await open(page, "untrusted");
  await expect(page.locator("main p").first()).toContainText("can't be trusted");
  await expect(page.locator("h1")).toContainText("Not to be trusted");
});

test("an interval is drawn for each figure that has one, and each layer with the residual", async ({ page }) => {
  await open(page, "slower");
  const drawn = resultOf("slower").contrasts.flatMap(({ rows }) => rows).filter((row) => row.primary && row.interval);
  await expect(page.locator(".drawn line.interval")).toHaveCount(drawn.length);
  await open(page, "layers");
  await expect(page.locator(".drawn").first().locator("tr.layer")).toHaveCount(2);
  await expect(page.locator(".drawn").first().locator("tr.residual")).toContainText("closes");
});

test("what the slowest requests met is said of each cell that was watched", async ({ page }) => {
  await open(page, "tails");
  const section = page.locator("section").filter({ has: page.getByRole("heading", { name: "The slowest requests" }) });
  const watched = resultOf("tails").cells.filter(({ tail }) => tail != null);
  await expect(section.locator("li")).toHaveCount(watched.length);
  await expect(section).toContainText("93 % while the service was throttled (CPU limit) (by chance 20 %)");
});

for (const width of WIDTHS) {
  test(`every page fits into ${width} pixels`, async ({ page }) => {
    await page.setViewportSize({ width, height: 900 });
    for (const name of PAGES) {
      await open(page, name);
      await test.step(name, () => expectToFit(page));
    }
  });
}
