// Runs that are measured or wait, with the way to each; asked for again while there are any.
import { useEffect, useState } from "preact/hooks";
import { get, reason, send } from "./api";
import type { Status } from "./api";
import { leftOf } from "./progress";

const EVERY_MS = 3000;

interface Props {
  onError: (text: string) => void;
  /** Told when a run has ended. */
  onEnded: () => void;
}

export function Queue({ onError, onEnded }: Props) {
  const [jobs, setJobs] = useState<Status[]>([]);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let count: number | undefined;
    const look = async () => {
      try {
        const all = await get<Status[]>("/api/jobs");
        const open = all.filter(({ state }) => state !== "ended");
        setJobs(open);
        if (count !== undefined && open.length < count) onEnded();
        count = open.length;
      } catch (error) {
        onError(reason(error));
      }
      timer = setTimeout(() => void look(), EVERY_MS);
    };
    void look();
    return () => clearTimeout(timer);
  }, []);
  if (jobs.length === 0) return null;
  const stop = (job: number) => void send("POST", `/api/jobs/${job}/stop`).catch((error: unknown) => onError(reason(error)));
  return (
    <section aria-label="being measured">
      <h2>Being measured</h2>
      <ul class="queue">
        {jobs.map(({ job, name, state, before, live }) => (
          <li key={job}>
            <a href={`/jobs/${job}`}>{name}</a>
            <span class="caption">
              {state === "waiting" ? `waits for ${before === 1 ? "the run" : `${before} runs`} before it` : state === "stopping" ? "stops, and tidies up" : leftOf(live)}
            </span>
            <button type="button" disabled={state === "stopping"} onClick={() => stop(job)}>
              Stop
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}
