// The server's API, as the pages use it; its types are made of docs/openapi.json.
export type { Asked, Draft, Imported, Listed, Offer, Slice, Status, Stored, Summary } from "../generated/api";

/** Why the server did not do what it was asked for, as it says it. */
export class Refused extends Error {
  constructor(
    message: string,
    readonly status: number,
  ) {
    super(message);
  }
}

async function ask(path: string, request: RequestInit): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(path, request);
  } catch (error) {
    if (request.signal?.aborted === true) throw error;
    throw new Refused("the server does not answer: is `loadline ui` still running?", 0);
  }
  if (response.ok) return response;
  const body: unknown = await response.json().catch(() => undefined);
  const said = typeof body === "object" && body !== null && "error" in body ? String(body.error) : response.statusText;
  throw new Refused(said, response.status);
}

export async function get<T>(path: string, signal?: AbortSignal): Promise<T> {
  return (await (await ask(path, signal === undefined ? {} : { signal })).json()) as T;
}

export async function getText(path: string): Promise<string> {
  return (await ask(path, {})).text();
}

/** Sends what changes something; answers with what the server says, if it does. */
export async function send<T = void>(method: "POST" | "PATCH" | "DELETE", path: string, body?: unknown, signal?: AbortSignal): Promise<T> {
  const raw = body instanceof Blob;
  const response = await ask(path, {
    method,
    ...(body === undefined ? {} : { body: raw ? body : JSON.stringify(body), headers: raw ? {} : { "Content-Type": "application/json" } }),
    ...(signal === undefined ? {} : { signal }),
  });
  return (response.status === 204 ? undefined : await response.json()) as T;
}

/** Sends what is answered with text. */
export async function sendForText(path: string, body: unknown): Promise<string> {
  return (await ask(path, { method: "POST", body: JSON.stringify(body), headers: { "Content-Type": "application/json" } })).text();
}

/** What went wrong, as a sentence. */
export function reason(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
