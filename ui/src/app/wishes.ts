// What the form for a new run asks for: kept in the address, so that a run can be shared as a link, and in the browser for the next time;
// and as the flags of `loadline compare`, or with objectives of `loadline capacity`, which is where it gets its meaning.
import type { Asked, Stored } from "./api";

export interface Wishes {
  what: "builtin" | "stored" | "command" | "image" | "url";
  service: string;
  /** As `keyOf` writes it. */
  stored: string;
  command: string;
  image: string;
  url: string;
  request: string;
  on: string[];
  rate: string;
  closed: boolean;
  connections: string;
  cpu: string;
  memory: string;
  deployments: string;
  within: string;
  objectives: string;
  failIf: string;
}

export const DEFAULTS: Wishes = {
  what: "builtin",
  service: "orders",
  stored: "",
  command: "",
  image: "",
  url: "",
  request: "",
  on: ["host", "pod"],
  rate: "2000/s",
  closed: false,
  connections: "",
  cpu: "",
  memory: "",
  deployments: "",
  within: "",
  objectives: "",
  failIf: "",
};

const KEPT = "loadline-wishes";

/** Those of the address, or else the last ones. */
export function read(): Wishes {
  const asked = new URLSearchParams(location.search);
  if ([...asked.keys()].some((key) => key in DEFAULTS) || readEdited() !== undefined) return fromQuery(asked);
  return fromQuery(new URLSearchParams(localStorage.getItem(KEPT) ?? ""));
}

/** The experiment that was edited by hand, of the address: behind its #, so that it is no part of a request and may be long. */
export function readEdited(): string | undefined {
  return new URLSearchParams(location.hash.slice(1)).get("yaml") ?? undefined;
}

export function keep(wishes: Wishes, edited?: string): void {
  localStorage.setItem(KEPT, toQuery(wishes).toString());
  address(wishes, edited);
}

/** Puts them into the address alone: a link that is opened is not what its reader asked for last. */
export function address(wishes: Wishes, edited?: string): void {
  const hash = edited === undefined ? "" : `#${new URLSearchParams({ yaml: edited }).toString()}`;
  history.replaceState(null, "", `/new?${toQuery(wishes).toString()}${hash}`);
}

/** What differs from the defaults, and what is measured in any case: an address without anything means what was wished for last. */
function toQuery(wishes: Wishes): URLSearchParams {
  const query = new URLSearchParams({ what: wishes.what });
  for (const [key, value] of Object.entries(wishes) as [keyof Wishes, Wishes[keyof Wishes]][]) {
    if (String(value) === String(DEFAULTS[key])) continue;
    if (Array.isArray(value)) (value.length > 0 ? value : [""]).forEach((each) => query.append(key, each));
    else query.set(key, String(value));
  }
  return query;
}

function fromQuery(query: URLSearchParams): Wishes {
  const word = (key: Exclude<keyof Wishes, "what" | "on" | "closed">) => query.get(key) ?? DEFAULTS[key];
  const what = query.get("what");
  return {
    what: what === "stored" || what === "command" || what === "image" || what === "url" ? what : "builtin",
    service: word("service"),
    stored: word("stored"),
    command: word("command"),
    image: word("image"),
    url: word("url"),
    request: word("request"),
    on: query.has("on") ? query.getAll("on").filter((platform) => platform !== "") : DEFAULTS.on,
    rate: word("rate"),
    closed: query.get("closed") === "true",
    connections: word("connections"),
    cpu: word("cpu"),
    memory: word("memory"),
    deployments: word("deployments"),
    within: word("within"),
    objectives: word("objectives"),
    failIf: word("failIf"),
  };
}

/** A service of a stored run in one text: the run's number, and what the run calls it. */
export function keyOf({ run, service }: Pick<Stored, "run" | "service">): string {
  return `${run} ${service}`;
}

/** What the server is to make a draft of. */
export function asked(wishes: Wishes): Asked {
  if (wishes.what !== "stored") return { flags: flags(wishes) };
  const [run = "", ...words] = wishes.stored.split(" ");
  return { stored: { run: Number(run), service: words.join(" "), flags: flags(wishes) } };
}

/** The flags of the command line. */
function flags(wishes: Wishes): string[] {
  const words: string[] = [];
  const add = (flag: string, value: string) => {
    if (value.trim() !== "") words.push(flag, value.trim());
  };
  switch (wishes.what) {
    case "builtin":
      add("--service", wishes.service);
      break;
    case "stored":
      break;
    case "command":
      add("--command", wishes.command);
      break;
    case "image":
      add("--image", wishes.image);
      add("--command", wishes.command);
      break;
    case "url":
      wishes.url.split(/\s+/).forEach((url) => add("--on", url));
      break;
  }
  wishes.request.split("\n").forEach((request) => add("--request", request));
  if (wishes.what !== "url") wishes.on.forEach((platform) => add("--on", platform));
  if (wishes.closed) words.push("--closed");
  else wishes.rate.split(/[\s,]+/).forEach((rate) => add("--rate", rate));
  add("--connections", wishes.connections);
  add("--limit-cpu", wishes.cpu);
  add("--limit-memory", wishes.memory);
  add("--deployments", wishes.deployments);
  add("--within", wishes.within);
  wishes.objectives.split("\n").forEach((objective) => add("--objective", objective));
  wishes.failIf.split("\n").forEach((condition) => add("--fail-if", condition));
  return words;
}
