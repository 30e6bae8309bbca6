// Pictures of pages are kept, to be looked at and for the documentation.
import { test } from "@playwright/test";
import { PAGES, SCHEMES, WIDTHS, open, picture } from "./pages";

const SHOWN = ["measured", "slower", "layers", "capacities", "joined"].filter((name) => PAGES.includes(name));

for (const name of SHOWN) {
  for (const width of WIDTHS) {
    for (const colorScheme of SCHEMES) {
      test(`${name} at ${width} pixels, ${colorScheme}`, async ({ page }) => {
        await page.setViewportSize({ width, height: 900 });
        await page.emulateMedia({ colorScheme });
        await open(page, name);
        await picture(page, `report-${name}-${width}-${colorScheme}`);
      });
    }
  }
}
