// The form for a new run. What it amounts to is shown as an experiment file, which may be edited instead; either is checked as it is typed.
import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { get, getText, reason, send, sendForText } from "./api";
import type { Draft, Offer, Status, Stored } from "./api";
import { Frame } from "./frame";
import { span } from "./progress";
import { address, asked, keep, keyOf, read, readEdited } from "./wishes";
import type { Wishes } from "./wishes";

/** Until the user has stopped typing. */
const PAUSE_MS = 300;

export function NewRun() {
  const [wishes, setWishes] = useState<Wishes>(read);
  const [edited, setEdited] = useState<string | undefined>(readEdited);
  const [draft, setDraft] = useState<Draft>();
  // Whether the draft, or what is wrong, is of what is typed now: an earlier one must not be started.
  const [isCurrent, setCurrent] = useState(false);
  const [wrong, setWrong] = useState<string>();
  const [offers, setOffers] = useState<Offer[]>([]);
  const [services, setServices] = useState<string[]>([]);
  const [stored, setStored] = useState<Stored[]>([]);
  const [error, setError] = useState<string>();
  // A run that is to be measured again: what the form holds is not it.
  const [again] = useState(() => new URLSearchParams(location.search).get("again"));
  const [isAwaited, setAwaited] = useState(again !== null);
  const offer = (all: Stored[]) => {
    setStored(all);
    const [latest] = all;
    // An address may leave open which of them.
    if (latest !== undefined) setWishes((held) => (isOpen(held) ? { ...held, stored: keyOf(latest) } : held));
  };
  useEffect(() => {
    get<string[]>("/api/services").then(setServices, (thrown: unknown) => setError(reason(thrown)));
    get<Stored[]>("/api/services/stored").then(offer, (thrown: unknown) => setError(reason(thrown)));
    get<Offer[]>("/api/platforms").then(setOffers, (thrown: unknown) => setError(reason(thrown)));
    if (again === null) return address(wishes, edited);
    getText(`/api/runs/${again}/export?format=experiment`).then(
      (yaml) => {
        setEdited(yaml);
        setAwaited(false);
      },
      (thrown: unknown) => setError(reason(thrown)),
    );
  }, []);
  useEffect(() => {
    const left = new AbortController();
    setCurrent(false);
    if (isAwaited || (edited === undefined && isOpen(wishes))) return;
    const timer = setTimeout(() => {
      send<Draft>("POST", "/api/drafts", edited === undefined ? asked(wishes) : { yaml: edited }, left.signal).then(
        (answer) => {
          setDraft(answer);
          setWrong(undefined);
          setCurrent(true);
        },
        (thrown: unknown) => left.signal.aborted || setWrong(reason(thrown)),
      );
    }, PAUSE_MS);
    return () => {
      clearTimeout(timer);
      left.abort();
    };
  }, [wishes, edited, isAwaited]);
  const wish = (changed: Partial<Wishes>) => {
    const next = { ...wishes, ...changed };
    setWishes(next);
    setEdited(undefined);
    setAwaited(false);
    keep(next);
  };
  const edit = (yaml: string) => {
    setEdited(yaml);
    setAwaited(false);
    keep(wishes, yaml);
  };
  const yaml = edited ?? draft?.yaml;
  const isReady = isCurrent && wrong === undefined && draft !== undefined;
  const start = (event: Event) => {
    event.preventDefault();
    if (yaml === undefined) return;
    send<Status>("POST", "/api/jobs", { yaml }).then(
      ({ job }) => location.assign(`/jobs/${job}`),
      (thrown: unknown) => setError(reason(thrown)),
    );
  };
  return (
    <Frame title="New run" error={error}>
      <form class="new-run" onSubmit={start}>
        <div>
          <What wishes={wishes} wish={wish} services={services} stored={stored} />
          {wishes.what !== "url" && <Where wishes={wishes} wish={wish} offers={offers} />}
          <fieldset>
            <legend>Load</legend>
            <Field label="rates" hint="2000/s, or several: 500/s 2000/s">
              <input type="text" value={wishes.rate} disabled={wishes.closed} onInput={(event) => wish({ rate: event.currentTarget.value })} />
            </Field>
            <label class="check">
              <input type="checkbox" checked={wishes.closed} onChange={(event) => wish({ closed: event.currentTarget.checked })} /> closed loop: each connection sends its next
              request when the last one is answered
            </label>
            <Field label="connections" hint="16">
              <input type="text" inputMode="numeric" value={wishes.connections} onInput={(event) => wish({ connections: event.currentTarget.value })} />
            </Field>
          </fieldset>
          <fieldset>
            <legend>Limits</legend>
            <Field label="CPUs" hint="1, or 0.5; none">
              <input type="text" value={wishes.cpu} onInput={(event) => wish({ cpu: event.currentTarget.value })} />
            </Field>
            <Field label="memory" hint="512Mi; none">
              <input type="text" value={wishes.memory} onInput={(event) => wish({ memory: event.currentTarget.value })} />
            </Field>
          </fieldset>
          <fieldset>
            <legend>How much</legend>
            <Field label="deployments" hint="the more, the narrower the intervals">
              <input type="text" inputMode="numeric" value={wishes.deployments} onInput={(event) => wish({ deployments: event.currentTarget.value })} />
            </Field>
            <Field label="within" hint="10min: no deployment begins that would end after it">
              <input type="text" value={wishes.within} onInput={(event) => wish({ within: event.currentTarget.value })} />
            </Field>
            <Field label="objectives" hint="p99 <= 50ms; a line each: finds the highest rate that meets all of them">
              <textarea rows={2} value={wishes.objectives} onInput={(event) => wish({ objectives: event.currentTarget.value })} />
            </Field>
            <Field label="fails if" hint="p99 slower by > 5%; a line each">
              <textarea rows={2} value={wishes.failIf} onInput={(event) => wish({ failIf: event.currentTarget.value })} />
            </Field>
          </fieldset>
        </div>
        <div>
          <label class="yaml">
            <span>The experiment{edited !== undefined && ", edited by hand: a change of the form replaces it"}</span>
            <textarea rows={18} spellcheck={false} value={yaml ?? ""} onInput={(event) => edit(event.currentTarget.value)} />
          </label>
          <div aria-live="polite">
            {wrong !== undefined && <pre class="alert" tabIndex={0}>{wrong}</pre>}
            {wrong === undefined && draft !== undefined && <p>It takes {howLong(draft)}.</p>}
          </div>
          <div class="buttons">
            <button type="submit" class="primary" disabled={!isReady}>
              Start
            </button>
            <TryOut yaml={isReady ? yaml : undefined} />
          </div>
          {draft !== undefined && wrong === undefined && (
            <details>
              <summary>What it will do</summary>
              <pre class="plan" role="group" tabIndex={0} aria-label="what it will do">
                {draft.plan}
              </pre>
            </details>
          )}
        </div>
      </form>
    </Frame>
  );
}

/** Sends each request once, and shows it with what came back. */
function TryOut({ yaml }: { yaml: string | undefined }) {
  const [isUnderWay, setUnderWay] = useState(false);
  const [shown, setShown] = useState<string>();
  const tryOut = async () => {
    setUnderWay(true);
    setShown(await sendForText("/api/tries", { yaml }).catch(reason));
    setUnderWay(false);
  };
  return (
    <>
      <button type="button" disabled={yaml === undefined || isUnderWay} onClick={() => void tryOut()}>
        Send each request once
      </button>
      <div class="tried" aria-live="polite">
        {isUnderWay && <p>The services are started, and asked once.</p>}
        {!isUnderWay && shown !== undefined && (
          <pre tabIndex={0} aria-label="requests and responses">
            {shown}
          </pre>
        )}
      </div>
    </>
  );
}

/** `45 s on a quiet machine, 3 min 1 s at most` */
function howLong({ seconds: [least, most] }: { seconds: number[] }): string {
  const [low, high] = [span(least ?? 0), span(most ?? 0)];
  return low === high ? `about ${low}` : `${low} on a quiet machine, ${high} at most`;
}

/** Whether none of the stored services is chosen yet. */
function isOpen({ what, stored }: Wishes): boolean {
  return what === "stored" && stored === "";
}

interface PartProps {
  wishes: Wishes;
  wish: (changed: Partial<Wishes>) => void;
}

function What({ wishes, wish, services, stored }: PartProps & { services: string[]; stored: Stored[] }) {
  const [latest] = stored;
  const kinds = [
    ["builtin", "built-in or reference service"],
    ...(latest !== undefined || wishes.what === "stored" ? ([["stored", "service of a stored run"]] as const) : []),
    ["command", "command"],
    ["image", "image"],
    ["url", "URL"],
  ] as const;
  // Of the stored ones there is always one that is chosen.
  const choose = (what: Wishes["what"]) => wish(what === "stored" && wishes.stored === "" && latest !== undefined ? { what, stored: keyOf(latest) } : { what });
  return (
    <fieldset>
      <legend>Service</legend>
      <div class="kinds">
        {kinds.map(([kind, label]) => (
          <label key={kind} class="check">
            <input type="radio" name="what" checked={wishes.what === kind} onChange={() => choose(kind)} /> {label}
          </label>
        ))}
      </div>
      {wishes.what === "builtin" && (
        <Field label="service" hint="orders --delay 200us, or of those that `make services` built: quarkus virtual">
          <input type="text" list="builtin" value={wishes.service} onInput={(event) => wish({ service: event.currentTarget.value })} />
          <datalist id="builtin">
            {services.map((line) => (
              <option key={line} value={line} />
            ))}
          </datalist>
        </Field>
      )}
      {wishes.what === "stored" && (
        <Field label="service" hint="as its run describes it; the fields below override that">
          <select value={wishes.stored} onChange={(event) => wish({ stored: event.currentTarget.value })}>
            {wishes.stored !== "" && stored.every((one) => keyOf(one) !== wishes.stored) && <option value={wishes.stored}>run {wishes.stored}</option>}
            {stored.map((one) => (
              <option key={keyOf(one)} value={keyOf(one)} selected={keyOf(one) === wishes.stored}>
                {one.service} · run {one.run}: {one.about}
              </option>
            ))}
          </select>
        </Field>
      )}
      {wishes.what === "image" && (
        <Field label="image" hint="nginx:1.27, or a file: ./service.tar">
          <input type="text" value={wishes.image} onInput={(event) => wish({ image: event.currentTarget.value })} />
        </Field>
      )}
      {(wishes.what === "command" || wishes.what === "image") && (
        <Field label="command" hint="./server --port {port}">
          <input type="text" value={wishes.command} onInput={(event) => wish({ command: event.currentTarget.value })} />
        </Field>
      )}
      {wishes.what === "url" && (
        <Field label="URLs" hint="http://127.0.0.1:8080; several are compared with the first">
          <input type="text" value={wishes.url} onInput={(event) => wish({ url: event.currentTarget.value })} />
        </Field>
      )}
      <Field label="requests" hint="/path, POST /path, 3 GET /path; a line each">
        <textarea rows={2} value={wishes.request} onInput={(event) => wish({ request: event.currentTarget.value })} />
      </Field>
    </fieldset>
  );
}

function Where({ wishes, wish, offers }: PartProps & { offers: Offer[] }) {
  const choose = (name: string, isChosen: boolean) => wish({ on: isChosen ? [...wishes.on, name] : wishes.on.filter((other) => other !== name) });
  return (
    <fieldset>
      <legend>Platforms</legend>
      {offers.map(({ name, about, missing }) => (
        <label key={name} class="check">
          <input type="checkbox" checked={wishes.on.includes(name)} disabled={missing !== undefined && missing !== null && !wishes.on.includes(name)} onChange={(event) => choose(name, event.currentTarget.checked)} />
          <span>
            {name}
            {wishes.on[0] === name && " (baseline)"}
            <span class="caption">
              {" "}
              {about}
              {missing !== undefined && missing !== null && <span class="unsure">; not here: {missing}</span>}
            </span>
          </span>
        </label>
      ))}
    </fieldset>
  );
}

function Field({ label, hint, children }: { label: string; hint: string; children: ComponentChildren }) {
  return (
    <label class="field">
      <span>{label}</span>
      {children}
      <span class="caption">{hint}</span>
    </label>
  );
}
