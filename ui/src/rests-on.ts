// What a figure rests on: a row of a comparison with both of its cells, or a cell with its own figure.
import { loadName } from "./cells";
import type { Page } from "./data";
import { figure, range } from "./format";
import type { Unit } from "./format";
import type { Cell, Contrast, Figure, Row } from "./generated/result";

export interface RestsOn {
  /** `response p50: pod against host` */
  title: string;
  /** `response p50` */
  name: string;
  metric: string;
  unit: Unit;
  /** The baseline first. */
  cells: Cell[];
  /** Of a comparison. */
  row: Row | undefined;
  /** The request that it is a figure of, of a cell with several. */
  request: string | undefined;
  /** The figure itself, and what is known of it. */
  facts: () => [string, string][];
}

/** By the names that stand beside a figure in the page; undefined where the result has nothing of that name. */
export function restsOn({ result }: Page, { cell, contrast, metric, request }: DOMStringMap): RestsOn | undefined {
  if (cell !== undefined) {
    const of = result.cells[Number(cell)];
    const found = of?.figures.find((each) => each.metric === metric);
    return of && found && ofCell(of, found);
  }
  const of = result.contrasts[Number(contrast)];
  const rows = request === undefined ? of?.rows : of?.by_request?.find((each) => each.request === request)?.rows;
  const row = rows?.find((each) => each.metric === metric);
  return of && row && ofContrast(result.cells, of, row, request, () => shownOf(contrast, metric, request));
}

/** A cell's own figure. */
export function ofCell(cell: Cell, found: Figure): RestsOn {
  const name = found.label.trim();
  return {
    title: `${name}: ${cell.label}`,
    name,
    metric: found.metric,
    unit: found.unit,
    cells: [cell],
    row: undefined,
    request: undefined,
    facts: () => [
      ["value", figure(found.value, found.unit)],
      ["interval", found.t_interval ? range(found.t_interval, found.unit) : "none"],
      ["load", loadName(cell)],
      ["answered", cell.answered.toLocaleString("en")],
    ],
  };
}

function ofContrast(all: Cell[], contrast: Contrast, row: Row, request: string | undefined, shown: () => string[]): RestsOn {
  const cells = [contrast.baseline, contrast.candidate].map((id) => all[id]).filter((cell) => cell !== undefined);
  const name = `${request === undefined ? "" : `${request}: `}${row.label.trim()}`;
  return {
    title: `${name}: ${cells.map(({ label }) => label).reverse().join(" against ")}`,
    name,
    metric: row.metric,
    unit: row.unit,
    cells,
    row,
    request,
    facts: () => {
      const [baseline = "", candidate = "", change = "", share = "", interval = "", p = "", verdict = ""] = shown();
      return [
        [cells[0]?.label ?? "baseline", baseline],
        [cells[1]?.label ?? "candidate", candidate],
        ["difference", `${change} ${share}`],
        ["interval", interval || "none"],
        ["p (Holm)", p || "none"],
        ["margin", `±${figure(row.margin, row.unit)}`],
        ["resolution", typeof row.resolution === "number" ? figure(row.resolution, row.unit) : "none"],
        ["verdict", verdict],
      ];
    },
  };
}

/** The figures of a row as the table of its comparison shows them. */
function shownOf(contrast: string | undefined, metric: string | undefined, request: string | undefined): string[] {
  const lines = document.querySelectorAll<HTMLElement>(`table[data-contrast="${Number(contrast)}"] tr[data-metric]`);
  const line = [...lines].find(({ dataset }) => dataset["metric"] === metric && dataset["request"] === request);
  return [...(line?.querySelectorAll("td") ?? [])].map((cell) => cell.textContent ?? "");
}
