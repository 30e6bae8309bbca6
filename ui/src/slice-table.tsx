// The slices that a figure rests on, each with its own.
import { useState } from "preact/hooks";
import { when } from "./data";
import type { Page } from "./data";
import { figure, seconds, time } from "./format";
import type { Slice } from "./generated/result";
import { observed, probesOf } from "./probe-list";
import type { RestsOn } from "./rests-on";
import { METRICS, valueOf } from "./slices";

export function SliceTable({ page, of: { cells, metric, name } }: { page: Page; of: RestsOn }) {
  const [open, setOpen] = useState(false);
  const figure = figureOf(page, metric, name);
  const slices = page.result.slices.filter(({ cell }) => cells.some(({ id }) => id === cell));
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{slices.length} slices</summary>
      {open && <div class="scroll tall" role="group" tabIndex={0} aria-label="slices">
        <table class="figures">
          <thead>
            <tr>
              {["slice", "at", ...(figure === undefined ? [] : [figure.name]), "answered"].map((text) => (
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
                {figure !== undefined && <td>{figure.of(slice)}</td>}
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

/** A figure of each slice: what it is called, and its text. */
interface SliceFigure {
  name: string;
  of: (slice: Slice) => string;
}

/** The figure of slices that one of cells is made of; undefined where they have none. */
function figureOf(page: Page, id: string, name: string): SliceFigure | undefined {
  const metric = id.replace(/\.(paired|undisturbed)$/, "");
  const known = METRICS.find(([id]) => id === (OF_SLICES[metric] ?? metric))?.[0];
  if (known !== undefined) return { name, of: (slice) => (known === "rate" ? figure(slice.rate_per_second, "/s") : time(valueOf(slice, known))) };
  if (metric === "errors") return { name, of: ({ errors, due }) => figure(Object.values(errors).reduce((sum, count) => sum + count, 0) / due, "1") };
  const path = OBSERVED[metric] ?? metric;
  const probe = probesOf(page.result).find((each) => each.path.join("/") === path);
  if (probe !== undefined) return { name: probe.label, of: (slice) => figure(observed(slice, probe), probe.unit) };
  return undefined;
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
