// What could come next, from the public schema alone: tables after FROM, a column's keys where its values stand, columns and functions elsewhere.

import { AGGREGATES, KEYWORDS, literal, name, pieces } from "./sql.js";

const SHOWN = 9;

function range(column) {
  if (column.bounds) return `${column.type} ${column.bounds[0]} to ${column.bounds[1]}`;
  return column.keys ? `${column.type}, ${column.keys.length} public keys` : column.type;
}

/** Tables and columns, ready to be offered. */
export function offers(schema) {
  const tables = schema.tables ?? [];
  return {
    tables: tables.map((table) => ({ text: name(table.name), about: "table" })),
    columns: tables.flatMap((table) => {
      const of = table.name.toLowerCase();
      return table.columns.map((column) => ({ text: name(column.name), about: range(column), table: of, column }));
    }),
  };
}

/** {from, to, options} for a caret at the end of `before`, or null. */
export function complete(text, caret, known, { asked = false } = {}) {
  const before = pieces(text.slice(0, caret));
  const last = before.at(-1);
  if (last?.kind === "comment") return null;
  const open = last && (last.kind === "string" || last.kind === "quoted") && !isClosed(last.text);
  const typing = last && (last.kind === "word" || open) ? last : null;
  const words = before.filter((piece) => piece.kind !== "space" && piece.kind !== "comment" && piece !== typing);
  const prefix = typing ? typing.text.replace(/^['"]/, "").toLowerCase() : "";
  if (!typing && !asked && !/[.,(=]\s?$|\b(?:from|join|by|where|select|and|or|in)\s$/i.test(text.slice(0, caret))) return null;
  const from = typing ? typing.start : caret;
  const found = candidates(words, prefix, known, { open, typed: typing?.text ?? "" });
  const options = unique(found.filter((option) => matches(option, prefix) && option.text !== typing?.text)).slice(0, SHOWN);
  return options.length ? { from, to: caret, options } : null;
}

const isClosed = (text) => text.length > 1 && text.at(-1) === text[0] && (text.slice(1, -1).split(text[0]).length - 1) % 2 === 0;
const bare = (text) => text.toLowerCase().replace(/^(?:date |timestamp )?["']/, "");
const matches = (option, prefix) => !prefix || bare(option.text).startsWith(prefix) || (prefix.length > 1 && bare(option.text).includes(`_${prefix}`));
const unique = (options) => [...new Map(options.map((option) => [option.text, option])).values()];

function candidates(words, prefix, known, { open, typed }) {
  const [two, one] = [words.at(-2)?.text ?? "", words.at(-1)?.text ?? ""];
  const upper = one.toUpperCase();
  if (one === ".") return known.columns.filter((option) => option.table === two.toLowerCase().replaceAll('"', ""));
  const compared = comparedWith(words, known);
  const valued = (compared?.keys ?? []).map((key) => ({ text: literal(key, compared.type), about: `a key of ${compared.name}` }));
  const keys = valued.filter((option) => option.text !== null);
  if (open && typed.startsWith("'")) return keys;
  if (upper === "FROM" || upper === "JOIN") return known.tables;
  if (open) return [...known.columns, ...known.tables];
  const columns = upper === "BY" || one === "," ? known.columns : [...keys, ...known.columns];
  const functions = AGGREGATES.map(([text, about]) => ({ text, about }));
  const keywords = KEYWORDS.map((text) => ({ text, about: "" }));
  const tables = prefix ? known.tables : [];
  if (upper === "SELECT" || upper === "HAVING") return [...functions.slice(0, 5), ...columns, ...functions, ...tables, ...keywords];
  return prefix ? [...columns, ...functions, ...tables, ...keywords] : columns;
}

/** The column that the coming value is compared with: `city =`, `city <>`, `city IN (…,`. */
function comparedWith(words, known) {
  const named = (text) => known.columns.find((option) => option.column.name.toLowerCase() === text?.toLowerCase().replaceAll('"', ""))?.column;
  let i = words.length - 1;
  while (i >= 0 && (words[i].kind === "string" || words[i].text === "," || words[i].text === "(")) i -= 1;
  if (words[i]?.text.toUpperCase() === "IN") return named(words[i - 1]?.text.toUpperCase() === "NOT" ? words[i - 2]?.text : words[i - 1]?.text);
  i = words.length - 1;
  if (/^(DATE|TIMESTAMP)$/i.test(words[i]?.text ?? "")) i -= 1;
  if (!/^[=<>!]$|^LIKE$/i.test(words[i]?.text ?? "")) return null;
  while (/^[=<>!]$|^LIKE$|^NOT$/i.test(words[i]?.text ?? "")) i -= 1;
  return named(words[i]?.text);
}
