// The pages that are tested, as `ui/test` had them made: each an HTML file with the result as JSON beside it.
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { expect } from "@playwright/test";
import type { Locator, Page } from "@playwright/test";
import type { RunResult } from "../src/generated/result";

const FOLDER = process.env["LOADLINE_PAGES"] ?? "";
if (FOLDER === "") throw new Error("LOADLINE_PAGES names no folder: run ui/test");

/** Names of all pages. */
export const PAGES = readdirSync(FOLDER)
  .filter((name) => name.endsWith(".html"))
  .map((name) => name.replace(/\.html$/, ""));

/** The page of a real run, if there is one. */
export const MEASURED = PAGES.filter((name) => name === "measured");

export const WIDTHS = [1280, 390] as const;
export const SCHEMES = ["light", "dark"] as const;

export function file(name: string): string {
  return join(FOLDER, `${name}.html`);
}

export function resultOf(name: string): RunResult {
  const path = join(FOLDER, `${name}.json`);
  if (!existsSync(path)) throw new Error(`${path} is missing`);
  return JSON.parse(readFileSync(path, "utf8")) as RunResult;
}

/** Opens a page; whatever it fetches or complains of is a fault. */
export async function open(page: Page, name: string): Promise<string[]> {
  const faults: string[] = [];
  page.on("request", (request) => request.url().startsWith("file:") || request.url().startsWith("data:") || faults.push(`fetches ${request.url()}`));
  page.on("pageerror", (error) => faults.push(error.message));
  page.on("console", (message) => message.type() === "error" && faults.push(message.text()));
  page.on("dialog", (dialog) => faults.push(`dialog ${dialog.message()}`));
  await page.goto(pathToFileURL(file(name)).href);
  return faults;
}

/** Opens all that is folded, and waits until it has drawn what it draws only then. */
export async function unfold(page: Page): Promise<void> {
  await page.locator("details:not([open])").evaluateAll(async (all) => {
    const toggled = (all as HTMLDetailsElement[]).map((folded) => {
      const told = new Promise((resolve) => folded.addEventListener("toggle", resolve, { once: true }));
      Object.assign(folded, { open: true }).dataset["unfolded"] = "";
      return told;
    });
    await Promise.all(toggled);
    await new Promise((resolve) => requestAnimationFrame(resolve));
  });
}

/** Closes what `unfold` opened. */
export async function fold(page: Page): Promise<void> {
  await page.locator("details[data-unfolded]").evaluateAll((all) =>
    (all as HTMLDetailsElement[]).forEach((one) => {
      one.open = false;
      delete one.dataset["unfolded"];
    }),
  );
}

const SCREENSHOTS = process.env["SCREENSHOTS"] ?? fileURLToPath(new URL("../../target/screenshots", import.meta.url));

/** Keeps a picture of the page as it is now. */
export async function picture(page: Page, name: string): Promise<void> {
  await page.screenshot({ path: join(SCREENSHOTS, `${name}.png`), fullPage: true });
}

/** The file that a click on this hands over. */
export async function fileOf(page: Page, by: Locator): Promise<{ name: string; bytes: Buffer }> {
  const download = page.waitForEvent("download");
  await by.click();
  const file = await download;
  return { name: file.suggestedFilename(), bytes: readFileSync(await file.path()) };
}

/** Nothing but framed tables may be wider than the window. */
export async function expectToFit(page: Page): Promise<void> {
  const width = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
  expect(width[0]).toBeLessThanOrEqual(width[1] ?? 0);
}

/** A figure as it is shown, in the result's units, and how far it may be off by rounding; undefined of what is no figure. */
export function figureOf(text: string): { value: number; within: number } | undefined {
  const found = /^([+−]?)([\d,]+)(?:\.(\d+))?\s*(ns|µs|ms|s|B|KiB|MiB|GiB|\/s|%)?$/.exec(text.trim());
  if (found === null) return undefined;
  const [, sign, whole = "0", decimals = "", unit = ""] = found;
  const size = { ns: 1, µs: 1e3, ms: 1e6, s: 1e9, B: 1, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3, "%": 0.01 }[unit] ?? 1;
  const value = Number(`${whole.replaceAll(",", "")}.${decimals || "0"}`) * size * (sign === "−" ? -1 : 1);
  return { value, within: (0.51 * size) / 10 ** decimals.length };
}

/** Whether a figure that is shown is that of the result. */
export function expectFigure(text: string, value: number): void {
  const shown = figureOf(text);
  if (shown === undefined) throw new Error(`“${text}” is no figure, but ${value} is to be shown`);
  expect(Math.abs(shown.value - value), `“${text}” for ${value}`).toBeLessThanOrEqual(shown.within);
}
