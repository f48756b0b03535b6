// An answer: numbers with their intervals as table and picture, what was done to get them, the receipt, and how to take it along.

import * as api from "./api.js";
import { bars, columns } from "./charts.js";
import { announce, drawn, el, fill, save } from "./dom.js";
import { when } from "./histories.js";
import { number, within } from "./numbers.js";
import { isCounted, kindsOf, measured } from "./plans.js";
import { words } from "./promises.js";
import { explained } from "./refusals.js";

const ORDERED = /^-?\d+(\.\d+)?$|^\d{4}-\d\d(-\d\d)?([ T].*)?$/;
const MOST_BARS = 40;
const MOST_ROWS = 500;
const BIN = /^(.*) ([[(].*[\])])$/;

/** Formats: what is asked for, how the file ends. */
const FORMATS = [["CSV", "text/csv", "csv"], ["JSON", "application/json", "json"], ["Arrow", "application/vnd.apache.arrow.stream", "arrows"]];

/** Names of the columns that are keys, and of those that are values; ends of intervals are neither. */
export function parts(answer) {
  const table = answer.table, kinds = kindsOf(answer.answer?.columns);
  const values = measured(table, kinds), keys = table.keys ?? [];
  const taken = new Set([...keys, ...values.flatMap(({ name }) => [name, `${name}_low`, `${name}_high`])]);
  return { values, keys, others: Object.keys(table.rows[0] ?? {}).filter((name) => !taken.has(name)) };
}

function text(value) {
  if (typeof value === "number") return number(value, Number.isInteger(value) ? 0 : 3);
  return value === null || value === undefined ? "(none)" : String(value);
}

const day = (value) => String(value).replace(/[T ]00:00:00.*$/, "");

const region = (rows) => el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "The answer as a table" }, el("table", {}, rows));
const measure = (row, name) => el("td", { class: "number", text: within(row[name], row[`${name}_low`], row[`${name}_high`]) });

/** One row of many values reads better from top to bottom. */
function upright(row, { values, others }) {
  return region(el(
    "tbody",
    {},
    others.map((name) => el("tr", {}, el("th", { scope: "row", text: name }), el("td", { class: "number", text: text(row[name]) }))),
    values.map(({ name }) => el("tr", {}, el("th", { scope: "row", text: name }), measure(row, name))),
  ));
}

function table(answer, found) {
  const { values, keys, others } = found;
  if (!keys.length && answer.table.rows.length === 1) return upright(answer.table.rows[0], found);
  const head = [...keys, ...others, ...values.map(({ name }) => name)];
  const rows = answer.table.rows.slice(0, MOST_ROWS).map((row) => el(
    "tr",
    {},
    keys.map((key) => el("th", { scope: "row", text: day(text(row[key])) })),
    others.map((name) => el("td", { text: text(row[name]) })),
    values.map(({ name }) => measure(row, name)),
  ));
  return region([
    el(
      "thead",
      {},
      el("tr", {}, head.map((name, i) => el("th", { scope: "col", class: i >= keys.length + others.length ? "number" : undefined, text: name }))),
    ),
    el("tbody", {}, rows),
  ]);
}

/** Rows of one picture: of a column by its keys, or, for a histogram without keys, of its bins. */
function pictured(answer, column, found) {
  const spread = (row, name, label) => ({ label, value: row[name], low: row[`${name}_low`], high: row[`${name}_high`] });
  if (column.bins) return column.bins.map((name) => spread(answer.table.rows[0], name, BIN.exec(name)[2]));
  return answer.table.rows.map((row) => spread(row, column.name, found.keys.map((key) => day(text(row[key]))).join(" · ") || column.name));
}

function pictures(answer, found) {
  const groups = new Map();
  for (const column of found.values) {
    const bin = found.keys.length ? null : BIN.exec(column.name);
    if (bin) groups.set(bin[1], { name: bin[1], kind: "histogram", bins: [...(groups.get(bin[1])?.bins ?? []), column.name] });
    else groups.set(column.name, column);
  }
  return [...groups.values()].filter((column) => column.bins || answer.table.rows.some((row) => typeof row[column.name] === "number"));
}

function draw(place, answer, column, found) {
  const rows = pictured(answer, column, found), zero = isCounted(column.kind);
  const along = rows.length > 1 && found.keys.length === 1 && rows.every((row) => ORDERED.test(row.label.replaceAll("\u202f", "")));
  const ordered = along || rows.length > MOST_BARS || column.bins;
  const label = `${column.name}${found.keys.length ? ` by ${found.keys.join(" and ")}` : ""}, with error bars; the table has the same numbers`;
  drawn(place, (width) => (ordered ? columns : bars)(rows, { width, zero, label, figures: rows.length === 1 }));
}

function picture(answer, found) {
  const able = pictures(answer, found);
  if (!able.length || !answer.table.rows.length) return null;
  const place = el("div", { class: "place" });
  const choose = el(
    "select",
    { id: "answer-of", on: { change: (event) => draw(place, answer, able[Number(event.target.value)], found) } },
    able.map((column, i) => el("option", { value: i, text: column.name })),
  );
  draw(place, answer, able[0], found);
  return el(
    "figure",
    { class: "picture" },
    el(
      "figcaption",
      {},
      able.length > 1 ? el("span", { class: "choice" }, el("label", { for: "answer-of", text: "Picture of" }), choose) : el("span", { text: able[0].name }),
      el("span", { class: "quiet", text: "a value may lie wherever its colour fades" }),
    ),
    place,
  );
}

/** Saved by the name of the dataset and the number of the receipt. */
function downloads(answer) {
  const trouble = el("span", { class: "trouble", role: "status" });
  const take = async (accept, ending) => {
    trouble.textContent = "";
    try {
      const blob = await api.releasedAs(answer, accept);
      save(blob, `${answer.dataset}-${answer.receipt?.number ?? "answer"}.${ending}`.replace(/[^\w.-]+/g, "_"));
      announce("Saved.");
    } catch (problem) {
      trouble.textContent = explained(problem);
    }
  };
  const buttons = FORMATS.map(([label, accept, ending]) => el(
    "button",
    { type: "button", class: "plain", text: label, "aria-label": `Download as ${label}`, on: { click: () => take(accept, ending) } },
  ));
  return [el("span", { class: "quiet", text: "Download" }), ...buttons, trouble];
}

export function showAnswer(root, answer, { openCard }) {
  const found = parts(answer), receipt = answer.receipt;
  const rules = (answer.rules ?? []).map((rule) => el("li", { text: rule }));
  const remedy = (answer.rules ?? []).find((rule) => rule.startsWith("no group was large enough; "))?.split("; ").slice(1).join("; ");
  const empty = !answer.table.rows.length && [
    el("p", { text: "No group was large enough to be shown. This reveals nothing about anyone." }),
    remedy && el("p", { class: "remedy", text: `${remedy[0].toUpperCase()}${remedy.slice(1)}.` }),
  ];
  const cut = answer.table.rows.length > MOST_ROWS && el(
    "p",
    { class: "quiet", text: `The first ${MOST_ROWS} rows of ${number(answer.table.rows.length)} are shown; downloads have all of them.` },
  );
  fill(
    root,
    answer.recalled && el(
      "p",
      { class: "recalled" },
      el("strong", { text: "This had been answered before. " }),
      `It is the same answer as on ${when(answer.recalled)}, and cost nothing.`,
    ),
    empty,
    el("div", { class: "shown" }, picture(answer, found), answer.table.rows.length > 0 && table(answer, found)),
    cut,
    rules.length && el("details", { class: "told" }, el("summary", { text: "What was done to get these numbers" }), el("ul", {}, rules)),
    el(
      "div", { class: "tools" },
      el("div", { class: "group" }, downloads(answer)),
      receipt && el(
        "div",
        { class: "group" },
        el("button", { type: "button", class: "plain", text: "Release card", on: { click: (event) => openCard(receipt.number, event.currentTarget) } }),
        el("span", { class: "quiet receipt", title: receipt.digest, text: `receipt ${receipt.number} · ${String(receipt.digest).slice(0, 10)}…` }),
      ),
    ),
  );
}

export const costOf = (answer) => (answer.recalled ? "cost nothing this time" : `cost ${words(answer.cost)}`);
