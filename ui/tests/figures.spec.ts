// Every figure that is shown is the one in the JSON.
import { expect, test } from "@playwright/test";
import type { Cell, Slice } from "../src/generated/result";
import { loadName } from "../src/cells";
import { when } from "../src/data";
import { MEASURED, PAGES, expectFigure, open, resultOf } from "./pages";
import { SIGNS, armOf, expectGates, expectSpread, expectTables, linesOf } from "./shown";

for (const name of PAGES.filter((name) => !name.startsWith("hostile"))) {
  test(`the tables of ${name} show the figures of its JSON`, async ({ page }) => {
    await open(page, name);
    await expectTables(page, resultOf(name));
  });
}

/** What a slice has of the figures that a row may be of. */
const OF_SLICES: Record<string, (slice: Slice) => number> = {
  "response.p50": ({ response }) => response.p50,
  "response.p90": ({ response }) => response.p90,
  "response.p99": ({ response }) => response.p99,
  "response.p99.9": ({ response }) => response.p999,
  "response.mean": (slice) => slice.response_mean_ns,
  "service.p50": ({ service }) => service.p50,
  "service.p99": ({ service }) => service.p99,
  "rate.achieved": (slice) => slice.rate_per_second,
  errors: ({ errors, due }) => Object.values(errors).reduce((sum, count) => sum + count, 0) / due,
  "cpu.service": ({ observations, answered }) => (observations?.service_cpu_ns ?? NaN) / answered,
};

for (const name of ["slower", ...MEASURED]) test(`what a figure of ${name} opens shows the figures of its row, its deployments and all of its slices`, async ({ page }) => {
  // A dialog for each of some twenty figures.
  test.slow();
  const faults = await open(page, name);
  const result = resultOf(name);
  const contrast = result.contrasts[0];
  if (contrast === undefined) throw new Error("no contrast");
  const compared = new Set<string>();
  for (const row of contrast.rows) {
    const line = page.locator(`tr[data-metric="${row.metric}"]:not([data-request])`);
    await line.getByRole("button").click();
    const dialog = page.getByRole("dialog");
    const fact = (term: string) => dialog.locator(".facts > div").filter({ hasText: term }).locator("dd").innerText();
    const [base, other] = [contrast.baseline, contrast.candidate].map((id) => result.cells[id]);
    const cells = (await line.locator("td").allTextContents()).map((text) => text.trim());
    expect([await fact(base?.label ?? ""), await fact(other?.label ?? "")]).toEqual(cells.slice(0, 2));
    expect([await fact("difference"), await fact("interval"), await fact("p (Holm)")]).toEqual([`${cells[2]} ${cells[3]}`.trim(), cells[4] || "none", cells[5] || "none"]);
    expectFigure((await fact("margin")).replace("±", ""), row.margin);
    if (typeof row.resolution === "number") expectFigure(await fact("resolution"), row.resolution);
    expect(await fact("verdict")).toBe(cells[6]);
    const deployments = await dialog.getByRole("group", { name: "deployments" }).locator("tbody tr").evaluateAll((rows) =>
      rows.map((line) => [...line.children].map((cell) => cell.textContent ?? "")),
    );
    const expected = [base, other].flatMap((cell) => cell?.deployments ?? []);
    expect(deployments.length).toBe(expected.length);
    deployments.forEach((cells, at) => {
      expectFigure(cells[2] ?? "", expected[at]?.response_p50_ns ?? NaN);
      expectFigure(cells[3] ?? "", expected[at]?.response_mean_ns ?? NaN);
      expectFigure(cells[4] ?? "", expected[at]?.response_p99_ns ?? NaN);
      expectFigure(cells[5] ?? "", expected[at]?.rate_per_second ?? NaN);
    });
    await dialog.locator("summary", { hasText: "slices" }).click();
    const slices = result.slices.filter(({ cell }) => cell === contrast.baseline || cell === contrast.candidate);
    const ofSlices = dialog.getByRole("group", { name: "slices" }).locator("tbody tr");
    // They are drawn once they are asked for.
    await expect(ofSlices).toHaveCount(slices.length);
    const lines = await ofSlices.evaluateAll((rows) =>
      rows.map((line) => [...line.children].map((cell) => cell.textContent ?? "")),
    );
    lines.forEach((cells, at) => {
      expectFigure(cells[1] ?? "", when(slices[at] as Slice) * 1e9);
      // Before the gates; a figure that slices do not have has no column.
      expect(Number(cells.at(-2))).toBe(slices[at]?.answered);
    });
    const ofSlice = OF_SLICES[row.metric.replace(/\.(paired|undisturbed)$/, "")];
    if (ofSlice !== undefined) {
      compared.add(row.metric);
      lines.forEach((cells, at) => expectFigure(cells[2] ?? "", ofSlice(slices[at] as Slice)));
    }
    await page.keyboard.press("Escape");
    await expect(dialog).toBeHidden();
  }
  expect([...compared]).toEqual(expect.arrayContaining(name === "slower" ? ["response.p50", "response.p99"] : ["response.p50", "response.p99", "response.mean", "service.p99", "cpu.service", "rate.achieved", "errors"]));
  expect(faults).toEqual([]);
});

for (const name of MEASURED) test("a figure of one request shows nothing of the others", async ({ page }) => {
  expect(resultOf(name).contrasts[0]?.by_request?.length).toBe(2);
  const faults = await open(page, name);
  const line = page.locator("tr[data-request][data-metric]").first();
  // Figures by request are folded.
  for (const folded of await page.locator("main > section > details > summary, main details > summary").all()) await folded.click();
  const request = (await line.getAttribute("data-request")) ?? "";
  await line.getByRole("button").click();
  const dialog = page.getByRole("dialog");
  await expect(dialog.getByRole("heading").first()).toContainText(request);
  await expect(dialog).toContainText("for all requests together");
  await expect(dialog.getByRole("group", { name: "deployments" })).toHaveCount(0);
  expect(faults).toEqual([]);
});

test("the figures of what is compared with nothing are those of the JSON", async ({ page }) => {
  const faults = await open(page, "alone");
  const cells = resultOf("alone").cells.filter(({ role, answered }) => role !== "twin" && answered > 0);
  const section = page.locator("section").filter({ has: page.getByRole("heading", { name: "All figures", exact: true }) });
  const lines = await section.locator("tbody tr").evaluateAll((rows) => rows.map((row) => [...row.children].map((cell) => cell.textContent?.trim() ?? "")));
  expect(lines.length).toBeGreaterThan(0);
  for (const [label, ...texts] of lines) {
    cells.forEach((cell, at) => {
      const figure = cell.figures.find((each) => each.primary && each.label.trim() === label);
      const [value = "", interval = ""] = texts.slice(2 * at, 2 * at + 2);
      if (figure === undefined) return expect(value).toBe("");
      expectFigure(value, figure.value);
      const unit = /[^\d.,+−]*$/.exec(value)?.[0] ?? "";
      const ends = /\[(.*)\]/.exec(interval)?.[1]?.split(", ") ?? [];
      expect(ends.length).toBe(figure.t_interval ? 2 : 0);
      ends.forEach((end, which) => expectFigure(`${end}${unit}`, figure.t_interval?.[which] ?? NaN));
    });
  }
  expect(faults).toEqual([]);
});

for (const name of ["platforms", "many"]) {
  test(`the cells of ${name} show their own figures, under every load`, async ({ page }) => {
    await open(page, name);
    const { cells } = resultOf(name);
    const section = page.locator("section").filter({ has: page.getByRole("heading", { name: "Cell by cell" }) });
    const asked = cells.filter(({ role, answered }) => role !== "twin" && answered > 0);
    let shown = 0;
    for (const load of new Set(asked.map(loadName))) {
      const choice = section.getByRole("combobox", { name: "load" });
      if ((await choice.count()) > 0) await choice.selectOption(load);
      const headings = await section.locator("thead button").allInnerTexts();
      const rows = await section.locator("tbody tr").evaluateAll((lines) =>
        lines.map((line) => ({
          label: line.querySelector("th")?.textContent,
          cells: [...line.querySelectorAll("td")].map((cell) => [cell.firstChild?.textContent ?? "", cell.querySelector(".ends")?.textContent ?? ""] as const),
        })),
      );
      const expected = asked.filter((cell) => loadName(cell) === load);
      expect(rows.map(({ label }) => label)).toEqual(expected.map(({ label }) => label));
      for (const [at, row] of rows.entries()) {
        for (const [column, [value, ends]] of row.cells.entries()) {
          const found = expected[at]?.figures.find(({ label, primary }) => primary === true && label.trim() === headings[column]);
          if (found === undefined) {
            expect(value).toBe("");
            continue;
          }
          expectFigure(value, found.value);
          expect(ends !== "").toBe(found.t_interval != null);
          found.t_interval?.forEach((end, which) => expectFigure(ends.split(" to ")[which] ?? "", end));
          shown += 1;
        }
      }
    }
    expect(shown).toBeGreaterThan(0);
  });
}

test("the answer and the claims show the figures of the JSON", async ({ page }) => {
  await open(page, "claims");
  const { cells, claims, contrasts } = resultOf("claims");
  const contrast = contrasts[0];
  const row = contrast?.rows.find(({ metric }) => metric === "response.p50");
  if (contrast === undefined || row === undefined) throw new Error("no contrast");
  const fact = (term: string) => page.locator("header dl.facts > div").filter({ has: page.getByText(term, { exact: true }) }).locator("dd").innerText();
  expectFigure(await fact(cells[contrast.baseline]?.label ?? ""), row.baseline);
  expectFigure(await fact(cells[contrast.candidate]?.label ?? ""), row.candidate);
  expectFigure(await fact("difference"), row.difference);
  const unit = (await fact("difference")).split(" ").at(-1);
  const ends = (await fact("95 % interval")).replace(/[[\]]/g, "").split(", ");
  expect(row.interval).toBeDefined();
  row.interval?.forEach((end, which) => expectFigure(`${ends[which]} ${unit}`, end));
  expectFigure(await fact("resolution"), row.resolution ?? NaN);
  expect(await fact("verdict")).toContain(row.verdict);

  const told = await page.locator("ul.claims > li").evaluateAll((items) =>
    items.map((item) => ({ text: item.querySelector("p")?.textContent ?? "", findings: [...item.querySelectorAll("li")].map((line) => line.textContent ?? "") })),
  );
  expect(told.length).toBe(claims.length);
  for (const [at, claim] of claims.entries()) {
    expect(told[at]?.text).toContain(claim.text);
    // `+0.05 ms [+0.03, +0.07]`, a share with its unit behind the bracket.
    const figures = [...(told[at]?.findings.join(" ") ?? "").matchAll(/([+−]?[\d.,]+) (\S+) \[([^,\]]+), ([^\]]+)\]/g)];
    const found = claim.findings.filter(({ found, interval }) => found != null && interval != null);
    expect(figures.length).toBe(found.length);
    for (const [which, finding] of found.entries()) {
      const [, value, unit, low, high] = figures[which] ?? [];
      expectFigure(`${value} ${unit}`, finding.found ?? NaN);
      expectFigure(`${low} ${unit}`, finding.interval?.[0] ?? NaN);
      expectFigure(`${high} ${unit}`, finding.interval?.[1] ?? NaN);
    }
  }
});

/** A figure with its interval, each as it is shown: the interval's unit stands behind it. */
function expectInterval(text: string, interval: readonly number[], unit: string): void {
  const ends = /^\[([^,]+), ([^\]]+)\]/.exec(text);
  if (ends === null) throw new Error(`“${text}” is no interval`);
  interval.forEach((end, which) => expectFigure(`${ends[which + 1]}${unit}`, end));
}

test("capacities, the rates that were tried, and what is compared at them show the figures of the JSON", async ({ page }) => {
  await open(page, "capacities");
  const { capacities, cells } = resultOf("capacities");
  if (!capacities) throw new Error("no capacities");
  const section = (title: string) => page.locator("section").filter({ hasText: title });
  const found = await linesOf(section("Capacities").locator("table"));
  expect(found.length).toBe(capacities.cells.length);
  for (const [at, capacity] of capacities.cells.entries()) {
    const [label, rate, interval, passes, fails, answered, longer, limit] = found[at] as string[];
    expect(label).toBe(cells[capacity.cell]?.platform);
    const figures = [rate, passes, fails, answered, longer];
    const expected = [capacity.rate_per_second, capacity.lower_bound, capacity.upper_bound, capacity.conditional_throughput, capacity.for_longer];
    figures.forEach((text, which) => expectFigure(text ?? "", expected[which] ?? NaN));
    expectInterval(interval ?? "", capacity.interval ?? [], "/s");
    expect(limit).toBe(capacity.limited_by);

    await page.locator("details").filter({ hasText: `Every rate that was tried, ${label}` }).locator("summary").click();
    const tried = await linesOf(page.locator("details").filter({ hasText: `Every rate that was tried, ${label}` }).locator("table"));
    expect(tried.length).toBe(capacity.curve.length);
    for (const [which, point] of capacity.curve.entries()) {
      const [asked, reached, success, p50, p99, passed, purpose] = tried[which] as string[];
      expectFigure(asked ?? "", point.rate_per_second);
      expectFigure(reached ?? "", point.achieved_per_second);
      expectFigure(success ?? "", point.success);
      expectFigure(p50 ?? "", point.p50_ns);
      expectFigure(p99 ?? "", point.p99_ns);
      expect([passed, purpose]).toEqual([`${point.passed} of ${point.passed + point.failed}`, point.purpose]);
    }
  }
  const compared = ["rate.achieved", "errors", "response.p50", "response.p99", "response.mean"];
  for (const [title, contrasts] of [["All at the same rate", capacities.at_the_same_rate], ["Each at its own capacity", capacities.at_their_own]] as const) {
    const rows = (contrasts ?? []).flatMap((contrast) => contrast.rows).filter(({ metric }) => compared.includes(metric));
    const lines = await linesOf(section(title).locator("table"));
    expect(lines.length).toBe(rows.length);
    expect(lines.length).toBeGreaterThan(0);
    for (const [at, row] of rows.entries()) {
      const [label, baseline, here, change, interval, verdict] = lines[at] as string[];
      expect(label).toContain(row.label.trim().replace(/^response /, ""));
      expectFigure(baseline ?? "", row.baseline);
      expectFigure(here ?? "", row.candidate);
      const isShare = typeof row.relative === "number";
      expectFigure(change ?? "", row.relative ?? row.difference);
      const ends = (row.interval ?? []).map((end) => (isShare ? end / row.baseline : end));
      const unit = isShare ? " %" : (/[^\d.,+−]*$/.exec(here ?? "")?.[0] ?? "");
      if (row.interval) expectInterval(interval ?? "", ends, unit);
      else expect(interval).toBe("");
      expect(verdict).toContain(row.verdict);
    }
  }
});

for (const name of ["limits", "connections"]) {
  test(`the sweeps of ${name} show the figures of their cells`, async ({ page }) => {
    await open(page, name);
    const { cells, contrasts, sweeps } = resultOf(name);
    const section = page.locator("section").filter({ has: page.getByRole("heading", { name: "One number changed" }) });
    // Where something is compared, loads stand below each other in its tables.
    const expected = (sweeps ?? []).filter(({ over }) => contrasts.length === 0 || !["rate", "connections"].includes(over));
    expect(await section.locator("table").count()).toBe(expected.length);
    let shown = 0;
    for (const [at, sweep] of expected.entries()) {
      const table = section.locator("table").nth(at);
      const headings = (await table.locator("thead th").allTextContents()).slice(1);
      const lines = await linesOf(table);
      expect(lines.length).toBe(sweep.points.length);
      for (const [line, point] of sweep.points.entries()) {
        const [number, ...texts] = lines[line] as string[];
        expectFigure(number ?? "", point.value);
        for (const [column, text] of texts.entries()) {
          const found = cells[point.cell]?.figures.find(({ label }) => label.trim() === headings[column]);
          if (found === undefined) throw new Error(`no ${headings[column]} in cell ${point.cell}`);
          const [value, margin] = text.split(" ±");
          expectFigure(value ?? "", found.value);
          const unit = /[^\d.,+−]*$/.exec(value ?? "")?.[0] ?? "";
          expect(margin !== undefined).toBe(found.t_interval != null);
          if (found.t_interval && value !== "0") expectFigure(`${margin}${unit}`, (found.t_interval[1] - found.t_interval[0]) / 2);
          shown += 1;
        }
      }
    }
    expect(shown).toBeGreaterThan(0);
  });
}

test("starts show the figures of the JSON", async ({ page }) => {
  await open(page, "claims");
  const { starts } = resultOf("claims");
  expect(starts.length).toBeGreaterThan(0);
  const table = page.locator("table").filter({ has: page.locator("caption", { hasText: "From the start to the first answer" }) });
  const headings = (await table.locator("thead tr > *").allTextContents()).map((text) => text.trim());
  const lines = await linesOf(table);
  expect(lines.map(([label]) => label)).toEqual(starts.map(({ label }) => label));
  for (const [at, start] of starts.entries()) {
    const told: Record<string, number | null | undefined> = { "image size": start.image_bytes, "idle memory": start.idle_memory_bytes };
    for (const phase of start.phases) told[phase.name] = phase.median_ms * 1e6;
    for (const [column, heading] of headings.entries()) {
      if (column === 0) continue;
      const text = lines[at]?.[column] ?? "";
      const value = told[heading];
      if (typeof value === "number") expectFigure(text, value);
      else expect(text).toBe("");
    }
  }
});

for (const name of PAGES.filter((name) => !name.startsWith("hostile"))) {
  test(`the gates of ${name} are those of its JSON`, async ({ page }) => {
    await open(page, name);
    await expectGates(page, resultOf(name));
  });
}

for (const name of ["platforms", "many", "limits"]) {
  test(`what ${name} shows at a glance are the figures of its comparisons`, async ({ page }) => {
    await open(page, name);
    const { cells, contrasts } = resultOf(name);
    const section = page.locator("section").filter({ has: page.getByRole("heading", { name: "At a glance", exact: true }) });
    const grids = await section.locator("table").all();
    expect(grids.length).toBeGreaterThan(0);
    for (const grid of grids) {
      const caption = (await grid.locator("caption").textContent()) ?? "";
      const [, label, first, unit = ""] = /^(.*), differences from (.*?)(?: in (\S+))?$/.exec(caption) ?? [];
      const [, baseline, ...candidates] = (await grid.locator("thead tr > *").allTextContents()).map((text) => text.trim());
      expect(baseline).toBe(first);
      const rowOf = (from: Cell, candidate: string | undefined) =>
        contrasts.find((contrast) => contrast.baseline === from.id && cells[contrast.candidate]?.label === candidate)?.rows.find((row) => row.label.trim() === label);
      const lines = await linesOf(grid);
      // One for each load.
      const baselines = cells.filter(({ id, label }) => label === baseline && contrasts.some((contrast) => contrast.baseline === id));
      expect(lines.length).toBe(baselines.length);
      for (const [at, from] of baselines.entries()) {
        const [load = "", figure = "", ...texts] = lines[at] ?? [];
        expect(loadName(from)).toContain(load);
        const rows = candidates.map((candidate) => rowOf(from, candidate));
        expectFigure(figure, rows.find((row) => row !== undefined)?.baseline ?? NaN);
        expect(texts.length).toBe(rows.length);
        for (const [column, row] of rows.entries()) {
          const text = texts[column] ?? "";
          if (row === undefined) expect(text).toBe("");
          else if (!row.interval) expect(text).toBe("–");
          else {
            expect(text.endsWith(` ${SIGNS[row.verdict]}`), `${text} of ${row.verdict}`).toBe(true);
            expectSpread(text.slice(0, text.lastIndexOf(" ")), unit, row.difference, armOf(row.difference, row.interval));
          }
        }
      }
    }
    const medians = contrasts.map(({ rows }) => rows.find(({ metric }) => metric === "response.p50")).filter((row) => row !== undefined);
    const summary = await page.locator("header p.lead").innerText();
    expect(summary).toContain(`of ${medians.length} comparisons: `);
    for (const [word, sign] of [["slower", "▲"], ["faster", "▼"], ["equivalent", "="], ["unresolved", "?"]] as const) {
      const rows = medians.filter(({ verdict }) => SIGNS[verdict] === sign);
      const [, count, most, least] = new RegExp(`(\\d+) ${word}(?: \\(most: .*? ([+−][\\d.,]+ \\S+), at least ([+−][\\d.,]+ \\S+)\\))?`).exec(summary) ?? [];
      expect(Number(count ?? 0), `${word} in “${summary}”`).toBe(rows.length);
      if (most === undefined || least === undefined) continue;
      const farthest = rows.toSorted((one, other) => Math.abs(other.relative ?? 0) - Math.abs(one.relative ?? 0))[0];
      expectFigure(most, farthest?.difference ?? NaN);
      const [low = NaN, high = NaN] = farthest?.interval ?? [];
      expectFigure(least, low > 0 ? low : Math.min(high, 0));
    }
    // It is told of those that differ.
    expect(medians.some(({ verdict }) => verdict === "slower")).toBe(summary.includes("most: "));
  });
}

test("a load is called by all that belongs to it", () => {
  const [plain] = resultOf("slower").cells;
  if (plain === undefined) throw new Error("no cell");
  expect(loadName(plain)).toBe("2000/s Poisson, 16 connections");
  const all = { http2_streams: 4, kernel_timestamps: true, timeout_s: 2.5, requests_per_connection: 100, new_connections: true, connections: 1 };
  expect(loadName({ ...plain, ...all })).toBe("2000/s Poisson, HTTP/2 with 4 streams, kernel timestamps, time-out 2.5s, 100 requests per connection, a new connection per request, 1 connection");
  expect(loadName({ ...plain, http2_streams: 1 })).toBe("2000/s Poisson, HTTP/2, 16 connections");
});
