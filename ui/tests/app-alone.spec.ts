// The pages of `loadline ui` with answers that are invented here, so that they need no server.
import { readFileSync } from "node:fs";
import { expect, test } from "@playwright/test";
import type { Page } from "@playwright/test";
import type { Listed, Offer, Slice, Status, Stored, Summary } from "../src/generated/api";
import type { History } from "../src/generated/history";
import { expectToBeGood, faultsOf } from "./app-pages";
import { expectPlace, plotsOf, scaleOf, upright } from "./drawn";
import { expectFigure, fileOf } from "./pages";
import { expectOnPaper } from "./paper";

const ORIGIN = "http://loadline.test";
const SHELL = `<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><title>loadline</title><link rel="stylesheet" href="/app.css"><link rel="icon" href="data:,"></head>
<body><div id="app"></div><script src="/app.js"></script></body>
</html>`;

/** The body of each path of the API, or what makes it of the address that is asked for. */
type Answers = Record<string, string | ((address: URL) => string)>;

/** Opens a page of the app; a path of the API is refused for as long as `refused` has it. */
async function openApp(page: Page, path: string, answers: Answers, refused: string[] = []): Promise<void> {
  const built = (name: string) => readFileSync(new URL(`../dist/${name}`, import.meta.url), "utf8");
  const files: Answers = { "/app.js": built("app.js"), "/app.css": built("app.css"), ...answers };
  await page.route(`${ORIGIN}/**`, (route) => {
    const address = new URL(route.request().url());
    const { pathname } = address;
    if (refused.includes(pathname)) return route.fulfill({ status: 503, body: "{}", contentType: "application/json" });
    const kind = { js: "text/javascript", css: "text/css" }[pathname.split(".").at(-1) ?? ""];
    const contentType = kind ?? (pathname.endsWith("/events") ? "text/event-stream" : pathname.startsWith("/api/") ? "application/json" : "text/html");
    const body = files[pathname] ?? SHELL;
    return route.fulfill({ body: typeof body === "string" ? body : body(address), contentType: `${contentType}; charset=utf-8` });
  });
  await page.goto(`${ORIGIN}${path}`);
}

/** As if the reader went to another window, or came back. */
function hide(page: Page, hidden: boolean): Promise<void> {
  return page.evaluate((hidden) => {
    Object.defineProperty(document, "hidden", { configurable: true, get: () => hidden });
    document.dispatchEvent(new Event("visibilitychange"));
  }, hidden);
}

/** A drawing as it is saved. */
function saved(page: Page, name: string): Promise<{ name: string; bytes: Buffer }> {
  return fileOf(page, page.getByRole("button", { name, exact: true }));
}

/** How many pixels of a PNG have a colour, `#rrggbb`. */
function pixelsOf(page: Page, png: Buffer, colour: string): Promise<number> {
  return page.evaluate(
    async ([data = "", colour = ""]) => {
      const image = new Image();
      image.src = `data:image/png;base64,${data}`;
      await image.decode();
      const canvas = document.createElement("canvas");
      [canvas.width, canvas.height] = [image.width, image.height];
      const context = canvas.getContext("2d");
      if (context === null) throw new Error("no canvas");
      context.drawImage(image, 0, 0);
      const { data: bytes } = context.getImageData(0, 0, image.width, image.height);
      const [red, green, blue] = [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16));
      let count = 0;
      for (let at = 0; at < bytes.length; at += 4) count += Number(bytes[at] === red && bytes[at + 1] === green && bytes[at + 2] === blue);
      return count;
    },
    [png.toString("base64"), colour],
  );
}

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
  expect(await pixelsOf(page, picture.bytes, "#b4420f")).toBeGreaterThan(50);
  expect(await pixelsOf(page, picture.bytes, "#175cd3")).toBeGreaterThan(50);
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

/** A run that was measured while it was watched: its status after each of these blocks, and its slices. */
function events(slices: Slice[], statuses: Status[]): string {
  const event = (kind: string, data: unknown) => `event: ${kind}\ndata: ${JSON.stringify(data)}\n\n`;
  return event("slices", slices) + statuses.map((status) => event("status", status)).join("");
}

function statusAfter(blocks: number): Status {
  const half = 9e3 / Math.sqrt(blocks);
  const cells = [
    { cell: 0, label: "host", load: "2000/s Poisson", p50_ns: 61_200 },
    { cell: 2, label: "pod", load: "2000/s Poisson", p50_ns: 65_300, difference_ns: 4_100, half_width_ns: half },
  ];
  const live = { blocks, of_blocks: 40, cells, doing: `block ${blocks}`, log: [], machine: {}, repeated: 0, run: 7 };
  return { state: blocks < 40 ? "running" : "ended", ...(blocks < 40 ? {} : { code: 0, said: "" }), before: 0, job: 1, live, name: "watched" } as Status;
}

function slicesOf(count: number): Slice[] {
  return Array.from({ length: count }, (_, at) => ({ cell: at % 3, at_s: 1.6 * at, p50_ns: 60_000 + 400 * (at % 7), cpu_ns: 38_000 + 100 * (at % 5), memory_bytes: 6 * 1024 ** 2, run_queue_wait_ns: 0, throttled_ns: at > 60 ? 2e6 : 0, disturbed: at % 11 === 3 }));
}

async function openJob(page: Page, slices: Slice[]): Promise<void> {
  const statuses = [2, 4, 8, 16, 32, 40].map(statusAfter);
  await openApp(page, "/jobs/1", { "/api/jobs/1": JSON.stringify(statusAfter(1)), "/api/jobs/1/events": events(slices, statuses) });
  await expect(page.getByRole("link", { name: "Read the report" })).toBeVisible();
}

test("the slices of a run that is measured are saved as PNG and as SVG", async ({ page }) => {
  const faults = faultsOf(page);
  await openJob(page, slicesOf(120));
  await page.getByText("Drawings as files").click();
  const picture = await saved(page, "Every slice as PNG");
  expect(picture.name).toBe("every-slice.png");
  expect(await pixelsOf(page, picture.bytes, "#b4420f")).toBeGreaterThan(50);
  const drawing = (await saved(page, "Every slice as SVG")).bytes.toString();
  // A circle for each slice that was not disturbed.
  expect(plotsOf(drawing)[0]?.match(/M[^MA"]*A/g)?.length).toBe(slicesOf(120).filter(({ disturbed }) => !disturbed).length);
  await expectToBeGood(page);
  expect(faults).toEqual([]);
});

test("a run that is measured shows how its intervals become narrower, and the CPU time of its slices", async ({ page }) => {
  await openJob(page, slicesOf(120));
  // Nothing is compared with the baseline itself.
  await expect(page.locator("svg.narrowing")).toHaveCount(1);
  const pod = page.getByRole("row").filter({ has: page.getByRole("rowheader", { name: "pod" }) });
  const band = pod.getByRole("img", { name: "±6.36 µs after 2 blocks, ±1.42 µs after 40" });
  const [x, y] = await band.evaluate((drawn) => {
    const numbers = [...(drawn.querySelector(".shade")?.getAttribute("d") ?? "").matchAll(/(-?[\d.]+) (-?[\d.]+)/g)];
    return [1, 2].map((part) => numbers.map((found) => Number(found[part])));
  });
  // Upper ends from left to right, then the lower ones back.
  expect(x?.slice(0, 6)).toEqual(x?.slice(6).toReversed());
  const widths = (y ?? []).slice(0, 6).map((upper, at) => (y?.[11 - at] ?? 0) - upper);
  expect(widths).toEqual([...widths].sort((one, other) => other - one));
  await expect(page.getByRole("heading", { name: "CPU time of the service per request" })).toBeVisible();
  await expect(page.getByRole("img", { name: /^Held back by the CPU limit.* the last with 2\.00 ms$/ })).toBeVisible();
  await expect(page.getByRole("img", { name: /^Memory.* the last with 6\.00 MiB$/ })).toBeVisible();
  // Nobody waited for a CPU, so that there is nothing to draw of it.
  await expect(page.locator(".plot canvas")).toHaveCount(4);
  await expectToBeGood(page);
});

test("the figures of a run that is measured are those of its status", async ({ page }) => {
  await openJob(page, slicesOf(120));
  const { cells } = statusAfter(40).live;
  const lines = await page.getByRole("group", { name: "so far" }).locator("tbody tr").evaluateAll((rows) =>
    rows.map((row) => [...row.children].map((cell) => cell.textContent ?? "")),
  );
  expect(lines.map(([label]) => label)).toEqual(cells.map(({ label }) => label));
  cells.forEach(({ p50_ns, difference_ns, half_width_ns }, at) => {
    const [, p50 = "", by = "", half = ""] = lines[at] ?? [];
    expectFigure(p50, p50_ns ?? NaN);
    if (typeof difference_ns === "number") expectFigure(by, difference_ns);
    else expect(by).toBe("");
    if (typeof half_width_ns === "number") expectFigure(half.replace("±", ""), half_width_ns);
    else expect(half).toBe("");
  });
});

test("how far a run is, and what its machine does, are the figures of its status", async ({ page }) => {
  test.setTimeout(90_000);
  const status = statusAfter(12);
  Object.assign(status.live, { seconds_left: 63.4, repeated: 3, machine: { paused_ms_per_second: 1.26, foreign: 0.0342, stolen: 0.0017 } });
  const next = { ...statusAfter(0), before: 1, job: 2, name: "next", state: "waiting" };
  // The stream ends, and is not asked for again for as long as this takes.
  const answers = { "/api/jobs/1": JSON.stringify(status), "/api/jobs/1/events": `retry: 60000\n\n${events(slicesOf(36), [status])}`, "/api/jobs": JSON.stringify([status, next]), "/api/runs": "[]" };
  await openApp(page, "/jobs/1", answers);
  const progress = page.locator(".progress");
  await expect(progress.locator("p").first()).toHaveText("12 of 40 blocks · 1 min 3 s left · 3 slices disturbed and measured again");
  await expect(progress.getByRole("progressbar")).toHaveJSProperty("value", 12);
  await expect(progress.getByRole("progressbar")).toHaveJSProperty("max", 40);
  await expect(page.getByText("machine: paused 1.3 ms/s, other programs 3.4 % of the CPUs, 0.2 % stolen")).toBeVisible();
  const last = slicesOf(36).at(-1);
  for (const [name, value] of [[/^36 slices so far, the last with a median of (.*)$/, last?.p50_ns], [/^CPU time of the service per request, in the same slices, the last with (.*)$/, last?.cpu_ns], [/^Memory, in the same slices, the last with (.*)$/, last?.memory_bytes]] as const) {
    const label = await page.getByRole("img", { name }).getAttribute("aria-label");
    expectFigure(name.exec(label ?? "")?.[1] ?? "", value ?? NaN);
  }
  await openApp(page, "/", answers);
  await expect(page.getByRole("listitem").filter({ hasText: "watched" })).toContainText("12 of 40 blocks · 1 min 3 s left");
  await expect(page.getByRole("listitem").filter({ hasText: "next" })).toContainText("waits for the run before it");
  await expectToBeGood(page);
});

test("script in what a run that is measured is called, does and says is text, and in what a history is asked for", async ({ page }) => {
  const dialogs: string[] = [];
  page.on("dialog", (dialog) => dialogs.push(dialog.message()));
  const attack = "<img src=x onerror=alert(1)>";
  const status = { ...statusAfter(4), name: attack };
  const cells = status.live.cells.map((cell, at) => ({ ...cell, label: attack, load: `${attack} ${at}` }));
  status.live = { ...status.live, cells, doing: attack, log: [attack] };
  await openApp(page, "/jobs/1", { "/api/jobs/1": JSON.stringify(status), "/api/jobs/1/events": `retry: 60000\n\n${events(slicesOf(12), [status])}` });
  await expect(page.getByRole("heading", { name: attack })).toBeVisible();
  await expect(page.locator(".progress .caption")).toHaveText(attack);
  await expect(page.getByRole("group", { name: "so far" }).getByRole("rowheader")).toHaveText(cells.map(({ label, load }) => `${label} at ${load}`));
  await expect(page.locator("ul.legend li").first()).toHaveText(attack);
  await expect(page.locator("section").filter({ has: page.getByRole("heading", { name: "What it said" }) }).getByRole("listitem")).toHaveText([attack]);
  await expect(page.locator("img")).toHaveCount(0);

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

test("the list of runs tells what the server tells of each", async ({ page }) => {
  const runs: Listed[] = [
    { id: 12, name: "host against pod", started: "2026-11-02T08:00:00Z", state: "complete", tags: ["nightly"], measured_now: false },
    { id: 7, name: "limits", started: "2026-11-01T08:00:00Z", state: "interrupted", tags: [], measured_now: false },
  ];
  const summaries: Record<number, Summary> = {
    12: { outcome: ["Is pod slower than host? Yes: +4.1 µs at the median (+6.7 %), at least +3.5 µs.", "p50 slower by > 5%: fails"], state: "complete", subject: ["orders", "host against pod", "2000/s Poisson, 16 connections"] },
    7: { outcome: ["At the median, of 8 comparisons: 6 slower, 2 unresolved."], state: "interrupted, trusted in part", subject: ["orders", "on host"] },
  };
  const answers = Object.fromEntries(runs.map(({ id }) => [`/api/runs/${id}/summary`, JSON.stringify(summaries[id])]));
  await openApp(page, "/", { "/api/jobs": "[]", "/api/runs": JSON.stringify(runs), ...answers });
  const rows = page.getByRole("group", { name: "runs" }).locator("tbody tr");
  await expect(rows).toHaveCount(runs.length);
  for (const [at, { id, name, started, tags }] of runs.entries()) {
    const row = rows.nth(at);
    await expect(row.getByRole("link")).toHaveText(`${id} · ${name}`);
    await expect(row.locator(".tag")).toHaveText(tags);
    await expect(row.locator("time")).toHaveAttribute("datetime", started);
    const { outcome = [], state = "", subject = [] } = summaries[id] ?? {};
    await expect(row.locator(".outcome p")).toHaveText([...outcome, [state, ...subject].join(" · ")]);
  }
});

test("a run that nobody more can follow says so, and is followed once that is possible", async ({ page }) => {
  test.setTimeout(90_000);
  const refused = ["/api/jobs/1/events"];
  const answers = { "/api/jobs/1": JSON.stringify(statusAfter(2)), "/api/jobs/1/events": events(slicesOf(12), [statusAfter(40)]) };
  await openApp(page, "/jobs/1", answers, refused);
  await expect(page.getByRole("alert")).toHaveText("nobody more can follow this run now: what is shown is not the latest");
  await expect(page.getByRole("row", { name: /^pod/ })).toBeVisible();
  await expectToBeGood(page);
  refused.length = 0;
  await expect(page.getByRole("link", { name: "Read the report" })).toBeVisible({ timeout: 10_000 });
  await expect(page.getByRole("alert")).toBeHidden();
});

test("a window that nobody sees holds no stream", async ({ page }) => {
  let asked = 0;
  page.on("request", (request) => (asked += Number(request.url().endsWith("/events"))));
  // The stream ends at once, so that the browser asks for it again.
  const answers = { "/api/jobs/1": JSON.stringify(statusAfter(2)), "/api/jobs/1/events": `retry: 100\n\n${events(slicesOf(12), [statusAfter(4)])}` };
  await openApp(page, "/jobs/1", answers);
  await expect.poll(() => asked).toBeGreaterThan(1);
  await hide(page, true);
  // One that was under way may be told of late.
  await page.waitForTimeout(300);
  const before = asked;
  await page.waitForTimeout(1000);
  expect(asked).toBe(before);
  await hide(page, false);
  await expect.poll(() => asked).toBeGreaterThan(before + 1);
});

test("a history and a run that is measured are printed whole, black on white", async ({ page }) => {
  await page.emulateMedia({ colorScheme: "dark" });
  await openApp(page, "/history", { "/api/history": JSON.stringify(history()) });
  await expect(page.locator(".history svg")).toHaveCount(2);
  await expectOnPaper(page);
  await page.emulateMedia({ media: "screen", colorScheme: "dark" });
  await openJob(page, slicesOf(120));
  await expectOnPaper(page);
});

test("a run with more slices than are drawn says so", async ({ page }) => {
  await openJob(page, slicesOf(4321));
  await expect(page.getByRole("heading", { name: "The latest 4,000 of 4,321 slices" })).toBeVisible();
});

test("a platform that this machine does not have cannot be chosen, and says why", async ({ page }) => {
  const faults = faultsOf(page);
  const why = "no daemon answers at /run/docker.sock <b>";
  const offers: Offer[] = [{ name: "host", about: "a plain process" }, { name: "docker", about: "a container", missing: why }];
  const answers = {
    "/api/services": "[]",
    "/api/services/stored": "[]",
    "/api/platforms": JSON.stringify(offers),
    "/api/drafts": JSON.stringify({ name: "", yaml: "platforms: [host]\n", plan: "", seconds: [1, 2] }),
  };
  const [host, docker] = [page.getByRole("checkbox", { name: /^host/ }), page.getByRole("checkbox", { name: /^docker/ })];
  await openApp(page, "/new?on=host", answers);
  await expect(host).toBeEnabled();
  await expect(docker).toBeDisabled();
  await expect(page.getByText(`not here: ${why}`)).toBeVisible();
  await expectToBeGood(page);
  // A link may have chosen it; it can be taken away again.
  await openApp(page, "/new?on=host&on=docker", answers);
  await expect(docker).toBeChecked();
  await docker.uncheck();
  await expect(docker).toBeDisabled();
  expect(faults).toEqual([]);
});

/** What the form asks the server for, whose answers these are. */
const FORM: Answers = {
  "/api/services": `["orders"]`,
  "/api/services/stored": "[]",
  "/api/platforms": JSON.stringify([{ name: "host", about: "a plain process" }]),
  "/api/drafts": JSON.stringify({ name: "", yaml: "platforms: [host]\n", plan: "", seconds: [1, 2] }),
};

/** The drafts that a page asks for, each as it is sent. */
function draftsOf(page: Page): unknown[] {
  const asked: unknown[] = [];
  page.on("request", (request) => request.url().endsWith("/api/drafts") && asked.push(request.postDataJSON()));
  return asked;
}

test("each field of the form is a flag of the command line", async ({ page }) => {
  const asked = draftsOf(page);
  const held = {
    what: "builtin",
    on: "host",
    rate: "500/s, 700/s",
    connections: "3",
    cpu: "0.5",
    memory: "64Mi",
    deployments: "3",
    within: "10h",
    objectives: "p99 <= 20ms\np50 <= 5ms",
    failIf: "p99 slower by > 5%\ncapacity fewer by > 5%",
  };
  const flags = (...load: string[]) => [
    ...["--service", "orders", "--on", "host", ...load, "--connections", "3", "--limit-cpu", "0.5", "--limit-memory", "64Mi", "--deployments", "3"],
    ...["--within", "10h", "--objective", "p99 <= 20ms", "--objective", "p50 <= 5ms", "--fail-if", "p99 slower by > 5%", "--fail-if", "capacity fewer by > 5%"],
  ];
  await openApp(page, `/new?${new URLSearchParams(held).toString()}`, FORM);
  await expect.poll(() => asked.at(-1)).toEqual({ flags: flags("--rate", "500/s", "--rate", "700/s") });
  await openApp(page, `/new?${new URLSearchParams({ ...held, closed: "true" }).toString()}`, FORM);
  await expect.poll(() => asked.at(-1)).toEqual({ flags: flags("--closed") });
});

for (const [what, field] of [["command", "command"], ["image", "image"], ["url", "URLs"]] as const) {
  test(`the form for a service of the kind ${what} can be read and used by everybody`, async ({ page }) => {
    test.setTimeout(90_000);
    await openApp(page, `/new?what=${what}&on=host`, FORM);
    await expect(page.getByRole("textbox", { name: new RegExp(`^${field}`) })).toBeVisible();
    await expect(page.getByText(/^It takes/)).toBeVisible();
    await expectToBeGood(page);
  });
}

test("a service of a stored run is chosen by what it is called there", async ({ page }) => {
  const faults = faultsOf(page);
  const stored: Stored[] = [{ run: 12, service: "shop", about: `./shop --port {port} ${"--verbose ".repeat(30)}` }, { run: 7, service: "old <b>shop", about: "shop/orders:1.2" }];
  const asked = draftsOf(page);
  const expectAsked = (what: unknown) => expect.poll(() => asked.at(-1)).toEqual(what);
  const kind = page.getByRole("radio", { name: "service of a stored run" });
  await openApp(page, "/new?on=host", FORM);
  await expectAsked({ flags: ["--service", "orders", "--on", "host", "--rate", "2000/s"] });
  await expect(kind).toHaveCount(0);

  await openApp(page, "/new?on=host", { ...FORM, "/api/services/stored": JSON.stringify(stored) });
  await kind.check();
  const service = page.getByRole("combobox", { name: /^service/ });
  await expect(service.getByRole("option")).toHaveText([/^shop · run 12: \.\/shop --port/, "old <b>shop · run 7: shop/orders:1.2"]);
  const flags = ["--on", "host", "--rate", "2000/s"];
  await expectAsked({ stored: { run: 12, service: "shop", flags } });
  await service.selectOption("7 old <b>shop");
  await page.getByLabel(/^requests/).fill("/status");
  await expectAsked({ stored: { run: 7, service: "old <b>shop", flags: ["--request", "/status", ...flags] } });
  await expectToBeGood(page);
  await page.reload();
  await expect(service).toHaveValue("7 old <b>shop");
  // A later run may have measured the same service, which is offered as that run's then.
  await openApp(page, "/new?what=stored&stored=3+shop&on=host", { ...FORM, "/api/services/stored": JSON.stringify(stored) });
  await expect(service.getByRole("option")).toHaveCount(3);
  await expect(service).toHaveValue("3 shop");
  await expectAsked({ stored: { run: 3, service: "shop", flags } });
  // An address that leaves open which one means the latest, and nothing is asked before that is known.
  const before = asked.length;
  await openApp(page, "/new?what=stored&on=host", { ...FORM, "/api/services/stored": JSON.stringify(stored) });
  await expect(service).toHaveValue("12 shop");
  await expect.poll(() => asked.slice(before)).toEqual([{ stored: { run: 12, service: "shop", flags } }]);
  expect(faults).toEqual([]);
});

function listed(id: number, name: string): Listed {
  return { id, name, started: "2026-11-01T08:00:00Z", state: "complete", measured_now: false, tags: [] };
}

/** Opens the list of runs of a store that may change, the latest first; returns what the server is asked to find, each time that it is. */
async function openRuns(page: Page, store: Listed[]): Promise<string[]> {
  const found: string[] = [];
  const summary: Summary = { state: "complete", subject: [], outcome: ["The pod is slower."] };
  const find = ({ searchParams }: URL) => {
    const text = searchParams.get("match") ?? "";
    found.push(text);
    return JSON.stringify(store.filter(({ name, tags }) => [name, ...tags].some((words) => words.toLowerCase().includes(text.toLowerCase()))).slice(0, 1000));
  };
  const ids = [...store.map(({ id }) => id), store.length + 1];
  const summaries = ids.map((id) => [`/api/runs/${id}/summary`, JSON.stringify(summary)] as const);
  await openApp(page, "/", { "/api/jobs": "[]", "/api/runs": find, ...Object.fromEntries(summaries) });
  return found;
}

test("runs beyond those that are listed are found by the server, others by the page", async ({ page }) => {
  const faults = faultsOf(page);
  const store = Array.from({ length: 1500 }, (_, at) => listed(1500 - at, `nightly ${1500 - at}`));
  store[1497]?.tags.push("v1.2");
  const [rows, search, isCut] = [page.locator("table.runs tbody tr"), page.getByRole("searchbox"), page.getByText("the newest 1000: find others by a name or a tag")];
  const found = await openRuns(page, store);
  await expect(rows).toHaveCount(1000);
  await expect(isCut).toBeVisible();
  await search.fill("V1.2");
  await expect(page.getByRole("link", { name: "3 · nightly 3" })).toBeVisible();
  await expect(rows).toHaveCount(1);
  await expect(isCut).toBeHidden();
  expect(found.at(-1)).toBe("V1.2");
  await search.fill("weekly");
  await expect(page.getByText("No run is called “weekly”.")).toBeVisible();
  await search.fill("");
  await expect(rows).toHaveCount(1000);

  const few = await openRuns(page, store.slice(0, 3));
  await expect(rows).toHaveCount(3);
  await search.fill("1499");
  await expect(rows).toHaveCount(1);
  expect(few).toEqual(few.map(() => ""));
  expect(faults).toEqual([]);
});

test("the runs that are chosen are compared with the earliest of them", async ({ page }) => {
  const store = [3, 2, 1].map((day) => ({ ...listed(day, `nightly ${day}`), started: `2026-11-0${day}T08:00:00Z` }));
  await openRuns(page, store);
  const compare = page.getByRole("link", { name: /^Compare/ });
  await page.getByLabel("compare run 2").check();
  await page.getByLabel("compare run 3").check();
  await expect(compare).toHaveText("Compare run 3 with run 2");
  await page.getByLabel("compare run 1").check();
  // In the order in which they were begun.
  await expect(compare).toHaveText("Compare runs 2, 3 with run 1");
  await expect(compare).toHaveAttribute("href", "/compare?before=1&after=2,3");
  await page.getByLabel("compare run 1").uncheck();
  await page.getByLabel("compare run 3").uncheck();
  await expect(compare).toHaveCount(0);
});

test("runs that another process stores, ends, leaves and deletes are shown as they are", async ({ page }) => {
  const faults = faultsOf(page);
  await page.clock.install();
  const store = [listed(1, "mine")];
  await openRuns(page, store);
  let summaries = 0;
  page.on("request", (request) => (summaries += Number(request.url().endsWith("/api/runs/2/summary"))));
  const rows = page.locator("table.runs tbody tr");
  const theirs = rows.filter({ hasText: "2 · from a shell" });
  await page.getByLabel("compare run 1").check();
  store.unshift({ ...listed(2, "from a shell"), state: "unfinished", measured_now: true });
  await page.clock.fastForward(10_000);
  await expect(theirs).toContainText("being measured");
  await expect(page.getByRole("button", { name: "delete run 2" })).toBeDisabled();
  await expect(page.getByLabel("compare run 1")).toBeChecked();
  // It was killed.
  store[0] = { ...listed(2, "from a shell"), state: "unfinished" };
  await page.clock.fastForward(10_000);
  await expect(theirs).toContainText("The pod is slower.");
  await expect(theirs).not.toContainText("being measured");
  await expect(page.getByRole("button", { name: "delete run 2" })).toBeEnabled();
  expect(summaries).toBe(1);
  store[0] = listed(2, "from a shell");
  await page.clock.fastForward(10_000);
  await expect.poll(() => summaries).toBe(2);
  store.shift();
  await page.clock.fastForward(10_000);
  await expect(rows).toHaveCount(1);
  expect(faults).toEqual([]);
});

test("a window that nobody sees asks for neither runs nor the queue, and for both once it is seen again", async ({ page }) => {
  const faults = faultsOf(page);
  await page.clock.install();
  await openRuns(page, [listed(1, "mine")]);
  const asked = { runs: 0, jobs: 0 };
  page.on("request", (request) => {
    const { pathname } = new URL(request.url());
    if (pathname === "/api/runs") asked.runs += 1;
    if (pathname === "/api/jobs") asked.jobs += 1;
  });
  // Once this is answered, the test was told of all that the page asked for before.
  const answered = () => page.evaluate(async () => void (await fetch("/api/services")));
  await expect(page.locator("table.runs tbody tr")).toHaveCount(1);
  await page.clock.fastForward(10_000);
  await expect.poll(() => asked.runs).toBeGreaterThan(0);
  await expect.poll(() => asked.jobs).toBeGreaterThan(0);
  await hide(page, true);
  await answered();
  const before = { ...asked };
  for (let times = 0; times < 3; times += 1) {
    await page.clock.fastForward(10_000);
    await answered();
  }
  expect(asked).toEqual(before);
  await hide(page, false);
  await expect.poll(() => asked.runs).toBe(before.runs + 1);
  await expect.poll(() => asked.jobs).toBeGreaterThan(before.jobs);
  expect(faults).toEqual([]);
});

test("how long a new run takes is what the server tells", async ({ page }) => {
  const answers = { "/api/services": "[]", "/api/platforms": "[]" };
  const draft = (seconds: number[]) => JSON.stringify({ name: "", yaml: "platforms: [host]\n", plan: "12 blocks × 1.5 s", seconds });
  await openApp(page, "/new", { ...answers, "/api/drafts": draft([44.8, 181]) });
  await expect(page.getByText("It takes 45 s on a quiet machine, 3 min 1 s at most.")).toBeVisible();
  await page.getByText("What it will do").click();
  await expect(page.locator("pre.plan")).toHaveText("12 blocks × 1.5 s");
  await openApp(page, "/new", { ...answers, "/api/drafts": draft([7261, 7262]) });
  await expect(page.getByText("It takes about 2 h 1 min.")).toBeVisible();
});
