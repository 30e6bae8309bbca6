// All runs of the store: found, compared, named, deleted, taken in from other stores.
import { useEffect, useRef, useState } from "preact/hooks";
import { Dialog } from "../dialog";
import { get, reason, send } from "./api";
import type { Imported, Listed, Summary } from "./api";
import { Frame } from "./frame";
import { Queue } from "./queue";
import { useRepeated } from "./repeated";

/** So many runs does the server list at most, the newest ones. */
const MOST_LISTED = 1000;
/** Until the user has stopped typing. */
const PAUSE_MS = 300;
/** Other processes store runs, too: the list is looked at again. */
const EVERY_MS = 10_000;

export function Runs() {
  const [runs, setRuns] = useState<Listed[]>();
  const [text, setText] = useState("");
  // What was imported last.
  const [taken, setTaken] = useState<string>();
  const [chosen, setChosen] = useState<number[]>([]);
  const [open, setOpen] = useState<{ run: Listed; what: "name" | "delete" }>();
  const [error, setError] = useState<string>();
  const fail = (thrown: unknown) => setError(reason(thrown));
  // Where there are more runs than are listed, the server finds; else this page does, as it is typed.
  const [isCut, setCut] = useState(false);
  const asked = isCut ? text : "";
  const take = (listed: Listed[]) => {
    // A list of a thousand runs is not drawn again for nothing.
    setRuns((before) => (JSON.stringify(before) === JSON.stringify(listed) ? before : listed));
    if (listed.length >= MOST_LISTED) setCut(true);
  };
  const look = useRepeated(EVERY_MS, () => get<Listed[]>(`/api/runs?match=${encodeURIComponent(asked)}`), take, setError);
  useEffect(() => {
    // The first time it is asked for anyway.
    if (runs === undefined) return;
    const timer = setTimeout(() => void look(), asked === "" ? 0 : PAUSE_MS);
    return () => clearTimeout(timer);
  }, [asked]);
  const done = () => {
    setOpen(undefined);
    setError(undefined);
    void look();
  };
  const matches = ({ name, tags }: Listed) => [name, ...tags].some((words) => words.toLowerCase().includes(text.toLowerCase()));
  const shown = runs?.filter(matches) ?? [];
  // The earliest one is what the others are compared with.
  const [before, ...after] = (runs ?? [])
    .filter(({ id }) => chosen.includes(id))
    .sort((one, other) => one.started.localeCompare(other.started))
    .map(({ id }) => id);
  const choose = (id: number, isChosen: boolean) => setChosen(isChosen ? [...chosen, id] : chosen.filter((other) => other !== id));
  return (
    <Frame title="Runs" error={error}>
      <Queue onError={setError} onChanged={() => void look()} />
      <section>
        <div class="tools">
          <label>
            Find <input type="search" value={text} onInput={(event) => setText(event.currentTarget.value)} />
          </label>
          {before !== undefined && after.length > 0 ? (
            <a class="button" href={`/compare?before=${before}&after=${after.join(",")}`}>
              Compare run{after.length > 1 && "s"} {after.join(", ")} with run {before}
            </a>
          ) : (
            <span class="caption">choose runs to compare them</span>
          )}
          <Import
            onDone={(imported) => {
              setTaken(imported);
              if (imported !== undefined) done();
            }}
            onError={fail}
          />
        </div>
        <p class="caption" aria-live="polite">
          {taken}
        </p>
        {shown.length >= MOST_LISTED && <p class="caption">the newest {MOST_LISTED}: find others by a name or a tag</p>}
        {runs !== undefined && shown.length === 0 && <p>{runs.length === 0 && asked === "" ? <>No runs yet. <a href="/new">Start one</a>.</> : `No run is called “${text}”.`}</p>}
        {shown.length > 0 && (
          <div class="scroll" role="group" tabIndex={0} aria-label="runs">
            <table class="runs">
              <thead>
                <tr>
                  <th>
                    <span class="hidden">compare</span>
                  </th>
                  <th>run</th>
                  <th>what came out</th>
                  <th>begun</th>
                  <th>
                    <span class="hidden">change</span>
                  </th>
                </tr>
              </thead>
              <tbody>
                {shown.map((run) => (
                  <tr key={run.id}>
                    <td>
                      <input type="checkbox" aria-label={`compare run ${run.id}`} checked={chosen.includes(run.id)} onChange={(event) => choose(run.id, event.currentTarget.checked)} />
                    </td>
                    <th scope="row">
                      <a href={`/runs/${run.id}`}>
                        {run.id} · {run.name}
                      </a>
                      {run.tags.map((tag) => (
                        <span class="tag" key={tag}>
                          {tag}
                        </span>
                      ))}
                    </th>
                    <td>
                      <Outcome run={run} />
                    </td>
                    <td>
                      <time dateTime={run.started}>{new Date(run.started).toLocaleString([], { dateStyle: "medium", timeStyle: "short" })}</time>
                    </td>
                    <td class="actions">
                      <button type="button" aria-label={`name run ${run.id}`} onClick={() => setOpen({ run, what: "name" })}>
                        Name
                      </button>
                      <button type="button" aria-label={`delete run ${run.id}`} disabled={run.measured_now} onClick={() => setOpen({ run, what: "delete" })}>
                        Delete
                      </button>
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        )}
      </section>
      {open?.what === "name" && <NameDialog run={open.run} onDone={done} onClose={() => setOpen(undefined)} />}
      {open?.what === "delete" && <DeleteDialog run={open.run} onDone={done} onClose={() => setOpen(undefined)} />}
    </Frame>
  );
}

/** Asked for when its row comes into view: it takes an analysis of the run. */
function Outcome({ run }: { run: Listed }) {
  const place = useRef<HTMLDivElement>(null);
  const [summary, setSummary] = useState<Summary>();
  const [error, setError] = useState<string>();
  const key = `${run.id} ${run.name} ${run.state} ${run.measured_now} ${run.tags.join(" ")}`;
  useEffect(() => {
    setError(undefined);
    if (run.measured_now || place.current === null) return;
    const left = new AbortController();
    const seen = new IntersectionObserver((entries) => {
      if (!entries.some(({ isIntersecting }) => isIntersecting)) return;
      seen.disconnect();
      get<Summary>(`/api/runs/${run.id}/summary`, left.signal).then(setSummary, (thrown: unknown) => {
        if (!left.signal.aborted) setError(reason(thrown));
      });
    });
    seen.observe(place.current);
    return () => {
      seen.disconnect();
      left.abort();
    };
  }, [key]);
  return (
    <div class="outcome" ref={place}>
      {run.measured_now && "being measured"}
      {error}
      {summary !== undefined && (
        <>
          {summary.outcome.map((sentence) => (
            <p key={sentence}>{sentence}</p>
          ))}
          <p class="caption">{[summary.state, ...summary.subject].join(" · ")}</p>
        </>
      )}
    </div>
  );
}

interface DialogProps {
  run: Listed;
  onDone: () => void;
  onClose: () => void;
}

function NameDialog({ run, onDone, onClose }: DialogProps) {
  const [name, setName] = useState(run.name);
  const [tags, setTags] = useState(run.tags.join(" "));
  const [error, setError] = useState<string>();
  const change = (event: Event) => {
    event.preventDefault();
    const words = tags.split(/\s+/).filter((tag) => tag !== "");
    send("PATCH", `/api/runs/${run.id}`, { name, tags: words }).then(onDone, (thrown: unknown) => setError(reason(thrown)));
  };
  return (
    <Dialog title={`Run ${run.id}`} onClose={onClose}>
      <form class="fields" onSubmit={change}>
        <label>
          name <input type="text" value={name} required onInput={(event) => setName(event.currentTarget.value)} />
        </label>
        <label>
          tags <input type="text" value={tags} placeholder="words, with spaces between" onInput={(event) => setTags(event.currentTarget.value)} />
        </label>
        {error !== undefined && <p class="alert">{error}</p>}
        <button type="submit">Change</button>
      </form>
    </Dialog>
  );
}

function DeleteDialog({ run, onDone, onClose }: DialogProps) {
  const [error, setError] = useState<string>();
  const remove = () => void send("DELETE", `/api/runs/${run.id}`).then(onDone, (thrown: unknown) => setError(reason(thrown)));
  return (
    <Dialog title={`Delete run ${run.id}?`} onClose={onClose}>
      <p>
        {run.name} and all that was measured in it are gone then. Nothing brings them back.
      </p>
      {error !== undefined && <p class="alert">{error}</p>}
      <button type="button" class="danger" onClick={remove}>
        Delete run {run.id}
      </button>
    </Dialog>
  );
}

/** Tells in a sentence what came of it, and when it begins that nothing is known yet. */
function Import({ onDone, onError }: { onDone: (imported: string | undefined) => void; onError: (thrown: unknown) => void }) {
  const [isUnderWay, setUnderWay] = useState(false);
  const take = (input: HTMLInputElement) => {
    const [file] = input.files ?? [];
    if (file === undefined) return;
    setUnderWay(true);
    onDone(undefined);
    send<Imported>("POST", "/api/import", file.slice())
      .then(({ runs, were_here: here }) => onDone(`${file.name}: ${runs.length - here.length} imported${here.length > 0 ? `, ${here.length} here already, as ${here.length === 1 ? "run" : "runs"} ${here.join(", ")}` : ""}.`), onError)
      .finally(() => setUnderWay(false));
    input.value = "";
  };
  return (
    <label class="button">
      {isUnderWay ? "Importing …" : "Import a store"}
      <input class="hidden" type="file" disabled={isUnderWay} onChange={(event) => take(event.currentTarget)} />
    </label>
  );
}
