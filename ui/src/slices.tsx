// Every slice as a point in the order in which it was measured: drift, outliers, and what was disturbed and repeated.
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import uPlot from "uplot";
import { colour, loadName, looks } from "./cells";
import type { Look } from "./cells";
import { Choice } from "./choice";
import { inTime, when } from "./data";
import type { Page } from "./data";
import { figure, labels, seconds, time } from "./format";
import type { Unit } from "./format";
import type { Cell, Slice } from "./generated/result";
import { Legend } from "./legend";
import { useLoad } from "./load-choice";
import { draw } from "./marks";
import type { Place } from "./marks";
import { LOG_TICKS, Plot, axis, closeRange } from "./plot";
import { SliceDialog } from "./slice-dialog";

/** The figures of a slice. */
export const METRICS = [
  ["response.p50", "response p50"],
  ["response.p90", "response p90"],
  ["response.p99", "response p99"],
  ["response.p999", "response p99.9"],
  ["response.max", "response max"],
  ["response.mean", "response mean"],
  ["service.p50", "service p50"],
  ["service.p99", "service p99"],
  ["send_lag.p99", "send lag p99"],
  ["rate", "achieved rate"],
] as const;
export type SliceMetric = (typeof METRICS)[number][0];

/** The plots of slices and probes move together. */
export const SYNC = "time";
/** Pixels around the pointer in which a slice is found. */
const REACH = 30;
/** In which a second click makes a double one. */
const DOUBLE_CLICK_MS = 300;
/** More slices than this have smaller marks and thinner lines: Chromium without a GPU draws 10,000 rings in 9 ms if their line is one pixel wide, and
 * in 45 ms if it is 1.4. */
const CROWDED = 400;
/** How much shorter a time is shown after each step into it. */
const STEP = 4;

export function Slices({ page }: { page: Page }) {
  const { load, choice } = useLoad(page);
  const [metric, setMetric] = useState<SliceMetric>("response.p50");
  const [at, setAt] = useState(-1);
  const [open, setOpen] = useState(false);
  const plot = useRef<uPlot>(undefined);
  const marked = useRef(-1);
  const ring = useRef(document.createElement("div"));
  const look = useMemo(() => looks(page.result), [page]);
  const cells = page.result.cells.filter((cell) => loadName(cell) === load);
  const key = `${load} ${metric}`;
  const isTime = metric !== "rate";
  // A search tries rates of its own.
  const asked = isTime || page.result.capacities ? [] : [...new Set(cells.flatMap(({ rate_per_second: rate }) => (typeof rate === "number" ? [rate] : [])))];
  const slices = useMemo(() => inTime(page.result.slices, cells), [load]);
  const data = useMemo(
    (): uPlot.AlignedData => [slices.map(when), slices.map((slice) => valueOf(slice, metric) || null)],
    [key],
  );
  const unit: Unit = isTime ? "ns" : "/s";
  const mark = (index: number) => {
    marked.current = index;
    setAt(index);
    if (plot.current !== undefined) place(ring.current, plot.current, index);
  };
  // Its number is that of another slice under another load.
  useLayoutEffect(() => {
    marked.current = -1;
    ring.current.hidden = true;
    setAt(-1);
  }, [load]);
  const options = useMemo(
    () => (): Omit<uPlot.Options, "width" | "height"> => ({
      scales: {
        x: { time: false, range: spread },
        y: isTime ? { distr: 3, log: 10, range: closeRange } : { range: (_plot, low, high) => uPlot.rangeNum(Math.min(low, ...asked), Math.max(high, ...asked), 0.1, true) },
      },
      legend: { show: false },
      cursor: { drag: { x: true, y: false }, points: { show: false }, y: false, sync: { key: SYNC } },
      axes: [
        axis({ values: (_plot, splits) => splits.map(seconds) }),
        axis({
          size: 64,
          ...(isTime ? LOG_TICKS : {}),
          values: (_plot, splits) => labels(splits, unit),
        }),
      ],
      series: [{}, { paths: () => null, points: { show: false } }],
      hooks: {
        draw: [
          (made) => {
            asked.forEach((rate) => across(made, rate));
            points(made, slices, page.result.cells, look);
            place(ring.current, made, marked.current);
          },
        ],
        ready: [
          (made) => {
            ring.current.className = "marked";
            made.over.append(ring.current);
            made.over.addEventListener("mousemove", () => {
              const found = nearest(made);
              if (found !== marked.current) mark(found);
              made.over.style.cursor = found < 0 ? "crosshair" : "pointer";
            });
            // The first click of two zooms out with the second, and opens nothing.
            let opening: ReturnType<typeof setTimeout> | undefined;
            made.over.addEventListener("click", () => {
              clearTimeout(opening);
              opening = setTimeout(() => setOpen(marked.current >= 0), DOUBLE_CLICK_MS);
            });
            made.over.addEventListener("dblclick", () => clearTimeout(opening));
          },
        ],
      },
    }),
    [key],
  );
  if (slices.length === 0) return null;
  const slice = slices[at];
  const zoomIn = () => {
    const { min, max } = plot.current?.scales["x"] ?? {};
    if (slice === undefined || min === undefined || max === undefined) return;
    const half = (max - min) / STEP / 2;
    show(when(slice) - half, when(slice) + half);
  };
  const zoomOut = () => {
    const times = slices.map(when);
    show(times[0] ?? NaN, times.at(-1) ?? NaN);
  };
  const known = METRICS.filter(([id]) => slices.some((each) => valueOf(each, id) > 0));
  const several = cells.some(isOfSeveral);
  return (
    <section>
      <h2>Every slice, in the order in which it was measured</h2>
      <p class="caption">
        × does not count, because its block was disturbed; a second ring: counts although a gate failed; dotted: everything deployed anew; drag to zoom,
        double click to zoom out{asked.length > 0 && "; line: the rate asked for"}
        {several && "; a line through the slices of each run, each run from its own start on"}
      </p>
      <div class="choices">
        <Choice label="figure" options={known} value={metric} onChange={setMetric} />
        {choice}
      </div>
      <Legend cells={cells} looks={look} />
      <Plot options={options} data={data} height={230} label={`${slices.length} slices in the order of measurement, ${slices.filter(({ counted }) => !counted).length} of them not counting; the slider below goes through them`} onMade={(made) => (plot.current = made)} />
      <div class="slider">
        <input
          type="range"
          min={0}
          max={slices.length - 1}
          value={Math.max(at, 0)}
          aria-label="slice"
          aria-valuetext={slice === undefined ? "none" : told(page, slice, metric)}
          onInput={(event) => mark(event.currentTarget.valueAsNumber)}
        />
        <button type="button" disabled={slice === undefined} onClick={() => setOpen(true)}>
          All of this slice
        </button>
        <button type="button" disabled={slice === undefined} onClick={zoomIn}>
          Zoom in
        </button>
        <button type="button" onClick={zoomOut}>
          Zoom out
        </button>
      </div>
      <p class="readout">{slice === undefined ? " " : told(page, slice, metric)}</p>
      {open && slice !== undefined && <SliceDialog page={page} slice={slice} onClose={() => setOpen(false)} />}
    </section>
  );
}

/** Shows these times in all plots of slices and probes. */
function show(min: number, max: number): void {
  uPlot.sync(SYNC).plots.forEach((plot) => plot.setScale("x", { min, max }));
}

/** A figure of a slice, in ns or a second. */
export function valueOf(slice: Slice, metric: SliceMetric): number {
  if (metric === "rate") return slice.rate_per_second;
  if (metric === "response.mean") return slice.response_mean_ns;
  const [of, name] = metric.split(".") as ["response" | "service" | "send_lag", keyof Slice["response"]];
  return slice[of][name];
}

/** A little room at both ends of the whole, so that no point is cut. A part is shown as it was asked for, however often it is drawn. */
export function spread({ data: [times] }: uPlot, low: number, high: number): uPlot.Range.MinMax {
  const isAll = low === times[0] && high === times[times.length - 1];
  const room = isAll ? (high - low) * 0.015 || 1 : 0;
  return [low - room, high + room];
}

/** One slice in a line. */
function told(page: Page, slice: Slice, metric: SliceMetric): string {
  const value = metric === "rate" ? figure(slice.rate_per_second, "/s") : time(valueOf(slice, metric));
  const name = METRICS.find(([id]) => id === metric)?.[1] ?? metric;
  const attempt = slice.attempt > 0 ? `, attempt ${slice.attempt + 1}` : "";
  const fate = slice.counted ? "" : ", does not count";
  const gates = slice.failed_gates.length > 0 ? `; ${slice.failed_gates.join("; ")}` : "";
  const label = page.result.cells[slice.cell]?.label ?? "";
  return `${label}, deployment ${slice.round + 1}, block ${slice.block + 1}${attempt}, at ${seconds(when(slice))}: ${name} ${value}${fate}${gates}`;
}

/** The slice that is nearest to the pointer. */
function nearest(plot: uPlot): number {
  const { left = -1, top = -1, idx } = plot.cursor;
  if (idx === null || idx === undefined || left < 0) return -1;
  let best = -1;
  let least = REACH;
  for (let index = Math.max(0, idx - 200); index < Math.min(plot.data[0].length, idx + 200); index += 1) {
    const value = plot.data[1]?.[index];
    if (value === null || value === undefined) continue;
    const distance = Math.hypot(plot.valToPos(plot.data[0][index] ?? 0, "x") - left, plot.valToPos(value, "y") - top);
    if (distance < least) [best, least] = [index, distance];
  }
  return best;
}

/** Puts the ring around a slice: an element of its own, because drawing thousands of slices anew takes longer than a frame. */
function place(ring: HTMLElement, plot: uPlot, index: number): void {
  const [at, value] = [plot.data[0][index], plot.data[1]?.[index]];
  const { min = -Infinity, max = Infinity } = plot.scales["x"] ?? {};
  const isShown = at !== undefined && at >= min && at <= max && typeof value === "number";
  ring.hidden = !isShown;
  if (!isShown) return;
  ring.style.left = `${plot.valToPos(at, "x")}px`;
  ring.style.top = `${plot.valToPos(value, "y")}px`;
}

function points(plot: uPlot, slices: Slice[], cells: Cell[], looks: Look[]): void {
  const { ctx } = plot;
  const scale = devicePixelRatio || 1;
  ctx.save();
  ctx.beginPath();
  ctx.rect(plot.bbox.left - 6 * scale, plot.bbox.top - 6 * scale, plot.bbox.width + 12 * scale, plot.bbox.height + 12 * scale);
  ctx.clip();
  deployments(plot, slices, cells, scale);
  lines(plot, slices, cells, looks, scale);
  const isCrowded = slices.length > CROWDED;
  const size = (isCrowded ? 2.6 : 3.8) * scale;
  const marks = looks.map((look) => ({ look, counted: [] as Place[], doubted: [] as Place[], left: [] as Place[] }));
  const { min = -Infinity, max = Infinity } = plot.scales["x"] ?? {};
  slices.forEach((slice, index) => {
    const value = plot.data[1]?.[index];
    const of = marks[slice.cell];
    const at = when(slice);
    if (value === null || value === undefined || of === undefined || at < min || at > max) return;
    const place: Place = [plot.valToPos(at, "x", true), plot.valToPos(value, "y", true)];
    of[slice.counted ? "counted" : "left"].push(place);
    if (slice.counted && slice.failed_gates.length > 0) of.doubted.push(place);
  });
  marks.forEach(({ look, counted, doubted, left }) => {
    ctx.strokeStyle = ctx.fillStyle = colour(look.colour);
    ctx.lineWidth = (isCrowded ? 1 : 1.4) * scale;
    draw(ctx, counted, look.shape, size, look.shape === "ring" ? "stroke" : "fill");
    draw(ctx, doubted, "ring", size + 3 * scale, "stroke");
    ctx.globalAlpha = 0.65;
    ctx.lineWidth = (isCrowded ? 1 : 1.1) * scale;
    draw(ctx, left, "cross", size, "stroke");
    ctx.globalAlpha = 1;
  });
  ctx.restore();
}

/** A line at a value. */
function across(plot: uPlot, value: number): void {
  const { ctx, bbox } = plot;
  const y = Math.round(plot.valToPos(value, "y", true));
  ctx.save();
  ctx.strokeStyle = colour("--ink");
  ctx.lineWidth = devicePixelRatio || 1;
  ctx.beginPath();
  ctx.moveTo(bbox.left, y);
  ctx.lineTo(bbox.left + bbox.width, y);
  ctx.stroke();
  ctx.restore();
}

/** Whether a cell is of one of several runs, and no twin. */
function isOfSeveral({ role, run }: Cell): boolean {
  return typeof run === "string" && role !== "twin";
}

/** Of runs that are laid over each other a line for each cell of each: points alone would be one cloud. */
export function lines(plot: uPlot, slices: Slice[], cells: Cell[], looks: Look[], scale: number): void {
  const { ctx } = plot;
  for (const { id } of cells.filter(isOfSeveral)) {
    const look = looks[id];
    const places = slices.flatMap((slice, index) => {
      const value = slice.cell === id && slice.counted ? plot.data[1]?.[index] : undefined;
      return typeof value === "number" ? [[plot.valToPos(when(slice), "x", true), plot.valToPos(value, "y", true)] as const] : [];
    });
    if (look === undefined || places.length === 0) continue;
    ctx.strokeStyle = colour(look.colour);
    ctx.lineWidth = scale;
    ctx.setLineDash(look.dash.map((length) => length * scale));
    ctx.beginPath();
    places.forEach(([x, y], at) => (at === 0 ? ctx.moveTo(x, y) : ctx.lineTo(x, y)));
    ctx.stroke();
  }
  ctx.setLineDash([]);
}

/** Where everything of a run was deployed anew. */
export function deployments(plot: uPlot, slices: Slice[], cells: Cell[], scale: number): void {
  const { ctx } = plot;
  const rounds = new Map<string, number>();
  ctx.strokeStyle = colour("--soft");
  ctx.lineWidth = scale;
  ctx.setLineDash([2 * scale, 3 * scale]);
  slices.forEach((slice) => {
    const run = cells[slice.cell]?.run ?? "";
    if (rounds.get(run) === slice.round) return;
    rounds.set(run, slice.round);
    const x = Math.round(plot.valToPos(when(slice), "x", true)) - 6 * scale;
    ctx.beginPath();
    ctx.moveTo(x, plot.bbox.top);
    ctx.lineTo(x, plot.bbox.top + plot.bbox.height);
    ctx.stroke();
  });
  ctx.setLineDash([]);
}
