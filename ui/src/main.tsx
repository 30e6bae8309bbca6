// Adds to a page what is looked into by hand. The page is complete without it.
import "uplot/dist/uPlot.min.css";
import "./style.css";
import type { ComponentType } from "preact";
import { render } from "preact";
import { CapacityCurves } from "./capacity-curves";
import { CellTable } from "./cell-table";
import { read } from "./data";
import type { Page } from "./data";
import { FigureDialog } from "./figure-dialog";
import { FlameGraphs } from "./flame-graphs";
import { HeatMap } from "./heat-map";
import { Percentiles } from "./percentiles";
import { Pictures } from "./pictures";
import { Probes } from "./probes";
import { Slices } from "./slices";
import { Sweep } from "./sweep";

const PARTS: Record<string, ComponentType<{ page: Page }>> = {
  percentiles: Percentiles,
  slices: Slices,
  probes: Probes,
  "heat-map": HeatMap,
  "capacity-curves": CapacityCurves,
  sweep: Sweep,
  "cell-table": CellTable,
  "flame-graphs": FlameGraphs,
  pictures: Pictures,
};

const page = read(document.getElementById("data")?.textContent ?? "");
for (const [id, Part] of Object.entries(PARTS)) {
  const place = document.getElementById(id);
  if (place !== null) render(<Part page={page} />, place);
}
document.querySelectorAll<HTMLTableElement>("table[data-contrast]").forEach(openable);

/** Makes buttons of the names of figures. */
function openable(table: HTMLTableElement): void {
  const contrast = page.result.contrasts[Number(table.dataset["contrast"])];
  if (contrast === undefined) return;
  table.querySelectorAll<HTMLTableRowElement>("tr[data-metric]").forEach((line) => {
    const { metric, request } = line.dataset;
    const rows = request === undefined ? contrast.rows : contrast.by_request?.find((each) => each.request === request)?.rows;
    const row = rows?.find((each) => each.metric === metric);
    const heading = line.querySelector("th");
    if (row === undefined || heading === null) return;
    const [name = "", ...shown] = [...line.children].map((cell) => cell.textContent ?? "");
    const button = document.createElement("button");
    button.type = "button";
    button.className = "figure";
    button.textContent = name;
    button.setAttribute("aria-haspopup", "dialog");
    button.addEventListener("click", () => {
      const place = document.body.appendChild(document.createElement("div"));
      const close = () => {
        render(null, place);
        place.remove();
        button.focus();
      };
      render(<FigureDialog page={page} contrast={contrast} row={row} request={request} name={name} shown={shown} onClose={close} />, place);
    });
    heading.replaceChildren(button);
  });
}
