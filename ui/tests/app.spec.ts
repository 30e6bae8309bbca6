// The pages of `loadline ui`, on a real server: the way of a newcomer from an empty store to a verdict, a comparison and an export.
import { expect, test } from "@playwright/test";
import type { Page } from "@playwright/test";
import type { Summary } from "../src/generated/api";
import type { History } from "../src/generated/history";
import type { RunResult } from "../src/generated/result";
import { expectToBeGood, faultsOf } from "./app-pages";
import { expectFigure, expectToFit } from "./pages";
import { expectGates, expectSlices, expectTables } from "./shown";

const URL = process.env["LOADLINE_URL"] ?? "";
/** Without the token. */
const SITE = URL.split("?")[0] ?? "";

// One server, and one run at a time.
test.describe.configure({ mode: "serial" });
test.setTimeout(400_000);

/** What the server answers to this page's user. */
async function told<T>(page: Page, path: string): Promise<T> {
  const answer = await page.request.get(`${SITE}${path}`);
  expect(answer.status(), path).toBe(200);
  return (await answer.json()) as T;
}

/** A report shows the figures of its result, as `--json` writes it: that the API answers with just that is tested beside the command line. */
async function expectReport(page: Page, result: RunResult): Promise<void> {
  expect(result.contrasts.length).toBeGreaterThan(0);
  await expectTables(page, result);
  await expectGates(page, result);
  await expectSlices(page, result, [0, Math.floor(result.slices.length / 2), result.slices.length - 1]);
}

/** Starts a short run from the form and waits for its report. */
async function run(page: Page, name: string): Promise<void> {
  await page.getByRole("link", { name: "New run" }).click();
  // Runs under different loads have nothing in common to compare.
  await page.getByLabel("rates").fill("1000/s");
  await page.getByLabel("deployments").fill("2");
  const yaml = page.getByLabel("The experiment");
  await expect(yaml).toHaveValue(/deployments: 2/);
  await yaml.fill(`name: ${name}\n${(await yaml.inputValue()).replace("plan: {", "plan: {blocks: 12, warmup: 1s, ")}`);
  await expect(page.getByText(/^It takes/)).toBeVisible();
  await page.getByRole("button", { name: "Start" }).click();
  await expect(page).toHaveURL(/\/jobs\/\d+$/);
}

test("a newcomer starts a run, watches it, reads the verdict, compares, exports and deletes", async ({ page }) => {
  const faults = faultsOf(page);
  await page.goto(URL);
  expect(page.url()).not.toContain("token");
  await expect(page.getByText("No runs yet.")).toBeVisible();
  await expectToBeGood(page, "no-runs");

  await page.getByRole("link", { name: "New run" }).click();
  await expect(page.getByRole("checkbox", { name: /^pod/ })).toBeChecked();
  await expect(page.getByLabel("The experiment")).toHaveValue(/- host\s+- pod/);
  await expectToBeGood(page);
  await page.getByLabel("rates").fill("2000");
  await expect(page.getByText("a rate needs its unit")).toBeVisible();
  await expect(page.getByRole("button", { name: "Start" })).toBeDisabled();
  await page.getByLabel("rates").fill("1000/s");
  await expect(page.getByLabel("The experiment")).toHaveValue(/rate: 1000\/s/);
  expect(page.url()).toContain("rate=1000");
  await page.getByRole("button", { name: "Send each request once" }).click();
  await expect(page.getByLabel("requests and responses")).toContainText(/orders on pod: 200 after .* as expected\s+> GET \/api\/orders/, { timeout: 60_000 });
  await expectToBeGood(page, "new-run");

  await run(page, "first");
  await expect(page.getByRole("heading", { name: "first" })).toBeVisible();
  await expect(page.getByRole("progressbar")).toBeVisible();
  // Once the services are warm, which takes as long as the machine's other programs let it.
  await expect(page.getByRole("rowheader", { name: "pod" })).toBeVisible({ timeout: 60_000 });
  await expect(page.locator(".plot canvas").first()).toBeVisible();
  await expectToBeGood(page, "being-measured");
  await expect(page.getByRole("link", { name: "Read the report" })).toBeVisible({ timeout: 150_000 });
  await page.getByRole("link", { name: "Read the report" }).click();
  await expect(page).toHaveURL(/\/runs\/1$/);
  await expect(page.locator("h1")).toContainText("at the median");
  await expect(page.locator("#slices .plot")).toBeVisible();
  await expectToBeGood(page, "report");
  await expectReport(page, await told<RunResult>(page, "api/runs/1"));

  await page.getByRole("link", { name: "All runs" }).click();
  await run(page, "second");
  await expect(page.getByRole("link", { name: "Read the report" })).toBeVisible({ timeout: 150_000 });
  await page.getByRole("link", { name: "All runs" }).click();
  for (const run of [1, 2]) {
    const { outcome } = await told<Summary>(page, `api/runs/${run}/summary`);
    await expect(page.getByRole("row").filter({ has: page.getByLabel(`compare run ${run}`) }).locator(".outcome p:not(.caption)")).toHaveText(outcome);
  }
  await expectToBeGood(page, "runs");
  await page.getByLabel("compare run 1").check();
  await page.getByLabel("compare run 2").check();
  await page.getByRole("link", { name: "Compare run 2 with run 1" }).click();
  await expect(page.locator("main")).toContainText("run 1");
  await expectReport(page, await told<RunResult>(page, "api/compare?before=1&after=2"));
  await expectToBeGood(page, "comparison");
  const exported = page.waitForEvent("download");
  await page.getByRole("link", { name: "Run 2" }).click();
  await page.getByRole("link", { name: "JSON" }).click();
  expect((await exported).suggestedFilename()).toBe("run-2.json");

  await page.getByRole("link", { name: "All runs" }).click();
  await page.getByRole("link", { name: "History" }).click();
  await expect(page.getByText("In fewer than 8 runs no change could be seen.").first()).toBeVisible();
  const history = await told<History>(page, "api/history?metric=p50");
  expect(history.series.map(({ points }) => points.map(({ run }) => run))).toEqual([[1, 2], [1, 2]]);
  for (const [at, { points }] of history.series.entries()) {
    for (const { run, value, interval } of points) {
      const said = await page.locator(".history").nth(at).getByRole("link", { name: `run ${run},` }).getAttribute("aria-label");
      expect(said).not.toBeNull();
      const figures = (said ?? "").replace(/^.*?: /, "").split(/, 95 % interval | to /);
      expect(figures).toHaveLength(interval ? 3 : 1);
      [value, ...(interval ?? [])].forEach((figure, which) => expectFigure(figures[which] ?? "", figure));
    }
  }
  await expectToBeGood(page);
  await page.getByLabel("Metric").fill("speed");
  await expect(page.getByRole("alert")).toContainText("speed");
  await page.getByLabel("Metric").fill("cpu.service");
  await expect(page.locator(".history").first().getByRole("link", { name: /^run 2,/ })).toBeVisible();

  await page.getByRole("link", { name: "All runs" }).click();
  await page.getByRole("button", { name: "name run 2" }).click();
  await page.getByLabel("tags").fill("nightly");
  await expectToBeGood(page, "name");
  await page.getByRole("button", { name: "Change" }).click();
  await expect(page.getByText("nightly")).toBeVisible();
  await page.getByRole("searchbox").fill("NIGHT");
  await expect(page.getByRole("link", { name: /first/ })).toBeHidden();
  await page.getByRole("searchbox").fill("");
  await page.getByRole("button", { name: "delete run 1" }).click();
  await expect(page.getByText("Nothing brings them back.")).toBeVisible();
  await expectToBeGood(page, "delete");
  await page.getByRole("button", { name: "Delete run 1", exact: true }).click();
  await expect(page.getByRole("link", { name: /first/ })).toBeHidden();
  expect(faults).toEqual([]);
});

test("the same way on a telephone, by touch", async ({ browser }) => {
  const context = await browser.newContext({ viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true, colorScheme: "dark" });
  const page = await context.newPage();
  const faults = faultsOf(page);
  await page.goto(URL);
  await run(page, "third");
  await expectToFit(page);
  await expect(page.getByRole("link", { name: "Read the report" })).toBeVisible({ timeout: 150_000 });
  await page.getByRole("link", { name: "Read the report" }).tap();
  await expect(page.locator("h1")).toContainText("at the median");
  await expectToFit(page);
  await page.locator("button.figure").first().tap();
  await expect(page.getByRole("dialog")).toBeVisible();
  await expectToFit(page);
  await page.getByRole("dialog").getByRole("button").first().tap();
  await page.getByRole("link", { name: "All runs" }).tap();
  await page.getByLabel("compare run 3").tap();
  await page.getByLabel("compare run 2").tap();
  await page.getByRole("link", { name: "Compare run 3 with run 2" }).tap();
  await expect(page.locator("main")).toContainText("run 2");
  await expectToFit(page);
  await page.getByRole("link", { name: "All runs" }).tap();
  await page.getByRole("button", { name: "delete run 3" }).tap();
  await page.getByRole("button", { name: "Delete run 3", exact: true }).tap();
  await expect(page.getByRole("link", { name: /third/ })).toBeHidden();
  expect(faults).toEqual([]);
  await context.close();
});

test("a comparison or a report that there is not is a page that says why, with a way back", async ({ page }) => {
  await page.goto(URL);
  for (const path of ["runs/999", "compare?before=2&after=999"]) {
    const answer = await page.goto(`${SITE}${path}`);
    expect(answer?.status()).toBe(404);
    await expect(page.getByRole("alert")).toContainText("999");
    await expectToBeGood(page);
    await page.getByRole("link", { name: "All runs" }).click();
    await expect(page.getByRole("link", { name: "New run" })).toBeVisible();
  }
});

test("two windows start a run: the second waits, and is stopped", async ({ context }) => {
  const [one, other] = [await context.newPage(), await context.newPage()];
  await one.goto(URL);
  await run(one, "one");
  await other.goto(URL);
  await expect(other.getByRole("heading", { name: "Being measured" })).toBeVisible();
  await run(other, "other");
  await expect(other.getByText("It waits for the run before it.")).toBeVisible();
  await expectToBeGood(other);
  await other.getByRole("button", { name: "Stop" }).click();
  await expect(other.getByText("It was stopped before it began.")).toBeVisible();
  await one.getByRole("button", { name: "Stop" }).click();
  await expect(one.getByText("It was stopped; what was measured by then is kept.")).toBeVisible({ timeout: 60_000 });
});

test("script in a name, a tag, a service's output or an error message is text", async ({ page }) => {
  const faults = faultsOf(page);
  page.on("dialog", (dialog) => faults.push(`dialog ${dialog.message()}`));
  const attack = `<img src=x onerror=alert(1)><script>alert(2)</script>`;
  await page.goto(URL);
  // The service prints it and ends, so that it is in the failure of the run as well.
  const yaml = `name: '${attack}'
services: [{name: 'bad ${attack}', command: [/bin/sh, -c, 'echo "${attack}"; exit 1']}]
platforms: [host]
loads: [{rate: 200/s}]
`;
  await page.getByRole("link", { name: "New run" }).click();
  await page.getByLabel("The experiment").fill(yaml);
  await expect(page.getByText(/^It takes/)).toBeVisible();
  await page.getByRole("button", { name: "Send each request once" }).click();
  await expect(page.getByLabel("requests and responses")).toContainText("<script>", { timeout: 60_000 });
  await page.getByRole("button", { name: "Start" }).click();
  await expect(page.getByRole("heading", { name: attack })).toBeVisible();
  await expect(page.locator("main")).toContainText("<script>alert(2)", { timeout: 60_000 });
  await expectToBeGood(page);
  await page.goto(SITE);
  await expect(page.getByRole("link", { name: attack })).toBeVisible();
  await page.getByRole("button", { name: /^name run/ }).first().click();
  await page.getByLabel("tags").fill(attack);
  await page.getByRole("button", { name: "Change" }).click();
  await expect(page.locator(".tag", { hasText: "onerror" })).toBeVisible();
  await page.getByRole("link", { name: attack }).click();
  await expect(page.locator("main")).toContainText(attack);
  await page.goto(`${SITE}new?service=${encodeURIComponent(attack)}`);
  await expect(page.locator("pre.alert")).toBeVisible();
  expect(faults).toEqual([]);
});

test("a change in a history is told and drawn, and names are text", async ({ page }) => {
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
      points,
      changes: [
        { at: 20, before: 80.4e3, after: 88.4e3, relative: 0.0995, p_value: 0.0002, settled: true },
        { at: 37, before: 88.4e3, after: 97.4e3, relative: 0.1018, p_value: 0.021, settled: false },
      ],
    }],
    left_out: [],
  };
  await page.goto(URL);
  await page.route("**/api/history?*", (route) => route.fulfill({ json: told }));
  await page.getByRole("link", { name: "History" }).click();
  await expect(page.getByText("from run 21 on +10.0 %: 80.4 µs before, 88.4 µs after (p < 0.001)")).toBeVisible();
  await expect(page.getByText("from run 38 on +10.2 %: 88.4 µs before, 97.4 µs after (p = 0.021); not settled yet: the last few runs may be a spell")).toBeVisible();
  await expect(page.locator(".history svg .changed")).toHaveCount(2);
  await expect(page.locator(".history svg .found")).toHaveCount(3);
  await expect(page.getByRole("link", { name: /^run 40, .*: 97.0 µs, 95 % interval 95.0 µs to 99.0 µs$/ })).toBeVisible();
  await expectToBeGood(page, "history");
  const attack = "<img src=x onerror=alert(1)>";
  for (const series of told.series) Object.assign(series, { label: attack, load: attack, machine: attack });
  told.left_out.push({ run: 99, reason: attack });
  await page.getByRole("searchbox", { name: "Runs" }).fill("other");
  await expect(page.getByRole("heading", { name: attack })).toBeVisible();
  await expect(page.getByRole("listitem").filter({ hasText: `run 99: ${attack}` })).toBeVisible();
  await expectToBeGood(page);
  expect(faults).toEqual([]);
});
