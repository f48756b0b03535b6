// Questions by clicks, as text: what can be computed and compared, and how it is written.

import { isNumeric, isTime, isTruth, literal, name } from "./sql.js";

/** What can be computed: its label, which columns it is for, how it is written, what it is called. */
export const COMPUTED = {
  rows: { label: "number of rows", of: null, write: () => "COUNT(*)", alias: () => "n" },
  units: { label: "number of units", of: null, write: (_, unit) => `COUNT(DISTINCT ${name(unit)})`, alias: () => "people" },
  mean: { label: "mean of", of: isNumeric, write: (column) => `AVG(${column})`, alias: (column) => `mean_${column}` },
  sum: { label: "total of", of: isNumeric, write: (column) => `SUM(${column})`, alias: (column) => `total_${column}` },
  median: { label: "median of", of: isNumeric, write: (column) => `MEDIAN(${column})`, alias: (column) => `median_${column}` },
  deviation: { label: "deviation of", of: isNumeric, write: (column) => `STDDEV(${column})`, alias: (column) => `sd_${column}` },
  truths: { label: "number where true", of: isTruth, write: (column) => `COUNT_IF(${column})`, alias: (column) => `n_${column}` },
};

/** The column that says whom a row of this table is about, if it is one: units of several tables are told with the table's name. */
export function unitColumn(unit, table) {
  const has = (name) => table.columns.some((column) => column.name === name);
  const [of, ...rest] = unit.split(".");
  if (has(unit)) return unit;
  return of === table.name && has(rest.join(".")) ? rest.join(".") : null;
}

const isOrdered = (type) => isNumeric(type) || isTime(type);

/** Comparisons, and the types they are for. */
export const COMPARED = {
  "=": { label: "is", of: () => true },
  "<>": { label: "is not", of: () => true },
  ">=": { label: "at least", of: isOrdered },
  "<=": { label: "at most", of: isOrdered },
  ">": { label: "above", of: isNumeric },
  "<": { label: "below", of: isNumeric },
};

const alias = (text) => text.toLowerCase().replace(/[^a-z0-9_]+/g, "_").replace(/^(\d)/, "_$1");

/** The text of a question; conditions that cannot be written yet are left out. */
export function written(state, table, unit) {
  const typed = new Map(table.columns.map((column) => [column.name, column.type]));
  const groups = state.groups.filter((group) => typed.has(group));
  const used = new Set(groups.map(alias));
  const values = state.values.map(({ what, column }) => {
    const found = COMPUTED[what];
    let called = alias(found.alias(column));
    while (used.has(called)) called += "_2";
    used.add(called);
    return `${found.write(name(column), unit)} AS ${name(called)}`;
  });
  const filters = state.filters.map(({ column, sign, value }) => {
    const right = value === "" || !typed.has(column) ? null : literal(value, typed.get(column));
    return right === null ? null : `${name(column)} ${sign} ${right}`;
  });
  const lines = [`SELECT ${[...groups.map(name), ...values].join(", ")}`, `FROM ${name(table.name)}`];
  if (filters.some(Boolean)) lines.push(`WHERE ${filters.filter(Boolean).join(" AND ")}`);
  if (groups.length) lines.push(`GROUP BY ${groups.map(name).join(", ")}`);
  return lines.join("\n");
}
