// The figures in the sentences of a page are those of its JSON.
import { expect, test } from "@playwright/test";
import { expectFigure, open, resultOf } from "./pages";

/** What a sentence says in the groups of a pattern. */
function told(text: string, pattern: RegExp): string[] {
  const found = pattern.exec(text);
  if (found === null) throw new Error(`“${text}” has no ${String(pattern)}`);
  return found.slice(1).map((part) => part ?? "");
}

test("the answer says the difference at the median, and what it is at least", async ({ page }) => {
  await open(page, "slower");
  const row = resultOf("slower").contrasts[0]?.rows.find(({ metric }) => metric === "response.p50");
  const [difference = "", share = "", least = ""] = told(await page.locator("h1").innerText(), /: (\S+ \S+) at the median \((\S+ %)\), at least (\S+ \S+?)\.$/);
  expectFigure(difference, row?.difference ?? NaN);
  expectFigure(share, row?.relative ?? NaN);
  expectFigure(least, row?.interval?.[0] ?? NaN);
});

test("what the figures are worth is told with the figures of the JSON", async ({ page }) => {
  await open(page, "slower");
  const { cells, contrasts, plan, run } = resultOf("slower");
  const text = await page.locator(".worth").innerText();
  const [p50 = "", p99 = "", deployments, blocks, slice = ""] = told(text, /Resolution: (\S+ \S+) at p50, (\S+ \S+) at p99 \(.*; (\d+) deployments × (\d+) blocks × (\S+ s)\)/);
  const resolution = (metric: string) => Math.max(...contrasts.flatMap(({ rows }) => rows.filter((row) => row.metric === metric).map((row) => row.resolution ?? NaN)));
  expectFigure(p50, resolution("response.p50"));
  expectFigure(p99, resolution("response.p99"));
  expect([Number(deployments), Number(blocks)]).toEqual([plan.deployments, plan.blocks]);
  expectFigure(slice, plan.slice_s * 1e9);

  const [spread = ""] = told(text, /Deployments of a cell lie within ±(\S+ %)/);
  expectFigure(spread, Math.max(...cells.map(({ deployment_spread: spread }) => spread?.share ?? 0)));

  const settle = plan.seconds_to_settle;
  const [metric, within = "", more, minutes] = told(text, /To know (.*) to ±(\S+ %): run again with --deployments (\d+), about (\d+) minutes/);
  expect([metric, Number(more)]).toEqual([settle?.metric, settle?.deployments]);
  expectFigure(within, settle?.within ?? NaN);
  expect(Math.abs(Number(minutes) - (settle?.run_seconds ?? NaN) / 60)).toBeLessThanOrEqual(0.51);

  const spent = run.time_spent;
  if (!spent) throw new Error("no times");
  const parts: Record<string, number | undefined> = {
    measuring: spent.measuring_s,
    "starting services": spent.starting_s,
    "warming up": spent.warming_up_s,
    "repeating slices": spent.repeating_s,
    "stopping services": spent.stopping_s,
  };
  const [seconds = "", shares = ""] = told(text, /Time: (\d+) seconds: (.*)\./);
  expect(Math.abs(Number(seconds) - (spent.total_s ?? NaN))).toBeLessThanOrEqual(0.51);
  const shown = shares.split(", ").map((part) => told(part, /^(\d+ %) (.*)$/));
  // What is in none of the parts, and what is hardly anything, has no name.
  expect(shown.map(([, name]) => name).filter((name) => name !== "other").sort()).toEqual(Object.keys(parts).sort());
  for (const [share = "", name = ""] of shown) if (name !== "other") expectFigure(share, (parts[name] ?? NaN) / (spent.total_s ?? NaN));
});

test("why a run cannot be trusted is told with its gates, and how many slices failed them", async ({ page }) => {
  await open(page, "untrusted");
  const failing = resultOf("untrusted").trust.gates.filter(({ holds }) => !holds);
  expect(failing.length).toBeGreaterThan(1);
  const alerts = await page.locator("header p.alert").allInnerTexts();
  expect(alerts.length).toBe(failing.length);
  for (const { text, failed } of failing) expect(alerts.filter((alert) => alert.includes(`${text} (${failed} slices failed`))).toHaveLength(1);
});

test("failed requests are told by cell and kind, with the numbers of the JSON", async ({ page }) => {
  await open(page, "untrusted");
  const [list = ""] = told(await page.locator("header p.caution").filter({ hasText: "Failed requests" }).innerText(), /Failed requests: (.*)\.$/);
  const failing = resultOf("untrusted").cells.filter(({ errors }) => Object.keys(errors).length > 0);
  expect(failing.length).toBeGreaterThan(1);
  const words: Record<string, string> = { reset: "reset", timeout: "timed out" };
  const expected = failing.map(({ label, errors }) => {
    const kinds = Object.entries(errors).sort(([, one], [, other]) => other - one);
    const counted = kinds.map(([kind, count]) => (kind in words ? `${count} ${words[kind]}` : kind.replace(/: (\d+)$/, `: ${count} × $1`)));
    return `${label} ${counted.join(", ")}`;
  });
  expect(list.split("; ")).toEqual(expected);
});

test("a run that was interrupted says after how many blocks, and claims nothing", async ({ page }) => {
  await open(page, "interrupted");
  const { contrasts, plan, run } = resultOf("interrupted");
  expect(run.state).toBe("interrupted");
  const [measured, planned] = told(await page.locator("header p.alert").innerText(), /Interrupted after (\d+) of (\d+) blocks\./);
  expect([Number(measured), Number(planned)]).toEqual([plan.blocks_measured, plan.blocks * plan.deployments_planned]);
  const row = contrasts[0]?.rows.find(({ metric }) => metric === "response.p50");
  const [difference = "", share = "", note] = told(await page.locator("h1").innerText(), /^Can't tell: (\S+ \S+) at the median \((\S+ %)\); (.*)\.$/);
  expectFigure(difference, row?.difference ?? NaN);
  expectFigure(share, row?.relative ?? NaN);
  expect(note).toBe(row?.note);
  expect(await page.locator(".worth").innerText()).toContain("Resolution: unknown");
});

test("a twin that differs is told with the figures of the JSON", async ({ page }) => {
  await open(page, "twin");
  const { cells, plan, trust } = resultOf("twin");
  const differing = trust.twins_differ ?? [];
  const cautions = await page.locator("header p.caution").allInnerTexts();
  expect(differing.length).toBeGreaterThan(0);
  expect(cautions.length).toBe(differing.length);
  for (const [at, { baseline, twin, metric, difference, interval, p_holm: p }] of differing.entries()) {
    const [one, other, of, by = "", unit, confidence, low, high, shown = ""] = told(
      cautions[at] ?? "",
      /(\S+) differs from (\S+) in (.*) by (\S+ (\S+)), (\d+) % interval \[(\S+), (\S+)\] \(p (\S+) after Holm's correction\)/,
    );
    expect([one, other, of, Number(confidence)]).toEqual([cells[twin]?.label, cells[baseline]?.label, metric, Math.round(plan.confidence * 100)]);
    expectFigure(by, difference);
    expectFigure(`${low} ${unit}`, interval[0]);
    expectFigure(`${high} ${unit}`, interval[1]);
    expectFigure(shown, p);
  }
});

test("deployments that lie far apart are counted, and the worst cells named", async ({ page }) => {
  await open(page, "twin");
  const spreads = resultOf("twin").cells.flatMap(({ label, deployment_spread: spread }) => (spread ? [{ label, share: spread.share }] : []));
  const [bound = "", beyond, all, named = ""] = told(await page.locator(".worth").innerText(), /differ by more than ±(\S+ %) in (\d+) of (\d+) cells .*Find out why before you quote these: (.*)\./);
  expectFigure(bound, 0.05);
  expect([Number(beyond), Number(all)]).toEqual([spreads.filter(({ share }) => share > 0.05).length, spreads.length]);
  const worst = spreads.filter(({ share }) => share > 0.1).sort((one, other) => other.share - one.share);
  const shown = named.split(", ").map((each) => told(each, /^(.*) ±(\S+ %)$/));
  expect(shown.map(([label]) => label)).toEqual(worst.map(({ label }) => label));
  for (const [at, { share }] of worst.entries()) expectFigure(shown[at]?.[1] ?? "", share);
});

test("how throughput grows with connections is told with the parameters of the JSON", async ({ page }) => {
  await open(page, "connections");
  const { scalability = [] } = resultOf("connections");
  expect(scalability.length).toBeGreaterThan(0);
  const notes = page.locator("section").filter({ has: page.getByRole("heading", { name: "Notes", exact: true }) }).locator("li");
  const lines = await notes.filter({ hasText: "Universal Scalability Law" }).allInnerTexts();
  expect(lines.length).toBe(scalability.length);
  for (const [at, { label, one_per_second: one, contention, crosstalk, peak }] of scalability.entries()) {
    const [name, rate = "", parameters = "", most] = told(lines[at] ?? "", /^(.*) follows the Universal Scalability Law: (\S+) with one connection, (.*); throughput peaks at about (\d+) connections\.$/);
    expect([name, Number(most)]).toEqual([label, Math.round(peak ?? NaN)]);
    expectFigure(rate, one.value);
    const figures = told(parameters, /^contention (\S+) \[(\S+), (\S+)\], crosstalk (\S+) \[(\S+), (\S+)\]$/);
    const expected = [contention, crosstalk].flatMap(({ value, interval }) => [value, ...(interval ?? [])]);
    expect(figures.length).toBe(expected.length);
    figures.forEach((text, which) => expectFigure(text, expected[which] ?? NaN));
  }
});

test("what the slowest requests met is told with the shares of the JSON, the most first", async ({ page }) => {
  await open(page, "tails");
  const section = page.locator("section").filter({ has: page.getByRole("heading", { name: "The slowest requests" }) });
  const lines = await section.locator("li").allInnerTexts();
  const watched = resultOf("tails").cells.flatMap(({ label, tail }) => (tail ? [{ label, tail }] : []));
  expect(lines.length).toBe(watched.length);
  let met = 0;
  for (const [at, { label, tail }] of watched.entries()) {
    const [name, requests, from = "", causes = ""] = told(lines[at] ?? "", /^(.*): (\d+) requests from (\S+ \S+) on: (.*)$/);
    expect([name, Number(requests)]).toEqual([label, tail.requests]);
    expectFigure(from, tail.from_ns);
    const more = ({ touched, by_chance, time_share, time_by_chance = 0 }: (typeof tail.causes)[number]) => Math.max(touched - by_chance, time_share - time_by_chance);
    const expected = tail.causes.filter((cause) => cause.time_share >= 0.01 && more(cause) >= 0.05).sort((one, other) => more(other) - more(one));
    const shown = causes.split("; ").filter((cause) => cause.includes("by chance "));
    expect(shown.length).toBe(expected.length);
    for (const [which, cause] of expected.entries()) {
      const shares = told(shown[which] ?? "", /^(\d+ %) .* \(by chance (\d+ %)\), for (\d+ %) of their time \(of all time (\d+ %)\)$/);
      [cause.touched, cause.by_chance, cause.time_share, cause.time_by_chance ?? NaN].forEach((share, place) => expectFigure(shares[place] ?? "", share));
      met += 1;
    }
  }
  expect(met).toBeGreaterThan(1);
});

test("a limit, and how often it held a service back, are told with the figures of the JSON", async ({ page }) => {
  await open(page, "tails");
  const pod = resultOf("tails").cells.find(({ label }) => label === "pod");
  const [throttled, periods, limit, held = ""] = told(await page.locator("header p.caution").first().innerText(), /pod in (\d+) of (\d+) periods \(limit (\S+), (\d+ ms) per second\)/);
  expect([Number(throttled), Number(periods), Number(limit)]).toEqual([pod?.throttling?.throttled_periods, pod?.throttling?.periods, pod?.limits?.cpus]);
  expectFigure(held, pod?.throttling?.ns_per_second ?? NaN);
  const [cpus, memory = ""] = told(await page.locator("header p.subject").innerText(), /(\S+) CPUs and (\S+ \S+) for pod/);
  expect(Number(cpus)).toBe(pod?.limits?.cpus);
  expectFigure(memory, pod?.limits?.memory_bytes ?? NaN);
});

test("what the run was to pass is told with the figures of its findings", async ({ page }) => {
  await open(page, "conditions");
  const conditions = resultOf("conditions").conditions ?? [];
  const shown = await page.locator("ul.checks > li").evaluateAll((items) =>
    items.map((item) => ({ about: item.querySelector("code")?.textContent, details: [...item.querySelectorAll("li")].map((line) => line.textContent ?? "") })),
  );
  expect(shown.filter(({ about }) => about != null).map(({ about }) => about)).toEqual(conditions.map(({ text }) => text));
  let figures = 0;
  for (const [at, { findings, verdict }] of conditions.entries()) {
    for (const [which, { found, interval, judgement }] of findings.entries()) {
      if (!interval) continue;
      const text = shown[at]?.details[which] ?? "";
      const [difference, unit, low, high] = told(text, /\(([+−]?[\d.,]+) (\S+) \[([^,\]]+), ([^\]]+)\]/);
      expectFigure(`${difference} ${unit}`, found ?? NaN);
      expectFigure(`${low} ${unit}`, interval[0]);
      expectFigure(`${high} ${unit}`, interval[1]);
      // In the direction of the condition.
      const [least, most] = ["faster", "cheaper", "fewer"].includes(verdict) ? [-interval[1], -interval[0]] : interval;
      if (judgement === "holds") expectFigure(told(text, /at least (\S+ \S+) /)[0] ?? "", least);
      else if (judgement === "ruled_out" && most > 0) expectFigure(told(text, /at most (\S+ \S+) /)[0] ?? "", most);
      else expect(text).not.toMatch(/at (least|most)/);
      figures += 1;
    }
  }
  expect(figures).toBeGreaterThan(3);
});

test("what is told of capacities are the figures of the JSON", async ({ page }) => {
  await open(page, "capacities");
  const { capacities, cells } = resultOf("capacities");
  if (!capacities) throw new Error("no capacities");
  const answers = await page.locator("ul.answers li").allInnerTexts();
  expect(answers.length).toBe(capacities.differences.length);
  for (const [at, { baseline, candidate, relative, interval }] of capacities.differences.entries()) {
    const [one, share = "", word, other, low, high] = told(answers[at] ?? "", /(\S+) carries (\S+ %) (less|more) than (.*), \[(\S+), (\S+)\] %/);
    expect([one, word, other]).toEqual([cells[candidate]?.label, relative < 0 ? "less" : "more", cells[baseline]?.label]);
    expectFigure(share, Math.abs(relative));
    expectFigure(`${low} %`, interval[0]);
    expectFigure(`${high} %`, interval[1]);
  }
  const [long = ""] = told(await page.locator("header p.lead").innerText(), /which last (\S+ \S+) there/);
  for (const { slice_s: seconds } of capacities.cells) expectFigure(long, (seconds ?? NaN) * 1e9);

  const notes = await page.locator("section").filter({ has: page.getByRole("heading", { name: "Notes", exact: true }) }).innerText();
  for (const { cell, knee } of capacities.cells) {
    const rates = told(notes, new RegExp(`${cells[cell]?.label} (\\S+/s) \\(tried beside it: (\\S+/s), (\\S+/s)\\)`));
    [knee?.rate_per_second, ...(knee?.between ?? [])].forEach((rate, which) => expectFigure(rates[which] ?? "", rate ?? NaN));
  }
  expectFigure(told(notes, /could send (\S+\/s) a thread/)[0] ?? "", Math.min(...capacities.cells.map(({ generator_limit: limit }) => limit ?? NaN)));
});

test("the foot of a page has the run, the seed and the machine of the JSON", async ({ page }) => {
  await open(page, "slower");
  const { machine, run } = resultOf("slower");
  const fact = (term: string) => page.locator("footer dl > div").filter({ has: page.getByText(term, { exact: true }) }).locator("dd").innerText();
  expect(await fact("run")).toBe(`${run.id} of ${run.started}, loadline ${run.version}`);
  expect(await fact("seed")).toBe(String(run.seed));
  const [cpus, memory = ""] = told(await fact("machine"), /, (\d+) CPUs, (\S+ \S+), /);
  expect(Number(cpus)).toBe(machine.cpus);
  expectFigure(memory, machine.memory_bytes ?? NaN);
});
