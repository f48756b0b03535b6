// A budget as a bar: what is spent, what this question would take, what is left.

import { el, fill } from "./dom.js";
import { amount, comparable, level, part, size, words } from "./promises.js";

const percent = (share) => `${Math.max(0, Math.min(100, 100 * share))}%`;

/** The bar itself; `next` is the cost of a question that is not asked yet. */
export function bar(found, { next = null, label = "Budget" } = {}) {
  const spent = part(found.spent, found.budget), more = next && comparable(next, found.budget) ? part(next, found.budget) : 0;
  const now = Math.round(100 * Math.min(1, spent));
  const track = el(
    "div",
    { class: "bar", role: "meter", "aria-label": label, "aria-valuemin": 0, "aria-valuemax": 100, "aria-valuenow": now, "aria-valuetext": told(found) },
  );
  const used = el("div", { class: "used" }), wanted = el("div", { class: spent + more > 1 + 1e-12 ? "wanted over" : "wanted" });
  used.style.width = percent(spent);
  wanted.style.left = percent(spent);
  wanted.style.width = percent(Math.min(more, 1 - spent));
  track.append(used, wanted);
  return track;
}

/** "ε 0.3 of 1 spent, 0.7 left" */
export function told(found) {
  const letter = size(found.budget)?.letter ?? "";
  return `${letter} ${amount(found.spent)} of ${amount(found.budget, { up: false })} spent, ${amount(found.remaining, { up: false })} left`.trim();
}

export function showBudget(root, found, { next = null, title = "Budget" } = {}) {
  const letter = size(found.budget)?.letter ?? "";
  fill(
    root,
    el("p", { class: "sum" }, el("span", { text: title }), el("strong", { text: `${letter} ${amount(found.remaining, { up: false })} left`.trim() })),
    bar(found, { next, label: title }),
    el(
      "p",
      { class: "quiet sums" },
      el("span", { text: `${amount(found.spent)} of ${amount(found.budget, { up: false })} spent` }),
      next && el("span", { class: "next", text: `this question ${comparable(next, found.budget) ? amount(next) : words(next)}` }),
    ),
  );
}

/** The budget that binds an analyst: their own share where there is one, and the whole. */
export const own = (found) => found.share ?? found;

/** What is left, as a number for a slider. */
export const left = (found) => Math.min(level(own(found).remaining), level(found.remaining));

export const wordsLeft = (found) => words(own(found).remaining, { up: false });
