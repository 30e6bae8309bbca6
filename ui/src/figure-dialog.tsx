// What a figure of a comparison rests on: its blocks one by one, its deployments, its slices, and the distributions of both cells. Of one
// request among several only the blocks are known; the rest is kept for all requests together.
import { useState } from "preact/hooks";
import { when } from "./data";
import type { Page } from "./data";
import { Dialog } from "./dialog";
import { difference, figure, round, seconds, time } from "./format";
import type { Unit } from "./format";
import type { Cell, Contrast, Row, Slice } from "./generated/result";
import { Histogram } from "./histogram";
import { outline } from "./legend";
import { Measured, scaled, ticks } from "./measured";
import { observed, probesOf } from "./probe-list";
import { METRICS, valueOf } from "./slices";
import { looks } from "./cells";

interface Props {
  page: Page;
  contrast: Contrast;
  row: Row;
  /** The request that it is a figure of, of a cell with several. */
  request: string | undefined;
  name: string;
  /** The figures of the row as its table shows them. */
  shown: string[];
  onClose: () => void;
}

export function FigureDialog({ page, contrast, row, request, name, shown: texts, onClose }: Props) {
  const both = [contrast.baseline, contrast.candidate].map((id) => page.result.cells[id]).filter((cell) => cell !== undefined);
  const [of] = row.metric.split(".");
  const distributed = request !== undefined ? undefined : of === "response" || of === "service" ? of : undefined;
  const shown = page.distributions.filter((found) => found.of === distributed && both.some(({ id }) => id === found.cell));
  const unit = row.unit as Unit;
  const [baseline = "", candidate = "", change = "", share = "", interval = "", p = "", verdict = ""] = texts;
  const facts: [string, string][] = [
    [both[0]?.label ?? "baseline", baseline],
    [both[1]?.label ?? "candidate", candidate],
    ["difference", `${change} ${share}`],
    ["interval", interval || "none"],
    ["p (Holm)", p || "none"],
    ["margin", `±${figure(row.margin, unit)}`],
    ["resolution", typeof row.resolution === "number" ? figure(row.resolution, unit) : "none"],
    ["verdict", verdict],
  ];
  return (
    <Dialog title={`${name}: ${both.map(({ label }) => label).reverse().join(" against ")}`} onClose={onClose}>
      <dl class="facts">
        {facts.map(([term, text]) => (
          <div key={term}>
            <dt>{term}</dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
      {typeof row.note === "string" && row.note !== "" && <p class="caution">{row.note}</p>}
      <Blocks row={row} unit={unit} />
      {distributed !== undefined && shown.length > 0 && (
        <>
          <h3>Distribution of the {distributed} time</h3>
          <Histogram distributions={shown} cells={page.result.cells} looks={looks(page.result)} />
        </>
      )}
      {request === undefined ? (
        <>
          <Deployments cells={both} />
          <SliceTable page={page} cells={both} figure={figureOf(page, row, name)} />
        </>
      ) : (
        <p class="caption">Distributions, deployments and slices are kept for all requests together: see the same figure of the whole cell.</p>
      )}
    </Dialog>
  );
}

/** A figure of each slice: what it is called, and its text. */
interface SliceFigure {
  name: string;
  of: (slice: Slice) => string;
}

/** The figure of slices that a row is made of; response p50 where they have none of their own. */
function figureOf(page: Page, row: Row, name: string): SliceFigure {
  const metric = row.metric.replace(/\.(paired|undisturbed)$/, "");
  const known = METRICS.find(([id]) => id === (OF_SLICES[metric] ?? metric))?.[0];
  if (known !== undefined) return { name, of: (slice) => (known === "rate" ? figure(slice.rate_per_second, "/s") : time(valueOf(slice, known))) };
  const path = OBSERVED[metric] ?? metric;
  const probe = probesOf(page.result).find((each) => each.path.join("/") === path);
  if (probe !== undefined) return { name: probe.label, of: (slice) => figure(observed(slice, probe), probe.unit) };
  return { name: "response p50", of: (slice) => time(valueOf(slice, "response.p50")) };
}

/** Figures that have another name in slices. */
const OF_SLICES: Record<string, string> = { "response.p99.9": "response.p999", "rate.achieved": "rate" };
/** Figures by the probe that they are made of, or most of them, as the observations of a slice call it. */
const OBSERVED: Record<string, string> = {
  "cpu.service": "service_cpu_ns",
  "cpu.path": "service_cpu_ns",
  "cpu.machine": "machine_busy_ns",
  "cpu.run_queue_wait": "run_queue_wait_ns",
  "cpu.throttled": "throttled_ns",
  softirqs: "net_rx_softirqs",
  "softirqs.net_rx": "net_rx_softirqs",
  "softirqs.net_tx": "net_tx_softirqs",
  switches: "voluntary_switches",
  "switches.voluntary": "voluntary_switches",
  "switches.involuntary": "involuntary_switches",
  "memory.resident": "memory_bytes",
};

/** The difference in each block, in the order of measurement, against zero and the margin. */
function Blocks({ row, unit }: { row: Row; unit: Unit }) {
  const values = row.block_differences;
  if (values.length === 0) return null;
  const [height, left, bottom] = [150, 66, 20];
  const sorted = [...values].sort((one, other) => one - other);
  // A single block may lie far away; it is drawn at the edge then.
  const within = [sorted[Math.floor(sorted.length * 0.02)] ?? 0, sorted[Math.ceil(sorted.length * 0.98) - 1] ?? 0];
  const low = Math.min(0, -row.margin, ...within);
  const high = Math.max(0, row.margin, ...within) || 1;
  const y = scaled([low, high], [height - bottom - 4, 6]);
  return (
    <>
      <h3>Block by block</h3>
      <p class="caption">the difference of the slices in each block, in the order of measurement; grey band: margin; triangle: lies beyond</p>
      <Measured height={height} label={`${values.length} differences, from ${difference(sorted[0] ?? 0, unit)} to ${difference(sorted.at(-1) ?? 0, unit)}`}>
        {(width) => {
          const x = scaled([0, Math.max(values.length - 1, 1)], [left + 6, width - 8]);
          return (
            <>
              <rect class="margin" x={left} width={Math.max(width - left, 0)} y={y(row.margin)} height={Math.max(y(-row.margin) - y(row.margin), 0)} />
              {ticks(low, high, 4).map((tick) => (
                <g key={tick}>
                  <line class={tick === 0 ? "zero" : "tick"} x1={left} x2={width} y1={y(tick)} y2={y(tick)} />
                  <text x={left - 6} y={y(tick) + 4} text-anchor="end">
                    {tick > 0 ? "+" : ""}
                    {round(tick, unit)}
                  </text>
                </g>
              ))}
              {/* Thousands of points are one path: an element for each takes long to lay out. */}
              <path class="point" d={values.map((value, at) => (value < low || value > high ? "" : outline("ring", x(at), y(value), values.length > 120 ? 2 : 3))).join("")} />
              <path
                class="beyond-point"
                d={values
                  .map((value, at) => {
                    if (value > high) return `M${x(at) - 3} ${y(high) + 4}h6l-3 -5z`;
                    return value < low ? `M${x(at) - 3} ${y(low) - 4}h6l-3 5z` : "";
                  })
                  .join("")}
              />
            </>
          );
        }}
      </Measured>
    </>
  );
}

function Deployments({ cells }: { cells: Cell[] }) {
  return (
    <>
      <h3>Deployment by deployment</h3>
      <div class="scroll" role="group" tabIndex={0} aria-label="deployments">
        <table class="figures">
          <thead>
            <tr>
              {["deployment", "", "p50", "mean", "p99", "rate"].map((heading) => (heading === "" ? <td key={heading} /> : <th scope="col" key={heading}>{heading}</th>))}
            </tr>
          </thead>
          <tbody>
            {cells.flatMap((cell) =>
              cell.deployments.map((deployment) => (
                <tr key={`${cell.id} ${deployment.round}`}>
                  <th scope="row">
                    {cell.label} {deployment.round + 1}
                  </th>
                  <td>{deployment.stationary || deployment.warmup_s === 0 ? "" : "was not stationary"}</td>
                  <td>{time(deployment.response_p50_ns)}</td>
                  <td>{time(deployment.response_mean_ns)}</td>
                  <td>{time(deployment.response_p99_ns)}</td>
                  <td>{figure(deployment.rate_per_second, "/s")}</td>
                </tr>
              )),
            )}
          </tbody>
        </table>
      </div>
    </>
  );
}

function SliceTable({ page, cells, figure }: { page: Page; cells: Cell[]; figure: SliceFigure }) {
  const [open, setOpen] = useState(false);
  const slices = page.result.slices.filter(({ cell }) => cells.some(({ id }) => id === cell));
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{slices.length} slices</summary>
      {open && <div class="scroll tall" role="group" tabIndex={0} aria-label="slices">
        <table class="figures">
          <thead>
            <tr>
              {["slice", "at", figure.name, "answered"].map((text) => (
                <th scope="col" key={text}>
                  {text}
                </th>
              ))}
              <th scope="col" class="word">
                gates
              </th>
            </tr>
          </thead>
          <tbody>
            {slices.map((slice, at) => (
              <tr key={at} class={slice.counted ? "" : "repeated"}>
                <th scope="row">
                  {page.result.cells[slice.cell]?.label} {slice.round + 1}.{slice.block + 1}
                  {slice.counted ? "" : " ×"}
                </th>
                <td>{seconds(when(slice))}</td>
                <td>{figure.of(slice)}</td>
                <td>{slice.answered}</td>
                <td class="word">{slice.failed_gates.join("; ")}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>}
    </details>
  );
}
