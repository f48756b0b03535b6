// The plan of a question: what it would cost, how far off it would be, and a picture of that.

import * as lists from "./aggregates.js";
import { bars } from "./charts.js";
import { drawn, el, fill, find, show } from "./dom.js";
import { error, number } from "./numbers.js";
import { words } from "./promises.js";

/** Invented groups, of several sizes, so that one sees which would still be told apart. */
const SIZES = [2, 1, 0.5, 0.2, 0.1];
const LEANS = [0.12, -0.06, 0.03, -0.13, 0.08];

/** How sharp: the error beside what is measured. */
const SHARP = [[0.02, "sharp"], [0.1, "clear"], [0.4, "soft"], [1, "hazy"], [Infinity, "lost in the haze"]];

const COUNTS = new Set(lists.COUNTS);

/** Measured from zero: counts and totals. */
export const isCounted = (kind) => COUNTS.has(kind) || kind === "sum";
/** The error of a quantile is a number of rows, and what is computed depends on values: neither can be drawn before. */
const isRanked = (kind) => lists.RANKED.includes(kind);

/** Columns of a table that have intervals, with what they are. A bin of a histogram is called by its column and its ends. */
export function measured(table, kinds = {}) {
  const row = table?.rows?.[0] ?? {};
  const kindOf = (name) => kinds[name] ?? kinds[Object.keys(kinds).find((column) => name.startsWith(`${column} `))] ?? "";
  return Object.keys(row).filter((name) => `${name}_low` in row).map((name) => ({ name, kind: kindOf(name) }));
}

export const kindsOf = (columns) => Object.fromEntries((columns ?? []).map((column) => [column.name, column.kind]));

/** What an error means: of a count beside a group's size, of a mean in a group of that size, of a quantile in rows. */
function beside(width, kind, size) {
  if (typeof width !== "number" || kind === "sum") return "";
  if (isRanked(kind)) return "rows, by rank";
  if (COUNTS.has(kind)) return `${SHARP.find(([most]) => width / size < most)[1]} beside ${number(size)}`;
  const more = kind === "mean" ? `, about a tenth of it in ${number(10 * size)}` : ""; // the same noise, over ten times the rows
  return `in a group of ${number(size)} rows${more}`;
}

/** Errors that can be asked for: of a quantile it is a number of rows, which cannot. */
export function chosen(plan) {
  const kinds = kindsOf(plan.columns);
  return Object.fromEntries(Object.entries(plan.error ?? {}).map(([column, width]) => [column, isRanked(kinds[column]) ? null : width]));
}

export function showPromise(root, plan, size) {
  const kinds = kindsOf(plan.columns);
  const line = ([column, width]) => {
    const after = beside(width, kinds[column], size);
    const shown = typeof width === "number" ? `± ${error(width)}` : typeof width === "string" ? width : "not known before";
    return el("div", { class: "expected" }, el("dt", { text: column }), el("dd", {}, el("strong", { text: shown }), after && el("small", { text: after })));
  };
  fill(
    root,
    plan.paid
      ? el("p", { class: "cost" }, el("span", { text: "Already paid:" }), el("strong", { text: "free" }))
      : el("p", { class: "cost" }, el("span", { text: "It would cost" }), el("strong", { text: words(plan.cost) })),
    el("dl", { "aria-label": "Expected error of each column" }, Object.entries(plan.error ?? {}).map(line)),
    el("p", { class: "quiet", text: told(plan) }),
  );
}

function told(plan) {
  const lines = (kind) => (plan.explained ?? []).filter((line) => line.startsWith(kind)).map((line) => line.slice(kind.length).trim());
  const sizes = lines("groups ").map((text) => `groups ${text}`); // of private keys: from which size on they are shown
  const groups = plan.rows > 1 ? `${number(plan.rows)} public groups` : [...sizes, ...lines("warning ")].join("; ");
  const wait = typeof plan.deadline === "number" ? `the reply takes ${plan.deadline} s, whatever it says` : "";
  const said = [groups, wait].filter(Boolean).join("; ");
  return said ? `${said[0].toUpperCase()}${said.slice(1)}.` : "";
}

/** Rows of a picture: groups of several sizes around the one that is thought of. Only the widths come from the server, and no group has a name: somebody
    might believe it. */
export function invented(sample, { name, kind }, keys, size) {
  const row = sample.rows[0], half = (row[`${name}_high`] - row[`${name}_low`]) / 2;
  const shape = (label, value) => ({ label, value, low: value - half, high: value + half, figure: `± ${error(half)}` });
  const neutral = COUNTS.has(kind) ? size : row[name];
  if (!keys.length) return [shape(kind === "histogram" ? "a bin" : "everybody", neutral)];
  if (COUNTS.has(kind)) return SIZES.map((times) => shape(`a group of ${number(Math.round(times * size))}`, times * size));
  if (isCounted(kind)) return SIZES.map((times) => shape("a group", times * neutral));
  return LEANS.map((lean) => shape("a group", neutral * (1 + lean)));
}

export class Picture {
  constructor(root) {
    this.root = root;
    this.chosen = "";
    find("#picture-of").addEventListener("change", (event) => {
      this.chosen = event.target.value;
      this.draw();
    });
  }

  show(plan, size) {
    Object.assign(this, { plan, size });
    const sample = plan.sample ?? {}, kinds = kindsOf(plan.columns);
    this.able = measured(sample, kinds).filter(({ name, kind }) => !isRanked(kind) && kind !== "computed" && typeof sample.rows[0][`${name}_low`] === "number");
    show(this.root, this.able.length > 0);
    if (!this.able.length) return;
    if (!this.able.some(({ name }) => name === this.chosen)) this.chosen = this.able[0].name;
    show(find("#picture-of"), this.able.length > 1);
    fill(find("#picture-of"), this.able.map(({ name }) => el("option", { value: name, text: name, selected: name === this.chosen })));
    this.draw();
  }

  draw() {
    const column = this.able.find(({ name }) => name === this.chosen), zero = isCounted(column.kind);
    const rows = invented(this.plan.sample, column, this.plan.keys ?? [], this.size);
    // The axis stays where the invented values are, so that sliding ε moves the haze and nothing else.
    const most = zero ? 1.35 * Math.max(...rows.map((row) => Math.abs(row.value))) : Infinity;
    const label = `A picture with invented values of ${column.name}: ${rows.map((row) => `${row.label} ${row.figure}`).join(", ")}`;
    drawn(find("#picture-place", this.root), (width) => bars(rows, { width, zero, label, kind: "invented", most, figures: rows.length === 1 }));
  }
}

/** Sentences: a line with a word and what it says; lines that go on have no word. */
export function showExplained(root, lines) {
  const found = [];
  for (const line of lines) {
    const [, word, text] = /^(\S*)\s+(.*)$/.exec(line) ?? [null, "", line];
    if (found.length && (found.at(-1).word === word || !word)) found.at(-1).texts.push(text);
    else found.push({ word, texts: [text] });
  }
  fill(
    root,
    el("dl", { class: "sentences" }, found.map(({ word, texts }) => [el("dt", { text: word }), el("dd", {}, texts.map((text) => el("p", { text })))])),
  );
}
