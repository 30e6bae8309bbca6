// The heat map of a run with far more slices than a telephone has pixels.
import { readFileSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { expect, test } from "@playwright/test";
import type { Page, TestInfo } from "@playwright/test";
import { merged } from "../src/columns";
import type { Column, Heat } from "../src/data";
import { WIDTHS, file } from "./pages";

const SLICES = 3000;
const LEAST = 60;
/** Bins, the uppermost of which has a single request. */
const BINS = 10;

/** All slices alike but one. */
const COLUMNS = Array.from({ length: SLICES }, (_, at): Column => [LEAST, at === 1717 ? [8, 20, 8, ...Array<number>(BINS - 4).fill(0), 1] : [8, 20, 8]]);

/** A page with these columns for its first cell. */
function pageWith(columns: Column[], info: TestInfo): string {
  const page = readFileSync(file("slower"), "utf8").replace(/(<script[^>]* id="data"[^>]*>)(.*?)(<\/script>)/s, (_, begin: string, text: string, end: string) => {
    const data = JSON.parse(text) as { heat: Heat };
    data.heat = { per_doubling: 4, slices_per_column: 1, cells: [columns, [], []] };
    return `${begin}${JSON.stringify(data).replaceAll("<", "\\u003c")}${end}`;
  });
  const path = info.outputPath("many-slices.html");
  writeFileSync(path, page);
  return path;
}

/** How many pixels of a row of the map are darker than its grid. */
async function darkPixels(page: Page, row: number): Promise<number> {
  const shot = await page.locator("#heat-map canvas").first().screenshot();
  return page.evaluate(
    async ([data, row]) => {
      const image = new Image();
      image.src = `data:image/png;base64,${data}`;
      await image.decode();
      const canvas = document.createElement("canvas");
      [canvas.width, canvas.height] = [image.width, image.height];
      const context = canvas.getContext("2d");
      if (context === null) throw new Error("no canvas");
      context.drawImage(image, 0, 0);
      const { data: bytes } = context.getImageData(0, row, image.width, 1);
      return bytes.filter((byte, at) => at % 4 === 0 && byte < 215).length;
    },
    [shot.toString("base64"), row] as const,
  );
}

test("a slow request that is alone in thousands of slices is seen at any width", async ({ page }, info) => {
  await page.goto(pathToFileURL(pageWith(COLUMNS, info)).href);
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 900 });
    await expect.poll(() => darkPixels(page, 5), `at ${width} pixels`).toBeGreaterThan(0);
    // Where there were requests in every slice there are no gaps.
    const all = await page.locator("#heat-map canvas").first().evaluate(({ clientWidth }) => clientWidth);
    expect(await darkPixels(page, 105)).toBeGreaterThanOrEqual(all - 1);
  }
});

test("columns are as many as there is room for, and lose no count", () => {
  for (const room of [1, 2, 7, 326, 1096, SLICES, 9000]) {
    const columns = merged(COLUMNS, room);
    expect(columns.length).toBeLessThanOrEqual(Math.min(room, SLICES));
    expect(columns.length).toBeGreaterThan(Math.min(room, SLICES) / 2 - 1);
    expect(columns.filter(([, counts]) => counts.length === BINS && counts.at(-1) === 1)).toHaveLength(1);
    expect(columns.every(([first, counts]) => first === LEAST && counts[1] === 20)).toBe(true);
  }
  expect(merged([[9, [3]], [0, []], [11, [1, 4]]], 1)).toEqual([[9, [3, 0, 1, 4]]]);
  expect(merged([[0, []], [0, []]], 1)).toEqual([[0, []]]);
});
