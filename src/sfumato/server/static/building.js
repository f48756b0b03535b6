// Questions by clicks, as text: what can be computed, grouped and compared, and how it is written.

import { isNumeric, isTime, isTruth, literal, name } from "./sql.js";

const isNumber = ({ type }) => isNumeric(type);
const isWhen = ({ type }) => isTime(type);
const hasClock = ({ type }) => isTime(type) && /time/i.test(type);
const isBounded = (column) => isNumber(column) && Boolean(column.bounds) && Number(column.bounds[0]) < Number(column.bounds[1]);

const BINS = 10;

/** Round edges of at most about ten equal bins over the bounds of a column: 10, 20, … for ages from 16 to 90. */
function edges({ bounds, type }) {
  const [low, high] = bounds.map(Number), width = (high - low) / BINS, power = 10 ** Math.floor(Math.log10(width));
  const round = [1, 2, 5, 10].map((times) => times * power).find((step) => step >= width * (1 - 1e-9));
  const step = /int/i.test(type) ? Math.max(1, round) : round;
  const first = Math.floor(low / step + 1e-9), last = Math.ceil(high / step - 1e-9);
  return Array.from({ length: last - first + 1 }, (_, i) => Number(((first + i) * step).toPrecision(12)));
}

/** What can be computed: its label, which columns it is for, how it is written, what it is called. */
export const COMPUTED = {
  rows: { label: "number of rows", of: null, write: () => "COUNT(*)", alias: () => "n" },
  units: { label: "number of units", of: null, write: (_, unit) => `COUNT(DISTINCT ${name(unit)})`, alias: () => "people" },
  mean: { label: "mean of", of: isNumber, write: (column) => `AVG(${name(column.name)})`, alias: (column) => `mean_${column}` },
  sum: { label: "total of", of: isNumber, write: (column) => `SUM(${name(column.name)})`, alias: (column) => `total_${column}` },
  median: { label: "median of", of: isNumber, write: (column) => `MEDIAN(${name(column.name)})`, alias: (column) => `median_${column}` },
  quartiles: {
    label: "quartiles of", of: isNumber, write: (column) => `QUANTILES(${name(column.name)}, [0.25, 0.5, 0.75])`, alias: (column) => `${column}_quartile`,
  },
  high: { label: "95th percentile of", of: isNumber, write: (column) => `QUANTILE(${name(column.name)}, 0.95)`, alias: (column) => `high_${column}` },
  deviation: { label: "deviation of", of: isNumber, write: (column) => `STDDEV(${name(column.name)})`, alias: (column) => `sd_${column}` },
  bins: {
    label: "rows in ranges of",
    of: isBounded,
    write: (column) => `HISTOGRAM(${name(column.name)}, [${edges(column).join(", ")}])`,
    alias: (column) => `${column}_range`,
  },
  truths: {
    label: "number where true",
    of: ({ type }) => isTruth(type),
    write: (column) => `COUNT_IF(${name(column.name)})`,
    alias: (column) => `n_${column}`,
  },
};

const truncated = (part) => (column) => `DATE_TRUNC('${part}', ${name(column.name)})`;

/** What groups can be made of: its label, which columns it is for, how it is written, what it is called. */
export const GROUPED = {
  value: {
    label: (column) => column,
    of: ({ type }) => !/float|double|decimal|time/i.test(type),
    write: (column) => name(column.name),
    alias: (column) => column,
  },
  year: { label: (column) => `year of ${column}`, of: isWhen, write: truncated("year"), alias: (column) => `${column}_year` },
  month: { label: (column) => `month of ${column}`, of: isWhen, write: truncated("month"), alias: (column) => `${column}_month` },
  week: { label: (column) => `week of ${column}`, of: isWhen, write: truncated("week"), alias: (column) => `${column}_week` },
  weekday: {
    label: (column) => `weekday of ${column}`,
    of: isWhen,
    write: (column) => `EXTRACT(DOW FROM ${name(column.name)})`,
    alias: (column) => `${column}_weekday`,
  },
  hour: {
    label: (column) => `hour of ${column}`,
    of: hasClock,
    write: (column) => `EXTRACT(HOUR FROM ${name(column.name)})`,
    alias: (column) => `${column}_hour`,
  },
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
  const columns = new Map(table.columns.map((column) => [column.name, column]));
  const used = new Set();
  const called = (text) => {
    let free = alias(text);
    while (used.has(free)) free += "_2";
    used.add(free);
    return name(free);
  };
  const groups = state.groups.filter(({ column }) => columns.has(column)).map(({ column, part }) => {
    const text = GROUPED[part].write(columns.get(column));
    if (part !== "value") return { text: `${text} AS ${called(GROUPED[part].alias(column))}`, key: text };
    used.add(alias(column));
    return { text, key: text };
  });
  const values = state.values.map(({ what, column }) => {
    const found = COMPUTED[what];
    return `${found.write(columns.get(column), unit)} AS ${called(found.alias(column))}`;
  });
  const filters = state.filters.map(({ column, sign, value }) => {
    const right = value === "" || !columns.has(column) ? null : literal(value, columns.get(column).type);
    return right === null ? null : `${name(column)} ${sign} ${right}`;
  });
  const lines = [`SELECT ${[...groups.map(({ text }) => text), ...values].join(", ")}`, `FROM ${name(table.name)}`];
  if (filters.some(Boolean)) lines.push(`WHERE ${filters.filter(Boolean).join(" AND ")}`);
  if (groups.length) lines.push(`GROUP BY ${groups.map(({ key }) => key).join(", ")}`);
  return lines.join("\n");
}
