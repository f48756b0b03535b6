// Guarantees, as the ledger stores them, for the eye: one size, its letter, a δ beside it.

import { approximate, figure, ratio, root } from "./numbers.js";

/** Notion → how its size is read from a record. Squares of μ are what adds up, so they are what is stored and drawn; μ is what is told. */
const SIZES = {
  Pure: (record) => ({ letter: "ε", exact: ratio(record.epsilon) }),
  Approx: (record) => ({ letter: "ε", exact: ratio(record.epsilon), delta: ratio(record.delta) }),
  ZCDP: (record) => ({ letter: "ρ", exact: ratio(record.rho), delta: ratio(record.delta ?? "0") }),
  GDP: (record) => ({ letter: "μ", exact: ratio(record.mu_squared), squared: true }),
};

export const size = (record) => SIZES[record?.notion]?.(record) ?? null;

const shown = (found, up) => figure(found.squared ? root(found.exact, { up }) : found.exact, { up });

/** Whether two are measured in the same thing: only then can one be drawn beside the other. */
export const comparable = (a, b) => size(a) !== null && size(a).letter === size(b)?.letter;

/** "ε = 0.3, δ = 10⁻⁹": costs are rounded up, what is left is rounded down. */
export function words(record, { up = true } = {}) {
  if (!record) return "–";
  const found = size(record);
  if (!found) return record.parts ? record.parts.map((part) => words(part, { up })).join(" and ") : String(record.notion ?? "–");
  const delta = found.delta && found.delta.n > 0n ? `, δ = ${figure(found.delta, { up })}` : "";
  return `${found.letter} = ${shown(found, up)}${delta}`;
}

/** Only the size: "0.3". */
export function amount(record, { up = true } = {}) {
  const found = size(record);
  return found ? shown(found, up) : words(record, { up });
}

/** The size as an ordinary number, for drawing. */
export function level(record) {
  const found = size(record);
  if (found) return approximate(found.exact);
  if (record?.parts) return record.parts.map(level).reduce((a, b) => a + (Number.isFinite(b) ? b : 0), 0);
  return NaN;
}

/** Which part of a budget this is, from 0 to 1; for a Rényi curve at the order that is nearest to its end. */
export function part(spent, budget) {
  if (budget?.notion === "Renyi") {
    const parts = Object.entries(budget.curve).map(([order, most]) => approximate(ratio(spent?.curve?.[order] ?? "0")) / approximate(ratio(most)));
    return Math.max(0, ...parts.filter(Number.isFinite));
  }
  const of = level(budget), found = level(spent) / of;
  return of > 0 && Number.isFinite(found) ? Math.max(0, found) : 0;
}
