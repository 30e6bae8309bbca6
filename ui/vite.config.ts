// For each of the two programs one script and one style sheet with fixed names: `page`, which `crates/report` makes part of each report, and
// `app`, which `crates/web` serves. `BUILD` says which.
import { defineConfig } from "vite";

const ENTRIES: Record<string, string> = { page: "src/main.tsx", app: "src/app/main.tsx" };
const name = process.env["BUILD"] ?? "page";

export default defineConfig({
  esbuild: { jsx: "automatic", jsxImportSource: "preact", legalComments: "none" },
  build: {
    target: "es2022",
    outDir: process.env["LOADLINE_UI_DIST"] ?? "dist",
    emptyOutDir: name === "page",
    cssCodeSplit: false,
    lib: { entry: ENTRIES[name] ?? "", formats: ["iife"], name: "loadline", fileName: () => `${name}.js` },
    rollupOptions: { output: { assetFileNames: `${name}.[ext]` } },
  },
});
