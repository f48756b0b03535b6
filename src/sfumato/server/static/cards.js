// The release card in a window of its own: the same words as its page, as text.

import * as api from "./api.js";
import { el, fill, save } from "./dom.js";
import { explained } from "./refusals.js";

/** Parts of a deployment, in the order in which one reads them. */
const TITLES = {
  basic: "What it is",
  privacy_loss: "Who is protected, and how much",
  dp_variant: "What is promised",
  deployment_model: "Between whom",
  implementation: "How it was done",
};

const label = (name) => name.replaceAll("_", " ");

function shown(value) {
  if (Array.isArray(value)) return value.length ? el("ul", {}, value.map((item) => el("li", {}, shown(item)))) : "–";
  if (value && typeof value === "object") return el(
    "dl",
    {},
    Object.entries(value).map(([name, item]) => [el("dt", { text: label(name) }), el("dd", {}, shown(item))]),
  );
  return el("span", { text: value === null || value === "" ? "–" : String(value) });
}

export async function openCard(dataset, number, opener = null) {
  const root = document.querySelector("#card");
  const close = el("button", { type: "button", class: "plain", text: "Close", on: { click: () => root.close() } });
  const show = (...body) => fill(root, el("div", { class: "head" }, el("h2", { id: "card-title", text: "Release card" }), close), ...body);
  show(el("p", { class: "quiet", text: "…" }));
  root.showModal();
  root.onclose = () => opener?.focus();
  try {
    const card = await api.card(dataset, number);
    const parts = Object.entries(TITLES).filter(([name]) => card.deployment?.[name]).map(([name, title]) => el(
      "section",
      {},
      el("h3", { text: title }),
      shown(card.deployment[name]),
    ));
    const file = `card-${dataset}-${number}`.replace(/[^\w.-]+/g, "_");
    const page = async () => save(await api.cardPage(dataset, number), `${file}.html`);
    const json = () => save(new Blob([JSON.stringify(card, null, 2)], { type: "application/json" }), `${file}.json`);
    show(
      el(
        "div",
        { class: "group" },
        el("span", { class: "quiet", text: "Download" }),
        el("button", { type: "button", class: "plain", text: "Page", "aria-label": "Download the card as a page", on: { click: page } }),
        el("button", { type: "button", class: "plain", text: "JSON", "aria-label": "Download the card as JSON", on: { click: json } }),
      ),
      ...parts,
      card.release && el("details", {}, el("summary", { text: "The release, exactly" }), shown(card.release)),
    );
  } catch (problem) {
    show(el("p", { class: "trouble", text: explained(problem) }));
  }
  close.focus();
}
