// The one button that costs something: offered with its price, pressed once, and whatever comes of it is told.

import * as api from "./api.js";
import { costOf, showAnswer } from "./answers.js";
import { announce, find, show } from "./dom.js";
import { amount, size, words } from "./promises.js";
import { explained, showRefusal } from "./refusals.js";

const OPEN = "You asked this before and no reply came: asking again is the same question, and is charged once.";
const PAID = "You have paid for this answer: you get the same one again, free.";
const SILENT = "No reply came. Release again: it is the same question, and is charged once.";

/** How a refusal begins, by status. */
const TITLES = { 402: "The budget does not allow it", 410: "The answer was lost" };

const price = (cost) => (size(cost) ? `${size(cost).letter} ${amount(cost)}` : words(cost));
const calm = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

export class Releasing {
  /** `openCard(number, opener)`, `apply(use)`, `point(problem)`; `after(answered)` is called when something may have been charged. */
  constructor(calls) {
    this.calls = calls;
    this.button = find("#release");
    this.note = find("#release-note");
    this.offered = null;
    this.button.addEventListener("click", () => this.ask());
  }

  open(dataset) {
    this.dataset = dataset;
    show(find("#answer"), false);
    this.withdraw();
  }

  offer(plan, question, left) {
    this.offered = plan.affordable === false ? null : question;
    this.button.textContent = plan.paid ? "Show the answer again, free" : `Release for ${price(plan.cost)}`;
    const paid = plan.paid ? PAID : "";
    const note = api.isPending(this.dataset, question) ? OPEN : paid;
    this.say(this.offered ? note : `More than is left: ${left}.`);
    this.enable();
  }

  withdraw(words = "") {
    this.offered = null;
    this.button.textContent = "Release";
    this.say(words);
    this.enable();
  }

  /** While a plan is on its way: the price on the button may be wrong. */
  hold() {
    this.offered = null;
    this.enable();
  }

  say(words) {
    if (!this.asking) this.note.textContent = words;
  }

  enable() {
    this.button.disabled = this.offered === null || this.asking === true;
  }

  async ask() {
    const { offered: question, dataset } = this;
    if (!question || this.asking) return;
    this.note.textContent = "Asking…";
    this.asking = true;
    this.enable();
    this.button.setAttribute("aria-busy", "true");
    let answer = null, problem = null;
    try {
      answer = await api.release(dataset, question);
    } catch (caught) {
      problem = caught;
    }
    this.asking = false;
    this.button.removeAttribute("aria-busy");
    this.enable();
    if (this.dataset !== dataset) return;
    if (answer) this.answered(answer);
    else this.failed(problem);
    this.calls.after(answer !== null);
  }

  answered(answer) {
    this.say("");
    find("#answer-cost").textContent = costOf(answer);
    showAnswer(find("#answer-body"), answer, { openCard: this.calls.openCard });
    show(find("#answer"));
    find("#answer-title").focus({ preventScroll: true });
    find("#answer").scrollIntoView({ behavior: calm() ? "auto" : "smooth", block: "start" });
    announce(`Answered, ${costOf(answer)}.`);
  }

  failed(problem) {
    if (!problem.code) return this.say(SILENT);
    if (problem.status >= 500) return this.say(explained(problem));
    this.calls.point(problem);
    showRefusal(find("#refusal"), problem, { apply: this.calls.apply, title: TITLES[problem.status] });
    return this.say("Nothing was released.");
  }
}
