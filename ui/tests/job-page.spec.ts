// The page of a run that is measured, with answers that are invented.
import { expect, test } from "@playwright/test";
import type { Page } from "@playwright/test";
import type { Slice, Status } from "../src/generated/api";
import { hide, openApp, saved } from "./app-alone";
import { expectToBeGood, faultsOf } from "./app-pages";
import { plotsOf } from "./drawn";
import { expectFigure } from "./pages";
import { expectOnPaper } from "./paper";
import { coloursOf } from "./pixels";

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
  expect((await coloursOf(page, picture.bytes)).filter((colour) => colour === "#b4420f").length).toBeGreaterThan(50);
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

test("script in what a run that is measured is called, does and says is text", async ({ page }) => {
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
  expect(dialogs).toEqual([]);
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

test("a run that is measured is printed whole, black on white", async ({ page }) => {
  await page.emulateMedia({ colorScheme: "dark" });
  await openJob(page, slicesOf(120));
  await expectOnPaper(page);
});

test("a run with more slices than are drawn says so", async ({ page }) => {
  await openJob(page, slicesOf(4321));
  await expect(page.getByRole("heading", { name: "The latest 4,000 of 4,321 slices" })).toBeVisible();
});
