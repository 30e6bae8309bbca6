// A run while it waits and is measured: how far it is, what is known so far, and the way to its report.
import { useEffect, useState } from "preact/hooks";
import { difference, time } from "../format";
import { Pictures } from "../pictures";
import { Refused, get, reason } from "./api";
import type { Slice, Status } from "./api";
import { Frame } from "./frame";
import { LiveSlices } from "./live-slices";
import { Narrowing, known } from "./narrowing";
import type { Known } from "./narrowing";
import { Progress } from "./progress";
import { StopButton } from "./stop-button";

type Live = Status["live"];

/** Until a server that let nobody follow is asked again. */
const AGAIN_MS = 3000;

/** What `loadline run` means by its exit code. */
const ENDS: Record<number, string> = {
  0: "It is measured.",
  1: "It failed.",
  2: "It could not be begun.",
  3: "It is measured, but not all of it is to be trusted: the report says what and why.",
  4: "It is measured, and fails a condition.",
  130: "It was stopped; what was measured by then is kept.",
};

export function JobPage({ job }: { job: number }) {
  const [status, setStatus] = useState<Status>();
  const [slices, setSlices] = useState<Slice[]>([]);
  const [past, setPast] = useState<Known[]>([]);
  const [error, setError] = useState<string>();
  useEffect(() => {
    const path = `/api/jobs/${job}`;
    const fail = (thrown: unknown) => setError(reason(thrown));
    let events: EventSource | undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let hasEnded = false;
    const follow = () => {
      clearTimeout(timer);
      events?.close();
      // A window that nobody sees would hold one of the six connections that a browser has to a server.
      if (hasEnded || document.hidden) return;
      const stream = new EventSource(`${path}/events`);
      events = stream;
      // A new connection begins with the first slice.
      stream.addEventListener("open", () => setSlices([]));
      stream.addEventListener("slices", (event) => {
        const more = JSON.parse((event as MessageEvent<string>).data) as Slice[];
        setSlices((known) => [...known, ...more]);
      });
      stream.addEventListener("status", (event) => take(JSON.parse((event as MessageEvent<string>).data) as Status));
      stream.addEventListener("error", () => {
        setError("the server does not answer; what it measures goes on, if it does");
        // A stream that was refused is not asked for again by the browser, and does not say why.
        if (stream.readyState === EventSource.CLOSED) look(stream);
      });
    };
    const take = (next: Status) => {
      setError(undefined);
      setStatus(next);
      setPast((before) => known(before, next.live));
      hasEnded = next.state === "ended";
      if (hasEnded) events?.close();
    };
    const look = (refused: EventSource) => {
      const again = () => (timer = setTimeout(follow, AGAIN_MS));
      get<Status>(path).then(
        (now) => {
          // Meanwhile another one may have been had.
          if (events !== refused) return;
          take(now);
          if (hasEnded) return;
          setError("nobody more can follow this run now: what is shown is not the latest");
          again();
        },
        (thrown: unknown) => {
          if (events !== refused) return;
          fail(thrown);
          // One that is restarted has forgotten this run.
          if (!(thrown instanceof Refused) || thrown.status === 0 || thrown.status >= 500) again();
        },
      );
    };
    get<Status>(path).then((first) => {
      setStatus(first);
      document.addEventListener("visibilitychange", follow);
      follow();
    }, fail);
    return () => {
      document.removeEventListener("visibilitychange", follow);
      clearTimeout(timer);
      events?.close();
    };
  }, [job]);
  if (status === undefined) return <Frame title={`Job ${job}`} error={error}>{null}</Frame>;
  const { live, name, state } = status;
  return (
    <Frame title={name} error={error}>
      {status.state === "ended" ? (
        <Ended code={status.code} said={status.said} run={live.run} />
      ) : (
        <section aria-label="progress" class="live">
          {state === "waiting" && <p>It waits for {status.before === 1 ? "the run" : `${status.before} runs`} before it.</p>}
          {state === "stopping" && <p>It stops, and removes what it created. If it is stopped at once, the next start of the server does that.</p>}
          {state === "running" && <Progress live={live} />}
          <StopButton job={job} state={state} onStopped={setStatus} onError={(thrown) => setError(reason(thrown))} />
        </section>
      )}
      <SoFar live={live} past={past} />
      <LiveSlices slices={slices} cells={live.cells} />
      {slices.length > 0 && <Pictures />}
      {live.log.length > 0 && (
        <section>
          <h2>What it said</h2>
          <ul>
            {live.log.map((line, at) => (
              <li key={at}>{line}</li>
            ))}
          </ul>
        </section>
      )}
    </Frame>
  );
}

interface EndProps {
  code: number | null | undefined;
  said: string;
  run: number | null | undefined;
}

function Ended({ code, said, run }: EndProps) {
  const known = run !== null && run !== undefined;
  const isFine = code === 0 || code === 3 || code === 4 || code === 130;
  const killed = code === null || code === undefined;
  const sentence = ENDS[code ?? -1] ?? (killed && (known || said === "") ? "It was killed." : killed ? said : `It ended with the exit code ${code}.`);
  return (
    <section aria-label="end" class="live" aria-live="polite">
      <p>{sentence}</p>
      {known && (
        <a class="button primary" href={`/runs/${run}`}>
          Read the report
        </a>
      )}
      {!isFine && said !== "" && said !== sentence && <pre class="alert" tabIndex={0}>{said}</pre>}
    </section>
  );
}

function SoFar({ live, past }: { live: Live; past: Known[] }) {
  const measured = live.cells.filter(({ p50_ns }) => p50_ns !== null && p50_ns !== undefined);
  if (measured.length === 0) return null;
  const several = new Set(live.cells.map(({ load }) => load)).size > 1;
  const { paused_ms_per_second: paused, foreign, stolen } = live.machine;
  const share = (value: number) => `${(100 * value).toFixed(1)} %`;
  const machine = [
    typeof paused === "number" && `paused ${paused.toFixed(1)} ms/s`,
    typeof foreign === "number" && `other programs ${share(foreign)} of the CPUs`,
    typeof stolen === "number" && `${share(stolen)} stolen`,
  ].filter((text) => text !== false);
  return (
    <section>
      <h2>So far</h2>
      <p class="caption">of the slices' medians; the report is made of all that was measured</p>
      <div class="scroll" role="group" tabIndex={0} aria-label="so far">
        <table class="figures">
          <thead>
            <tr>
              <th>
                <span class="hidden">cell</span>
              </th>
              <th>p50</th>
              <th>difference</th>
              <th>95 % interval</th>
              <th>block by block</th>
            </tr>
          </thead>
          <tbody>
            {measured.map(({ cell, label, load, p50_ns, difference_ns: by, half_width_ns: half }) => (
              <tr key={`${label} ${load}`}>
                <th scope="row">{several ? `${label} at ${load}` : label}</th>
                <td>{time(p50_ns)}</td>
                <td>{typeof by === "number" ? difference(by, "ns") : ""}</td>
                <td>{typeof half === "number" ? `±${time(half)}` : ""}</td>
                <td>
                  <Narrowing past={past} cell={cell} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {machine.length > 0 && <p class="caption">machine: {machine.join(", ")}</p>}
    </section>
  );
}
