// A question by clicks: what to compute, of which column, for which groups and rows. What comes of it is SQL, in plain sight.

import { COMPARED, COMPUTED, GROUPED, unitColumn, written } from "./building.js";
import { el, fill } from "./dom.js";
import { readBack } from "./reading.js";
import { isNumeric, isTime, isTruth } from "./sql.js";

const BY_HAND = "Your text asks for more than clicks can write: a click here starts another question. Your text is kept.";

const options = (pairs, chosen) => pairs.map(([value, text]) => el("option", { value, text, selected: value === chosen }));

export class Builder {
  constructor(form, { write }) {
    this.form = form;
    this.write = write;
    form.addEventListener("submit", (event) => event.preventDefault());
  }

  learn(schema, unit) {
    this.tables = schema.tables ?? [];
    this.whole = unit;
    this.start(this.tables[0]);
  }

  start(table) {
    this.table = table;
    this.unit = table ? unitColumn(this.whole, table) : null;
    this.state = { values: [{ what: "rows", column: "" }], groups: [], filters: [] };
    this.byHand = false;
    this.show();
  }

  /** Follow a text that was written elsewhere. What clicks cannot write stays as it is until a click. */
  follow(text) {
    const found = readBack(text, this.tables, (table) => unitColumn(this.whole, table));
    this.byHand = found === null && text.trim() !== "";
    if (found) {
      const { table, ...state } = found;
      Object.assign(this, { table, state, unit: unitColumn(this.whole, table) });
    }
    this.show();
  }

  /** Draw again, keep the focus where it was, and write the question. */
  change() {
    const at = document.activeElement?.dataset?.at;
    this.byHand = false;
    this.show();
    if (at) (this.form.querySelector(`[data-at="${at}"]`) ?? this.form.querySelector("button"))?.focus();
    this.write(written(this.state, this.table, this.unit));
  }

  columns(fits) {
    return this.table.columns.filter((column) => column.name !== this.unit && fits(column)).map((column) => column.name);
  }

  select(label, pairs, chosen, at, change) {
    return el(
      "select",
      { "aria-label": label, data: { at }, on: { change: (event) => { change(event.target.value); this.change(); } } },
      options(pairs, chosen),
    );
  }

  drop(list, i, what) {
    return el(
      "button",
      { type: "button", class: "drop", "aria-label": `Remove ${what}`, text: "×", on: { click: () => { list.splice(i, 1); this.change(); } } },
    );
  }

  add(text, at, able, call) {
    return able && el("button", { type: "button", class: "plain add", data: { at }, text, on: { click: () => { call(); this.change(); } } });
  }

  show() {
    if (!this.table) return fill(this.form);
    const tables = this.tables.length > 1 && el(
      "div",
      { class: "choice" },
      el("span", { text: "Table" }),
      this.select(
        "Table",
        this.tables.map((t) => [t.name, t.name]),
        this.table.name,
        "table",
        (chosen) => this.start(this.tables.find((t) => t.name === chosen)),
      ),
    );
    const note = this.byHand && el("p", { class: "quiet", text: BY_HAND });
    return fill(this.form, note, tables, this.part("Compute", this.values()), this.part("for each", this.groups()), this.part("only where", this.filters()));
  }

  part(title, children) {
    return el("fieldset", {}, el("legend", { text: title }), children);
  }

  values() {
    const { values } = this.state;
    const able = Object.entries(COMPUTED).filter(([key, found]) => (found.of ? this.columns(found.of).length : key !== "units" || this.unit));
    const lines = values.map((value, i) => {
      const found = COMPUTED[value.what], fits = found.of ? this.columns(found.of) : [];
      if (found.of && !fits.includes(value.column)) value.column = fits[0];
      return el(
        "div", { class: "line" },
        this.select(
          "What to compute",
          able.map(([key, { label }]) => [key, label.replace("units", `different ${this.unit}`)]),
          value.what,
          `what-${i}`,
          (chosen) => (value.what = chosen),
        ),
        found.of && this.select("Of which column", fits.map((text) => [text, text]), value.column, `column-${i}`, (chosen) => (value.column = chosen)),
        values.length > 1 && this.drop(values, i, "this value"),
      );
    });
    return [
      ...lines,
      this.add(
        "and another",
        "add-value",
        values.length < 6,
        () => {
          const [first] = this.columns(COMPUTED.mean.of);
          values.push({ what: first ? "mean" : "rows", column: first ?? "" });
        },
      ),
    ];
  }

  groups() {
    const { groups } = this.state;
    const boxes = this.table.columns.filter((column) => column.name !== this.unit).flatMap((found) => {
      const column = found.name;
      return Object.entries(GROUPED).filter(([, { of }]) => of(found)).map(([part, { label }]) => {
        const chosen = groups.find((group) => group.column === column && group.part === part);
        const tick = () => {
          this.state.groups = chosen ? groups.filter((group) => group !== chosen) : [...groups, { column, part }];
          this.change();
        };
        return el(
          "label",
          { class: "chip" },
          el("input", { type: "checkbox", checked: Boolean(chosen), data: { at: `group-${part}-${column}` }, on: { change: tick } }),
          el("span", { text: label(column) }),
        );
      });
    });
    return el("div", { class: "line" }, boxes);
  }

  filters() {
    const { filters } = this.state, all = this.columns(() => true);
    const lines = filters.map((filter, i) => {
      const column = this.table.columns.find((found) => found.name === filter.column);
      const signs = Object.keys(COMPARED).filter((sign) => COMPARED[sign].of(column.type));
      if (!signs.includes(filter.sign)) filter.sign = signs[0];
      return el(
        "div", { class: "line" },
        this.select(
          "Which column",
          all.map((text) => [text, text]),
          filter.column,
          `where-${i}`,
          (chosen) => Object.assign(filter, { column: chosen, value: "" }),
        ),
        this.select(
          "Compared how",
          signs.map((sign) => [sign, COMPARED[sign].label]),
          filter.sign,
          `sign-${i}`,
          (chosen) => (filter.sign = chosen),
        ),
        this.value(filter, column, i),
        this.drop(filters, i, "this condition"),
      );
    });
    return [
      ...lines,
      this.add(
        filters.length ? "and also" : "add a condition",
        "add-filter",
        filters.length < 6 && all.length,
        () => filters.push({ column: all[0], sign: "=", value: "" }),
      ),
    ];
  }

  value(filter, column, i) {
    const known = isTruth(column.type) ? ["true", "false"] : column.keys?.map(String);
    const choice = [["", "…"], ...(known ?? []).map((key) => [key, key])];
    if (known) return this.select("With what", choice, filter.value, `value-${i}`, (chosen) => (filter.value = chosen));
    const kind = isTime(column.type) && !/time/i.test(column.type) ? "date" : "text";
    const typed = (event) => {
      filter.value = event.target.value;
      this.write(written(this.state, this.table, this.unit)); // not drawn again: somebody is typing here
    };
    const about = { type: kind, inputmode: isNumeric(column.type) && "decimal", "aria-label": "With what", value: filter.value };
    return el("input", { ...about, data: { at: `value-${i}` }, on: { input: typed } });
  }
}
