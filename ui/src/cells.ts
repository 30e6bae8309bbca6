// How the cells of a run look in every drawing: the baseline slate, the first candidate in the accent, each with a shape and a dash of its
// own, so that colour is never all that tells them apart.
import type { Cell, RunResult } from "./generated/result";

export type Shape = "ring" | "dot" | "square" | "triangle" | "diamond";

export interface Look {
  /** Name of a CSS variable. */
  colour: string;
  shape: Shape;
  dash: number[];
}

const CANDIDATES: Look[] = [
  { colour: "--accent", shape: "dot", dash: [] },
  { colour: "--blue", shape: "square", dash: [] },
  { colour: "--green", shape: "triangle", dash: [10, 3] },
  { colour: "--violet", shape: "diamond", dash: [2, 3] },
  { colour: "--gold", shape: "square", dash: [10, 3, 2, 3] },
];
const BASELINE: Look = { colour: "--base", shape: "ring", dash: [] };
const TWIN: Look = { colour: "--twin", shape: "ring", dash: [4, 3] };

/** The look of a line that stands for several cells. */
export function seriesLook(index: number): Look {
  return index === 0 ? BASELINE : (CANDIDATES[(index - 1) % CANDIDATES.length] ?? BASELINE);
}

/** What a look is chosen by. */
export type Named = Pick<Cell, "id" | "label" | "role">;

/** The look of each cell; those with the same name look the same under every load. */
export function looks({ cells }: { cells: Named[] }): Look[] {
  const candidates = [...new Set(cells.filter((cell) => !isFirst(cell) && cell.role !== "twin").map((cell) => cell.label))];
  return cells.map((cell) => {
    if (cell.role === "twin") return TWIN;
    if (isFirst(cell)) return BASELINE;
    return CANDIDATES[candidates.indexOf(cell.label) % CANDIDATES.length] ?? BASELINE;
  });

  function isFirst(cell: Named): boolean {
    return cell.label === cells[0]?.label;
  }
}

/** `2000/s Poisson, 16 connections` */
export function loadName(cell: Cell): string {
  const kept = cell.new_connections ? ", a new connection per request" : "";
  return `${cell.load}${kept}, ${cell.connections} connection${cell.connections === 1 ? "" : "s"}`;
}

/** The loads of a run, each once. */
export function loads(result: RunResult): string[] {
  return [...new Set(result.cells.map(loadName))];
}

/** The value of a CSS variable now. */
export function colour(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}
