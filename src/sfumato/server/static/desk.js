// The analyst's desk: a question is written, its plan follows, it is released, the answer stays. Replies that come late are dropped.

import * as api from "./api.js";
import { own, left, showBudget, wordsLeft } from "./budgets.js";
import { Builder } from "./builder.js";
import { openCard } from "./cards.js";
import { announce, el, fill, find, quietly, show } from "./dom.js";
import { Editor } from "./editor.js";
import { History } from "./histories.js";
import { error } from "./numbers.js";
import { Payment } from "./payment.js";
import { chosen, Picture, showExplained, showPromise } from "./plans.js";
import { size, words } from "./promises.js";
import { explained, hideRefusal, meant, showRefusal } from "./refusals.js";
import { Releasing } from "./releasing.js";
import { showSchema, unitWords } from "./schemas.js";

const PAUSE = 250;
const LONGEST = 60; // seconds between two askings for the same plan
const CALM = 1000; // nobody is told off in the middle of a word
const draft = (dataset) => `sfumato.draft.${dataset}`;

export class Desk {
  constructor() {
    this.root = find("#desk");
    this.editor = new Editor(find("#editor"), { changed: () => this.changed(), done: () => find("#release").focus() });
    this.payment = new Payment(find("#payment"), { changed: () => this.changed() });
    this.picture = new Picture(find("#picture"));
    find("#size").addEventListener("input", (event) => this.payment.imagine(event.target.value));
    this.builder = new Builder(find("#builder"), { write: (text) => this.built(text) });
    this.openCard = (number, opener) => openCard(this.dataset, number, opener);
    this.history = new History(
      find("#history"),
      { reuse: (text) => this.editor.write(text, { focus: true }), openCard: this.openCard, empty: "Nothing yet. What you ask is listed here, with its cost." },
    );
    this.later = quietly(PAUSE, () => this.look());
    this.looked = 0;
    this.misses = 0; // plans in a row that did not come
    this.typed = "";
    this.releasing = new Releasing({
      openCard: this.openCard,
      apply: (use) => this.apply(use),
      point: (problem) => this.editor.point(meant(problem, this.editor.text)),
      after: (answered) => this.counted(answered),
    });
    find("#back").addEventListener("click", () => this.editor.write(this.typed, { focus: true }));
  }

  async open(dataset) {
    this.dataset = dataset;
    this.plan = null;
    this.money = null;
    this.releasing.open(dataset);
    this.clear();
    this.editor.close();
    this.editor.area.disabled = true; // what is typed before the draft is there would be mixed with it
    const [schema] = await Promise.all([api.schema(dataset), this.count()]);
    if (this.dataset !== dataset) return;
    const { unit, text } = unitWords(schema);
    find("#about-title").textContent = schema.name;
    find("#about").textContent = schema.about ?? "";
    find("#unit").textContent = text;
    showSchema(find("#schema"), schema, (name) => this.editor.put(name));
    find("#schema-box").open = matchMedia("(min-width: 60em)").matches;
    this.editor.area.disabled = false;
    this.editor.learn(schema);
    this.builder.learn(schema, unit);
    this.example = schema.example ?? "";
    this.typed = "";
    show(find("#back"), false);
    this.history.open(dataset);
    this.editor.write(sessionStorage.getItem(draft(dataset)) ?? this.example);
  }

  /** What is left, for the bar and for the end of the slider. */
  async count() {
    const dataset = this.dataset, found = await api.budget(dataset);
    if (this.dataset !== dataset) return;
    this.money = found;
    this.payment.limit(size(own(found).budget)?.letter === "ε" ? left(found) : 1);
    this.showMoney();
  }

  /** After a release: the bar and the log, and, as less can be afforded now, the plan. A refusal stays where it is. */
  async counted(answered) {
    await Promise.all([this.count(), this.history.more()]).catch(() => {});
    if (answered) this.later();
  }

  showMoney() {
    if (!this.money) return;
    const next = this.plan && !this.plan.paid ? this.plan.cost : null;
    showBudget(find("#own-budget"), own(this.money), { next, title: this.money.share ? "Your budget" : "Budget" });
  }

  /** A text by clicks: what had been typed by hand is kept for whoever wants it back. */
  built(text) {
    if (this.editor.text !== this.made && this.editor.text.trim() && this.editor.text !== this.example) this.typed = this.editor.text;
    this.made = text;
    this.editor.write(text);
    show(find("#back"), this.typed !== "" && this.typed !== text);
  }

  changed() {
    if (!this.dataset || this.editor.area.disabled) return; // what is there still belongs to the dataset before
    sessionStorage.setItem(draft(this.dataset), this.editor.text);
    if (this.editor.text === this.typed) show(find("#back"), false);
    if (this.editor.text !== this.made) this.builder.follow(this.editor.text);
    this.looked += 1; // whatever is on its way belongs to an older text
    this.touched = Date.now();
    this.waiting?.abort();
    find("#plan").setAttribute("aria-busy", "true");
    this.releasing.hold();
    this.later();
  }

  question() {
    const paid = this.payment.asked();
    return paid && this.editor.text.trim() ? { sql: this.editor.text, ...paid } : null;
  }

  async look() {
    const turn = (this.looked += 1), dataset = this.dataset;
    this.waiting?.abort();
    this.waiting = new AbortController();
    const late = () => turn !== this.looked || dataset !== this.dataset;
    try {
      await this.columns(dataset, late);
      const question = late() ? null : this.question();
      if (late()) return;
      if (!question) {
        this.clear();
        fill(find("#promise"), el("p", { class: "quiet", text: this.payment.missing() }));
        return;
      }
      const plan = await api.plan(dataset, question, this.waiting.signal);
      this.misses = 0;
      if (!late()) this.planned(plan, question);
    } catch (problem) {
      if (late() || problem.name === "AbortError") return;
      if (api.isPassing(problem)) {
        if (problem.code !== "server.rate") this.missed(problem);
        this.misses += 1;
        setTimeout(() => !late() && this.look(), 1000 * Math.min(LONGEST, problem.later * 1.5 ** (this.misses - 1)));
        return;
      }
      setTimeout(() => !late() && this.refused(problem), document.activeElement === this.editor.area ? this.touched + CALM - Date.now() : 0);
    }
  }

  /** Errors are asked for by column, so the columns have to be known: a plan for any price tells them. */
  async columns(dataset, late) {
    if (this.payment.mode !== "within" || this.named === this.editor.text || !this.editor.text.trim()) return;
    const text = this.editor.text;
    const found = await api.plan(dataset, { sql: text, epsilon: "0.1" }, this.waiting.signal);
    if (late()) return;
    this.named = text;
    this.payment.learn(chosen(found));
  }

  clear() {
    this.plan = null;
    hideRefusal(find("#refusal"));
    this.editor.point(null);
    find("#plan").setAttribute("aria-busy", "false");
    fill(find("#promise"));
    show(find("#picture"), false);
    show(find("#told"), false);
    this.releasing.withdraw();
    this.showMoney();
  }

  planned(plan, question) {
    this.clear();
    this.plan = plan;
    this.named = question.sql;
    this.payment.learn(chosen(plan));
    const imagined = question.group_size ?? 1000;
    showPromise(find("#promise"), plan, imagined);
    this.picture.show(plan, imagined);
    show(find("#told"), Boolean(plan.explained?.length));
    showExplained(find("#explained"), plan.explained ?? []);
    this.showMoney();
    this.releasing.offer(plan, question, this.money ? wordsLeft(this.money) : "too little");
    const expected = (width) => (typeof width === "number" ? `± ${error(width)}` : width ?? "not known before");
    const errors = Object.entries(plan.error ?? {}).map(([column, width]) => `${column} ${expected(width)}`);
    announce(`Plan: ${plan.paid ? "already paid, free" : words(plan.cost)}; ${errors.join(", ")}.${plan.affordable === false ? " More than is left." : ""}`);
  }

  /** No plan, and not because of the question: it is asked for again. */
  missed(problem) {
    this.clear();
    this.releasing.say(explained(problem));
  }

  refused(problem) {
    if (!problem.code) {
      this.missed(problem);
      return;
    }
    this.clear();
    if (problem.status === 401) return;
    this.editor.point(meant(problem, this.editor.text));
    showRefusal(find("#refusal"), problem, { apply: (use) => this.apply(use) });
    fill(find("#promise"), el("p", { class: "quiet", text: "A question that passes has its price and its errors here." }));
  }

  apply({ kind, text }) {
    if (kind === "question") this.editor.write(text, { focus: true });
    else this.payment.price(text);
    announce("Applied.");
  }
}
