// Every figure of a slice that is shown is the one in the JSON.
import { expect, test } from "@playwright/test";
import { loadName } from "../src/cells";
import { inTime } from "../src/data";
import type { Cell, RunResult, Slice } from "../src/generated/result";
import { observed, probesOf } from "../src/probe-list";
import { MEASURED, WIDTHS, expectFigure, figureOf, open, resultOf } from "./pages";
import { expectSlices } from "./shown";

test("each slice can be reached and shows its own figures", async ({ page }) => {
  await open(page, "slower");
  const result = resultOf("slower");
  await expectSlices(page, result, [0, 7, 13, result.slices.length - 1]);
  await page.getByRole("button", { name: "All of this slice" }).click();
  const cells = await page.getByRole("dialog").getByRole("group", { name: "times" }).locator("td").allInnerTexts();
  const figures = cells.filter((text) => figureOf(text) !== undefined);
  const last = result.slices.toSorted((one, other) => one.at_s - other.at_s).at(-1);
  if (last === undefined) throw new Error("no slice");
  const expected = [last.response, last.service, last.send_lag].flatMap(({ p50, p90, p99, p999, max }) => [p50, p90, p99, p999, max]);
  expect(figures.length).toBe(expected.length);
  figures.forEach((text, at) => expectFigure(text, expected[at] ?? NaN));
});

/** The figures of a slice that may be chosen. */
const OF_A_SLICE: Record<string, (slice: Slice) => number> = {
  "response p50": ({ response }) => response.p50,
  "response p90": ({ response }) => response.p90,
  "response p99": ({ response }) => response.p99,
  "response p99.9": ({ response }) => response.p999,
  "response max": ({ response }) => response.max,
  "response mean": (slice) => slice.response_mean_ns,
  "service p50": ({ service }) => service.p50,
  "service p99": ({ service }) => service.p99,
  "send lag p99": ({ send_lag }) => send_lag.p99,
  "achieved rate": (slice) => slice.rate_per_second,
};

for (const name of ["slower", ...MEASURED]) test(`whatever figure of the slices of ${name} is chosen is that of the JSON`, async ({ page }) => {
  await open(page, name);
  const { cells, slices } = resultOf(name);
  const choice = page.locator("#slices").getByRole("combobox", { name: "figure" });
  const figures = await choice.locator("option").allTextContents();
  expect(figures).toEqual(Object.keys(OF_A_SLICE));
  const inOrder = inTime(slices, cells);
  for (const figure of figures) {
    await choice.selectOption({ label: figure });
    for (const at of [1, inOrder.length - 2]) {
      await page.getByRole("slider", { name: "slice" }).fill(String(at));
      const told = await page.locator("#slices p.readout").innerText();
      const [, text = ""] = new RegExp(`: ${figure} ([^,;]+)`).exec(told) ?? [];
      expectFigure(text, OF_A_SLICE[figure]?.(inOrder[at] as Slice) ?? NaN);
    }
  }
});

const seenIn = ({ observations }: Slice, metric: string) => Number((observations as unknown as Record<string, unknown>)[metric]);

/** What is shown of the metrics that a run declares: of a counter of its service, of a level, and of a counter of the machine. */
const DECLARED: Record<string, (slice: Slice) => number> = {
  "collections per request": (slice) => seenIn(slice, "jvm.gc.collections") / slice.answered,
  "jvm.heap.used": (slice) => seenIn(slice, "jvm.heap.used"),
  "app.disk.reads, per second": (slice) => seenIn(slice, "app.disk.reads") / slice.duration_s,
};

function declaredBy({ metrics = [] }: RunResult): [string, (slice: Slice) => number][] {
  return metrics.length > 0 ? Object.entries(DECLARED) : [];
}

for (const name of ["slower", "tails"]) test(`all that is known of a slice of ${name} is that of the JSON`, async ({ page }) => {
  await open(page, name);
  const result = resultOf(name);
  expect(declaredBy(result).length).toBe(name === "tails" ? 3 : 0);
  const slices = result.slices.toSorted((one, other) => one.at_s - other.at_s);
  for (const at of [0, slices.findIndex(({ counted }) => !counted), slices.length - 1]) {
    const slice = slices[at];
    if (slice === undefined) throw new Error(`no slice ${at}`);
    await page.getByRole("slider", { name: "slice" }).fill(String(at));
    await page.getByRole("button", { name: "All of this slice" }).click();
    const dialog = page.getByRole("dialog");
    await expect(dialog.getByRole("heading")).toHaveText(`${result.cells[slice.cell]?.label}, deployment ${slice.round + 1}, block ${slice.block + 1}`);
    const [, long = "", begin = "", position, attempt] = /(\S+ s) long, at (\S+ s), position (\d+), attempt (\d+)/.exec(await dialog.locator("p").first().innerText()) ?? [];
    expectFigure(long, slice.duration_s * 1e9);
    expectFigure(begin, slice.at_s * 1e9);
    expect([Number(position), Number(attempt)]).toEqual([slice.position + 1, slice.attempt + 1]);
    expect(await dialog.locator("p").first().innerText()).toContain(slice.counted ? "Its figures count." : "its figures do not count.");
    await expect(dialog.locator("p.alert")).toHaveText(slice.failed_gates.map((gate) => new RegExp(`${gate}$`)));
    const facts = new Map(await dialog.locator("dl > div").evaluateAll((items) => items.map((item) => [item.querySelector("dt")?.textContent ?? "", item.querySelector("dd")?.textContent ?? ""] as const)));
    const [, due, answered, rate = ""] = /^(\d+), (\d+) \((.*)\)$/.exec(facts.get("due, answered") ?? "") ?? [];
    expect([Number(due), Number(answered)]).toEqual([slice.due, slice.answered]);
    expectFigure(rate, slice.rate_per_second);
    const seen = probesOf(result).filter((probe) => observed(slice, probe) !== undefined);
    expect(seen.length).toBeGreaterThan(3);
    for (const probe of seen) expectFigure(facts.get(probe.label) ?? "", observed(slice, probe) ?? NaN);
    for (const [label, value] of declaredBy(result)) expectFigure(facts.get(label) ?? "", value(slice));
    expect(facts.size).toBe(1 + Object.keys(slice.errors).length + seen.length);
    for (const [kind, count] of Object.entries(slice.errors)) expect(facts.get(kind)).toBe(String(count));
    await page.keyboard.press("Escape");
    await expect(dialog).toBeHidden();
  }
});

for (const name of ["platforms", "tails"]) test(`a place in the plot of a probe of ${name} tells what was seen in a slice`, async ({ page }) => {
  await open(page, name);
  const result = resultOf(name);
  // Those that a run declares are drawn when they are asked for.
  await page.locator("#probes summary").click();
  for (const box of await page.locator("#probes").getByRole("checkbox").all()) await box.check();
  for (const [label] of declaredBy(result)) await expect(page.locator("#probes h3").filter({ hasText: label })).toHaveCount(1);
  const cells = result.cells.filter((cell) => loadName(cell) === loadName(result.cells[0] as Cell));
  const plots = await page.locator("#probes .probe").all();
  expect(plots.length).toBeGreaterThan(0);
  for (const plot of plots) {
    await plot.locator(".u-over").hover();
    const told = await plot.locator(".readout").innerText();
    const heading = (await plot.locator("h3").innerText()).replace(told, "").trim();
    const probe = probesOf(result).find(({ label }) => label === heading);
    const cell = cells.filter(({ label }) => told.startsWith(`${label} `)).sort((one, other) => other.label.length - one.label.length)[0];
    const shown = figureOf(told.slice(cell?.label.length));
    if (probe === undefined || shown === undefined) throw new Error(`“${told}” of “${heading}”`);
    const seen = result.slices.filter((slice) => slice.cell === cell?.id).map((slice) => observed(slice, probe) ?? NaN);
    expect(seen.some((value) => Math.abs(value - shown.value) <= shown.within), `${told} of ${heading}`).toBe(true);
  }
});

for (const width of WIDTHS) test(`probes stand below the slices and on the same time axis at ${width} pixels`, async ({ page }) => {
  await page.setViewportSize({ width, height: 900 });
  await open(page, "slower");
  const plots = page.locator("#slices .u-over, #probes .u-over");
  await expect(plots.last()).toBeVisible();
  const places = await plots.evaluateAll((all) =>
    all.map((plot) => {
      const { left, right, top, bottom } = plot.getBoundingClientRect();
      return { left, right, top, bottom };
    }),
  );
  const [slices, ...probes] = places;
  expect(probes.length).toBeGreaterThan(1);
  for (const [at, probe] of probes.entries()) {
    expect(probe.top).toBeGreaterThan(places[at]?.bottom ?? NaN);
    expect(Math.abs(probe.left - (slices?.left ?? NaN))).toBeLessThanOrEqual(1);
    expect(Math.abs(probe.right - (slices?.right ?? NaN))).toBeLessThanOrEqual(1);
  }
});
