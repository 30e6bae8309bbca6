// Pictures of pages for the documentation: SCREENSHOTS=FOLDER ui/test screenshots.
import { join } from "node:path";
import { test } from "@playwright/test";
import { PAGES, SCHEMES, WIDTHS, open } from "./pages";

const FOLDER = process.env["SCREENSHOTS"];
const SHOWN = ["measured", "slower", "layers", "capacities"].filter((name) => PAGES.includes(name));

if (FOLDER !== undefined) {
  for (const name of SHOWN) {
    for (const width of WIDTHS) {
      for (const colorScheme of SCHEMES) {
        test(`${name} at ${width} pixels, ${colorScheme}`, async ({ page }) => {
          await page.setViewportSize({ width, height: 900 });
          await page.emulateMedia({ colorScheme });
          await open(page, name);
          await page.screenshot({ path: join(FOLDER, `report-${name}-${width}-${colorScheme}.png`), fullPage: true });
        });
      }
    }
  }
}
