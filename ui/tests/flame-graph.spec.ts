// The frames of a flame graph are as wide as what the profiler saw of them, and say it. The JSON has its sums by layer alone, so that the
// stacks are those of the page.
import { expect, test } from "@playwright/test";
import type { Page } from "@playwright/test";
import { read } from "../src/data";
import type { Profile } from "../src/data";
import { expectFigure, open, resultOf } from "./pages";

/** Of each stack what it and all that it called cost, ns a request, by its names from the outermost on. */
function costs({ stacks: { names, nodes }, requests }: Profile): Map<string, number> {
  const stacks: string[] = [];
  for (const [parent, name] of nodes) stacks.push(`${stacks[parent - 1] ?? ""};${names[name]}`);
  const sums = new Map<string, number>();
  for (const [at, [, , own]] of nodes.entries()) {
    for (let stack = stacks[at] ?? ""; stack !== ""; stack = stack.slice(0, stack.lastIndexOf(";"))) sums.set(stack, (sums.get(stack) ?? 0) + own / requests);
  }
  return sums;
}

/** Of all stacks together. */
function total(sums: Map<string, number>): number {
  return [...sums].reduce((sum, [stack, ns]) => (stack.lastIndexOf(";") === 0 ? sum + ns : sum), 0);
}

interface Told {
  name: string;
  ns: string;
  share: string;
  change: string | undefined;
  against: string | undefined;
}

/** `tcp_sendmsg: 2.29 µs a request (52.0 %), +1.10 µs against host` */
function parsed(text: string): Told {
  const found = /^(.*): (.+?) a request \((.+?) %\)(?:, (.+) against (.*))?$/.exec(text.trim());
  if (found === null) throw new Error(`“${text}” says nothing of a frame`);
  const [, name = "", ns = "", share = "", change, against] = found;
  return { name, ns, share, change, against };
}

/** Whether it is what a frame of this cost says. */
function says(told: Told, ns: number, all: number): void {
  expectFigure(told.ns, ns);
  expect(Math.abs(Number(told.share) - (100 * ns) / all), `${told.share} % of ${told.name}`).toBeLessThan(0.06);
}

/** Each frame that is drawn: what it says, and its width as a share of all. */
function framesOf(page: Page): Promise<{ text: string; share: number }[]> {
  return page.locator("#flame-graphs svg").evaluate((svg) =>
    [...svg.querySelectorAll("g.frame")].map((frame) => ({
      text: frame.querySelector("title")?.textContent ?? "",
      share: (Number(frame.querySelector("rect")?.getAttribute("width")) + 0.5) / Number(svg.getAttribute("width")),
    })),
  );
}

test("each frame of a flame graph says what it costs, and is as wide", async ({ page }) => {
  const faults = await open(page, "layers");
  const graph = page.locator("#flame-graphs");
  const { profiles } = read((await page.locator("#data").textContent()) ?? "");
  const label = (cell: number) => resultOf("layers").cells[cell]?.label ?? "";
  expect(profiles.length).toBe(3);
  for (const profile of profiles) {
    await graph.getByRole("combobox", { name: "cell" }).selectOption(String(profile.cell));
    for (const other of [undefined, ...profiles.filter(({ cell }) => cell !== profile.cell)]) {
      await graph.getByRole("combobox", { name: "less" }).selectOption(String(other?.cell ?? ""));
      const sums = costs(profile);
      const before = other === undefined ? undefined : costs(other);
      const all = total(sums);
      const left = [...sums].filter(([, ns]) => ns > 0);
      const frames = await framesOf(page);
      // One more is all of them.
      expect(frames.length).toBe(left.length + 1);
      for (const [at, { text, share }] of frames.entries()) {
        const told = parsed(text);
        // No two frames of the same name have the same width.
        const which = left.findIndex(([stack, ns]) => stack.split(";").at(-1) === told.name && Math.abs(ns / all - share) < 0.002);
        const [stack, ns] = at === 0 ? ["", all] : (left[which] ?? ["", NaN]);
        if (at === 0) expect(told.name).toBe("all");
        else left.splice(which, 1);
        expect(Math.abs(ns / all - share)).toBeLessThan(0.002);
        says(told, ns, all);
        expect(told.against).toBe(other === undefined ? undefined : label(other.cell));
        if (before !== undefined) expectFigure(told.change ?? "", ns - (at === 0 ? total(before) : (before.get(stack) ?? 0)));
      }
      expect(left).toEqual([]);
      says(parsed(await graph.locator(".readout").innerText()), all, all);
    }
  }
  expect(faults).toEqual([]);
});

test("what is found in a flame graph is counted once, and a frame that is widened keeps its figures", async ({ page }) => {
  await open(page, "layers");
  const graph = page.locator("#flame-graphs");
  const profile = read((await page.locator("#data").textContent()) ?? "").profiles.at(-1);
  if (profile === undefined) throw new Error("no profile");
  const sums = costs(profile);
  const all = total(sums);
  for (const text of ["tcp_sendmsg", "_[k]", "main"]) {
    await graph.getByLabel("find").fill(text);
    // Not what is called by one that has the text already.
    const found = [...sums].filter(([stack]) => stack.split(";").findIndex((name) => name.includes(text)) === stack.split(";").length - 1);
    const [, ns = "", share = ""] = /: (.+) a request \((.+) %\)/.exec(await graph.locator(".readout").innerText()) ?? [];
    says({ name: text, ns, share, change: undefined, against: undefined }, found.reduce((sum, [, cost]) => sum + cost, 0), all);
  }
  await graph.getByLabel("find").fill("");
  await graph.locator("svg g.frame").filter({ has: page.locator("title", { hasText: /^service: / }) }).press("Enter");
  const service = sums.get(";service") ?? NaN;
  says(parsed(await graph.locator(".readout").innerText()), service, all);
  const [widest] = await framesOf(page);
  expect(widest?.share).toBeCloseTo(1, 2);
  says(parsed(widest?.text ?? ""), service, all);
});
