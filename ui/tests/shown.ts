// Whether the figures of a page are those of its result, wherever the page is from.
import { expect } from "@playwright/test";
import type { Locator, Page } from "@playwright/test";
import { inTime } from "../src/data";
import type { RunResult } from "../src/generated/result";
import { expectFigure } from "./pages";

/** Each row of each comparison, in their order. */
export async function expectTables(page: Page, { contrasts }: RunResult): Promise<void> {
  const shown = await page.locator("table[data-contrast]").evaluateAll((tables) =>
    tables.map((table) => ({
      contrast: Number((table as HTMLElement).dataset["contrast"]),
      rows: [...table.querySelectorAll<HTMLElement>("tr[data-metric]")].map((row) => ({
        metric: row.dataset["metric"],
        request: row.dataset["request"],
        cells: [...row.children].map((cell) => cell.textContent?.trim() ?? ""),
      })),
    })),
  );
  expect(shown.map(({ contrast }) => contrast)).toEqual(contrasts.map((_, at) => at));
  for (const { contrast, rows } of shown) {
    const expected = contrasts[contrast];
    const all = [...(expected?.rows ?? []), ...(expected?.by_request ?? []).flatMap((request) => request.rows)];
    expect(rows.length).toBe(all.length);
    rows.forEach(({ metric, request, cells }, at) => {
      const row = all[at];
      if (row === undefined) throw new Error(`no row ${at}`);
      expect(metric).toBe(row.metric);
      const [label, baseline, candidate, difference, share, interval, p, verdict] = cells as [string, string, string, string, string, string, string, string];
      expect(label).toBe(request === undefined ? row.label.trim() : `${request}: ${row.label.trim()}`);
      expectFigure(baseline, row.baseline);
      expectFigure(candidate, row.candidate);
      // What rounds to nothing has no unit of its own.
      const unit = /[^\d.,+−]*$/.exec(candidate === "0" ? baseline : candidate)?.[0] ?? "";
      expectFigure(difference === "0" ? `0${unit}` : difference, row.difference);
      if (typeof row.relative === "number") expectFigure(share, row.relative);
      if (row.interval) {
        const ends = interval.replace(/[[\]]/g, "").split(", ");
        row.interval.forEach((end, which) => expectFigure(`${ends[which]}${unit}`, end));
      } else {
        expect(interval).toBe("");
      }
      if (typeof row.p_holm === "number") {
        if (p.startsWith("<")) expect(row.p_holm).toBeLessThan(0.001);
        else expectFigure(p, row.p_holm);
      }
      expect(verdict).toContain(row.verdict);
      // Of what is unresolved a reader learns how large it is at most.
      const within = /within ±(.*)$/.exec(verdict)?.[1];
      const isBounded = row.verdict === "unresolved" && row.trusted !== false && typeof row.bound === "number" && row.baseline !== 0;
      expect(within !== undefined, verdict).toBe(isBounded);
      if (within !== undefined) expectFigure(within, (row.bound ?? NaN) / row.baseline);
    });
  }
}

/** Each gate and whether it holds, how many slices there are, and how many of them were repeats or failed a gate. */
export async function expectGates(page: Page, { trust }: RunResult): Promise<void> {
  const shown = await page.locator("ul.gates > li:not(.slices)").evaluateAll((items) =>
    items.map((item) => ({ text: item.firstChild?.textContent?.trim() ?? "", holds: item.classList.contains("holds") })),
  );
  expect(shown).toEqual(trust.gates.map(({ text, holds }) => ({ text, holds })));
  // A run that failed before it measured has no gates.
  expect(shown.length > 0).toBe(trust.slices > 0);
  const text = trust.slices > 0 ? await page.locator("ul.gates > li.slices").innerText() : "0 slices";
  const counts = /^([\d,]+) slices(?:, (\d+) of them repeats)?(?:; (\d+) failed a gate on their own)?$/.exec(text)?.slice(1) ?? [];
  expect(counts.map((count) => Number((count ?? "0").replaceAll(",", ""))), text).toEqual([trust.slices, trust.slices_repeated, trust.slices_failed]);
}

/** Some slices by their places in time, as the slider below their drawing tells them. */
export async function expectSlices(page: Page, { cells, slices }: RunResult, places: number[]): Promise<void> {
  const inOrder = inTime(slices, cells);
  const slider = page.getByRole("slider", { name: "slice" });
  await slider.focus();
  for (const at of places) {
    await slider.fill(String(at));
    const slice = inOrder[at];
    const told = await page.locator("#slices .readout").innerText();
    expect(told).toContain(`${cells[slice?.cell ?? 0]?.label}, deployment ${(slice?.round ?? 0) + 1}, block ${(slice?.block ?? 0) + 1}`);
    expectFigure(/response p50 ([^,;]+)/.exec(told)?.[1] ?? "", slice?.response.p50 ?? NaN);
    expect(told.includes("does not count")).toBe(slice?.counted === false);
  }
}

/** The cells of a table, line by line, without its heading. */
export function linesOf(table: Locator): Promise<string[][]> {
  return table.locator("tbody tr").evaluateAll((rows) => rows.map((row) => [...row.children].map((cell) => cell.textContent?.trim() ?? "")));
}

/** `+4.1 ±0.6`: a difference, and an uncertainty of it where there is one. */
export function expectSpread(text: string, unit: string, value: number, half: number | undefined): void {
  const [, difference = "", margin] = /^(\S+)(?: ±(\S+))?$/.exec(text) ?? [];
  expectFigure(`${difference} ${unit}`, value);
  expect(margin !== undefined, text).toBe(half !== undefined);
  if (half !== undefined) expectFigure(`${margin} ${unit}`, half);
}

/** The longer arm of an interval. */
export function armOf(value: number, interval: readonly number[] | null | undefined): number | undefined {
  return interval ? Math.max((interval[1] ?? NaN) - value, value - (interval[0] ?? NaN)) : undefined;
}

/** How a verdict is told in a table of many. */
export const SIGNS: Record<string, string> = { slower: "▲", costlier: "▲", more: "▲", faster: "▼", cheaper: "▼", fewer: "▼", equivalent: "=", unresolved: "?" };
