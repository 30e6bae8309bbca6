// A metric over the stored runs: a chart for each cell, with the places where it changed.
import { useEffect, useState } from "preact/hooks";
import { figure, labels, percent } from "../format";
import type { Change, History, Point, Series } from "../generated/history";
import { Measured, scaled, ticks } from "../measured";
import { Pictures } from "../pictures";
import { get, reason } from "./api";
import { Frame } from "./frame";

const [HEIGHT, LEFT, BOTTOM, TOP] = [220, 72, 22, 8];
/** What the number of a run takes on the axis. */
const NUMBER_WIDTH = 36;
/** Until the user has stopped typing. */
const PAUSE_MS = 300;
/** What is offered; any other metric of a run may be typed. */
const METRICS = ["p50", "p90", "p99", "p99.9", "mean", "rate.achieved", "cpu.service", "memory.peak", "start.answered", "memory.idle"];

export function HistoryPage() {
  const asked = new URLSearchParams(location.search);
  const [metric, setMetric] = useState(asked.get("metric") ?? "p50");
  const [text, setText] = useState(asked.get("match") ?? "");
  const [history, setHistory] = useState<History>();
  const [error, setError] = useState<string>();
  useEffect(() => {
    const left = new AbortController();
    const query = new URLSearchParams({ metric, ...(text === "" ? {} : { match: text }) }).toString();
    window.history.replaceState(null, "", `/history?${query}`);
    const timer = setTimeout(() => {
      get<History>(`/api/history?${query}`, left.signal).then(
        (found) => {
          setHistory(found);
          setError(undefined);
        },
        (thrown: unknown) => {
          if (left.signal.aborted) return;
          setHistory(undefined);
          setError(reason(thrown));
        },
      );
    }, PAUSE_MS);
    return () => {
      clearTimeout(timer);
      left.abort();
    };
  }, [metric, text]);
  return (
    <Frame title="History" error={error}>
      <section>
        <div class="tools">
          <label>
            Metric <input type="search" list="metrics" value={metric} onInput={(event) => setMetric(event.currentTarget.value)} />
          </label>
          <datalist id="metrics">
            {METRICS.map((each) => (
              <option key={each} value={each} />
            ))}
          </datalist>
          <label>
            Runs <input type="search" value={text} placeholder="name or tag" onInput={(event) => setText(event.currentTarget.value)} />
          </label>
        </div>
        <p class="caption">each run with its interval over its own deployments, the oldest first; runs of other machines stand by themselves</p>
        {history !== undefined && history.series.length === 0 && <p>No run has {history.metric}.</p>}
      </section>
      {history?.series.map((series) => <OneSeries key={`${series.label} ${series.load} ${series.machine}`} series={series} history={history} />)}
      {history !== undefined && history.left_out.length > 0 && (
        <section>
          <h2>Left out</h2>
          <ul>
            {history.left_out.map(({ run, reason }) => (
              <li key={run}>
                <a href={`/runs/${run}`}>run {run}</a>: {reason}
              </li>
            ))}
          </ul>
        </section>
      )}
      {history !== undefined && history.series.length > 0 && <Pictures key={history.series.map((series) => nameOf(series, history)).join()} />}
    </Frame>
  );
}

/** Its heading alone may be that of others, under other loads. */
function nameOf({ label, load, machine }: Series, { metric }: History): string {
  return `${metric} of ${label}, ${load}, ${machine}`;
}

function OneSeries({ series, history }: { series: Series; history: History }) {
  const { metric, least_points } = history;
  const { label, load, machine, unit, points, changes } = series;
  const ends = points.flatMap(({ value, interval }) => [value, ...(interval ?? [])]);
  const [low, high] = [Math.min(...ends), Math.max(...ends)];
  const room = (high - low || Math.abs(high) || 1) * 0.08;
  const y = scaled([low - room, high + room], [HEIGHT - BOTTOM, TOP]);
  const splits = ticks(low - room, high + room, 5);
  const texts = labels(splits, unit);
  return (
    <section class="history" aria-label={nameOf(series, history)}>
      <h2>{label}</h2>
      <p class="caption">
        {load} · {machine}
      </p>
      {changes.length === 0 ? (
        <p>{points.length < least_points ? `In fewer than ${least_points} runs no change could be seen.` : "No change is seen."}</p>
      ) : (
        <ul>
          {changes.map((change) => (
            <li key={change.at}>{words(change, series)}</li>
          ))}
        </ul>
      )}
      <Measured live height={HEIGHT} label={`${metric} of ${label} in ${points.length} runs`}>
        {(width) => {
          const x = scaled([-0.5, points.length - 0.5], [LEFT, width - 4]);
          const every = Math.ceil(points.length / Math.max((width - LEFT) / NUMBER_WIDTH, 1));
          return (
            <>
              {splits.map((tick, at) => (
                <g key={tick}>
                  <line class="tick" x1={LEFT} x2={width} y1={y(tick)} y2={y(tick)} />
                  <text x={LEFT - 6} y={y(tick) + 4} text-anchor="end">
                    {texts[at]}
                  </text>
                </g>
              ))}
              {levels(series).map(({ from, to, value }) => (
                <line key={from} class="found" x1={x(from - 0.5)} x2={x(to - 0.5)} y1={y(value)} y2={y(value)} />
              ))}
              {changes.map(({ at, settled }) => (
                <line key={at} class={settled ? "changed" : "changed bound"} x1={x(at - 0.5)} x2={x(at - 0.5)} y1={TOP} y2={HEIGHT - BOTTOM} />
              ))}
              {points.map((point, at) => (
                <OnePoint key={point.run} point={point} unit={unit} x={x(at)} y={y} named={at % every === 0} />
              ))}
            </>
          );
        }}
      </Measured>
    </section>
  );
}

interface PointProps {
  point: Point;
  unit: Series["unit"];
  x: number;
  y: (value: number) => number;
  named: boolean;
}

/** It leads to its run. */
function OnePoint({ point: { run, started, value, interval, untrusted }, unit, x, y, named }: PointProps) {
  const begun = new Date(started).toLocaleString([], { dateStyle: "medium", timeStyle: "short" });
  const between = interval ? `, 95 % interval ${figure(interval[0], unit)} to ${figure(interval[1], unit)}` : "";
  const said = `run ${run}, ${begun}: ${figure(value, unit)}${between}${untrusted ? "; cannot be trusted: gates failed" : ""}`;
  return (
    <a href={`/runs/${run}`} aria-label={said}>
      <title>{said}</title>
      {interval && <line class="arm" x1={x} x2={x} y1={y(interval[0])} y2={y(interval[1])} />}
      <circle class={untrusted ? "hollow" : "filled"} cx={x} cy={y(value)} r="4" />
      {named && (
        <text x={x} y={HEIGHT - 6} text-anchor="middle">
          {run}
        </text>
      )}
    </a>
  );
}

/** The means between the changes. */
function levels({ points, changes }: Series): { from: number; to: number; value: number }[] {
  return changes.flatMap(({ at, before, after }, index) => {
    const earlier = { from: changes[index - 1]?.at ?? 0, to: at, value: before };
    return index === changes.length - 1 ? [earlier, { from: at, to: points.length, value: after }] : [earlier];
  });
}

/** `from run 17 on +3.1 %: 80.1 µs before, 82.6 µs after (p = 0.001)` */
function words({ at, before, after, relative, p_value, settled }: Change, { points, unit }: Series): string {
  const share = relative === null || relative === undefined ? "" : ` ${percent(relative)}`;
  const sure = settled ? "" : "; not settled yet: the last few runs may be a spell";
  return `from run ${points[at]?.run} on${share}: ${figure(before, unit)} before, ${figure(after, unit)} after (${probability(p_value)})${sure}`;
}

/** `p = 0.031` */
function probability(p: number): string {
  return p < 0.001 ? "p < 0.001" : `p = ${p.toFixed(3)}`;
}
