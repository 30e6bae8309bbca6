// Every figure that is shown is the one in the JSON.
import { expect, test } from "@playwright/test";
import { PAGES, expectFigure, figureOf, open, resultOf } from "./pages";

for (const name of PAGES.filter((name) => name !== "hostile")) {
  test(`the tables of ${name} show the figures of its JSON`, async ({ page }) => {
    await open(page, name);
    const { contrasts } = resultOf(name);
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
      rows.forEach(({ metric, cells }, at) => {
        const row = all[at];
        if (row === undefined) throw new Error(`no row ${at}`);
        expect(metric).toBe(row.metric);
        const [label, baseline, candidate, difference, share, interval, p, verdict] = cells as [string, string, string, string, string, string, string, string];
        expect(label).toBe(row.label.trim());
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
      });
    }
  });
}

test("what a figure opens shows the figures of its row, its deployments and all of its slices", async ({ page }) => {
  const faults = await open(page, "slower");
  const result = resultOf("slower");
  const contrast = result.contrasts[0];
  if (contrast === undefined) throw new Error("no contrast");
  for (const row of contrast.rows.slice(0, 4)) {
    await page.locator(`tr[data-metric="${row.metric}"] button`).click();
    const dialog = page.getByRole("dialog");
    const fact = (term: string) => dialog.locator(".facts > div").filter({ hasText: term }).locator("dd").innerText();
    const [base, other] = [contrast.baseline, contrast.candidate].map((id) => result.cells[id]);
    const cells = (await page.locator(`tr[data-metric="${row.metric}"] td`).allTextContents()).map((text) => text.trim());
    expect([await fact(base?.label ?? ""), await fact(other?.label ?? "")]).toEqual(cells.slice(0, 2));
    expect([await fact("difference"), await fact("interval"), await fact("p (Holm)")]).toEqual([`${cells[2]} ${cells[3]}`, cells[4], cells[5]]);
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
    await dialog.locator("summary").click();
    const slices = result.slices.filter(({ cell }) => cell === contrast.baseline || cell === contrast.candidate);
    const ofSlices = dialog.getByRole("group", { name: "slices" }).locator("tbody tr");
    // They are drawn once they are asked for.
    await expect(ofSlices).toHaveCount(slices.length);
    const lines = await ofSlices.evaluateAll((rows) =>
      rows.map((line) => [...line.children].map((cell) => cell.textContent ?? "")),
    );
    if (row.metric === "response.p50") lines.forEach((cells, at) => expectFigure(cells[2] ?? "", slices[at]?.response.p50 ?? NaN));
    await page.keyboard.press("Escape");
    await expect(dialog).toBeHidden();
  }
  expect(faults).toEqual([]);
});

test("each slice can be reached and shows its own figures", async ({ page }) => {
  await open(page, "slower");
  const result = resultOf("slower");
  const slices = [...result.slices].sort((one, other) => one.at_s - other.at_s);
  const slider = page.getByRole("slider", { name: "slice" });
  await slider.focus();
  for (const at of [0, 7, 13, slices.length - 1]) {
    await slider.fill(String(at));
    const slice = slices[at];
    const told = await page.locator("#slices .readout").innerText();
    expect(told).toContain(`${result.cells[slice?.cell ?? 0]?.label}, deployment ${(slice?.round ?? 0) + 1}, block ${(slice?.block ?? 0) + 1}`);
    expectFigure(/response p50 ([^,;]+)/.exec(told)?.[1] ?? "", slice?.response.p50 ?? NaN);
    expect(told.includes("does not count")).toBe(slice?.counted === false);
  }
  await page.getByRole("button", { name: "All of this slice" }).click();
  const cells = await page.getByRole("dialog").getByRole("group", { name: "times" }).locator("td").allInnerTexts();
  const figures = cells.filter((text) => figureOf(text) !== undefined);
  const last = slices.at(-1);
  if (last === undefined) throw new Error("no slice");
  const expected = [last.response, last.service, last.send_lag].flatMap(({ p50, p90, p99, p999, max }) => [p50, p90, p99, p999, max]);
  expect(figures.length).toBe(expected.length);
  figures.forEach((text, at) => expectFigure(text, expected[at] ?? NaN));
});
