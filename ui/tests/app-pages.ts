// What every page of `loadline ui` is held to.
import AxeBuilder from "@axe-core/playwright";
import { expect } from "@playwright/test";
import type { Page } from "@playwright/test";
import { SCHEMES, WIDTHS, expectToFit, fold, picture, unfold } from "./pages";

/** Whatever a page complains of is a fault. */
export function faultsOf(page: Page): string[] {
  const faults: string[] = [];
  page.on("pageerror", (error) => faults.push(error.message));
  // A draft with a mistake is answered with 422, which Chromium reports.
  page.on("console", (message) => message.type() === "error" && !message.text().includes("status of 422") && faults.push(message.text()));
  return faults;
}

/** It fits, and axe finds nothing in it with all of it unfolded, in each way in which it may be looked at; with a name, pictures of all of them
 * are kept, as it is. */
export async function expectToBeGood(page: Page, name?: string): Promise<void> {
  for (const width of WIDTHS) {
    for (const colorScheme of SCHEMES) {
      await page.setViewportSize({ width, height: 900 });
      await page.emulateMedia({ colorScheme });
      if (name !== undefined) await picture(page, `app-${name}-${width}-${colorScheme}`);
      await unfold(page);
      await expectToFit(page);
      const found = await new AxeBuilder({ page }).analyze();
      expect(found.violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join("\n")}`), `${width} ${colorScheme}`).toEqual([]);
      await fold(page);
    }
  }
  await page.setViewportSize({ width: 1280, height: 900 });
  await page.emulateMedia({ colorScheme: "light" });
}
