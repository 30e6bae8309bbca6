// The list of runs, with answers that are invented.
import { expect, test } from "@playwright/test";
import type { Page } from "@playwright/test";
import type { Listed, Summary } from "../src/generated/api";
import { hide, openApp } from "./app-alone";
import { faultsOf } from "./app-pages";

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
