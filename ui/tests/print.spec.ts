// A report on paper.
import { expect, test } from "@playwright/test";
import { PAGES, open } from "./pages";
import { expectOnPaper } from "./paper";

for (const name of PAGES) {
  test(`${name} is printed whole, black on white`, async ({ page }) => {
    await page.emulateMedia({ colorScheme: "dark" });
    const faults = await open(page, name);
    await expectOnPaper(page);
    expect(faults).toEqual([]);
  });
}
