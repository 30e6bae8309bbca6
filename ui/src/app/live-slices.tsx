// The slices of a run as they land: the median of each, in the order in which they were measured.
import { useEffect, useMemo, useRef } from "preact/hooks";
import uPlot from "uplot";
import { colour, looks } from "../cells";
import type { Look, Named } from "../cells";
import { roundTime, seconds, time } from "../format";
import { Legend, outline } from "../legend";
import { LOG_TICKS, Plot, axis, closeRange } from "../plot";
import type { Slice, Status } from "./api";

interface Props {
  slices: Slice[];
  /** Those that were asked for. */
  cells: Status["live"]["cells"];
}

/** Points that are drawn: the latest. */
const MOST = 4000;

export function LiveSlices({ slices, cells }: Props) {
  const made = useRef<uPlot>(undefined);
  const shown = useRef(slices);
  shown.current = slices.slice(-MOST);
  const drawn = useRef<Look[]>([]);
  const known = named(cells);
  drawn.current = looks({ cells: known });
  const data = (): uPlot.AlignedData => [shown.current.map(({ at_s }) => at_s), shown.current.map(({ p50_ns }) => p50_ns ?? null)];
  const none = useMemo((): uPlot.AlignedData => [[], []], []);
  const options = useMemo(
    () => (): Omit<uPlot.Options, "width" | "height"> => ({
      scales: { x: { time: false }, y: { distr: 3, log: 10, range: closeRange } },
      legend: { show: false },
      cursor: { show: false },
      axes: [
        axis({ values: (_plot, splits) => splits.map(seconds) }),
        axis({ size: 64, ...LOG_TICKS, values: (_plot, splits) => splits.map(roundTime) }),
      ],
      series: [{}, { paths: () => null, points: { show: false } }],
      hooks: { draw: [(plot) => points(plot, shown.current, drawn.current)] },
    }),
    [],
  );
  useEffect(() => made.current?.setData(data()), [slices]);
  if (slices.length === 0 || cells.length === 0) return null;
  const last = slices.at(-1);
  return (
    <section>
      <h2>Every slice</h2>
      <p class="caption">its median, in the order in which they are measured; × disturbed</p>
      <Legend cells={known.filter(({ role }) => role !== "twin")} looks={drawn.current} />
      <Plot
        options={options}
        data={none}
        height={230}
        label={`${slices.length} slices so far, the last with a median of ${time(last?.p50_ns)}`}
        onMade={(plot) => {
          made.current = plot;
          plot.setData(data());
        }}
      />
    </section>
  );
}

/** The cells by number: those that nobody asked for are twins. */
function named(cells: Props["cells"]): Named[] {
  const last = Math.max(-1, ...cells.map(({ cell }) => cell));
  return Array.from({ length: last + 1 }, (_, id) => {
    const asked = cells.find(({ cell }) => cell === id);
    return asked === undefined ? { id, label: "twin", role: "twin" } : { id, label: asked.label, role: "candidate" };
  });
}

function points(plot: uPlot, slices: Slice[], looks: Look[]): void {
  const { ctx } = plot;
  const colours = looks.map((look) => colour(look.colour));
  ctx.save();
  for (const { cell, at_s, p50_ns, disturbed } of slices) {
    const look = looks[cell];
    if (look === undefined || p50_ns === null || p50_ns === undefined) continue;
    const [x, y] = [plot.valToPos(at_s, "x", true), plot.valToPos(p50_ns, "y", true)];
    ctx.strokeStyle = ctx.fillStyle = colours[cell] ?? "";
    const path = new Path2D(disturbed ? `M${x - 3} ${y - 3}l6 6m0 -6l-6 6` : outline(look.shape, x, y, 2.5));
    if (look.shape === "ring" || disturbed) ctx.stroke(path);
    else ctx.fill(path);
  }
  ctx.restore();
}
