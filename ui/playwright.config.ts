// The tests open files; Chromium is Debian's.
import { defineConfig } from "@playwright/test";

export default defineConfig({
  testDir: "tests",
  // They need the server that `ui/test` starts if it is given a loadline.
  testIgnore: process.env["LOADLINE_URL"] === undefined ? ["app.spec.ts"] : [],
  outputDir: "test-results/playwright",
  workers: 2,
  fullyParallel: true,
  timeout: 30_000,
  reporter: "list",
  use: {
    launchOptions: { executablePath: process.env["CHROMIUM"] ?? "/usr/bin/chromium", args: ["--no-sandbox"] },
    contextOptions: { reducedMotion: "reduce" },
  },
});
