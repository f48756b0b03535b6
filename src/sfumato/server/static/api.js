// The only door to the server: one header for who asks, problems as exceptions, and keys by which a retry is the same request.

const BASE = new URL("api/", document.baseURI);
const TOKEN = "sfumato.token";
const PENDING = "sfumato.pending";

/** What the server refused, with its own words. */
export class Problem extends Error {
  constructor(status, said, later = 1) {
    super(said.reason || said.title || `status ${status}`);
    this.status = status;
    for (const name of ["code", "place", "reason", "rewrite", "title"]) this[name] = typeof said[name] === "string" ? said[name] : "";
    this.later = later;
  }
}

/** No reply came: whether the question arrived is not known. */
export class Silence extends Error {
  later = 2;
}

/** Nothing is wrong with what was asked: it may be asked again, later. */
export const isPassing = (problem) => problem instanceof Silence || problem.code === "server.busy" || problem.code === "server.rate";

// The token lives as long as the tab does. There is no cookie, so no other site can send it.
export const token = {
  get: () => sessionStorage.getItem(TOKEN) ?? "",
  set: (text) => sessionStorage.setItem(TOKEN, text),
  /** Forget who it was and what was asked; what is still open is kept where somebody may come back for it. */
  forget: ({ open = false } = {}) => {
    const kept = open ? sessionStorage.getItem(PENDING) : null;
    sessionStorage.clear();
    if (kept !== null) sessionStorage.setItem(PENDING, kept);
  },
};

let signedOut = () => {};

export function whenSignedOut(call) {
  signedOut = call;
}

async function call(path, { method = "GET", body, headers = {}, accept = "application/json", signal } = {}) {
  const sent = { Accept: accept, Authorization: `Bearer ${token.get()}`, ...headers };
  if (body !== undefined) sent["Content-Type"] = "application/json";
  let reply;
  try {
    reply = await fetch(new URL(path, BASE), { method, headers: sent, body, signal, credentials: "omit", cache: "no-store", redirect: "error" });
  } catch (problem) {
    if (problem.name === "AbortError") throw problem;
    throw new Silence("no reply came");
  }
  if (reply.ok) return reply;
  const said = await reply.json().catch(() => ({}));
  const found = new Problem(reply.status, said && typeof said === "object" ? said : {}, Number(reply.headers.get("Retry-After")) || 1);
  if (reply.status === 401) signedOut(found);
  throw found;
}

async function read(path, given) {
  const reply = await call(path, given);
  try {
    return await reply.json();
  } catch (problem) {
    if (problem.name === "AbortError") throw problem;
    throw new Silence("the reply broke off");
  }
}

const pause = (seconds) => new Promise((resolve) => setTimeout(resolve, 1000 * Math.min(10, seconds)));
const PATIENCE = 3;

/** What only looks costs nothing, and is asked again a few times. */
async function look(path) {
  for (let left = PATIENCE; ; left -= 1) {
    try {
      return await read(path);
    } catch (problem) {
      if (!isPassing(problem) || left <= 1) throw problem;
      await pause(problem.later);
    }
  }
}

const of = (dataset, rest = "") => `datasets/${encodeURIComponent(dataset)}${rest}`;

export const me = () => look("me");
export const datasets = () => look("datasets");
export const schema = (dataset) => look(of(dataset));
export const budget = (dataset) => look(of(dataset, "/budget"));
export const verify = (dataset, head) => look(of(dataset, `/verify${head ? `?head=${encodeURIComponent(head)}` : ""}`));
export const overruns = (dataset) => look(of(dataset, "/overruns"));
export const card = (dataset, number) => look(of(dataset, `/cards/${encodeURIComponent(number)}`));
export const plan = (dataset, question, signal) => read(of(dataset, "/plan"), { method: "POST", body: JSON.stringify(question), signal });

export async function cardPage(dataset, number) {
  return (await call(of(dataset, `/cards/${encodeURIComponent(number)}`), { accept: "text/html" })).blob();
}

/** Everything in the log after an entry, oldest first, page by page. */
export async function* history(dataset, after = 0) {
  for (let next = after; next !== null; ) {
    const found = await look(`${of(dataset, "/history")}?${new URLSearchParams({ after: String(next), limit: "200" })}`);
    yield found.entries;
    next = found.next ?? null;
  }
}

// A key is kept until the server has said something final about it, through reloads of the page, too: whoever asks again after a broken line asks
// the same thing.
const pending = () => JSON.parse(sessionStorage.getItem(PENDING) ?? "{}");

function keep(change) {
  const kept = pending();
  change(kept);
  sessionStorage.setItem(PENDING, JSON.stringify(kept));
}

export const isPending = (dataset, question) => `${dataset}\n${JSON.stringify(question)}` in pending();

/** Not final: nothing at all, a proxy's page, "later", "try again with the same key", a token that has to be renewed.
 *  Final: an answer, and every other word of the server. */
const LATER = new Set(["server.running", "server.busy", "server.rate", "server.internal"]);
const isFinal = (problem) => problem instanceof Problem && problem.code !== "" && problem.status !== 401 && problem.status !== 408 && !LATER.has(problem.code);
const TRIES = 30;

/** Browsers offer randomUUID on safe origins only; a house network without TLS is none. */
const fresh = () => crypto.randomUUID?.() ?? Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");

export async function release(dataset, question) {
  const body = JSON.stringify(question), asked = `${dataset}\n${body}`;
  const key = pending()[asked] ?? fresh();
  keep((kept) => (kept[asked] = key));
  for (let left = TRIES; ; left -= 1) {
    try {
      const answer = await read(of(dataset, "/release"), { method: "POST", body, headers: { "Idempotency-Key": key } });
      keep((kept) => delete kept[asked]);
      return { ...answer, dataset, body, key };
    } catch (problem) {
      if (isFinal(problem)) keep((kept) => delete kept[asked]);
      if (!LATER.has(problem.code) || left <= 1) throw problem;
      await pause(problem.later);
    }
  }
}

/** The same answer in another format: the same key and the same body, so it is a retry, and costs nothing. */
export async function releasedAs(answer, accept) {
  const headers = { "Idempotency-Key": answer.key };
  return (await call(of(answer.dataset, "/release"), { method: "POST", body: answer.body, headers, accept })).blob();
}
