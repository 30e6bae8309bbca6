// One script and one style sheet with fixed names, which `crates/report` makes part of each page.
import { defineConfig } from "vite";

export default defineConfig({
  esbuild: { jsx: "automatic", jsxImportSource: "preact", legalComments: "none" },
  build: {
    target: "es2022",
    outDir: process.env["LOADLINE_UI_DIST"] ?? "dist",
    emptyOutDir: true,
    cssCodeSplit: false,
    lib: { entry: "src/main.tsx", formats: ["iife"], name: "loadline", fileName: () => "page.js" },
    rollupOptions: { output: { assetFileNames: "page.[ext]" } },
  },
});
