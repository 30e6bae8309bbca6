// The pages of `loadline ui`, on a real server: the way of a newcomer from an empty store to a verdict, a comparison and an export.
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "@playwright/test";
import type { Locator, Page } from "@playwright/test";
import type { Listed, Summary } from "../src/generated/api";
import type { History } from "../src/generated/history";
import type { RunResult } from "../src/generated/result";
import { expectToBeGood, faultsOf } from "./app-pages";
import { expectFigure, expectToFit, fileOf } from "./pages";
import { expectOnPaper } from "./paper";
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

/** An experiment in little time. */
function brief(yaml: string): string {
  return yaml.replace("plan: {", "plan: {blocks: 12, warmup: 1s, ");
}

/** Starts a short run from the form, of what is chosen there: with the form's own rate all of them have that in common, so that they can be
 * compared. */
async function run(page: Page, name: string, choose?: () => Promise<void>): Promise<void> {
  await page.getByRole("link", { name: "New run" }).click();
  await choose?.();
  await page.getByLabel("deployments").fill("2");
  const yaml = page.getByLabel("The experiment");
  await expect(yaml).toHaveValue(/deployments: 2/);
  await yaml.fill(`name: ${name}\n${brief(await yaml.inputValue())}`);
  await expect(page.getByText(/^It takes/)).toBeVisible();
  await page.getByRole("button", { name: "Start" }).click();
  await expect(page).toHaveURL(/\/jobs\/\d+$/);
}

test("a newcomer starts a run, watches it, reads the verdict, compares, exports and deletes", async ({ page }) => {
  // The first run is as long as the form has it: three minutes on a machine that is not quiet.
  test.setTimeout(800_000);
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
  await expectToBeGood(page);
  await page.getByLabel("rates").fill("1000/s");
  await expect(page.getByLabel("The experiment")).toHaveValue(/rate: 1000\/s/);
  expect(page.url()).toContain("rate=1000");
  await page.getByRole("button", { name: "Send each request once" }).click();
  await expect(page.getByLabel("requests and responses")).toContainText(/orders on pod: 200 after .* as expected\s+> GET \/api\/orders/, { timeout: 60_000 });
  await expectToBeGood(page, "new-run");

  // All as the form has it by itself.
  await page.getByLabel("rates").fill("2000/s");
  await expect(page.getByLabel("The experiment")).toHaveValue(/rate: 2000\/s/);
  await expect(page).toHaveURL(`${SITE}new?what=builtin`);
  await page.getByRole("button", { name: "Start" }).click();
  await expect(page).toHaveURL(/\/jobs\/\d+$/);
  await expect(page.getByRole("progressbar")).toBeVisible();
  // Once the services are warm, which takes as long as the machine's other programs let it.
  await expect(page.getByRole("rowheader", { name: "pod" })).toBeVisible({ timeout: 120_000 });
  await expect(page.locator(".plot canvas").first()).toBeVisible();
  await expectToBeGood(page, "being-measured");
  await expect(page.getByRole("link", { name: "Read the report" })).toBeVisible({ timeout: 400_000 });
  await page.getByRole("link", { name: "Read the report" }).click();
  await expect(page).toHaveURL(/\/runs\/1$/);
  await expect(page.locator("h1")).toContainText("at the median");
  await expect(page.locator("#slices .plot")).toBeVisible();
  await expectToBeGood(page, "report");
  await expectReport(page, await told<RunResult>(page, "api/runs/1"));
  const { bytes } = await fileOf(page, page.getByRole("link", { name: "HTML", exact: true }));
  expect(bytes.byteLength).toBeLessThanOrEqual(1_000_000);

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
    for (const { run, value, interval, untrusted } of points) {
      const said = await page.locator(".history").nth(at).getByRole("link", { name: `run ${run},` }).getAttribute("aria-label");
      expect(said).not.toBeNull();
      const [text = "", distrust] = (said ?? "").split("; ");
      expect(distrust).toBe(untrusted ? "cannot be trusted: gates failed" : undefined);
      const figures = text.replace(/^.*?: /, "").split(/, 95 % interval | to /);
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
  await expect(page.getByRole("link", { name: /^1 · / })).toBeHidden();
  await page.getByRole("searchbox").fill("");
  await page.getByRole("button", { name: "delete run 1" }).click();
  await expect(page.getByText("Nothing brings them back.")).toBeVisible();
  await expectToBeGood(page, "delete");
  await page.getByRole("button", { name: "Delete run 1", exact: true }).click();
  await expect(page.getByRole("link", { name: /^1 · / })).toBeHidden();
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
  await expect(page.getByRole("link", { name: /^3 · / })).toBeHidden();
  expect(faults).toEqual([]);
  await context.close();
});

/** Presses Tab, or its way back, until this has the focus. */
async function reach(page: Page, target: Locator, key: "Tab" | "Shift+Tab" = "Tab"): Promise<void> {
  await expect(target).toBeEnabled();
  for (let presses = 0; presses < 100; presses += 1) {
    if (await target.evaluate((element) => element === document.activeElement)) return;
    await page.keyboard.press(key);
  }
  throw new Error(`${String(target)} is not reached by ${key}`);
}

test("the same way by keyboard alone", async ({ page }) => {
  const faults = faultsOf(page);
  const press = async (key: "Enter" | "Space", target: Locator) => {
    await reach(page, target);
    await page.keyboard.press(key);
  };
  const type = async (target: Locator, text: string) => {
    await reach(page, target);
    await page.keyboard.press("Control+A");
    await page.keyboard.insertText(text);
  };
  await page.goto(URL);
  await press("Enter", page.getByRole("link", { name: "New run" }));
  const [pod, yaml] = [page.getByRole("checkbox", { name: /^pod/ }), page.getByLabel("The experiment")];
  await press("Space", pod);
  await expect(pod).not.toBeChecked();
  await page.keyboard.press("Space");
  await expect(pod).toBeChecked();
  // As the run that it is compared with.
  await type(page.getByLabel("rates"), "2000/s");
  await type(page.getByLabel("deployments"), "2");
  await expect(yaml).toHaveValue(/- host\s+- pod[\s\S]*rate: 2000\/s[\s\S]*deployments: 2/);
  await type(yaml, `name: by keyboard\n${brief(await yaml.inputValue())}`);
  await press("Space", page.getByRole("button", { name: "Start" }));
  await expect(page).toHaveURL(/\/jobs\/\d+$/);
  await expect(page.getByRole("progressbar")).toBeVisible();
  const read = page.getByRole("link", { name: "Read the report" });
  await expect(read).toBeVisible({ timeout: 150_000 });
  await press("Enter", read);
  await expect(page).toHaveURL(/\/runs\/\d+$/);
  const run = page.url().split("/").at(-1);
  await expect(page.locator("h1")).toContainText("at the median");
  const exported = page.waitForEvent("download");
  await press("Enter", page.getByRole("link", { name: "CSV" }));
  expect((await exported).suggestedFilename()).toBe(`run-${run}-slices.csv`);
  // Back to the first link.
  await page.reload();
  await press("Enter", page.getByRole("link", { name: "All runs" }));
  for (const compared of [run, 2]) await press("Space", page.getByLabel(`compare run ${compared}`, { exact: true }));
  const compare = page.getByRole("link", { name: `Compare run ${run} with run 2`, exact: true });
  await expect(compare).toBeVisible();
  await reach(page, compare, "Shift+Tab");
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(`${SITE}compare?before=2&after=${run}`);
  await expect(page.locator("h1")).not.toBeEmpty();
  for (const compared of [run, 2]) await expect(page.locator("main")).toContainText(`run ${compared}`);
  await press("Enter", page.getByRole("link", { name: "All runs" }));
  await press("Space", page.getByRole("button", { name: `name run ${run}`, exact: true }));
  await type(page.getByLabel("tags"), "typed");
  await page.keyboard.press("Enter");
  await expect(page.locator(".tag", { hasText: "typed" })).toBeVisible();
  await press("Space", page.getByRole("button", { name: `delete run ${run}`, exact: true }));
  await expect(page.getByText("Nothing brings them back.")).toBeVisible();
  // Escape keeps the run.
  await page.keyboard.press("Escape");
  // The browser hides it at once, and tells the page a little later.
  await expect(page.locator("dialog")).toHaveCount(0);
  await expect(page.getByRole("link", { name: /by keyboard/ })).toBeVisible();
  await press("Enter", page.getByRole("button", { name: `delete run ${run}`, exact: true }));
  await press("Enter", page.getByRole("button", { name: `Delete run ${run}`, exact: true }));
  await expect(page.getByRole("link", { name: /by keyboard/ })).toBeHidden();
  expect(faults).toEqual([]);
});

test("a run is had in every form that its page offers, and its drawings as pictures", async ({ page }) => {
  const faults = faultsOf(page);
  await page.goto(URL);
  await page.goto(`${SITE}runs/2`);
  const result = await told<RunResult>(page, "api/runs/2");
  const counted = result.slices.filter((slice) => slice.counted).length;
  const forms: [link: string, file: string, isOne: (text: string) => void][] = [
    ["JSON", "run-2.json", (text) => expect(JSON.parse(text)).toEqual(result)],
    ["CSV", "run-2-slices.csv", (text) => {
      expect(text).toMatch(/^cell,label,service,platform,load,connections,/);
      expect(text.trimEnd().split("\n")).toHaveLength(1 + result.slices.length);
    }],
    ["hlog", "run-2.hlog", (text) => {
      expect(text).toMatch(/^#\[Histogram log format version 1\.3\]$/m);
      expect(text.match(/^Tag=/gm)).toHaveLength(counted);
    }],
    ["Markdown", "run-2.md", (text) => expect(text).toMatch(/^\| .*response p50/m)],
    ["HTML", "run-2.html", (text) => expect(text).toMatch(/^<!DOCTYPE html>[\s\S]*<script id="data"[\s\S]*<\/html>\s*$/)],
    ["YAML", "run-2.yaml", (text) => expect(text).toMatch(/^name: second$/m)],
    ["store", "run-2.db", (text) => expect(text).toMatch(/^SQLite format 3\0/)],
  ];
  const links = page.getByRole("navigation", { name: "pages" }).getByRole("link");
  await expect(links).toHaveText(["All runs", "Run it again", ...forms.map(([link]) => link)]);
  for (const [link, file, isOne] of forms) {
    const { name, bytes } = await fileOf(page, page.getByRole("link", { name: link, exact: true }));
    expect(name).toBe(file);
    isOne(bytes.toString());
  }
  await page.getByText("Drawings as files").click();
  const drawn = page.locator("#pictures li button");
  // They are looked for once the list is open.
  await expect.poll(() => drawn.count()).toBeGreaterThan(4);
  const buttons = await drawn.all();
  for (const button of buttons) {
    const kind = await button.innerText();
    const { name, bytes } = await fileOf(page, button);
    expect(name).toMatch(new RegExp(`^[a-z0-9-]+\\.${kind.toLowerCase()}$`));
    if (kind === "PNG") expect(bytes.subarray(0, 8)).toEqual(Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]));
    else expect(bytes.toString()).toMatch(/^<svg [\s\S]*<\/svg>$/);
  }
  expect(faults).toEqual([]);
});

test("a run is shared by its address, imported with the page's button, renamed and run again", async ({ page, browser }) => {
  const faults = faultsOf(page);
  await page.goto(URL);
  await page.goto(`${SITE}runs/2`);
  const answer = (await page.locator("h1").textContent()) ?? "";
  const other = await (await browser.newContext()).newPage();
  expect((await other.goto(`${SITE}runs/2`))?.status()).toBe(401);
  await other.goto(`${SITE}runs/2?${URL.split("?")[1]}`);
  await expect(other).toHaveURL(`${SITE}runs/2`);
  await expect(other.locator("h1")).toHaveText(answer);
  await other.context().close();

  const { bytes } = await fileOf(page, page.getByRole("link", { name: "store", exact: true }));
  await page.getByRole("link", { name: "All runs" }).click();
  const named = page.getByRole("link", { name: /· second$/ });
  await expect(named).toHaveCount(1);
  const take = async (name: string, buffer: Buffer) => {
    const chooser = page.waitForEvent("filechooser");
    await page.getByText("Import a store").click();
    await (await chooser).setFiles({ name, mimeType: "application/octet-stream", buffer });
  };
  await take("letter.txt", Buffer.from("this is no store"));
  await expect(page.getByRole("alert")).toContainText("it is not a store of loadline");
  await page.getByRole("button", { name: "delete run 2", exact: true }).click();
  await page.getByRole("button", { name: "Delete run 2", exact: true }).click();
  await expect(named).toHaveCount(0);
  await take("run-2.db", bytes);
  await expect(named).toHaveCount(1);
  await expect(page.getByText("run-2.db: 1 imported.")).toBeVisible();
  await expectToBeGood(page);
  await expect(page.getByRole("alert")).toBeHidden();
  // What is there already is not copied again.
  await take("<img src=x onerror=alert(1)>.db", bytes);
  await expect(page.getByText(/^<img src=x onerror=alert\(1\)>\.db: 0 imported, 1 here already, as run \d+\.$/)).toBeVisible();
  await expect(page.locator("img")).toHaveCount(0);
  await expect(named).toHaveCount(1);

  const newest = (await told<Listed[]>(page, "api/runs")).find(({ name }) => name === "second");
  await page.getByRole("button", { name: `name run ${newest?.id}`, exact: true }).click();
  await page.getByRole("dialog").getByLabel("name").fill("a copy");
  await page.getByRole("button", { name: "Change" }).click();
  await expect(named).toHaveCount(0);
  await page.getByRole("link", { name: `${newest?.id} · a copy` }).click();
  await expect(page).toHaveTitle("loadline: a copy");
  await expectTables(page, await told<RunResult>(page, `api/runs/${newest?.id}`));

  await page.getByRole("link", { name: "Run it again" }).click();
  const yaml = page.getByLabel("The experiment");
  await expect(yaml).toHaveValue(/^name: a copy$/m);
  await expect(yaml).toHaveValue(/blocks: 12/);
  await expect(page.getByText(/^It takes/)).toBeVisible();
  await page.getByRole("button", { name: "Start" }).click();
  await expect(page.getByRole("heading", { name: "a copy" })).toBeVisible();
  await page.getByRole("button", { name: "Stop" }).click();
  await expect(page.getByText(/^It was stopped/)).toBeVisible({ timeout: 60_000 });
  // Of a run that is not there nothing can be started, least of all what was asked for before.
  let drafts = 0;
  page.on("request", (request) => (drafts += Number(request.url().endsWith("/api/drafts"))));
  await page.goto(`${SITE}new?again=999`);
  await expect(page.getByRole("alert")).toContainText("999");
  // Long after the form would have been checked.
  await page.waitForTimeout(1000);
  expect(drafts).toBe(0);
  await expect(page.getByRole("button", { name: "Start" })).toBeDisabled();
  expect(faults.filter((fault) => !fault.includes("404"))).toEqual([]);
});

test("what the form holds outlives a reload, and is shared by its address", async ({ page, browser }) => {
  const faults = faultsOf(page);
  const held = {
    requests: "GET /api/orders?limit=1",
    rates: "700/s",
    connections: "3",
    CPUs: "0.5",
    memory: "64Mi",
    deployments: "3",
    within: "10h",
    objectives: "p99 <= 20ms",
    "fails if": "capacity fewer by > 5%",
  };
  const expectHeld = async (shown: Page) => {
    for (const [label, text] of Object.entries(held)) await expect(shown.getByLabel(new RegExp(`^${label}`))).toHaveValue(text);
    await expect(shown.getByLabel("The experiment")).toHaveValue(/p99 <= 20ms/);
  };
  await page.goto(URL);
  await page.getByRole("link", { name: "New run" }).click();
  for (const [label, text] of Object.entries(held)) await page.getByLabel(new RegExp(`^${label}`)).fill(text);
  await expectHeld(page);
  await expect(page.getByText(/^It takes/)).toBeVisible();
  const address = page.url();
  await page.reload();
  await expectHeld(page);
  // The next run begins with what was asked for last.
  await page.goto(`${SITE}new`);
  await expectHeld(page);
  const other = await (await browser.newContext()).newPage();
  await other.goto(URL);
  await other.goto(address);
  await expectHeld(other);

  const yaml = page.getByLabel("The experiment");
  const edited = `name: by hand\n${await yaml.inputValue()}`;
  await yaml.fill(edited);
  await expect(page.getByText(/^It takes/)).toBeVisible();
  await page.reload();
  await expect(yaml).toHaveValue(edited);
  await other.goto(SITE);
  await other.goto(page.url());
  await expect(other.getByLabel("The experiment")).toHaveValue(edited);
  await expectHeld(other);
  await other.context().close();
  // An address of nothing but defaults is one as well: it is not what the browser that opens it was asked for last.
  const third = await (await browser.newContext()).newPage();
  await third.goto(URL);
  await third.goto(`${SITE}new`);
  const [host, pod] = [/^host/, /^pod/].map((name) => third.getByRole("checkbox", { name }));
  await host?.uncheck();
  await pod?.uncheck();
  await third.reload();
  await expect(third.getByRole("checkbox", { name: /^pod/ })).not.toBeChecked();
  const defaults = await (await browser.newContext()).newPage();
  await defaults.goto(URL);
  await defaults.goto(`${SITE}new`);
  await expect(defaults).toHaveURL(/\?/);
  await third.goto(defaults.url());
  await expect(third.getByRole("checkbox", { name: /^pod/ })).toBeChecked();
  await defaults.context().close();
  await third.context().close();
  // A change of the form replaces it, in the address as well.
  await page.getByLabel(/^rates/).fill("800/s");
  await expect(yaml).toHaveValue(/800\/s/);
  await page.reload();
  await expect(yaml).toHaveValue(/800\/s/);
  await expect(yaml).not.toHaveValue(/by hand/);
  expect(faults).toEqual([]);
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

test("the list of runs is printed whole, black on white", async ({ page }) => {
  await page.emulateMedia({ colorScheme: "dark" });
  await page.goto(URL);
  await expect(page.locator("table.runs")).toBeVisible();
  await expectOnPaper(page);
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
  // Each field of the form, of each kind of service, of the list and of the history.
  for (const kind of ["command", "image", "URL"]) {
    await page.getByRole("radio", { name: kind, exact: true }).check();
    const fields = page.locator("form.new-run fieldset").locator("input[type=text]:enabled, textarea");
    for (const field of await fields.all()) await field.fill(attack);
    await page.waitForResponse((response) => response.url().endsWith("/api/drafts") && response.status() === 422);
    await expect(page.locator("pre.alert")).toBeVisible();
    expect(await page.locator("img").count()).toBe(0);
  }
  await page.goto(SITE);
  await page.getByLabel("Find").fill(`no ${attack}`);
  await expect(page.getByText("No run is called")).toContainText(attack);
  expect(await page.locator("img").count()).toBe(0);
  await page.goto(`${SITE}history?metric=${encodeURIComponent(attack)}`);
  await expect(page.getByRole("alert")).toContainText("img src=x");
  expect(await page.locator("img").count()).toBe(0);
  expect(faults).toEqual([]);
});

test("script in the headers of a response is text", async ({ page }) => {
  const faults = faultsOf(page);
  page.on("dialog", (dialog) => faults.push(`dialog ${dialog.message()}`));
  // All that a name may be made of (RFC 9110, section 5.6.2) and that means something in a page.
  const [name, value] = ["x-&lt-'`onload", "<img src=x onerror=alert(1)><script>alert(2)</script>"];
  const response = `HTTP/1.1 200 OK\r\ncontent-length: 2\r\n${name}: ${value}\r\nset-cookie: ${value}\r\n\r\nok`;
  const answers = `(to) => to.on("error", () => 0).once("data", () => to.end(${JSON.stringify(response)}))`;
  const command = ["node", "-e", `require("net").createServer(${answers}).listen({port}, "{host}")`];
  await page.goto(URL);
  await page.getByRole("link", { name: "New run" }).click();
  await page.getByLabel("The experiment").fill(`services: [{name: hostile, command: ${JSON.stringify(command)}}]
platforms: [host]
loads: [{rate: 200/s}]
`);
  await expect(page.getByText(/^It takes/)).toBeVisible();
  await page.getByRole("button", { name: "Send each request once" }).click();
  const shown = page.getByLabel("requests and responses");
  await expect(shown).toContainText(`< ${name}: ${value}`, { timeout: 60_000 });
  await expect(shown).toContainText(`< set-cookie: ${value}`);
  // It is all text, and the page has no script but its own.
  expect(await shown.evaluate((element) => element.childElementCount)).toBe(0);
  await expect(page.locator("script")).toHaveCount(1);
  await expectToBeGood(page);
  expect(faults).toEqual([]);
});

test("a run of each kind of service is started from the form", async ({ page }) => {
  const faults = faultsOf(page);
  const servers = [1, 2].map(() => createServer((_, response) => response.end("ok")).listen(0, "127.0.0.1"));
  await Promise.all(servers.map((server) => server.listening || once(server, "listening")));
  const urls = servers.map((server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const yaml = page.getByLabel("The experiment");
  const choose = async (kind: string) => {
    await page.getByRole("radio", { name: kind, exact: true }).check();
    // No more than services that are scripts answer beside the browser.
    await page.getByLabel("rates").fill("1000/s");
  };
  const expectMeasured = async (service: string, platforms: string[]) => {
    await expect(page.getByRole("link", { name: "Read the report" })).toBeVisible({ timeout: 150_000 });
    await page.getByRole("link", { name: "Read the report" }).click();
    await expect(page).toHaveURL(/\/runs\/\d+$/);
    const { cells } = await told<RunResult>(page, `api/runs/${page.url().split("/").at(-1)}`);
    expect([...new Set(cells.map(({ platform }) => platform))]).toEqual(platforms);
    for (const cell of cells) {
      expect(cell.service).toBe(service);
      expect(cell.answered).toBeGreaterThan(0);
      expect(cell.errors).toEqual({});
    }
    await page.getByRole("link", { name: "All runs" }).click();
  };
  await page.goto(URL);
  await run(page, "a command", async () => {
    await choose("command");
    await page.getByRole("textbox", { name: /^command/ }).fill(`shop: node -e "require('http').createServer((_, to) => to.end('ok')).listen({port}, '{host}')"`);
    await page.getByRole("checkbox", { name: /^pod/ }).uncheck();
    await expect(yaml).toHaveValue(/createServer/);
  });
  await expectMeasured("shop", ["host"]);
  await run(page, "of URLs", async () => {
    await choose("URL");
    await page.getByRole("textbox", { name: /^URLs/ }).fill(urls.join(" "));
    await expect(yaml).toHaveValue(/external: [\s\S]*external: /);
  });
  await expectMeasured("service", urls);
  servers.forEach((server) => server.close());
  // What the first of these runs measured.
  await run(page, "again in a pod", async () => {
    await choose("service of a stored run");
    await page.getByRole("combobox", { name: /^service/ }).selectOption({ label: (await page.getByRole("option", { name: /^shop · run \d+: node / }).textContent()) ?? "" });
    await page.getByRole("checkbox", { name: /^host/ }).uncheck();
    await page.getByRole("checkbox", { name: /^pod/ }).check();
    await expect(yaml).toHaveValue(/createServer[\s\S]*platforms: \[pod\]/);
  });
  await expectMeasured("shop", ["pod"]);
  // A platform for it need not be here. That the run of such a file starts the image: crates/loadline/tests/it/ui.rs.
  await page.goto(`${SITE}new?what=image&image=shop/orders:1.2&on=docker`);
  await expect(yaml).toHaveValue(/^service: \{image: shop\/orders:1\.2\}\nplatforms: \[docker\]\n/);
  await expect(page.getByText(/^It takes/)).toBeVisible();
  await page.getByRole("checkbox", { name: /^host/ }).check();
  await expect(page.locator("pre.alert")).toContainText("an image runs in docker and kubernetes only");
  expect(faults).toEqual([]);
});

test("a run that another process stores comes into the list by itself", async ({ page }) => {
  const faults = faultsOf(page);
  const rows = page.locator("table.runs tbody tr");
  await page.goto(URL);
  await expect(rows.first()).toBeVisible();
  const before = await rows.count();
  const [folder = "", loadline = ""] = [process.env["LOADLINE_PAGES"], process.env["LOADLINE_PROGRAM"]];
  execFileSync(loadline, ["store", "import", `${folder}/measured.db`, "--store", `${folder}/served.db`]);
  await expect(rows).toHaveCount(before + 1, { timeout: 30_000 });
  expect(faults).toEqual([]);
});
