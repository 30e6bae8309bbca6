// Latency by percentile: one line a cell, on an axis on which each step to the right leaves a tenth of the requests.
import { useMemo, useState } from "preact/hooks";
import uPlot from "uplot";
import { colour, loadName, loads, looks } from "./cells";
import { Choice, LoadChoice } from "./choice";
import type { Distribution, Page } from "./data";
import { percentile, roundTime, time } from "./format";
import { Legend } from "./legend";
import { LOG_TICKS, Plot, axis, closeRange } from "./plot";

const KINDS = [
  ["response", "response time"],
  ["service", "service time"],
  ["both", "both; service time thin"],
] as const;
type Kind = (typeof KINDS)[number][0];

export function Percentiles({ page }: { page: Page }) {
  const all = loads(page.result);
  const [load, setLoad] = useState(all[0] ?? "");
  const [kind, setKind] = useState<Kind>("response");
  const [read, setRead] = useState("");
  const cells = page.result.cells.filter((cell) => loadName(cell) === load);
  const look = useMemo(() => looks(page.result), [page]);
  const shown = page.distributions.filter(
    ({ cell, of }) => cells.some(({ id }) => id === cell) && (kind === "both" || kind === of),
  );
  const key = `${load} ${kind}`;
  const data = useMemo(() => joined(shown), [key]);
  const options = useMemo(
    () => (): Omit<uPlot.Options, "width" | "height"> => ({
      scales: { x: { time: false, range: [0, last(data)] }, y: { distr: 3, log: 10, range: closeRange } },
      legend: { show: false },
      cursor: { drag: { x: false, y: false }, points: { size: 7 } },
      axes: [
        axis({
          splits: () => ticks(last(data)),
          values: (_plot, splits) => splits.map((x) => percentile(quantileAt(x))),
        }),
        axis({ size: 64, ...LOG_TICKS, values: (_plot, splits) => splits.map(roundTime) }),
      ],
      series: [
        {},
        ...shown.map(({ cell, of }) => ({
          label: `${page.result.cells[cell]?.label ?? ""} ${of}`,
          stroke: colour(look[cell]?.colour ?? "--base"),
          width: kind === "both" && of === "service" ? 1 : 2,
          dash: look[cell]?.dash ?? [],
          spanGaps: true,
          points: { show: false },
        })),
      ],
      hooks: { setCursor: [(plot) => setRead(words(plot, shown, page))] },
    }),
    [key],
  );
  if (shown.length === 0) return null;
  return (
    <section>
      <h2>Latency by percentile</h2>
      <p class="caption">each line merged over all counted slices of a cell; a twin shows the noise</p>
      <div class="choices">
        <Choice label="time" options={KINDS} value={kind} onChange={setKind} />
        <LoadChoice loads={all} value={load} onChange={setLoad} />
      </div>
      <Legend cells={cells} looks={look} lines />
      <Plot options={options} data={data} height={260} label={`Latency by percentile of ${cells.map(({ label }) => label).join(", ")}; the figures stand under “Response times by quantile”`} />
      <p class="readout">{read}&nbsp;</p>
    </section>
  );
}

/** Where a quantile stands: 0.9 at 1, 0.99 at 2. */
function place(quantile: number): number {
  return -Math.log10(1 - quantile);
}

function quantileAt(x: number): number {
  return 1 - 10 ** -x;
}

function joined(shown: Distribution[]): uPlot.AlignedData {
  const tables = shown.map(({ quantiles }): uPlot.AlignedData => [quantiles.map(([quantile]) => place(quantile)), quantiles.map(([, ns]) => ns)]);
  return tables.length === 0 ? [[]] : uPlot.join(tables);
}

function last(data: uPlot.AlignedData): number {
  return Math.max(data[0].at(-1) ?? 1, 1);
}

/** Percentiles that are named: the median, and each further nine. */
function ticks(end: number): number[] {
  return [0, -Math.log10(0.5), ...Array.from({ length: Math.floor(end) }, (_, nines) => nines + 1)];
}

/** What the lines say at the pointer. */
function words(plot: uPlot, shown: Distribution[], page: Page): string {
  const { idx, left } = plot.cursor;
  if (idx === null || idx === undefined || left === undefined || left < 0) return "";
  const x = plot.data[0][idx] ?? 0;
  const each = shown.map(({ cell, of, quantiles }) => {
    const point = quantiles.find(([quantile]) => place(quantile) >= x) ?? quantiles.at(-1);
    return `${page.result.cells[cell]?.label ?? ""}${of === "service" ? " service" : ""} ${time(point?.[1])}`;
  });
  return `${percentile(quantileAt(x))}: ${each.join(" · ")}`;
}
