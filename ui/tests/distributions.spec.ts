// The distributions of a page are those of the histograms in its JSON: as a table, over percentiles, as a histogram and over time.
import { expect, test } from "@playwright/test";
import type { Page } from "@playwright/test";
import { loadName } from "../src/cells";
import { read, when } from "../src/data";
import type { Cell, RunResult } from "../src/generated/result";
import { across, labelsOf, scaleOf, upright } from "./drawn";
import { countOf, quantileOf, timesOf } from "./histogram";
import type { Bucket } from "./histogram";
import { MEASURED, PAGES, expectFigure, figureOf, fileOf, open, resultOf } from "./pages";

/** The cells of which there are times. */
function measured({ cells }: RunResult): Cell[] {
  return cells.filter(({ answered }) => answered > 0);
}

/** The quantiles that a table may have. */
const QUANTILES = [["50 %", 0.5], ["75 %", 0.75], ["90 %", 0.9], ["95 %", 0.95], ["99 %", 0.99], ["99.9 %", 0.999], ["99.99 %", 0.9999], ["99.999 %", 0.99999], ["99.9999 %", 0.999999], ["100 %", 1]] as const;

for (const name of PAGES.filter((name) => !name.startsWith("hostile"))) {
  test(`the response times by quantile of ${name} are those of its JSON`, async ({ page }) => {
    await open(page, name);
    const cells = measured(resultOf(name)).map((cell) => ({ cell, times: timesOf(cell.histograms.response) }));
    const shown = await page.locator("details").filter({ has: page.getByText("Response times by quantile", { exact: true }) }).locator("table").evaluateAll((tables) =>
      tables.map((table) => [...table.querySelectorAll("tr")].map((row) => [...row.children].map((cell) => cell.textContent?.trim() ?? ""))),
    );
    const loads = [...new Set(cells.map(({ cell }) => loadName(cell)))];
    expect(shown.map(([headings]) => headings?.[0])).toEqual(loads);
    for (const [at, load] of loads.entries()) {
      const [headings, ...rows] = shown[at] ?? [];
      const ofLoad = cells.filter(({ cell }) => loadName(cell) === load);
      expect(headings?.slice(1)).toEqual(ofLoad.map(({ cell }) => cell.label));
      // Beyond the last requests of a cell there is nothing to tell of it.
      const known = (times: Bucket[], quantile: number) => quantile === 1 || countOf(times) * (1 - quantile) >= 1;
      const expected = QUANTILES.filter(([, quantile]) => ofLoad.some(({ times }) => known(times, quantile)));
      expect(rows.map(([text]) => text)).toEqual(expected.map(([text]) => text));
      for (const [line, [, quantile]] of expected.entries()) {
        for (const [column, { times }] of ofLoad.entries()) {
          const text = rows[line]?.[column + 1] ?? "";
          if (known(times, quantile)) expectFigure(text, quantileOf(times, quantile));
          else expect(text).toBe("");
        }
      }
    }
  });
}

/** What the percentile plot says at a place of its width. */
async function readAt(page: Page, share: number): Promise<{ quantile: number; told: string[] }> {
  const over = page.locator("#percentiles .u-over");
  const { width, height } = (await over.boundingBox()) ?? { width: 0, height: 0 };
  // A pointer that comes again to where it is does not move.
  for (const y of [height / 3, height / 2]) await over.hover({ position: { x: width * share, y } });
  const readout = page.locator("#percentiles .readout");
  await expect(readout).toHaveText(/^p/);
  const [, percentile = "", told = ""] = /^p([\d.]+): (.*?)\s*$/.exec(await readout.innerText()) ?? [];
  return { quantile: Number(percentile) / 100, told: told.split(" · ") };
}

for (const name of ["slower", "platforms", ...MEASURED]) {
  test(`each place of the percentile plot of ${name} tells what its JSON has there`, async ({ page }) => {
    const faults = await open(page, name);
    const cells = measured(resultOf(name));
    const part = page.locator("#percentiles");
    const kinds = { response: ["response"], service: ["service"], both: ["response", "service"] } as const;
    for (const load of new Set(cells.map(loadName))) {
      const choice = part.getByRole("combobox", { name: "load" });
      if ((await choice.count()) > 0) await choice.selectOption(load);
      for (const [kind, shown] of Object.entries(kinds)) {
        await part.getByRole("combobox", { name: "time" }).selectOption(kind);
        const lines = cells.filter((cell) => loadName(cell) === load).flatMap(({ label, histograms }) =>
          shown.map((of) => ({ label: of === "service" ? `${label} service` : label, times: timesOf(histograms[of]) })),
        );
        await expect.poll(async () => (await readAt(page, 0.999)).quantile).toBeGreaterThan(0.9);
        const end = -Math.log10(1 - (await readAt(page, 0.999)).quantile);
        for (const share of [0.02, 0.3, 0.5, 0.85, 0.97]) {
          // What is told follows the pointer with a later frame: the next quantile that any line has a point at, which is near where no line is
          // level for long.
          const away = async () => Math.abs(-Math.log10(1 - (await readAt(page, share)).quantile) - share * end);
          if (share < 0.6 && name !== "slower") await expect.poll(away).toBeLessThan(0.1);
          const { quantile, told } = await readAt(page, share);
          expect(told.length).toBe(lines.length);
          for (const [at, { label, times }] of lines.entries()) {
            const text = told[at] ?? "";
            expect(text.startsWith(`${label} `), `“${text}” of ${label}`).toBe(true);
            const figure = figureOf(text.slice(label.length));
            if (figure === undefined) throw new Error(`no figure in “${text}”`);
            // The quantile is shown cut off after the seventh digit.
            const [low, high] = [quantileOf(times, quantile - 1e-9), quantileOf(times, quantile + 1e-7)];
            expect(figure.value, `${text} at ${quantile}`).toBeGreaterThanOrEqual(low - figure.within);
            expect(figure.value, `${text} at ${quantile}`).toBeLessThanOrEqual(high + figure.within);
          }
        }
      }
    }
    expect(faults).toEqual([]);
  });
}

for (const name of ["slower", ...MEASURED]) {
  test(`the lines of the percentile plot of ${name} go through the times of its JSON`, async ({ page }) => {
    await open(page, name);
    const cells = measured(resultOf(name));
    await page.getByText("Drawings as files").click();
    const svg = (await fileOf(page, page.getByRole("button", { name: "Latency by percentile as SVG", exact: true }))).bytes.toString();
    const labels = labelsOf(svg);
    // `p99` stands where two nines do.
    const nines = labels.across.map(([text, place]) => [String(-Math.log10(1 - Number(text.slice(1)) / 100)), place] as const);
    const [x, y] = [scaleOf(nines, false, 1.1), scaleOf(labels.up, true, 1.1)];
    const lines = [...svg.matchAll(/<path d="(M[^"]*)" fill="none"/g)]
      .map(([, path = ""]) => [...path.matchAll(/([ML])(-?[\d.]+) (-?[\d.]+)/g)])
      // The grid begins anew with each of its lines.
      .filter((corners) => corners.length > 20 && corners.filter(([, letter]) => letter === "M").length === 1)
      .map((corners) => corners.map(([, , left, top]) => [Number(left), Number(top)] as const));
    expect(lines.length).toBe(cells.length);
    for (const [at, corners] of lines.entries()) {
      const times = timesOf(cells[at]?.histograms.response ?? "");
      for (const [left, top] of corners) {
        // The steps of a pixel or two on either side.
        const [low, high] = [left - 2, left + 2].map((place) => y.place(quantileOf(times, 1 - 10 ** -Math.max(x.value(place), 0)))) as [number, number];
        expect(top, `at ${left}`).toBeLessThan(low + 3);
        expect(top, `at ${left}`).toBeGreaterThan(high - 3);
      }
    }
  });

  test(`the histograms that a figure of ${name} opens have as many requests in each bin as its JSON`, async ({ page }) => {
    const faults = await open(page, name);
    const result = resultOf(name);
    const contrast = result.contrasts[0];
    if (contrast === undefined) throw new Error("no contrast");
    const cells = result.cells.filter(({ id }) => id === contrast.baseline || id === contrast.candidate);
    for (const kind of ["response", "service"] as const) {
      await page.locator(`tr[data-metric^="${kind}.p"]:not([data-request])`).first().getByRole("button").click();
      const dialog = page.getByRole("dialog");
      await expect(dialog.getByRole("heading", { name: `Distribution of the ${kind} time` })).toBeVisible();
      const drawing = dialog.getByRole("img", { name: /^Histogram of/ });
      const [x, y] = [scaleOf(await across(drawing), true), scaleOf(await upright(drawing), true)];
      const outlines = await drawing.locator("path.outline").evaluateAll((paths) => paths.map((path) => path.getAttribute("d") ?? ""));
      expect(outlines.length).toBe(cells.length);
      for (const [at, outline] of outlines.entries()) {
        const times = timesOf(cells[at]?.histograms[kind] ?? "");
        const floor = Number(/^M[\d.]+ ([\d.]+)/.exec(outline)?.[1]);
        const bins = [...outline.matchAll(/L([\d.]+) ([\d.]+)H([\d.]+)/g)].map(([, from, top, to]) => ({ from: x.value(Number(from)), to: x.value(Number(to)), count: Number(top) > floor - 2 ? 0 : y.value(Number(top)) }));
        expect(bins.length).toBeGreaterThan(5);
        for (const { from, to, count } of bins) {
          // What is drawn is rounded to a tenth of a pixel, so that a bucket at an edge may lie on either side.
          const within = (slack: number) => countOf(times.filter(({ low }) => low >= from * (1 - slack) && low < to * (1 + slack)));
          expect(count, `from ${from} ns`).toBeGreaterThanOrEqual(0.99 * within(-0.001) - 0.5);
          expect(count, `from ${from} ns`).toBeLessThanOrEqual(1.01 * within(0.001) + 0.5);
        }
        const all = bins.reduce((sum, { count }) => sum + count, 0);
        expect(Math.abs(all / countOf(times) - 1)).toBeLessThan(0.01);
      }
      await page.keyboard.press("Escape");
      await expect(dialog).toBeHidden();
    }
    expect(faults).toEqual([]);
  });
}

/** Bins of the heat map for each doubling. */
const BINS = 4;

function binOf(ns: number): number {
  return Math.floor(Math.log2(Math.max(ns, 1)) * BINS);
}

for (const name of ["slower", "platforms", "joined", ...MEASURED]) {
  test(`the requests in the heat map of ${name} are those of its JSON`, async ({ page }) => {
    await open(page, name);
    const { heat } = read((await page.locator("#data").textContent()) ?? "");
    if (heat === undefined) throw new Error("no heat map");
    expect([heat.slices_per_column, heat.per_doubling]).toEqual([1, BINS]);
    const { cells, slices } = resultOf(name);
    for (const cell of cells) {
      const columns = heat.cells[cell.id] ?? [];
      expect(columns.length).toBe(slices.filter((slice) => slice.cell === cell.id && slice.counted).length);
      const sums = new Map<number, number>();
      const add = (bin: number, count: number) => sums.set(bin, (sums.get(bin) ?? 0) + count);
      for (const [first, counts] of columns) counts.forEach((count, at) => add(first + at, count));
      for (const { low, count } of timesOf(cell.histograms.response)) add(binOf(low), -count);
      expect([...sums].filter(([, count]) => count !== 0)).toEqual([]);
    }
  });

  test(`a place of the heat map of ${name} names the slice of its JSON`, async ({ page }) => {
    await open(page, name);
    const { cells, slices } = resultOf(name);
    const maps = await page.locator("#heat-map .heat").all();
    expect(maps.length).toBeGreaterThan(0);
    for (const map of maps) {
      const label = (await map.locator("figcaption").innerText()).trim();
      const cell = cells.find((each) => each.label === label && loadName(each) === loadName(cells[0] as Cell));
      const own = slices.filter((slice) => slice.cell === cell?.id && slice.counted);
      const canvas = map.locator("canvas");
      const [, low = "", high = ""] = /from (.*) to (.*)$/.exec((await canvas.getAttribute("aria-label")) ?? "") ?? [];
      const [least, most] = [figureOf(low)?.value ?? NaN, figureOf(high)?.value ?? NaN];
      const { width, height } = (await canvas.boundingBox()) ?? { width: 0, height: 0 };
      // A slowest request at the edge of a bin may be in either.
      const clear = own.filter(({ response }) => binOf(0.998 * response.max) === binOf(1.002 * response.max));
      for (const slice of [clear[0], clear[Math.floor(clear.length / 2)], clear.at(-1)]) {
        if (slice === undefined) throw new Error(`no slices of ${label}`);
        const at = own.indexOf(slice);
        const slowest = 2 ** ((binOf(slice.response.max) + 0.5) / BINS);
        await canvas.hover({ position: { x: (width * (at + 0.5)) / own.length, y: height * (Math.log(most / slowest) / Math.log(most / least)) } });
        const [, round, block, time = "", count, from = "", to = ""] = /^deployment (\d+), block (\d+), at (.*): (\d+) requests? of (.*) to (.*)$/.exec(await map.locator(".readout").innerText()) ?? [];
        expect([Number(round), Number(block)]).toEqual([slice.round + 1, slice.block + 1]);
        expectFigure(time, when(slice) * 1e9);
        expect(Number(count)).toBeGreaterThan(0);
        const [begin, end] = [figureOf(from), figureOf(to)];
        if (begin === undefined || end === undefined) throw new Error(`from “${from}” to “${to}”`);
        expect(slice.response.max).toBeGreaterThan(begin.value - begin.within);
        expect(slice.response.max).toBeLessThan(end.value + end.within);
      }
    }
  });
}
