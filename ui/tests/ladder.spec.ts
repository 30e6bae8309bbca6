// Every figure of a ladder, and of what was seen in the kernel, is the one in the JSON.
import { expect, test } from "@playwright/test";
import { expectFigure, open, resultOf } from "./pages";
import { SIGNS, armOf, expectSpread, linesOf } from "./shown";

test("each layer, their sum and its residual show the figures of the ladder", async ({ page }) => {
  await open(page, "layers");
  const result = resultOf("layers");
  const drawn = await page.locator("section").filter({ has: page.locator("table.layers") }).evaluateAll((sections) =>
    sections.map((section) => ({
      title: section.querySelector("h2")?.textContent ?? "",
      unit: (section.querySelector("thead")?.textContent ?? "").trim().split(/\s+/).at(-1) ?? "",
      rows: [...section.querySelectorAll("tbody tr")].map((row) => [row.className, row.querySelector("td.number")?.textContent ?? ""] as const),
    })),
  );
  let at = 0;
  for (const ladder of result.ladders) {
    for (const sum of ladder.sums) {
      for (const [metric, heading] of [["response.p50.paired", "p50"], ["cpu.path", "CPU per request"]] as const) {
        const total = sum.rows.find((row) => row.metric === metric);
        const drawing = drawn[at++];
        if (total === undefined || drawing === undefined) throw new Error(`no ${metric}`);
        expect(drawing.title).toContain(heading);
        const layers = sum.path.filter((cell) => cell !== ladder.bottom).map((cell) => {
          const rung = ladder.rungs.find((each) => each.cell === cell);
          const row = result.contrasts[rung?.contrast ?? -1]?.rows.find((each) => each.metric === metric);
          return { kind: "layer", value: row?.difference, interval: row?.interval };
        });
        const whole = [["sum", total.sum], ["whole", total.end_to_end], ["residual", total.residual]] as const;
        const expected = [...layers, ...whole.flatMap(([kind, estimate]) => (estimate ? [{ kind, ...estimate }] : []))];
        expect(drawing.rows.map(([kind]) => kind)).toEqual(expected.map(({ kind }) => kind));
        for (const [line, { value, interval }] of expected.entries()) {
          const told = /^(\S+)(?: ±(\S+))?/.exec(drawing.rows[line]?.[1].trim() ?? "");
          if (value === undefined || told === null) throw new Error(`no figure in row ${line}`);
          expectFigure(`${told[1]} ${drawing.unit}`, value);
          expect(told[2] !== undefined).toBe(interval != null);
          if (interval) expectFigure(`${told[2]} ${drawing.unit}`, Math.max(interval[1] - value, value - interval[0]));
        }
      }
    }
  }
  expect(drawn.length).toBe(at);
});

test("all layers in a table show the figures of the ladder", async ({ page }) => {
  await open(page, "layers");
  const { cells, contrasts, ladders } = resultOf("layers");
  const ladder = ladders[0];
  if (ladder === undefined) throw new Error("no ladder");
  const section = page.locator("section").filter({ has: page.getByRole("heading", { name: "All layers", exact: true }) });
  const METRICS: Record<string, string> = { p50: "response.p50.paired", p99: "response.p99.paired", "CPU per request": "cpu.path", softirqs: "softirqs", "context switches": "switches" };
  const headings = (await section.locator("thead tr > *").allTextContents()).slice(1);
  const lines = await linesOf(section.locator("table"));
  const tops = ladder.sums.flatMap(({ rows }) => (rows.some(({ end_to_end }) => end_to_end) ? ["sum", "end_to_end", "residual"] as const : ["sum"] as const).map((part) => ({ part, rows })));
  expect(lines.length).toBe(1 + ladder.rungs.length + tops.length);
  expect(headings).toEqual(["p50", "CPU per request"]);
  for (const [column, heading] of headings.entries()) {
    const metric = METRICS[heading];
    const [bottom = "", ...texts] = lines.map((line) => line[column + 1] ?? "");
    expectFigure(bottom, cells[ladder.bottom]?.figures.find((figure) => figure.metric === metric)?.value ?? NaN);
    const unit = bottom.split(" ").at(-1) ?? "";
    const figure = (text: string, word: string) => {
      expect(text.endsWith(word), `“${text}” ends with ${word}`).toBe(true);
      return text.slice(0, text.length - word.length).trim();
    };
    for (const [at, { cell, contrast }] of ladder.rungs.entries()) {
      const row = contrasts[contrast]?.rows.find((each) => each.metric === metric);
      if (row === undefined) throw new Error(`no ${metric}`);
      expect(lines[at + 1]?.[0]).toContain(`+ ${cells[cell]?.label}`);
      expectSpread(figure(texts[at] ?? "", SIGNS[row.verdict] ?? ""), unit, row.difference, armOf(row.difference, row.interval));
    }
    for (const [at, { part, rows }] of tops.entries()) {
      const row = rows.find((each) => each.metric === metric);
      const estimate = row?.[part];
      if (!row || !estimate) throw new Error(`no ${part} of ${metric}`);
      const word = part !== "residual" ? "" : row.closes === true ? "closes" : row.closes === false ? "open" : "?";
      expectSpread(figure(texts[ladder.rungs.length + at] ?? "", word), unit, estimate.value, armOf(estimate.value, estimate.interval));
    }
  }
  // The same in a sentence for each top.
  for (const { top, path, rows } of ladder.sums) {
    const { sum } = rows.find(({ metric }) => metric === "response.p50.paired") ?? {};
    const told = await page.locator("ul.answers li").filter({ hasText: `${cells[top]?.label}: ` }).innerText();
    const [, whole = "", unit, low, high, most = ""] = /: (\S+ (\S+)) at the median \[(\S+), (\S+)\]; most of it: (.*)\.$/.exec(told) ?? [];
    expectFigure(whole, sum?.value ?? NaN);
    expectFigure(`${low} ${unit}`, sum?.interval?.[0] ?? NaN);
    expectFigure(`${high} ${unit}`, sum?.interval?.[1] ?? NaN);
    const costs = ladder.rungs.filter(({ cell }) => path.includes(cell)).flatMap(({ cell, contrast }) => {
      const row = contrasts[contrast]?.rows.find(({ metric }) => metric === "response.p50.paired");
      return row?.verdict === "slower" ? [{ label: cells[cell]?.label, cost: row.difference }] : [];
    });
    const named = most.split(", ");
    costs.sort((one, other) => other.cost - one.cost).slice(0, 3).forEach(({ label, cost }, at) => {
      expect(named[at]?.startsWith(`${label} `)).toBe(true);
      expectFigure(named[at]?.slice(label?.length) ?? "", cost);
    });
    expect(named.length).toBe(Math.min(costs.length, 3));
  }
});

test("what was seen in the kernel shows the figures of the JSON", async ({ page }) => {
  await open(page, "layers");
  const { cells, contrasts, ladders } = resultOf("layers");
  const bottom = cells[ladders[0]?.bottom ?? NaN];
  const seen = bottom?.seen;
  if (bottom === undefined || !seen) throw new Error("nothing was seen");
  const section = page.locator("section").filter({ has: page.getByRole("heading", { name: "In the kernel", exact: true }) });
  const [first = [], ...others] = await linesOf(section.locator("table"));
  const [label, difference = "", sampled = "", , where = ""] = first;
  expect(label).toBe(bottom.label);
  expectFigure(difference, bottom.figures.find(({ metric }) => metric === "cpu.path")?.value ?? NaN);
  const total = Object.values(seen.cpu_ns_by_layer).reduce((sum, ns) => sum + ns, 0);
  expectFigure(sampled, total);
  const unit = sampled.split(" ").at(-1) ?? "";
  /** The largest four, but for those that are hardly there. */
  const expectWhere = (text: string, layers: (readonly [string, number])[]) => {
    const expected = layers.filter(([, ns]) => Math.abs(ns) >= 0.002 * total).sort(([, one], [, other]) => Math.abs(other) - Math.abs(one)).slice(0, 4);
    const shown = text === "" ? [] : text.split(", ");
    expect(shown.length).toBe(expected.length);
    for (const [at, [layer, ns]] of expected.entries()) {
      const [, name, figure = ""] = /^(.*) (\S+)$/.exec(shown[at] ?? "") ?? [];
      expect(name).toBe(layer.replaceAll("-", " "));
      expectFigure(`${figure} ${unit}`, ns);
    }
  };
  expectWhere(where, Object.entries(seen.cpu_ns_by_layer));
  const compared = (ladders[0]?.rungs ?? []).flatMap(({ contrast }) => (contrasts[contrast] === undefined ? [] : [contrasts[contrast]]));
  expect(others.length).toBe(compared.length);
  const halfOf = (interval: readonly number[] | null | undefined) => (interval ? ((interval[1] ?? NaN) - (interval[0] ?? NaN)) / 2 : undefined);
  for (const [at, { candidate, rows, seen }] of compared.entries()) {
    const [label, difference = "", sampled = "", word, where = ""] = others[at] ?? [];
    const row = rows.find(({ metric }) => metric === "cpu.path");
    if (row === undefined || !seen) throw new Error(`nothing was seen of ${label}`);
    expect(label).toBe(`+ ${cells[candidate]?.label}`);
    expectSpread(difference, unit, row.difference, halfOf(row.interval));
    expectSpread(sampled, unit, seen.total.value, halfOf(seen.total.interval));
    expect(word).toBe(seen.agrees === true ? "agree" : seen.agrees === false ? "disagree" : "?");
    const resolved = seen.layers.filter(({ difference: { interval } }) => !interval || interval[0] > 0 || interval[1] < 0);
    expectWhere(where, resolved.map(({ layer, difference }) => [layer, difference.value] as const));
  }
});
