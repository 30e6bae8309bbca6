// Whatever is drawn stands where its figure in the JSON belongs by the labels of the axes.
import { expect, test } from "@playwright/test";
import type { Page } from "@playwright/test";
import { inTime, when } from "../src/data";
import type { Cell, Row, RunResult, Slice } from "../src/generated/result";
import { observed, probesOf } from "../src/probe-list";
import { across, expectPlace, labelsOf, plotsOf, scaleOf, upright } from "./drawn";
import type { Label, Scale } from "./drawn";
import { MEASURED, expectFigure, figureOf, fileOf, open, resultOf } from "./pages";

/** The corners of a path of straight lines. */
function corners(path: string): (readonly [number, number])[] {
  return [...path.matchAll(/[ML](-?[\d.]+) (-?[\d.]+)/g)].map(([, x, y]) => [Number(x), Number(y)] as const);
}

/** A row of a drawing that goes across: its name and other texts, and where its marks stand, in percent of the width. */
interface Strip {
  texts: string[];
  marks: Record<string, number[]>;
}

/** Each drawing of the answer, without scripts: its rows, and the labels below them. */
function strips(page: Page, selector: string): Promise<{ rows: Strip[]; labels: Label[]; unit: string }[]> {
  return page.locator(selector).evaluateAll((tables) => {
    const at = (element: Element, name: string) => Number.parseFloat(element.getAttribute(name) ?? "");
    const marks = (row: Element) =>
      Object.fromEntries(
        ["line.interval", "circle.mark", "rect.margin", "line.amount", "rect.bar", "line.arm"].map((mark) => [
          mark,
          [...row.querySelectorAll(mark)].flatMap((each) => (each.tagName === "circle" ? [at(each, "cx")] : each.tagName === "rect" ? [at(each, "x"), at(each, "x") + at(each, "width")] : [at(each, "x1"), at(each, "x2")])),
        ]),
      );
    return tables.map((table) => ({
      rows: [...table.querySelectorAll("tbody tr")].map((row) => ({ texts: [...row.querySelectorAll("th, td:not(.strip)")].map((cell) => cell.textContent?.trim() ?? ""), marks: marks(row) })),
      labels: [...table.querySelectorAll("tfoot text")].map((text) => [text.textContent ?? "", at(text, "x")] as const),
      unit: (table.querySelector("thead")?.textContent ?? "").trim().split(/\s+/).at(-1) ?? "",
    }));
  });
}

/** What is beyond an end stands at that end. */
function expectAcross(drawn: number[] | undefined, expected: number[], scale: Scale, what: string): void {
  expect(drawn?.length, what).toBe(expected.length);
  expected.forEach((value, at) => expectPlace(drawn?.[at] ?? NaN, Math.min(Math.max(scale.place(value), 0), 100), what));
}

/** The rows of each drawing of differences. */
function compared({ contrasts }: RunResult): Row[][] {
  const isDrawn = ({ interval, baseline }: Row) => interval != null && baseline !== 0;
  // Of many comparisons their medians are drawn, all together.
  const rowsOf = (keep: (row: Row) => boolean) => contrasts.map(({ rows }) => rows.filter((row) => isDrawn(row) && keep(row)));
  return contrasts.length > 3 ? [rowsOf(({ metric }) => metric === "response.p50").flat()] : rowsOf(({ primary }) => primary);
}

for (const name of ["slower", "untrusted", "claims", "conditions", "platforms", "many", "limits", "joined", "tails", ...MEASURED]) {
  test(`the differences of ${name} are drawn where they are`, async ({ page }) => {
    await open(page, name);
    const result = resultOf(name);
    const drawings = await strips(page, "section.drawing table.drawn:not(.layers)");
    const expected = compared(result).filter((rows) => rows.length > 0);
    expect(drawings.length).toBe(expected.length);
    for (const [which, { rows, labels }] of drawings.entries()) {
      const scale = scaleOf(labels);
      expect(rows.length).toBe(expected[which]?.length);
      for (const [at, { texts, marks }] of rows.entries()) {
        const row = expected[which]?.[at];
        if (row?.interval == null) throw new Error(`no row ${at}`);
        const [label = "", share = "", verdict = ""] = texts;
        if (result.contrasts.length <= 3) expect(label).toBe(row.label.trim());
        expectFigure(share, row.relative ?? NaN);
        expect(verdict).toContain(row.verdict);
        const shareOf = (value: number) => value / row.baseline;
        expectAcross(marks["circle.mark"], [shareOf(row.difference)], scale, label);
        expectAcross(marks["line.interval"], row.interval.map(shareOf), scale, label);
        expectAcross(marks["rect.margin"], [-row.margin, row.margin].map(shareOf), scale, label);
        const allowed = (result.conditions ?? []).filter(({ metric, by }) => metric === row.metric && by > 0).map(({ by, is_share: isShare, verdict }) => (isShare ? by : shareOf(by)) * (["faster", "cheaper", "fewer"].includes(verdict) ? -1 : 1));
        const shown = allowed.filter((amount) => scale.place(amount) > 0 && scale.place(amount) < 100);
        expectAcross(marks["line.amount"], shown.flatMap((amount) => [amount, amount]), scale, `what ${label} may be`);
      }
    }
  });
}

test("each layer is drawn from where the one below it ends, and the sum and the residual from zero", async ({ page }) => {
  await open(page, "layers");
  const { contrasts, ladders } = resultOf("layers");
  const drawings = await strips(page, "table.layers");
  const sums = ladders.flatMap((ladder) => ladder.sums.flatMap((sum) => ["response.p50.paired", "cpu.path"].map((metric) => ({ ladder, sum, metric }))));
  expect(drawings.length).toBe(sums.length);
  for (const [which, { ladder, sum, metric }] of sums.entries()) {
    const { rows = [], labels = [], unit = "" } = drawings[which] ?? {};
    const scale = scaleOf(labels.map(([text, place]) => [`${text} ${unit}`, place]));
    const total = sum.rows.find((row) => row.metric === metric);
    let from = 0;
    const layers = ladder.rungs.filter(({ cell }) => sum.path.includes(cell)).map(({ contrast }) => {
      const row = contrasts[contrast]?.rows.find((each) => each.metric === metric);
      if (row === undefined) throw new Error(`no ${metric}`);
      const step = { from, to: from + row.difference, interval: row.interval?.map((end) => from + end) };
      from = step.to;
      return step;
    });
    const whole = [total?.sum, total?.end_to_end, total?.residual].flatMap((estimate) => (estimate ? [{ from: 0, to: estimate.value, interval: estimate.interval }] : []));
    const steps = [...layers, ...whole];
    expect(rows.length).toBe(steps.length);
    for (const [at, step] of steps.entries()) {
      const { texts, marks } = rows[at] as Strip;
      expectAcross(marks["rect.bar"], [Math.min(step.from, step.to), Math.max(step.from, step.to)], scale, texts[0] ?? "");
      // A line from end to end, and one across at either.
      const [low, high] = step.interval ?? [];
      expectAcross(marks["line.arm"], low === undefined || high === undefined ? [] : [low, high, low, low, high, high], scale, texts[0] ?? "");
    }
  }
});

/** The cells of each line over a number, or over the loads, from left to right. */
function cellsOver({ cells, sweeps }: RunResult, over: string): Cell[][] {
  if (over !== "loads") return (sweeps ?? []).filter((sweep) => sweep.over === over).map(({ points }) => points.map(({ cell }) => cells[cell] as Cell));
  const asked = cells.filter(({ role }) => role !== "twin");
  return [...new Set(asked.map(({ label }) => label))].map((label) => asked.filter((cell) => cell.label === label));
}

for (const [name, ...axes] of [["limits", "limits.cpu", "loads"], ["connections", "loads"], ["platforms", "loads"]] as const) {
  test(`the figures of the cells of ${name} are drawn where they are, over ${axes.join(" and ")}`, async ({ page }) => {
    await open(page, name);
    const result = resultOf(name);
    const part = page.locator("#sweep");
    const metrics = new Map(result.cells.flatMap(({ figures }) => figures.map(({ metric, label }) => [metric, label.trim()])));
    for (const over of axes) {
      if (axes.length > 1) await part.getByRole("combobox", { name: "over" }).selectOption(over);
      const expected = cellsOver(result, over);
      for (const [metric, label] of metrics) {
        await part.getByRole("combobox", { name: "figure" }).selectOption(metric);
        const drawing = part.getByRole("img", { name: new RegExp(`^${label} of `) });
        const scale = scaleOf(await upright(drawing));
        const marks = await across(drawing);
        const drawn = await drawing.locator("path.thin").evaluateAll((lines) =>
          lines.map((line) => ({
            path: line.getAttribute("d") ?? "",
            points: [...(line.parentElement?.querySelectorAll(":scope > g") ?? [])].map((point) => {
              const box = (point.querySelector("path") as SVGGraphicsElement | null)?.getBBox();
              const arm = point.querySelector("line.arm");
              return { at: [(box?.x ?? NaN) + (box?.width ?? NaN) / 2, (box?.y ?? NaN) + (box?.height ?? NaN) / 2] as const, ends: arm === null ? undefined : [Number(arm.getAttribute("y1")), Number(arm.getAttribute("y2"))] };
            }),
          })),
        );
        expect(drawn.length).toBe(expected.length);
        for (const [which, { path, points }] of drawn.entries()) {
          const figures = (expected[which] ?? []).map((cell) => cell.figures.find((each) => each.metric === metric));
          expect(points.length).toBe(figures.length);
          expect(corners(path).length).toBe(figures.length);
          for (const [at, figure] of figures.entries()) {
            const point = points[at];
            if (figure === undefined || point === undefined) throw new Error(`no ${metric} of cell ${at}`);
            expectPlace(point.at[1], scale.place(figure.value), label);
            expectPlace(corners(path)[at]?.[1] ?? NaN, scale.place(figure.value), label);
            expect(point.ends !== undefined).toBe(figure.t_interval != null);
            figure.t_interval?.forEach((end, which) => expectPlace(point.ends?.[which] ?? NaN, scale.place(end), label));
            // Those of one value stand beside each other; the nearest name is theirs.
            const nearest = marks.toSorted(([, one], [, other]) => Math.abs(one - point.at[0]) - Math.abs(other - point.at[0]))[0];
            expect(nearest).toBe(marks[at]);
          }
        }
      }
    }
    if (axes[0] === "limits.cpu") {
      await part.getByRole("combobox", { name: "over" }).selectOption(axes[0]);
      const numbers = (result.sweeps ?? [])[0]?.points.map(({ value }) => value) ?? [];
      const marks = await across(part.getByRole("img"));
      expect(marks.map(([text]) => figureOf(text)?.value)).toEqual(numbers);
      scaleOf(marks);
    }
  });
}

test("capacities, their bounds and every rate that was tried are drawn where they are", async ({ page }) => {
  await open(page, "capacities");
  const { capacities } = resultOf("capacities");
  if (!capacities) throw new Error("no capacities");
  const drawing = page.locator("#capacity-curves").getByRole("img", { name: /^Latency by rate/ });
  const [x, y] = [scaleOf(await across(drawing)), scaleOf(await upright(drawing), true)];
  const drawn = await drawing.locator("path.curve").evaluateAll((curves) =>
    curves.map((curve) => {
      const group = curve.parentElement as Element;
      const numbers = (selector: string, ...names: string[]) => [...group.querySelectorAll(selector)].map((each) => names.map((name) => Number(each.getAttribute(name))));
      const path = (selector: string) => group.querySelector(selector)?.getAttribute("d") ?? "";
      return {
        found: numbers("line.found", "x1", "x2").flat(),
        bounds: numbers("line.bound", "x1").flat(),
        shade: numbers("rect.shade", "x", "width").flat(),
        p50: path("path.thin"),
        p99: path("path.curve"),
        knee: path("path.knee"),
        tried: numbers("circle", "cx", "cy"),
        passed: [...group.querySelectorAll("circle")].map((circle) => circle.getAttribute("class") === "passed"),
      };
    }),
  );
  expect(drawn.length).toBe(capacities.cells.length);
  for (const [at, capacity] of capacities.cells.entries()) {
    const { found, bounds, shade, p50, p99, knee, tried, passed } = drawn[at] as (typeof drawn)[number];
    const rate = capacity.rate_per_second ?? NaN;
    expect([found.length, bounds.length, shade.length, tried.length]).toEqual([2, 2, 2, capacity.curve.length]);
    found.forEach((place) => expectPlace(place, x.place(rate), "capacity"));
    [capacity.lower_bound, capacity.upper_bound].forEach((bound, which) => expectPlace(bounds[which] ?? NaN, x.place(bound ?? NaN), "bound"));
    const [from = NaN, width = NaN] = shade;
    expectPlace(from, x.place(capacity.interval?.[0] ?? NaN), "interval");
    expectPlace(from + width, x.place(capacity.interval?.[1] ?? NaN), "interval");
    for (const [which, point] of capacity.curve.entries()) {
      const expected = [x.place(point.rate_per_second), y.place(point.p99_ns)] as const;
      const [cx = NaN, cy = NaN] = tried[which] ?? [];
      const [below, above] = [corners(p50)[which] ?? [NaN, NaN], corners(p99)[which] ?? [NaN, NaN]];
      for (const [px, py] of [[cx, cy], above] as const) {
        expectPlace(px, expected[0], "rate");
        expectPlace(py, expected[1], "p99");
      }
      expectPlace(below[0], expected[0], "rate");
      expectPlace(below[1], y.place(point.p50_ns), "p50");
      expect(passed[which]).toBe(point.passed >= point.failed);
    }
    const bent = capacity.curve.find(({ rate_per_second: each }) => each === capacity.knee?.rate_per_second);
    const [[kx, ky] = [NaN, NaN]] = corners(knee);
    if (bent === undefined) throw new Error("no knee");
    // From its upper corner on, which is six pixels above its middle.
    expectPlace(kx, x.place(bent.rate_per_second), "knee");
    expectPlace(ky + 6, y.place(bent.p50_ns), "knee");
  }
});

for (const name of ["slower", ...MEASURED]) {
  test(`the differences in the blocks of ${name} are drawn where they are`, async ({ page }) => {
    await open(page, name);
    const rows = resultOf(name).contrasts[0]?.rows.filter(({ metric }) => ["response.p50", "response.p99"].includes(metric)) ?? [];
    expect(rows.length).toBe(2);
    for (const { metric, block_differences: values, margin } of rows) {
      await page.locator(`tr[data-metric="${metric}"]:not([data-request])`).getByRole("button").click();
      const dialog = page.getByRole("dialog");
      const drawing = dialog.getByRole("img", { name: /differences, from/ });
      const [, count, low = "", high = ""] = /^(\d+) differences, from (.*) to (.*)$/.exec((await drawing.getAttribute("aria-label")) ?? "") ?? [];
      expect(Number(count)).toBe(values.length);
      expectFigure(low, Math.min(...values));
      expectFigure(high, Math.max(...values));
      const scale = scaleOf(await upright(drawing));
      const [points, beyond, band] = await drawing.evaluate((svg) => {
        const rect = svg.querySelector("rect.margin");
        return [
          [...(svg.querySelector("path.point")?.getAttribute("d") ?? "").matchAll(/M\S+ (\S+?)L/g)].map(([, y]) => Number(y)),
          [...(svg.querySelector("path.beyond-point")?.getAttribute("d") ?? "").matchAll(/M/g)].length,
          ["y", "height"].map((name) => Number(rect?.getAttribute(name))),
        ] as const;
      });
      expect(points.length + beyond).toBe(values.length);
      expect(points.length).toBeGreaterThan(0.9 * values.length);
      const [top = NaN, tall = NaN] = band;
      expectPlace(top, scale.place(margin), "margin");
      expectPlace(top + tall, scale.place(-margin), "margin");
      // In their order; those that are not there lie beyond all that are.
      const reach = [Math.min(...points), Math.max(...points)] as const;
      let next = 0;
      for (const value of values) {
        const place = scale.place(value);
        if (Math.abs((points[next] ?? NaN) - place) < 0.2) next += 1;
        else expect(place < reach[0] || place > reach[1], `${value} of ${metric}`).toBe(true);
      }
      expect(next).toBe(points.length);
      await page.keyboard.press("Escape");
      await expect(dialog).toBeHidden();
    }
  });
}

const SLICES = "Every slice, in the order in which it was measured";
const PROBES = "What the machine did meanwhile";

/** The plots of a part of the page, from its file. */
async function savedPlots(page: Page, heading: string): Promise<string[]> {
  return plotsOf((await fileOf(page, page.getByRole("button", { name: `${heading} as SVG`, exact: true }))).bytes.toString());
}

type Mark = readonly [x: number, y: number];

/** A corner of a mark, and the opposite one or how far it is away. */
const CROSS = /M(-?[\d.]+) (-?[\d.]+)L(-?[\d.]+) (-?[\d.]+)M\3 \2L\1 \4/g;
const SQUARE = /M(-?[\d.]+) (-?[\d.]+)h([\d.]+)v([\d.]+)h-\3Z/g;

/** The middles of the marks of a kind in a plot. */
function middles(plot: string, kind: RegExp): Mark[] {
  return [...plot.matchAll(kind)].map(([, ...found]) => {
    const [left = NaN, top = NaN, across = NaN, down = NaN] = found.map(Number);
    return kind === SQUARE ? [left + across / 2, top + down / 2] : [(left + across) / 2, (top + down) / 2];
  });
}

/** A mark for each of these slices, in their order, at its time and its figure. */
function expectMarks(drawn: readonly Mark[], slices: Slice[], x: Scale, y: Scale, figure: (slice: Slice) => number, what: string): void {
  expect(drawn.length, what).toBe(slices.length);
  for (const [at, slice] of slices.entries()) {
    const [cx = NaN, cy = NaN] = drawn[at] ?? [];
    expectPlace(cx, x.place(when(slice) * 1e9), `${what} ${at}`, 3);
    expectPlace(cy, y.place(figure(slice)), `${what} ${at}`, 3);
  }
}

/** A dotted line, from top to bottom, six pixels before the first slice of each deployment. */
function expectDeployments(plot: string, slices: Slice[], x: Scale): void {
  const drawn = [...plot.matchAll(/<path d="M(-?[\d.]+) -?[\d.]+L\1 -?[\d.]+" [^>]*stroke-dasharray="2 3"/g)].map(([, place]) => Number(place));
  const first = slices.filter(({ round }, at) => round !== slices[at - 1]?.round);
  expect(drawn.length).toBe(first.length);
  first.forEach((slice, at) => expectPlace(drawn[at] ?? NaN, x.place(when(slice) * 1e9) - 6, `deployment ${slice.round}`, 3));
}

for (const name of ["slower", "untrusted", ...MEASURED]) {
  test(`each slice of ${name} is drawn at its time and its figure, and as what it is`, async ({ page }) => {
    await open(page, name);
    const { cells, slices } = resultOf(name);
    // Cell by cell.
    const own = cells.flatMap((cell) => inTime(slices, [cell]));
    const doubted = own.filter(({ counted, failed_gates: failed }) => counted && failed.length > 0);
    const left = own.filter(({ counted }) => !counted);
    if (name === "slower") expect(left.length).toBeGreaterThan(0);
    if (name === "untrusted") expect(doubted.length).toBeGreaterThan(0);
    await page.getByText("Drawings as files").click();
    for (const figure of ["p50", "p99"] as const) {
      await page.locator("#slices").getByRole("combobox", { name: "figure" }).selectOption(`response.${figure}`);
      const [plot = ""] = await savedPlots(page, SLICES);
      const labels = labelsOf(plot);
      const [x, y] = [scaleOf(labels.across, false, 1.1), scaleOf(labels.up, true, 1.1)];
      // Second rings are larger.
      const circles = [...plot.matchAll(/M(-?[\d.]+) (-?[\d.]+)L[^A"]*A([\d.]+)/g)].map(([, right, at, radius]) => ({ middle: [Number(right) - Number(radius), Number(at)] as const, isSecond: Number(radius) > 3.9 }));
      const circled = (second: boolean) => circles.filter(({ isSecond }) => isSecond === second).map(({ middle }) => middle);
      const value = ({ response }: Slice) => response[figure];
      expectMarks(circled(false), own.filter(({ counted }) => counted), x, y, value, "slice");
      expectMarks(circled(true), doubted, x, y, value, "second ring");
      expectMarks(middles(plot, CROSS), left, x, y, value, "cross");
      expectDeployments(plot, inTime(slices, cells), x);
    }
  });
}

test("the rate asked for is drawn where it is", async ({ page }) => {
  await open(page, "slower");
  const asked = [...new Set(resultOf("slower").cells.map(({ rate_per_second: rate }) => rate))];
  await page.locator("#slices").getByRole("combobox", { name: "figure" }).selectOption("rate");
  await page.getByText("Drawings as files").click();
  const [plot = ""] = await savedPlots(page, SLICES);
  const y = scaleOf(labelsOf(plot).up, false, 1.1);
  // In the ink, as no other line is.
  const drawn = [...plot.matchAll(/<path d="M[\d.]+ ([\d.]+)L[\d.]+ \1" fill="none" stroke="#1b2330"/g)].map(([, place]) => Number(place));
  expect(drawn.length).toBe(asked.length);
  asked.forEach((rate, at) => expectPlace(drawn[at] ?? NaN, y.place(rate ?? NaN), "rate", 2));
});

for (const name of ["slower", ...MEASURED]) {
  test(`what probes saw in each slice of ${name} is drawn where it is`, async ({ page }) => {
    await open(page, name);
    const result = resultOf(name);
    const headings = await page.locator("#probes .probe h3").evaluateAll((all) => all.map((heading) => heading.firstChild?.textContent?.trim() ?? ""));
    await page.getByText("Drawings as files").click();
    const plots = await savedPlots(page, PROBES);
    expect(plots.length).toBeGreaterThan(0);
    expect(plots.length).toBe(headings.length);
    for (const [which, plot] of plots.entries()) {
      const probe = probesOf(result).find(({ label }) => label === headings[which]);
      if (probe === undefined) throw new Error(`no probe ${headings[which]}`);
      const labels = labelsOf(plot);
      const [x, y] = [scaleOf(labels.across, false, 1.1), scaleOf(labels.up, false, 1.1)];
      // Of each cell those that count come first.
      const own = result.cells.flatMap((cell) => inTime(result.slices, [cell]).sort((one, other) => Number(other.counted) - Number(one.counted)));
      const seen = own.filter((slice) => observed(slice, probe) !== undefined);
      expectMarks(middles(plot, SQUARE), seen, x, y, (slice) => observed(slice, probe) ?? NaN, probe.label);
      expectDeployments(plot, inTime(result.slices, result.cells), x);
    }
  });
}

type Times = readonly [from: number, to: number];

/** From when to when the plots of slices and of probes show, s, by their axes. */
async function shownTimes(page: Page): Promise<Times[]> {
  const plots = [...(await savedPlots(page, SLICES)), ...(await savedPlots(page, PROBES))];
  const areas = await page.locator("#slices .u-over, #probes .u-over").evaluateAll((all) => (all as HTMLElement[]).map(({ offsetLeft, offsetWidth }) => [offsetLeft, offsetLeft + offsetWidth] as const));
  expect(plots.length).toBeGreaterThan(1);
  expect(plots.length).toBe(areas.length);
  return plots.map((plot, at) => {
    const { value } = scaleOf(labelsOf(plot).across, false, 1.1);
    const [left = NaN, right = NaN] = areas[at] ?? [];
    return [value(left) / 1e9, value(right) / 1e9];
  });
}

/** Whether all plots show the same times. */
function expectTimes(shown: Times[], [from, to]: Times): void {
  for (const [begin, end] of shown) {
    expectPlace(begin, from, "begin", 0.03 * (to - from));
    expectPlace(end, to, "end", 0.03 * (to - from));
  }
}

test("what is dragged over among the slices is all that slices and probes show, until a double click", async ({ page }) => {
  await open(page, "slower");
  await page.getByText("Drawings as files").click();
  const [whole] = await shownTimes(page);
  if (whole === undefined) throw new Error("no plot");
  const [from, to] = whole;
  const over = page.locator("#slices .u-over");
  await over.scrollIntoViewIfNeeded();
  const box = await over.boundingBox();
  if (box === null) throw new Error("no plot");
  await page.mouse.move(box.x + 0.1 * box.width, box.y + 20);
  await page.mouse.down();
  await page.mouse.move(box.x + 0.3 * box.width, box.y + 20, { steps: 5 });
  await page.mouse.up();
  await expect(page.getByRole("dialog")).toHaveCount(0);
  expectTimes(await shownTimes(page), [from + 0.1 * (to - from), from + 0.3 * (to - from)]);
  await page.locator("#probes .u-over").first().dblclick();
  expectTimes(await shownTimes(page), whole);
});

test("a click on a slice opens it, and a double click does not", async ({ page }) => {
  await open(page, "slower");
  await page.getByRole("slider", { name: "slice" }).fill("20");
  const box = await page.locator("#slices .marked").boundingBox();
  if (box === null) throw new Error("no ring");
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
  await page.mouse.dblclick(x, y);
  // Longer than it waits for a second click.
  await page.waitForTimeout(600);
  await expect(page.locator("dialog")).toHaveCount(0);
  await page.mouse.click(x, y);
  await expect(page.getByRole("dialog")).toBeVisible();
});

test("the buttons zoom around the slice that is chosen, and out to all of them", async ({ page }) => {
  await open(page, "slower");
  const { cells, slices } = resultOf("slower");
  const at = 20;
  const chosen = inTime(slices, cells)[at];
  if (chosen === undefined) throw new Error("no slice");
  const zoomIn = page.getByRole("button", { name: "Zoom in" });
  await expect(zoomIn).toBeDisabled();
  await page.getByText("Drawings as files").click();
  const [whole] = await shownTimes(page);
  if (whole === undefined) throw new Error("no plot");
  await page.getByRole("slider", { name: "slice" }).fill(String(at));
  for (const parts of [4, 16]) {
    await zoomIn.press("Enter");
    const half = (whole[1] - whole[0]) / parts / 2;
    expectTimes(await shownTimes(page), [when(chosen) - half, when(chosen) + half]);
  }
  await page.getByRole("button", { name: "Zoom out" }).press("Enter");
  expectTimes(await shownTimes(page), whole);
});
