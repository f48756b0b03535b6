// A question by clicks, read back from its text, so that what can be clicked follows what is written. A text that clicks could not have written is not read.

import { COMPARED, COMPUTED, GROUPED } from "./building.js";
import { isTime, isTruth, pieces } from "./sql.js";

const OPENING = new Set(["(", "["]);
const CLOSING = new Set([")", "]"]);

/** Words of a text without blanks and comments, each with its depth in brackets. */
function wordsOf(text) {
  let depth = 0;
  return pieces(text).filter(({ kind }) => kind !== "space" && kind !== "comment").map((piece) => {
    if (CLOSING.has(piece.text)) depth -= 1;
    const found = { ...piece, depth };
    if (OPENING.has(piece.text)) depth += 1;
    return found;
  });
}

/** The same words, whatever their blanks and, outside of quotes, their case. */
const plain = (words) => words.map(({ kind, text }) => (kind === "string" || kind === "quoted" ? text : text.toLowerCase())).join(" ");
const isWord = (word, text) => word?.depth === 0 && word.kind === "word" && word.text.toUpperCase() === text;

/** Split words wherever `ends` holds of one outside of brackets. */
function split(words, ends) {
  const parts = [[]];
  for (const word of words) {
    if (word.depth === 0 && ends(word)) parts.push([]);
    else parts.at(-1).push(word);
  }
  return parts;
}

const isComma = ({ text }) => text === ",";
const isAnd = (word) => isWord(word, "AND");
const unquoted = (word) => {
  if (word?.kind === "word") return word.text;
  return word?.kind === "quoted" ? word.text.slice(1, -1).replaceAll('""', '"') : null;
};

/** SELECT, FROM, WHERE and GROUP BY with their words, each at most once and in this order; null if there is anything else. */
function clauses(words) {
  const found = {}, order = ["SELECT", "FROM", "WHERE", "GROUP"];
  let at = -1;
  for (const word of words) {
    const next = word.depth === 0 && word.kind === "word" ? order.indexOf(word.text.toUpperCase()) : -1;
    if (next >= 0) {
      if (next <= at) return null;
      at = next;
      found[order[at]] = [];
    } else if (at < 0) return null;
    else found[order[at]].push(word);
  }
  if (!found.SELECT || found.FROM?.length !== 1) return null;
  if (found.GROUP && !isWord(found.GROUP.shift(), "BY")) return null;
  return found;
}

/** Texts that clicks write → what was clicked. */
function choices(list, table, unit) {
  const pairs = Object.entries(list).flatMap(([key, { of, write }]) => {
    if (of) return table.columns.filter(of).map((column) => [write(column), { key, column: column.name }]);
    return key === "units" && !unit ? [] : [[write(null, unit), { key, column: "" }]];
  });
  return new Map(pairs.map(([text, found]) => [plain(wordsOf(text)), found]));
}

/** The value of a condition, as it is typed into a field: {value}, or null if it is none. */
function valueOf(words, type) {
  const rest = isTime(type) && words[0]?.kind === "word" ? words.slice(1) : words;
  const text = rest.map((word) => word.text).join("");
  if (rest.length === 1 && rest[0].kind === "string") return { value: text.slice(1, -1).replaceAll("''", "'") };
  if (isTruth(type) && rest.length === 1 && /^(true|false)$/i.test(text)) return { value: text.toLowerCase() };
  return /^[+-]?[\d.]+([eE][+-]?\d+)?$/.test(text) ? { value: text } : null;
}

function condition(words, table) {
  const column = table.columns.find(({ name }) => name === unquoted(words[0]));
  const signs = Object.keys(COMPARED).sort((a, b) => b.length - a.length);
  const sign = signs.find((text) => words.slice(1, 1 + text.length).map((word) => word.text).join("") === text);
  const found = column && sign && COMPARED[sign].of(column.type) && valueOf(words.slice(1 + sign.length), column.type);
  return found ? { column: column.name, sign, ...found } : null;
}

/** What was clicked to write this text: {table, values, groups, filters}, or null if clicks cannot write it. */
export function readBack(text, tables, unitOf) {
  const found = clauses(wordsOf(text.trim().replace(/;$/, "")));
  const table = found && tables.find(({ name }) => name === unquoted(found.FROM[0]));
  if (!table) return null;
  const computed = choices(COMPUTED, table, unitOf(table)), grouped = choices(GROUPED, table, null);
  const values = [], groups = [], names = new Map();
  for (const words of split(found.SELECT, isComma)) {
    const as = words.findIndex((word) => isWord(word, "AS"));
    const expression = plain(as < 0 ? words : words.slice(0, as));
    const value = computed.get(expression), group = grouped.get(expression);
    if (value) values.push({ what: value.key, column: value.column });
    else if (group) groups.push({ column: group.column, part: group.key });
    else return null;
    if (group && as >= 0) names.set(plain(words.slice(as + 1)), expression);
    if (group) names.set(expression, expression);
  }
  const keys = found.GROUP ? split(found.GROUP, isComma).map(plain) : [];
  const isAll = keys.length === 1 && keys[0] === "all";
  const same = isAll || new Set(keys.map((key) => names.get(key) ?? "")).size === groups.length;
  if (!values.length || !same || (!isAll && keys.some((key) => !names.has(key)))) return null;
  const filters = found.WHERE ? split(found.WHERE, isAnd).map((words) => condition(words, table)) : [];
  return filters.includes(null) ? null : { table, values, groups, filters };
}
