// The pages of `loadline ui` with answers that are invented, so that they need no server.
import { readFileSync } from "node:fs";
import type { Page } from "@playwright/test";
import { fileOf } from "./pages";

const ORIGIN = "http://loadline.test";
const SHELL = `<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><title>loadline</title><link rel="stylesheet" href="/app.css"><link rel="icon" href="data:,"></head>
<body><div id="app"></div><script src="/app.js"></script></body>
</html>`;

/** The body of each path of the API, or what makes it of the address that is asked for. */
export type Answers = Record<string, string | ((address: URL) => string)>;

/** Opens a page of the app; a path of the API is refused for as long as `refused` has it. */
export async function openApp(page: Page, path: string, answers: Answers, refused: string[] = []): Promise<void> {
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
export function hide(page: Page, hidden: boolean): Promise<void> {
  return page.evaluate((hidden) => {
    Object.defineProperty(document, "hidden", { configurable: true, get: () => hidden });
    document.dispatchEvent(new Event("visibilitychange"));
  }, hidden);
}

/** A drawing as it is saved. */
export function saved(page: Page, name: string): Promise<{ name: string; bytes: Buffer }> {
  return fileOf(page, page.getByRole("button", { name, exact: true }));
}
