// Stops a run. One that is still not at its end a while later can be stopped at once.
import { useEffect, useState } from "preact/hooks";
import { send } from "./api";
import type { Status } from "./api";

/** Long enough that no double click meets the second stop, which would leave behind what the run made. */
const PATIENCE_MS = 5000;

interface Props {
  job: number;
  state: Status["state"];
  onStopped: (status: Status) => void;
  onError: (thrown: unknown) => void;
}

export function StopButton({ job, state, onStopped, onError }: Props) {
  const [isLate, setLate] = useState(false);
  useEffect(() => {
    if (state !== "stopping") return;
    const timer = setTimeout(() => setLate(true), PATIENCE_MS);
    return () => clearTimeout(timer);
  }, [state]);
  const atOnce = state === "stopping" && isLate;
  const stop = () => void send<Status>("POST", `/api/jobs/${job}/stop${atOnce ? "?at_once=true" : ""}`).then(onStopped, onError);
  return (
    <button type="button" disabled={state === "stopping" && !isLate} onClick={stop}>
      {atOnce ? "Stop at once" : "Stop"}
    </button>
  );
}
