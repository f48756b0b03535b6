// Who is it, which dataset, which view.

import * as api from "./api.js";
import { Books } from "./books.js";
import { Desk } from "./desk.js";
import { announce, el, fill, find, show } from "./dom.js";
import { explained } from "./refusals.js";

const UNKNOWN = "The service does not know this token. Check that all of it was copied, or ask the owner for a new one.";
const CHOSEN = "sfumato.dataset";

const desk = new Desk();
const books = new Books();
let person = null;

function door(message = "") {
  person = null;
  for (const id of ["#desk", "#books", "#whose"]) show(find(id), false);
  show(find("#door"));
  find("#door-trouble").textContent = message;
  find("#token").value = "";
  find("#token").focus();
  document.title = "sfumato";
}

async function enter() {
  person = await api.me();
  const found = await api.datasets();
  show(find("#door"), false);
  show(find("#whose"));
  find("#who").textContent = person.name;
  find("#role").textContent = person.role;
  find("#who").title = person.expires ? `The token is valid until ${new Date(person.expires).toLocaleString()}` : "";
  fill(find("#dataset"), found.map(({ name }) => el("option", { value: name, text: name })));
  if (!found.length) return door("This token opens no dataset.");
  const before = sessionStorage.getItem(CHOSEN);
  find("#dataset").value = found.some(({ name }) => name === before) ? before : found[0].name;
  return open();
}

async function open() {
  const dataset = find("#dataset").value, asks = person.role === "analyst";
  sessionStorage.setItem(CHOSEN, dataset);
  show(find("#desk"), asks);
  show(find("#books"), !asks);
  document.title = `${dataset} · sfumato`;
  try {
    await (asks ? desk.open(dataset) : books.open(dataset, person.role));
    announce(`${dataset} is open.`);
  } catch (problem) {
    if (problem.status !== 401 && find("#dataset").value === dataset) door(explained(problem)); // else it came too late to matter
  }
}

api.whenSignedOut((problem) => {
  const was = person !== null;
  api.token.forget({ open: true });
  door(was ? "Your token has expired or was revoked." : UNKNOWN);
});

find("#sign-in").addEventListener("submit", async (event) => {
  event.preventDefault();
  const given = find("#token").value.trim();
  if (!/^[\x21-\x7e]+$/.test(given)) return door("This is not a token.");
  api.token.set(given);
  try {
    await enter();
    find("#main").focus();
  } catch (problem) {
    if (problem.status !== 401) door(explained(problem));
  }
  return undefined;
});

find("#leave").addEventListener("click", () => {
  api.token.forget();
  location.reload(); // nothing of what was shown stays in memory
});

find("#dataset").addEventListener("change", open);

if (api.token.get()) enter().catch((problem) => problem.status !== 401 && door(explained(problem)));
else door();
