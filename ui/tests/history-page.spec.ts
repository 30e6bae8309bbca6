// The page of a history, with answers that are invented.
import { expect, test } from "@playwright/test";
import type { History } from "../src/generated/history";
import { openApp, saved } from "./app-alone";
import { expectToBeGood, faultsOf } from "./app-pages";
import { expectPlace, scaleOf, upright } from "./drawn";
import { expectOnPaper } from "./paper";
import { coloursOf } from "./pixels";

function history(): History {
  const series = (load: string) => ({
    label: "orders on pod",
    load,
    machine: "Example CPU, 2 CPUs, Linux 6.12",
    unit: "ns" as const,
    points: Array.from({ length: 12 }, (_, run) => {
      const value = (run < 6 ? 80e3 : 88e3) + 400 * (run % 3);
      return { run: run + 1, started: `2026-11-${String(run + 1).padStart(2, "0")}T08:00:00Z`, value, interval: [value - 2e3, value + 2e3] as [number, number], deployments: 5 };
    }),
    changes: [{ at: 6, before: 80.4e3, after: 88.4e3, relative: 0.0995, p_value: 0.0002, settled: true }],
  });
  return { schema: "loadline/history/1", metric: "response.p50", least_points: 8, series: [series("2000/s Poisson"), series("500/s Poisson")], left_out: [] };
}

test("the drawings of a history are saved as PNG and as SVG, each under its own name", async ({ page }) => {
  const faults = faultsOf(page);
  await openApp(page, "/history", { "/api/history": JSON.stringify(history()) });
  await page.getByText("Drawings as files").click();
  const name = "response.p50 of orders on pod, 500/s Poisson, Example CPU, 2 CPUs, Linux 6.12";
  const drawn = page.evaluate(
    () =>
      new Promise<string>((resolve) => {
        const { prototype } = HTMLImageElement;
        const { set } = Object.getOwnPropertyDescriptor(prototype, "src") ?? {};
        Object.defineProperty(prototype, "src", { set(value: string) { resolve(decodeURIComponent(value)); set?.call(this, value); } });
      }),
  );
  const picture = await saved(page, `${name} as PNG`);
  // Letters are as large as the page's.
  expect(await drawn).toContain("font-size:15px");
  expect(picture.name).toBe("response-p50-of-orders-on-pod-500-s-poisson-example-cpu-2-cpus-linux-6-12.png");
  // Without the page's style everything would be black: the line of the change is in the accent, points are in the colour of links.
  const colours = await coloursOf(page, picture.bytes);
  for (const accent of ["#b4420f", "#175cd3"]) expect(colours.filter((colour) => colour === accent).length).toBeGreaterThan(50);
  const drawing = (await saved(page, `${name} as SVG`)).bytes.toString();
  expect(drawing.match(/<circle /g)).toHaveLength(12);
  expect(drawing).toContain(">orders on pod</tspan>");
  expect(drawing).not.toContain("href=");
  await expectToBeGood(page);
  expect(faults).toEqual([]);
});

test("a change in a history is told and drawn, and names are text", async ({ page }) => {
  test.setTimeout(90_000);
  const faults = faultsOf(page);
  page.on("dialog", (dialog) => faults.push(`dialog ${dialog.message()}`));
  const points = Array.from({ length: 40 }, (_, run) => {
    const value = (run < 20 ? 80e3 : run < 37 ? 88e3 : 97e3) + 400 * (run % 3);
    return { run: run + 1, started: `2026-11-${String((run % 28) + 1).padStart(2, "0")}T08:00:00Z`, value, interval: [value - 2e3, value + 2e3] as [number, number], deployments: 5 };
  });
  const told: History = {
    schema: "loadline/history/1",
    metric: "response.p50",
    least_points: 8,
    series: [{
      label: "orders on pod",
      load: "2000/s Poisson, 16 connections",
      machine: "Example CPU, 2 CPUs, Linux 6.12",
      unit: "ns",
      points: points.map((point) => (point.run === 9 ? { ...point, untrusted: true } : point)),
      changes: [
        { at: 20, before: 80.4e3, after: 88.4e3, relative: 0.0995, p_value: 0.0002, settled: true },
        { at: 37, before: 88.4e3, after: 97.4e3, relative: 0.1018, p_value: 0.021, settled: false },
      ],
    }],
    left_out: [],
  };
  await openApp(page, "/history", { "/api/history": JSON.stringify(told) });
  await expect(page.getByText("from run 21 on +10.0 %: 80.4 µs before, 88.4 µs after (p < 0.001)")).toBeVisible();
  await expect(page.getByText("from run 38 on +10.2 %: 88.4 µs before, 97.4 µs after (p = 0.021); not settled yet: the last few runs may be a spell")).toBeVisible();
  await expect(page.locator(".history svg .changed")).toHaveCount(2);
  await expect(page.locator(".history svg .found")).toHaveCount(3);
  await expect(page.getByRole("link", { name: /^run 9,.*cannot be trusted: gates failed$/ }).locator("circle.hollow")).toHaveCount(1);
  await expect(page.getByRole("link", { name: /^run 40, .*: 97.0 µs, 95 % interval 95.0 µs to 99.0 µs$/ })).toBeVisible();
  await expectToBeGood(page, "history");
  const attack = "<img src=x onerror=alert(1)>";
  for (const series of told.series) Object.assign(series, { label: attack, load: attack, machine: attack });
  told.left_out.push({ run: 99, reason: attack });
  await openApp(page, "/history", { "/api/history": JSON.stringify(told) });
  await expect(page.getByRole("heading", { name: attack })).toBeVisible();
  await expect(page.getByRole("listitem").filter({ hasText: `run 99: ${attack}` })).toBeVisible();
  await expectToBeGood(page);
  expect(faults).toEqual([]);
});

test("a history of nothing says so", async ({ page }) => {
  test.setTimeout(90_000);
  await openApp(page, "/history", { "/api/history": JSON.stringify({ ...history(), series: [] }) });
  await expect(page.getByText("No run has response.p50.")).toBeVisible();
  await expectToBeGood(page);
});

test("the points of a history, their intervals and its changes are drawn where they are", async ({ page }) => {
  const told = history();
  await openApp(page, "/history", { "/api/history": JSON.stringify(told) });
  for (const { load, points, changes } of told.series) {
    const drawing = page.locator(".history").filter({ hasText: load }).locator("svg");
    const y = scaleOf(await upright(drawing));
    const drawn = await drawing.evaluate((svg) => {
      const numbers = (within: Element, selector: string, ...names: string[]) => [...within.querySelectorAll(selector)].map((each) => names.map((name) => Number(each.getAttribute(name))));
      return {
        points: [...svg.querySelectorAll("a")].map((point) => ({ at: numbers(point, "circle", "cx", "cy").flat(), ends: numbers(point, "line.arm", "y1", "y2").flat(), named: point.querySelector("text")?.textContent })),
        levels: numbers(svg, "line.found", "x1", "x2", "y1", "y2"),
        changes: numbers(svg, "line.changed", "x1", "x2").flat(),
      };
    });
    expect(drawn.points.length).toBe(points.length);
    for (const [at, { run, value, interval }] of points.entries()) {
      const { at: [, cy = NaN] = [], ends = [], named } = drawn.points[at] ?? {};
      expectPlace(cy, y.place(value), `run ${run}`);
      expect(ends.length).toBe(interval ? 2 : 0);
      interval?.forEach((end, which) => expectPlace(ends[which] ?? NaN, y.place(end), `run ${run}`));
      if (named != null) expect(named).toBe(String(run));
    }
    const x = (at: number) => drawn.points[at]?.at[0] ?? NaN;
    const half = (x(1) - x(0)) / 2;
    const begins = [0, ...changes.map(({ at }) => at), points.length];
    const levels = changes.flatMap(({ before, after }, which) => (which === changes.length - 1 ? [before, after] : [before]));
    expect(drawn.levels.length).toBe(levels.length);
    for (const [which, value] of levels.entries()) {
      const [from = NaN, to = NaN, ...at] = drawn.levels[which] ?? [];
      expectPlace(from, x(begins[which] ?? NaN) - half, "level");
      expectPlace(to, x((begins[which + 1] ?? NaN) - 1) + half, "level");
      at.forEach((place) => expectPlace(place, y.place(value), "level"));
    }
    // Between two runs.
    expect(drawn.changes.length).toBe(2 * changes.length);
    changes.forEach(({ at }, which) => drawn.changes.slice(2 * which, 2 * which + 2).forEach((place) => expectPlace(place, x(at) - half, "change")));
  }
});

test("script in what a history is asked for is text", async ({ page }) => {
  const dialogs: string[] = [];
  page.on("dialog", (dialog) => dialogs.push(dialog.message()));
  const attack = "<img src=x onerror=alert(1)>";
  await openApp(page, "/history", { "/api/history": JSON.stringify(history()) });
  const runs = page.getByRole("searchbox", { name: "Runs" });
  await runs.fill(attack);
  await expect.poll(() => new URL(page.url()).searchParams.get("match")).toBe(attack);
  await page.reload();
  await expect(runs).toHaveValue(attack);
  await expect(page.locator(".history svg")).toHaveCount(2);
  await expect(page.locator("img")).toHaveCount(0);
  expect(dialogs).toEqual([]);
});

test("a history is printed whole, black on white", async ({ page }) => {
  await page.emulateMedia({ colorScheme: "dark" });
  await openApp(page, "/history", { "/api/history": JSON.stringify(history()) });
  await expect(page.locator(".history svg")).toHaveCount(2);
  await expectOnPaper(page);
});
