// As much SQL as a page needs: words and their kinds, names and values written safely. What a text means is for the server to say.

import { AGGREGATES as CALLS } from "./aggregates.js";

export const KEYWORDS = [
  ...["SELECT", "FROM", "WHERE", "GROUP BY", "GROUP BY ALL", "HAVING", "ORDER BY", "LIMIT", "AS", "AND", "OR", "NOT", "IN", "BETWEEN", "LIKE"],
  ...["IS NULL", "IS NOT NULL", "CASE", "WHEN", "THEN", "ELSE", "END", "JOIN", "LEFT JOIN", "ON", "USING", "WITH", "DISTINCT", "FILTER (WHERE"],
  ...["DESC", "ASC", "TRUE", "FALSE", "NULL", "DATE", "INTERVAL", "CAST"],
];

/** Aggregates and helpers: what is written, and what it is. The server lists its aggregates. */
export const AGGREGATES = [...CALLS, ["CLAMP(", "within bounds"], ["CALENDAR(", "public days, weeks, months"]];

const OTHER = ["BY", "ALL", "CROSS", "SEMI", "ANTI", "UNION", "EXISTS", "OFFSET", "INNER", "OUTER", "RIGHT", "OVER", "EXPLAIN", "PRIVACY", "WITHIN"];
const RESERVED = new Set([...KEYWORDS.join(" ").split(/[ (]+/), ...OTHER].filter(Boolean));
const FUNCTIONS = new Set(AGGREGATES.map(([text]) => /^\w+/.exec(text)[0]));

/** Kinds of words, and how each is told; the order decides. */
const KINDS = {
  comment: /--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)/,
  string: /'(?:[^']|'')*'?/,
  quoted: /"(?:[^"]|"")*"?/,
  number: /\d+(?:\.\d*)?(?:[eE][+-]?\d+)?|\.\d+/,
  word: /[\p{L}_][\p{L}\p{N}_$]*/u,
  space: /\s+/,
  sign: /[\s\S]/,
};
const PIECES = new RegExp(Object.values(KINDS).map((kind) => `(${kind.source})`).join("|"), "gu");

/** Words of a text: [{text, kind, start}], which together are the text again. */
export function pieces(text) {
  return [...text.matchAll(PIECES)].map((found) => {
    const kind = Object.keys(KINDS)[found.slice(1).findIndex((group) => group !== undefined)];
    return { text: found[0], kind, start: found.index };
  });
}

/** The kind by which a piece is coloured. */
export function colour(piece, names) {
  if (piece.kind !== "word") return piece.kind === "quoted" ? "name" : piece.kind;
  const upper = piece.text.toUpperCase();
  if (names.has(piece.text.toLowerCase())) return "name";
  if (FUNCTIONS.has(upper)) return "function";
  return RESERVED.has(upper) ? "keyword" : "other";
}

/** A name as SQL reads it. */
export function name(text) {
  return /^[a-z_][a-z0-9_]*$/.test(text) && !RESERVED.has(text.toUpperCase()) ? text : `"${text.replaceAll('"', '""')}"`;
}

const quoted = (text) => `'${String(text).replaceAll("'", "''")}'`;
const NUMBER = /^[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?$/;

export const isNumeric = (type) => /int|float|double|decimal|real|numeric/i.test(type);
export const isTruth = (type) => /bool/i.test(type);
export const isTime = (type) => /date|time/i.test(type);

/** A value of a column of this type, as SQL; null if it is none. */
export function literal(value, type) {
  if (value === null || value === undefined) return "NULL";
  if (isTruth(type)) return /^(true|1|yes)$/i.test(String(value)) ? "TRUE" : "FALSE";
  if (isNumeric(type)) return NUMBER.test(String(value).trim()) ? String(value).trim() : null;
  if (isTime(type)) return /time/i.test(type) ? `TIMESTAMP ${quoted(value)}` : `DATE ${quoted(value)}`;
  return quoted(value);
}
