// The heat map of a run with far more slices than a telephone has pixels.
import { readFileSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { expect, test } from "@playwright/test";
import type { Page, TestInfo } from "@playwright/test";
import { merged } from "../src/columns";
import type { Column, Heat } from "../src/data";
import { WIDTHS, expectFigure, file, open, resultOf } from "./pages";
import { pixelsOf } from "./pixels";

const SLICES = 3000;
const LEAST = 60;
/** Bins, the uppermost of which has a single request. */
const BINS = 10;

/** All slices alike but one. */
const COLUMNS = Array.from({ length: SLICES }, (_, at): Column => [LEAST, at === 1717 ? [8, 20, 8, ...Array<number>(BINS - 4).fill(0), 1] : [8, 20, 8]]);

/** A page with these columns for its first cell, each of so many slices. */
function pageWith(columns: Column[], info: TestInfo, each = 1): string {
  const page = readFileSync(file("slower"), "utf8").replace(/(<script[^>]* id="data"[^>]*>)(.*?)(<\/script>)/s, (_, begin: string, text: string, end: string) => {
    const data = JSON.parse(text) as { heat: Heat };
    data.heat = { per_doubling: 4, slices_per_column: each, cells: [columns, [], []] };
    return `${begin}${JSON.stringify(data).replaceAll("<", "\\u003c")}${end}`;
  });
  const path = info.outputPath("many-slices.html");
  writeFileSync(path, page);
  return path;
}

/** How many pixels of a row of the map are darker than its grid. */
async function darkPixels(page: Page, row: number): Promise<number> {
  const shot = await page.locator("#heat-map canvas").first().screenshot();
  const { width, bytes } = await pixelsOf(page, shot);
  return bytes.subarray(4 * width * row, 4 * width * (row + 1)).filter((byte, at) => at % 4 === 0 && byte < 215).length;
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

test("a column that slices share names the first and the last of them", async ({ page }, info) => {
  const slices = resultOf("slower").slices.filter(({ cell, counted }) => cell === 0 && counted);
  // The last one has fewer.
  const columns = Array.from({ length: Math.ceil(slices.length / 5) }, (): Column => [LEAST, [3, 1]]);
  expect(slices.length % 5).toBeGreaterThan(0);
  await page.goto(pathToFileURL(pageWith(columns, info, 5)).href);
  const map = page.locator("#heat-map .heat").first();
  const { width, height } = (await map.locator("canvas").boundingBox()) ?? { width: 0, height: 0 };
  for (const at of [0, 2, columns.length - 1]) {
    const shared = slices.slice(5 * at, 5 * (at + 1));
    const [first, last] = [shared[0], shared.at(-1)];
    if (first === undefined || last === undefined) throw new Error(`no slices in column ${at}`);
    // The lower of two bins.
    await map.locator("canvas").hover({ position: { x: (width * (at + 0.5)) / columns.length, y: 0.75 * height } });
    const told = await map.locator(".readout").innerText();
    const [, round, block, begin = "", lastRound, lastBlock, end = "", requests] = /^deployment (\d+), block (\d+), at (.*) to deployment (\d+), block (\d+), at (.*): at most (\d+) requests of .* to .* in a slice$/.exec(told) ?? [];
    expect([round, block, lastRound, lastBlock, requests].map(Number), told).toEqual([first.round + 1, first.block + 1, last.round + 1, last.block + 1, 3]);
    expectFigure(begin, first.at_s * 1e9);
    expectFigure(end, last.at_s * 1e9);
  }
});

test("the keys reach each place of the map, and tell what the pointer tells there", async ({ page }) => {
  const faults = await open(page, "slower");
  const map = page.locator("#heat-map .heat").first();
  const [canvas, readout] = [map.locator("canvas"), map.locator(".readout")];
  const columns = resultOf("slower").slices.filter(({ cell, counted }) => cell === 0 && counted).length;
  // A pixel for each column and bin.
  await expect.poll(() => canvas.evaluate((drawn: HTMLCanvasElement) => drawn.width)).toBe(columns);
  const bins = await canvas.evaluate((drawn: HTMLCanvasElement) => drawn.height);
  const { width, height } = (await canvas.boundingBox()) ?? { width: 0, height: 0 };
  // From the lowest bin of the first column on.
  const steps: [key: string, at: number, up: number][] = [
    ["Home", 0, 0],
    ["ArrowRight", 1, 0],
    ["ArrowUp", 1, 1],
    ["End", columns - 1, 1],
    ["ArrowLeft", columns - 2, 1],
    ["ArrowDown", columns - 2, 0],
  ];
  const told: string[] = [];
  for (const [, at, up] of steps) {
    await canvas.hover({ position: { x: (width * (at + 0.5)) / columns, y: (height * (bins - up - 0.5)) / bins } });
    await expect(readout).not.toHaveText(told.at(-1) ?? "");
    told.push(await readout.innerText());
  }
  expect(new Set(told).size).toBe(steps.length);
  await page.mouse.move(0, 0);
  await expect(readout).toHaveText("");
  for (const [which, [key]] of steps.entries()) {
    await canvas.press(key);
    await expect(readout).toHaveText(told[which] ?? "");
  }
  // There is none below.
  await canvas.press("ArrowDown");
  await expect(readout).toHaveText(told.at(-1) ?? "");
  const [ring, area] = [await map.locator(".marked").boundingBox(), await canvas.boundingBox()];
  if (ring === null || area === null) throw new Error("no ring");
  expect(Math.abs(ring.x + ring.width / 2 - area.x - (width * (columns - 1.5)) / columns)).toBeLessThan(1);
  expect(Math.abs(ring.y + ring.height / 2 - area.y - (height * (bins - 0.5)) / bins)).toBeLessThan(1);
  await page.keyboard.press("Tab");
  await expect(readout).toHaveText("");
  await expect(map.locator(".marked")).toHaveCount(0);
  expect(faults).toEqual([]);
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
