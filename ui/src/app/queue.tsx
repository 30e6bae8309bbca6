// Runs that are measured or wait, with the way to each; asked for again while there are any.
import { useEffect, useRef, useState } from "preact/hooks";
import { get, reason } from "./api";
import type { Status } from "./api";
import { leftOf } from "./progress";
import { StopButton } from "./stop-button";

const EVERY_MS = 3000;

interface Props {
  /** Told what is wrong, and that nothing is any more. */
  onError: (text: string | undefined) => void;
  /** Told when a run has begun or ended. */
  onChanged: () => void;
}

export function Queue({ onError, onChanged }: Props) {
  const changed = useRef(onChanged);
  changed.current = onChanged;
  const [jobs, setJobs] = useState<Status[]>([]);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let before: string | undefined;
    let isLost = false;
    const look = async () => {
      try {
        const all = await get<Status[]>("/api/jobs");
        const open = all.filter(({ state }) => state !== "ended");
        setJobs(open);
        const now = open.map(({ job, live }) => `${job} ${live.run ?? "not begun"}`).join();
        if (before !== undefined && now !== before) changed.current();
        before = now;
        if (isLost) onError(undefined);
        isLost = false;
      } catch (error) {
        isLost = true;
        onError(reason(error));
      }
      timer = setTimeout(() => void look(), EVERY_MS);
    };
    void look();
    return () => clearTimeout(timer);
  }, []);
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
