// Adds to a page what is looked into by hand. The page is complete without it.
import "uplot/dist/uPlot.min.css";
import "./style.css";
import type { ComponentType } from "preact";
import { render } from "preact";
import { CapacityCurves } from "./capacity-curves";
import { CellTable } from "./cell-table";
import { read } from "./data";
import type { Page } from "./data";
import { makeButtons } from "./figure-button";
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
makeButtons(page);
