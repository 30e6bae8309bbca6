// What each kind of figure rests on is a click away, wherever the figure stands.
import AxeBuilder from "@axe-core/playwright";
import { expect, test } from "@playwright/test";
import type { Locator, Page } from "@playwright/test";
import { loadName } from "../src/cells";
import type { Cell, RunResult, Slice } from "../src/generated/result";
import { SCHEMES, expectFigure, expectToFit, open, resultOf } from "./pages";

/** Opens a figure by keyboard, looks at what it shows, and closes it. */
async function look(page: Page, figure: Locator, expectShown: () => Promise<void>): Promise<void> {
  await expect(figure).toHaveAttribute("aria-haspopup", "dialog");
  await figure.press("Enter");
  await expectShown();
  await page.keyboard.press("Escape");
  await expect(page.getByRole("dialog")).toBeHidden();
  await expect(figure).toBeFocused();
}

function fact(page: Page, term: string): Promise<string> {
  return page.getByRole("dialog").locator(".facts > div").filter({ has: page.getByText(term, { exact: true }) }).locator("dd").innerText();
}

async function expectDeployments(page: Page, cells: Cell[]): Promise<void> {
  const lines = await page.getByRole("dialog").getByRole("group", { name: "deployments" }).locator("tbody tr").evaluateAll((rows) =>
    rows.map((row) => [...row.querySelectorAll("td")].map((cell) => cell.textContent ?? "")),
  );
  const expected = cells.flatMap(({ deployments }) => deployments);
  expect(lines.length).toBe(expected.length);
  for (const [at, deployment] of expected.entries()) {
    const [, p50, mean, p99, rate] = lines[at] as string[];
    expectFigure(p50 ?? "", deployment.response_p50_ns ?? NaN);
    expectFigure(mean ?? "", deployment.response_mean_ns);
    expectFigure(p99 ?? "", deployment.response_p99_ns);
    expectFigure(rate ?? "", deployment.rate_per_second);
  }
}

const OF_SLICES: Record<string, (slice: Slice) => number> = {
  "response.p50": ({ response }) => response.p50,
  "response.p99": ({ response }) => response.p99,
  "response.mean": (slice) => slice.response_mean_ns,
  errors: ({ errors, due }) => Object.values(errors).reduce((sum, count) => sum + count, 0) / due,
};

/** The dialog shows a cell's own figure, with all that it was made of. */
async function expectOwn(page: Page, { slices }: RunResult, cell: Cell, metric: string): Promise<void> {
  const found = cell.figures.find((each) => each.metric === metric);
  if (found === undefined) throw new Error(`no ${metric} of ${cell.label}`);
  const dialog = page.getByRole("dialog");
  await expect(dialog.getByRole("heading").first()).toHaveText(`${found.label.trim()}: ${cell.label}`);
  expectFigure(await fact(page, "value"), found.value);
  const interval = await fact(page, "interval");
  if (found.t_interval) found.t_interval.forEach((end, which) => expectFigure(interval.split(" to ")[which] ?? "", end));
  else expect(interval).toBe("none");
  expect(await fact(page, "load")).toBe(loadName(cell));
  expect(Number((await fact(page, "answered")).replaceAll(",", ""))).toBe(cell.answered);
  await expect(dialog.getByRole("img", { name: /^Histogram of/ })).toHaveCount(metric.startsWith("response.") ? 1 : 0);
  await expectDeployments(page, [cell]);
  await dialog.locator("summary", { hasText: "slices" }).click();
  const own = slices.filter((slice) => slice.cell === cell.id);
  expect(own.length).toBeGreaterThan(0);
  const lines = dialog.getByRole("group", { name: "slices" }).locator("tbody tr");
  await expect(lines).toHaveCount(own.length);
  const ofSlice = OF_SLICES[metric];
  if (ofSlice === undefined) return;
  const texts = await lines.locator("td:nth-child(3)").allTextContents();
  own.forEach((slice, at) => expectFigure(texts[at] ?? "", ofSlice(slice)));
}

/** The dialog shows a row of a comparison. */
async function expectCompared(page: Page, { cells, contrasts }: RunResult, at: number, metric: string): Promise<void> {
  const contrast = contrasts[at];
  const row = contrast?.rows.find((each) => each.metric === metric);
  const [baseline, candidate] = [contrast?.baseline, contrast?.candidate].map((id) => cells[id ?? -1]);
  if (row === undefined || baseline === undefined || candidate === undefined) throw new Error(`no ${metric} in contrast ${at}`);
  await expect(page.getByRole("dialog").getByRole("heading").first()).toHaveText(`${row.label.trim()}: ${candidate.label} against ${baseline.label}`);
  expectFigure(await fact(page, baseline.label), row.baseline);
  expectFigure(await fact(page, candidate.label), row.candidate);
  expectFigure((await fact(page, "margin")).replace("±", ""), row.margin);
  expect(await fact(page, "verdict")).toContain(row.verdict);
  await expectDeployments(page, [baseline, candidate]);
}

function sectionOf(page: Page, heading: string): Locator {
  return page.locator("section").filter({ has: page.getByRole("heading", { name: heading, exact: true }) });
}

test("the figures of what is compared with nothing", async ({ page }) => {
  const faults = await open(page, "alone");
  const result = resultOf("alone");
  const cells = result.cells.filter(({ role, answered }) => role !== "twin" && answered > 0);
  const lines = sectionOf(page, "All figures").locator("tbody tr");
  let looked = 0;
  for (const line of await lines.all()) {
    const label = (await line.locator("th").innerText()).trim();
    for (const [at, cell] of cells.entries()) {
      const found = cell.figures.find((each) => each.primary === true && each.label.trim() === label);
      if (found === undefined) continue;
      await look(page, line.locator("td").nth(2 * at).getByRole("button"), () => expectOwn(page, result, cell, found.metric));
      looked += 1;
    }
  }
  expect(looked).toBe(cells.flatMap(({ figures }) => figures.filter(({ primary }) => primary)).length);
  expect(faults).toEqual([]);
});

test("the figures of cells, in any order", async ({ page }) => {
  await open(page, "platforms");
  const result = resultOf("platforms");
  const section = page.locator("#cell-table");
  const first = loadName(result.cells[0] as Cell);
  const cells = result.cells.filter((cell) => cell.role !== "twin" && cell.answered > 0 && loadName(cell) === first);
  const headings = section.locator("thead button");
  const p50 = (await headings.allInnerTexts()).indexOf("response p50");
  // By their p50, the largest first.
  await headings.nth(p50).click();
  await headings.nth(p50).click();
  const value = (cell: Cell) => cell.figures.find(({ metric }) => metric === "response.p50")?.value ?? 0;
  const expected = cells.toSorted((one, other) => value(other) - value(one));
  for (const at of [0, expected.length - 1]) {
    const figure = section.locator("tbody tr").nth(at).locator("td").nth(p50).getByRole("button");
    await look(page, figure, () => expectOwn(page, result, expected[at] as Cell, "response.p50"));
  }
});

for (const name of ["limits", "connections"]) {
  test(`the figures of the sweeps of ${name}`, async ({ page }) => {
    test.slow();
    await open(page, name);
    const result = resultOf(name);
    const tables = sectionOf(page, "One number changed").locator("table");
    expect(await tables.count()).toBe(result.sweeps?.length);
    for (const [which, { points }] of (result.sweeps ?? []).entries()) {
      const table = tables.nth(which);
      const headings = (await table.locator("thead th").allTextContents()).slice(1);
      for (const at of [0, points.length - 1]) {
        const cell = result.cells[points[at]?.cell ?? -1];
        if (cell === undefined) throw new Error("no cell");
        for (const [column, heading] of headings.entries()) {
          const metric = cell.figures.find(({ label }) => label.trim() === heading)?.metric ?? "";
          const figure = table.locator("tbody tr").nth(at).locator("td").nth(column).getByRole("button");
          await look(page, figure, () => expectOwn(page, result, cell, metric));
        }
      }
    }
  });
}

test("the rungs of a ladder, in its table and drawn", async ({ page }) => {
  test.slow();
  await open(page, "layers");
  const result = resultOf("layers");
  const METRICS = [["p50", "response.p50.paired"], ["CPU per request", "cpu.path"]] as const;
  const tables = sectionOf(page, "All layers").locator("table");
  const drawn = page.locator("table.layers");
  let drawing = 0;
  for (const [at, { bottom, rungs, sums }] of result.ladders.entries()) {
    const lines = tables.nth(at).locator("tbody tr");
    const headings = await tables.nth(at).locator("thead th").allTextContents();
    for (const [heading, metric] of METRICS) {
      const column = headings.indexOf(heading);
      const figure = (line: number) => lines.nth(line).locator("td").nth(column).getByRole("button");
      await look(page, figure(0), () => expectOwn(page, result, result.cells[bottom] as Cell, metric));
      for (const [line, { contrast }] of rungs.entries()) await look(page, figure(line + 1), () => expectCompared(page, result, contrast, metric));
    }
    // What is added up rests on the rungs above it.
    await expect(lines.getByRole("button")).toHaveCount((rungs.length + 1) * METRICS.length);
    for (const { path } of sums) {
      const layers = path.filter((cell) => cell !== bottom).map((cell) => rungs.find((rung) => rung.cell === cell)?.contrast ?? -1);
      for (const [, metric] of METRICS) {
        const steps = drawn.nth(drawing++).getByRole("button");
        await expect(steps).toHaveCount(layers.length);
        for (const [step, contrast] of layers.entries()) await look(page, steps.nth(step), () => expectCompared(page, result, contrast, metric));
      }
    }
  }
  await expect(drawn).toHaveCount(drawing);
});

test("the figures that claims are judged by", async ({ page }) => {
  await open(page, "many");
  const result = resultOf("many");
  const items = page.locator("ul.claims > li");
  await expect(items).toHaveCount(result.claims.length);
  for (const [at, { findings, metric }] of result.claims.entries()) {
    const figures = items.nth(at).getByRole("button");
    await expect(figures).toHaveCount(findings.length);
    const last = findings.length - 1;
    const contrast = result.contrasts.findIndex(({ candidate }) => candidate === findings[last]?.cell);
    const row = result.contrasts[contrast]?.rows.find(({ label }) => label === metric);
    await look(page, figures.nth(last), () => expectCompared(page, result, contrast, row?.metric ?? ""));
  }
});

test("the figures of many comparisons at a glance, and of their baselines", async ({ page }) => {
  await open(page, "many");
  const result = resultOf("many");
  const lines = sectionOf(page, "At a glance").locator("table").first().locator("tbody tr");
  const baselines = [...new Set(result.contrasts.map(({ baseline }) => baseline))];
  await expect(lines).toHaveCount(baselines.length);
  for (const line of [0, baselines.length - 1]) {
    const figures = lines.nth(line).getByRole("button");
    const compared = [...result.contrasts.entries()].filter(([, { baseline }]) => baseline === baselines[line]).map(([at]) => at);
    await expect(figures).toHaveCount(compared.length + 1);
    await look(page, figures.first(), () => expectCompared(page, result, compared[0] ?? -1, "response.p50"));
    await look(page, figures.last(), () => expectCompared(page, result, compared.at(-1) ?? -1, "response.p50"));
  }
});

test("the answer, and the differences that are drawn", async ({ page }) => {
  await open(page, "slower");
  const result = resultOf("slower");
  const figures = page.locator("header dl.facts").getByRole("button");
  await expect(figures).toHaveCount(3);
  for (const figure of await figures.all()) await look(page, figure, () => expectCompared(page, result, 0, "response.p50"));
  const lines = await page.locator("table.drawn tbody tr").all();
  expect(lines.length).toBeGreaterThan(0);
  for (const line of lines) {
    const label = await line.locator("th").innerText();
    const row = result.contrasts[0]?.rows.find((each) => each.primary && each.label === label);
    await look(page, line.getByRole("button"), () => expectCompared(page, result, 0, row?.metric ?? ""));
  }
});

test("a capacity leads to the rates that were tried, and so does every figure at it", async ({ page }) => {
  const { capacities, cells } = resultOf("capacities");
  if (!capacities) throw new Error("no capacities");
  for (const [at, { cell, curve }] of capacities.cells.entries()) {
    const faults = await open(page, "capacities");
    const trials = page.locator(`#trials-${cell}`);
    await expect(trials).toBeHidden();
    await sectionOf(page, "Capacities").locator("tbody tr").nth(at).getByRole("link").press("Enter");
    await expect(trials).toBeInViewport();
    await expect(trials.locator("tbody tr")).toHaveCount(curve.length);
    expect(faults).toEqual([]);
  }
  await open(page, "capacities");
  const [first] = capacities.cells;
  await sectionOf(page, "All figures").locator("tbody tr").first().getByRole("button").first().click();
  const dialog = page.getByRole("dialog");
  // The slices of all rates would be no evidence of figures at one of them.
  await expect(dialog).toContainText("Made of the slices at the capacity");
  await expect(dialog.locator("summary", { hasText: "slices" })).toHaveCount(0);
  await dialog.getByRole("link", { name: `rates that were tried, ${cells[first?.cell ?? -1]?.label}` }).press("Enter");
  await expect(dialog).toBeHidden();
  await expect(page.locator(`#trials-${first?.cell}`)).toBeFocused();
  const compared = page.locator("section").filter({ hasText: "All at the same rate" }).locator("tbody tr").first().getByRole("link");
  const [contrast] = capacities.at_the_same_rate;
  expect(await compared.evaluateAll((links) => links.map((link) => link.getAttribute("href")))).toEqual([`#trials-${contrast?.baseline}`, `#trials-${contrast?.candidate}`]);
});

test("the slices of a figure list none where they have no such figure", async ({ page }) => {
  await open(page, "slower");
  const headings = async (metric: string) => {
    await page.locator(`tr[data-metric="${metric}"]`).getByRole("button").click();
    const dialog = page.getByRole("dialog");
    await dialog.locator("summary", { hasText: "slices" }).click();
    const slices = dialog.getByRole("group", { name: "slices" });
    await expect(slices).toBeVisible();
    const texts = await slices.locator("thead th").allTextContents();
    await page.keyboard.press("Escape");
    await expect(dialog).toBeHidden();
    return texts;
  };
  expect(await headings("response.p99")).toEqual(["slice", "at", "response p99", "answered", "gates"]);
  expect(await headings("CPU.per.request")).toEqual(["slice", "at", "answered", "gates"]);
});

test("the machine, the plan, the seed, the experiment and the command are one step from any figure", async ({ page }) => {
  const faults = await open(page, "slower");
  const { machine, run, cells } = resultOf("slower");
  const places = [
    ["machine", "machine", machine.cpu_model ?? ""],
    ["plan", "plan", cells[0]?.load ?? ""],
    ["seed", "seed", String(run.seed)],
    ["experiment file", "experiment", JSON.stringify(Object.keys(run.experiment as object)[0])],
    ["command", "command", run.command_line[0] ?? ""],
  ] as const;
  await page.locator("table[data-contrast] button").first().click();
  await expect(page.getByRole("dialog").getByRole("link")).toHaveText(places.map(([name]) => name));
  await page.keyboard.press("Escape");
  for (const [name, id, text] of places) {
    await page.locator("table[data-contrast] button").first().click();
    await page.getByRole("dialog").getByRole("link", { name, exact: true }).press("Enter");
    await expect(page.getByRole("dialog")).toBeHidden();
    await expect(page.locator(`#${id}`)).toBeFocused();
    await expect(page.locator(`#${id}`)).toBeInViewport();
    expect(text).not.toBe("");
    await expect(page.locator(`#${id}`)).toContainText(text);
  }
  expect(faults).toEqual([]);
});

/** A figure of each kind. */
const KINDS = [
  ["alone", "span[data-cell] button"],
  ["platforms", "#cell-table td button"],
  ["limits", "section span[data-cell] button"],
  ["capacities", "span[data-cell] button"],
  ["layers", "tr.layer button"],
  ["many", "ul.claims button"],
  ["slower", "header button"],
] as const;

for (const [name, figure] of KINDS) {
  test(`a figure of ${name} opens on a telephone, in either scheme, and axe finds nothing`, async ({ page }) => {
    await page.setViewportSize({ width: 390, height: 844 });
    for (const colorScheme of SCHEMES) {
      await page.emulateMedia({ colorScheme });
      await open(page, name);
      await page.locator(figure).first().click();
      await expect(page.getByRole("dialog")).toBeVisible();
      await expectToFit(page);
      const { violations } = await new AxeBuilder({ page }).include("dialog").analyze();
      expect(violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html).slice(0, 3)]), colorScheme).toEqual([]);
    }
  });

  test(`a figure of ${name} is text on paper`, async ({ page }) => {
    await open(page, name);
    await page.emulateMedia({ media: "print" });
    const styles = await page.locator("button.figure, a.figure").evaluateAll((figures) =>
      figures.map((each) => {
        const { backgroundColor, borderStyle, textDecorationLine, color } = getComputedStyle(each);
        return { backgroundColor, borderStyle, textDecorationLine, isInk: color === getComputedStyle(each.parentElement ?? each).color };
      }),
    );
    expect(styles.length).toBeGreaterThan(0);
    for (const style of styles) expect(style).toEqual({ backgroundColor: "rgba(0, 0, 0, 0)", borderStyle: "none", textDecorationLine: "none", isInk: true });
  });
}

test.describe("without scripts", () => {
  test.use({ javaScriptEnabled: false });

  for (const [name] of KINDS) {
    test(`${name} has no buttons`, async ({ page }) => {
      await open(page, name);
      await expect(page.locator("main")).toBeVisible();
      await expect(page.locator("button")).toHaveCount(0);
    });
  }

  test("a capacity leads to the rates that were tried", async ({ page }) => {
    await open(page, "capacities");
    const [first] = resultOf("capacities").capacities?.cells ?? [];
    const trials = page.locator(`#trials-${first?.cell}`);
    await expect(trials).toBeHidden();
    await sectionOf(page, "Capacities").getByRole("link").first().click();
    await expect(trials).toBeVisible();
  });
});
