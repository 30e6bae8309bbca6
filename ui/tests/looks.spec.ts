// Cells are told apart: by colour with shape, by colour with dash, and by colours that those see as well who lack a kind of cones.
import { readFileSync } from "node:fs";
import { expect, test } from "@playwright/test";
import { looks, seriesLook } from "../src/cells";
import type { Look } from "../src/cells";
import { SIGHT_NAMES, contrast, distance } from "./colours";

test("twenty candidates, the baseline and its twin look different, as points and as lines", () => {
  const candidate = (id: number) => ({ id, label: `candidate ${id}`, role: "candidate" as const });
  const cells = [{ id: 0, label: "host", role: "baseline" as const }, { id: 1, label: "host′", role: "twin" as const }, ...Array.from({ length: 20 }, (_, at) => candidate(at + 2))];
  const all = looks({ cells });
  for (const differ of [({ colour, shape }: Look) => `${colour} ${shape}`, ({ colour, dash }: Look) => `${colour} ${dash.join(" ")}`]) {
    expect(new Set(all.map(differ)).size).toBe(all.length);
  }
  expect(all.slice(2)).toEqual(Array.from({ length: 20 }, (_, at) => seriesLook(at + 1)));
});

/** Points of a few pixels and thin lines need several times what is just noticeable of large areas side by side (Szafir 2018). */
const LEAST_DISTANCE = 15;
/** Of what is drawn, WCAG 2.2, 1.4.11. */
const LEAST_CONTRAST = 3;

/** Light, dark, printed. */
const SCHEMES = [...readFileSync(new URL("../src/style.css", import.meta.url), "utf8").matchAll(/:root \{(.*?)\}/gs)].map(
  ([, rules = ""]) => new Map([...rules.matchAll(/(--\w+): (#[0-9a-f]{6});/g)].map(([, name = "", colour = ""]) => [name, colour] as const)),
);

test("the colours of cells are apart from each other for those without one kind of cones, too, and from the paper", () => {
  const cells = ["--base", "--twin", "--accent", "--blue", "--green", "--violet", "--gold"];
  expect(SCHEMES).toHaveLength(3);
  for (const [at, scheme] of SCHEMES.entries()) {
    const colour = (name: string) => scheme.get(name) ?? "";
    for (const [which, one] of cells.entries()) {
      expect(contrast(colour(one), colour("--paper")), `${one} on paper in scheme ${at}`).toBeGreaterThanOrEqual(LEAST_CONTRAST);
      for (const other of cells.slice(which + 1)) {
        for (const sight of SIGHT_NAMES) {
          expect(distance(colour(one), colour(other), sight), `${one} and ${other} in scheme ${at}, ${sight}`).toBeGreaterThanOrEqual(LEAST_DISTANCE);
        }
      }
    }
  }
});

test("distances and contrasts are those of the textbooks", () => {
  expect(distance("#000000", "#ffffff", "all")).toBeCloseTo(100, 1);
  expect(distance("#ff0000", "#00ff00", "all")).toBeCloseTo(170.6, 0);
  // Grey is grey to everybody.
  for (const sight of SIGHT_NAMES) expect(distance("#000000", "#808080", sight)).toBeCloseTo(53.6, 0);
  expect(contrast("#ffffff", "#000000")).toBeCloseTo(21, 1);
});
