// What a drawing says by its axes: where a value stands, and the value of a place, as a person reads them off the labels.
import { expect } from "@playwright/test";
import type { Locator } from "@playwright/test";
import { figureOf } from "./pages";

export interface Scale {
  place: (value: number) => number;
  value: (place: number) => number;
}

/** A label of an axis, and where it stands. */
export type Label = readonly [text: string, place: number];

/** The labels of an axis that goes up, each beside the line that it names. */
export function upright(drawing: Locator): Promise<Label[]> {
  return drawing.evaluate((svg) =>
    [...svg.querySelectorAll("line.tick, line.zero")].map((line) => [line.parentElement?.querySelector("text")?.textContent ?? "", Number(line.getAttribute("y1"))] as const),
  );
}

/** Those of an axis that goes across. */
export function across(drawing: Locator): Promise<Label[]> {
  return drawing.evaluate((svg) => [...svg.querySelectorAll(":scope > text")].map((text) => [text.textContent ?? "", Number(text.getAttribute("x"))] as const));
}

/** The plots of a part of the page that was saved as SVG, each by itself; the signs of legends are none. */
export function plotsOf(svg: string): string[] {
  return svg.split("<svg ").filter((drawing) => drawing.includes('dominant-baseline="text-before-edge"'));
}

/** The labels of a plot that was saved as SVG. There they stand on whole pixels. */
export function labelsOf(svg: string): { up: Label[]; across: Label[] } {
  const texts = [...svg.matchAll(/<text x="([\d.]+)" y="([\d.]+)" text-anchor="\w+" dominant-baseline="([\w-]+)"[^>]*>([^<]*)<\/text>/g)];
  const standing = (baseline: string, at: number) => texts.filter((text) => text[3] === baseline).map((text): Label => [text[4] ?? "", Number(text[at])]);
  return { up: standing("central", 2), across: standing("text-before-edge", 1) };
}

/** Of the first and the last label; those between must stand on it as well. */
export function scaleOf(labels: readonly Label[], logarithmic = false, within = 0.2): Scale {
  const known = labels.flatMap(([text, place]) => {
    const figure = figureOf(text);
    return figure === undefined ? [] : [{ value: figure.value, place }];
  });
  const [first, last] = [known[0], known.at(-1)];
  if (first === undefined || last === undefined || first.place === last.place) throw new Error(`no scale in ${labels.map(([text]) => text).join(", ")}`);
  const [read, back] = logarithmic ? [Math.log, Math.exp] : [(value: number) => value, (value: number) => value];
  const slope = (last.place - first.place) / (read(last.value) - read(first.value));
  const place = (value: number) => first.place + (read(value) - read(first.value)) * slope;
  for (const each of known) expectPlace(each.place, place(each.value), "label", within);
  return { place, value: (at) => back(read(first.value) + (at - first.place) / slope) };
}

/** Whether something is drawn where it belongs, to a fifth of a pixel, or of a percent of the width, if not said otherwise. */
export function expectPlace(drawn: number, expected: number, what: string, within = 0.2): void {
  expect(Math.abs(drawn - expected), `${what} at ${drawn}, not ${expected}`).toBeLessThan(within);
}
