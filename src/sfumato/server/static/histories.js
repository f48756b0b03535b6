// What was asked before: by oneself, or, for those who keep the books, by everybody.

import * as api from "./api.js";
import { el, fill } from "./dom.js";
import { words } from "./promises.js";
import { explained } from "./refusals.js";

const TIME = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
const SHOWN = 50;

/** Entries that are not charges, in words; an answer's own entry is told by its charge. */
const KINDS = { open: "the book was opened", amend: "the budget was changed", allow: "a share was given" };

export function when(text) {
  const found = new Date(text);
  return Number.isNaN(found.getTime()) ? String(text) : TIME.format(found);
}

/** A long text is folded after its beginning. */
function question(text) {
  const start = text.split("\n").slice(0, 4).join("\n").slice(0, 160);
  if (start.length === text.length) return el("code", { text });
  return el("details", {}, el("summary", {}, el("code", { text: `${start} …` })), el("code", { text }));
}

const isCharge = (entry) => Boolean(entry.cost);
const isQuestion = (text) => /^\s*(?:select|with)\b/i.test(text);

/** A log, newest first, that is read on from where it was read to. */
export class History {
  constructor(root, options) {
    this.root = root;
    this.options = options;
    this.pick = () => true;
  }

  open(dataset) {
    Object.assign(this, { dataset, entries: [], shown: SHOWN });
    fill(this.root);
    return this.more();
  }

  async more() {
    const { dataset } = this;
    try {
      for await (const entries of api.history(dataset, this.entries.at(-1)?.number ?? 0)) {
        if (this.dataset !== dataset) return;
        this.entries.push(...entries.filter((entry) => entry.number > (this.entries.at(-1)?.number ?? 0)));
      }
      this.show();
    } catch (problem) {
      if (this.dataset === dataset) fill(this.root, el("p", { class: "trouble", text: explained(problem) }));
    }
  }

  show() {
    const { who, empty } = this.options;
    const all = this.entries.filter((entry) => this.pick(entry) && (isCharge(entry) || (who && entry.kind in KINDS))).reverse();
    const head = ["When", ...(who ? ["Who"] : []), "Question", "Cost"].map((text) => el(
      "th",
      { scope: "col", class: text === "Cost" ? "number" : undefined, text },
    ));
    if (!all.length) return fill(this.root, el("p", { class: "quiet", text: empty }));
    const rows = all.slice(0, this.shown).map((entry) => this.line(entry));
    const older = () => {
      this.shown += 4 * SHOWN;
      this.show();
    };
    return fill(
      this.root,
      el(
        "div",
        { class: "scroll", tabindex: 0, role: "region", "aria-label": "Questions and what they cost" },
        el(
          "table",
          { class: "history" },
          el("thead", {}, el("tr", {}, head, el("th", { scope: "col" }, el("span", { class: "unseen", text: "Tools" })))),
          el("tbody", {}, rows),
        ),
      ),
      all.length > this.shown && el("button", { type: "button", class: "plain", text: `Show older ones (${all.length - this.shown})`, on: { click: older } }),
    );
  }

  /** The question as it was typed. The ledger itself names it by what it computes. */
  line(entry) {
    const { who, reuse, openCard } = this.options;
    const text = entry.sql || entry.memo, again = entry.sql || (isQuestion(entry.memo) ? entry.memo : null);
    const open = (event) => openCard(entry.number, event.currentTarget);
    const tools = isCharge(entry) && el("div", { class: "group" },
      reuse && again && el(
        "button",
        { type: "button", class: "plain", text: "Use again", "aria-label": `Use question ${entry.number} again`, on: { click: () => reuse(again) } },
      ),
      el("button", { type: "button", class: "plain", text: "Card", "aria-label": `Release card of ${entry.number}`, on: { click: open } }));
    return el(
      "tr", {},
      el("td", { class: "time" }, el("time", { datetime: entry.when, text: when(entry.when) })),
      who && el("td", { class: "who-asked", text: entry.who || "–" }),
      el(
        "td",
        { class: "memo" },
        isCharge(entry) ? question(text) : el("span", { class: "quiet", text: [KINDS[entry.kind], entry.memo].filter(Boolean).join(": ") }),
      ),
      el("td", { class: "number", text: entry.cost ? words(entry.cost) : "" }),
      el("td", {}, tools),
    );
  }
}
