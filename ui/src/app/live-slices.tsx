// The slices of a run as they land: the median of each and what its service took, in the order in which they were measured.
import { useEffect, useMemo, useRef } from "preact/hooks";
import uPlot from "uplot";
import { colour, looks } from "../cells";
import type { Look, Named } from "../cells";
import { figure as told, labels, seconds, time } from "../format";
import type { Unit } from "../format";
import { Legend } from "../legend";
import { draw } from "../marks";
import type { Place } from "../marks";
import { LOG_TICKS, Plot, axis, closeRange } from "../plot";
import type { Slice, Status } from "./api";

interface Props {
  slices: Slice[];
  /** Those that were asked for. */
  cells: Status["live"]["cells"];
}

/** What the services took, where it was seen. */
const TAKEN = [
  { figure: "cpu_ns", heading: "CPU time of the service per request", unit: "ns" },
  { figure: "run_queue_wait_ns", heading: "Wait for a CPU per request", unit: "ns" },
  { figure: "throttled_ns", heading: "Held back by the CPU limit, a second", unit: "ns" },
  { figure: "memory_bytes", heading: "Memory", unit: "bytes" },
] as const satisfies { figure: keyof Slice; heading: string; unit: Unit }[];

/** Points that are drawn: the latest. */
const MOST = 4000;

export function LiveSlices({ slices, cells }: Props) {
  const shown = useMemo(() => slices.slice(-MOST), [slices]);
  if (slices.length === 0 || cells.length === 0) return null;
  const known = named(cells);
  const look = looks({ cells: known });
  const last = shown.at(-1);
  const count = (number: number) => number.toLocaleString("en");
  return (
    <section>
      <h2>{shown.length < slices.length ? `The latest ${count(shown.length)} of ${count(slices.length)} slices` : "Every slice"}</h2>
      <p class="caption">in the order in which they are measured; × disturbed</p>
      <Legend cells={known.filter(({ role }) => role !== "twin")} looks={look} />
      <h3>Median response time</h3>
      <LivePlot slices={shown} looks={look} figure="p50_ns" unit="ns" height={230} label={`${slices.length} slices so far, the last with a median of ${time(last?.p50_ns)}`} />
      {TAKEN.filter(({ figure }) => shown.some((slice) => (slice[figure] ?? 0) > 0)).map(({ figure, heading, unit }) => (
        <div key={figure}>
          <h3>{heading}</h3>
          <LivePlot slices={shown} looks={look} figure={figure} unit={unit} height={130} label={`${heading}, in the same slices, the last with ${told(last?.[figure], unit)}`} />
        </div>
      ))}
    </section>
  );
}

interface PlotProps {
  slices: Slice[];
  looks: Look[];
  figure: "p50_ns" | (typeof TAKEN)[number]["figure"];
  unit: Unit;
  height: number;
  label: string;
}

/** It is made once, and then given what is new. */
function LivePlot({ slices, looks, figure, unit, height, label }: PlotProps) {
  const made = useRef<uPlot>(undefined);
  const shown = useRef({ slices, looks });
  shown.current = { slices, looks };
  const data = (): uPlot.AlignedData => [shown.current.slices.map(({ at_s }) => at_s), shown.current.slices.map((slice) => slice[figure] || null)];
  const none = useMemo((): uPlot.AlignedData => [[], []], []);
  const options = useMemo(
    () => (): Omit<uPlot.Options, "width" | "height"> => ({
      scales: { x: { time: false }, y: { distr: 3, log: 10, range: closeRange } },
      legend: { show: false },
      cursor: { show: false },
      axes: [
        axis({ values: (_plot, splits) => splits.map(seconds) }),
        axis({ size: 64, ...LOG_TICKS, values: (_plot, splits) => labels(splits, unit) }),
      ],
      series: [{}, { paths: () => null, points: { show: false } }],
      hooks: { draw: [(plot) => points(plot, shown.current.slices, shown.current.looks, figure)] },
    }),
    [],
  );
  useEffect(() => made.current?.setData(data()), [slices]);
  return (
    <Plot
      options={options}
      data={none}
      height={height}
      label={label}
      onMade={(plot) => {
        made.current = plot;
        plot.setData(data());
      }}
    />
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

function points(plot: uPlot, slices: Slice[], looks: Look[], figure: PlotProps["figure"]): void {
  const { ctx } = plot;
  const marks = looks.map((look) => ({ look, kept: [] as Place[], disturbed: [] as Place[] }));
  for (const { cell, at_s, disturbed, [figure]: value } of slices) {
    if (!value) continue;
    marks[cell]?.[disturbed ? "disturbed" : "kept"].push([plot.valToPos(at_s, "x", true), plot.valToPos(value, "y", true)]);
  }
  ctx.save();
  for (const { look, kept, disturbed } of marks) {
    ctx.strokeStyle = ctx.fillStyle = colour(look.colour);
    draw(ctx, kept, look.shape, 2.5, look.shape === "ring" ? "stroke" : "fill");
    draw(ctx, disturbed, "cross", 3, "stroke");
  }
  ctx.restore();
}
