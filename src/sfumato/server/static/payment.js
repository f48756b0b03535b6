// How a question is paid for: by an ε on a slider, or by the error one can live with, for which the server finds the ε.

import { el, fill, find } from "./dom.js";
import { approximate, ratio, short } from "./numbers.js";

const LOWEST = 0.001;
const STEPS = 1000;
const NOT_A_PRICE = "ε is a number above 0, such as 0.3, 1/3 or 1e-2.";
const SHORT = { class: "short", inputmode: "decimal", autocomplete: "off" };

/** Slider → ε and back, by ratios: each step is the same percentage. */
export function scale(most) {
  const high = Math.max(most, 10 * LOWEST);
  return {
    epsilon: (step) => short(step >= STEPS ? floor(high) : LOWEST * (high / LOWEST) ** (step / STEPS)),
    step: (epsilon) => Math.round((STEPS * Math.log(Math.max(LOWEST, Math.min(high, epsilon)) / LOWEST)) / Math.log(high / LOWEST)),
  };
}

/** Two digits, not above: the end of the slider can be paid. */
function floor(value) {
  const unit = 10 ** (Math.floor(Math.log10(value)) - 1);
  return Math.floor(value / unit + 1e-9) * unit;
}

export class Payment {
  constructor(form, { changed }) {
    this.form = form;
    this.changed = changed;
    this.mode = "epsilon";
    this.epsilon = "0.1";
    this.within = {};
    this.size = "1000";
    this.errors = {};
    this.scale = scale(1);
    form.addEventListener("submit", (event) => event.preventDefault());
    this.build();
  }

  build() {
    const mode = (value, text) => el(
      "label",
      { class: "tab" },
      el("input", { type: "radio", name: "mode", value, checked: value === this.mode, on: { change: () => this.turn(value) } }),
      el("span", { text }),
    );
    const slide = (event) => this.pay(this.scale.epsilon(Number(event.target.value)), { from: "slider" });
    const type = (event) => this.pay(event.target.value, { from: "text" });
    fill(
      this.form,
      el(
        "fieldset",
        { class: "tabs" },
        el("legend", { class: "unseen", text: "How to pay" }),
        mode("epsilon", "I choose the price"),
        mode("within", "I choose the error"),
      ),
      el(
        "div", { class: "price" },
        el(
          "div",
          { class: "row" },
          el("label", { for: "epsilon", text: "Privacy loss ε" }),
          el(
            "input",
            { id: "epsilon", ...SHORT, value: this.epsilon, "aria-describedby": "price-trouble price-note", on: { input: type } },
          ),
        ),
        el("p", { class: "trouble", id: "price-trouble", role: "status" }),
        el("input", { id: "slider", type: "range", min: 0, max: STEPS, "aria-label": "Privacy loss ε, from little to much", on: { input: slide } }),
        el("p", { class: "ends quiet", id: "price-note" }, el("span", { text: "more haze" }), el("span", { text: "sharper, costs more" })),
      ),
      el("div", { class: "errors", hidden: true }),
    );
    this.slide();
  }

  /** What is left to spend decides where the slider ends. */
  limit(most) {
    this.scale = scale(Number.isFinite(most) && most > 0 ? most : 1);
    this.slide();
  }

  slide() {
    const slider = find("#slider", this.form), value = approximate(ratio(this.epsilon));
    slider.value = String(this.scale.step(value));
    slider.setAttribute("aria-valuetext", `ε ${this.epsilon}`);
    slider.style.setProperty("--at", `${Number(slider.value) / (STEPS / 100)}%`);
  }

  pay(text, { from = "" } = {}) {
    this.epsilon = text.trim();
    if (from !== "text") find("#epsilon", this.form).value = this.epsilon;
    if (from !== "slider") this.slide();
    else find("#slider", this.form).style.setProperty("--at", `${Number(find("#slider", this.form).value) / (STEPS / 100)}%`);
    find("#slider", this.form).setAttribute("aria-valuetext", `ε ${this.epsilon}`);
    find("#epsilon", this.form).setAttribute("aria-invalid", String(!this.isPrice()));
    fill(find("#price-trouble", this.form), this.isPrice() ? "" : NOT_A_PRICE);
    this.changed();
  }

  /** A price from elsewhere. */
  price(text) {
    this.turn("epsilon");
    this.pay(text);
  }

  /** What to write before a plan can come. */
  missing() {
    if (this.mode === "within") return Object.keys(this.errors).length ? "Say how far off a column may be: a number above 0." : "Write a question first.";
    return this.isPrice() ? "Write a question first." : NOT_A_PRICE;
  }

  isPrice() {
    const found = ratio(this.epsilon);
    return found !== null && found.n > 0n;
  }

  turn(mode) {
    this.mode = mode;
    find(`[value=${mode}]`, this.form).checked = true;
    find(".price", this.form).hidden = mode !== "epsilon";
    find(".errors", this.form).hidden = mode === "epsilon";
    if (mode === "within") this.showErrors();
    this.changed();
  }

  /** The server's word on which columns there are, and how far off each would be: the errors one starts from. */
  learn(errors) {
    const before = Object.keys(this.errors).join("\n");
    this.errors = errors;
    if (this.mode === "within" && Object.keys(errors).join("\n") !== before) this.showErrors();
  }

  showErrors() {
    const columns = Object.entries(this.errors);
    this.within = Object.fromEntries(columns.filter(([column]) => this.within[column]).map(([column]) => [column, this.within[column]]));
    if (!Object.keys(this.within).length) {
      const first = columns.find(([, width]) => typeof width === "number");
      if (first) this.within[first[0]] = short(first[1]);
    }
    const line = ([column, width]) => {
      const known = typeof width === "number";
      const typed = (event) => {
        this.within[column] = event.target.value.trim();
        this.changed();
      };
      return el(
        "label",
        { class: "row" },
        el("span", { class: "label", text: column }),
        el("span", { class: "sign", text: "±" }),
        el(
          "input",
          {
            ...SHORT,
            "aria-label": `Error of ${column} you can live with`,
            value: this.within[column] ?? "",
            placeholder: known ? short(width) : "any",
            disabled: !known,
            on: { input: typed },
          },
        ),
      );
    };
    const lines = columns.length ? columns.map(line) : [el("p", { class: "quiet", text: "Write a question first: its columns appear here." })];
    fill(find(".errors", this.form), el("p", { class: "quiet", text: "How far off may it be? The price follows." }), lines);
  }

  /** Groups of how many rows to think of: what a mean is worth depends on it, and it is not public. */
  imagine(text) {
    this.size = text.trim();
    this.changed();
  }

  /** The payment as the server reads it, or null while it cannot be read. Texts keep numbers exact. */
  asked() {
    const rest = /^[1-9]\d{0,8}$/.test(this.size) ? { group_size: Number(this.size) } : {};
    if (this.mode === "epsilon") return this.isPrice() ? { epsilon: this.epsilon, ...rest } : null;
    const wanted = Object.entries(this.within).filter(([, text]) => (ratio(text)?.n ?? 0n) > 0n);
    return wanted.length ? { within: Object.fromEntries(wanted), ...rest } : null;
  }
}
