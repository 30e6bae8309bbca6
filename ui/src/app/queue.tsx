// Runs that are measured or wait, with the way to each.
import { useRef, useState } from "preact/hooks";
import { get, reason } from "./api";
import type { Status } from "./api";
import { leftOf } from "./progress";
import { useRepeated } from "./repeated";
import { StopButton } from "./stop-button";

const EVERY_MS = 3000;

interface Props {
  /** Told what is wrong, and that nothing is any more. */
  onError: (text: string | undefined) => void;
  /** Told when a run has begun or ended. */
  onChanged: () => void;
}

export function Queue({ onError, onChanged }: Props) {
  const [jobs, setJobs] = useState<Status[]>([]);
  const known = useRef<string>(undefined);
  const take = (all: Status[]) => {
    const open = all.filter(({ state }) => state !== "ended");
    setJobs(open);
    const now = open.map(({ job, live }) => `${job} ${live.run ?? "not begun"}`).join();
    if (known.current !== undefined && now !== known.current) onChanged();
    known.current = now;
  };
  useRepeated(EVERY_MS, () => get<Status[]>("/api/jobs"), take, onError);
  if (jobs.length === 0) return null;
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
            <StopButton job={job} state={state} onStopped={() => undefined} onError={(thrown) => onError(reason(thrown))} />
          </li>
        ))}
      </ul>
    </section>
  );
}
