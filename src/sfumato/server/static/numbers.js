// Numbers of promises are exact ratios. They are read as such, and rounded for the eye only: costs up, what is left down.

const DECIMAL = /^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d{1,4}))?$/;
const THIN = "\u202f";

/** A ratio {n, d} of a text such as "3/10", "0.3", "1e-9", or of a number; null if it is none. */
export function ratio(written) {
  const text = String(written ?? "").trim();
  if (text.length > 8000) return null;
  const parts = text.split("/");
  if (parts.length === 2) {
    const [above, below] = parts.map(ratio);
    return above && below && below.n > 0n ? { n: above.n * below.d, d: above.d * below.n } : null;
  }
  const found = parts.length === 1 && DECIMAL.exec(text);
  if (!found || !((found[2] ?? "") + (found[3] ?? ""))) return null;
  const exponent = Number(found[4] ?? 0) - (found[3] ?? "").length;
  const digits = BigInt(found[2] + (found[3] ?? "")) * (found[1] === "-" ? -1n : 1n);
  return exponent >= 0 ? { n: digits * 10n ** BigInt(exponent), d: 1n } : { n: digits, d: 10n ** BigInt(-exponent) };
}

export function approximate(exact) {
  if (!exact) return NaN;
  const shift = BigInt(Math.max(0, exact.d.toString().length - exact.n.toString().replace("-", "").length + 18));
  return Number((exact.n * 10n ** shift) / exact.d) / 10 ** Number(shift);
}

/** A non-negative ratio with a few significant digits, rounded up or down. */
export function figure(exact, { up = true, digits = 3 } = {}) {
  if (!exact) return "?";
  if (exact.n <= 0n) return "0";
  let power = exact.n.toString().length - exact.d.toString().length; // of the first digit, or one too many
  if (exact.n * tens(-power) < exact.d * tens(power)) power -= 1;
  const places = digits - 1 - power;
  const above = exact.n * tens(places), below = exact.d * tens(-places);
  let whole = above / below;
  if (up && whole * below !== above) whole += 1n;
  return plain(whole, places);
}

/** The square root, to thirty digits, rounded up or down. */
export function root(exact, { up = true } = {}) {
  if (!exact || exact.n < 0n) return null;
  const scale = 10n ** 30n, square = (exact.n * scale * scale) / exact.d;
  let found = BigInt(Math.floor(Math.sqrt(Number(square))));
  for (let i = 0; i < 200; i += 1) {
    const next = found === 0n ? 0n : (found + square / found) / 2n;
    if (next === found || next === found + 1n || next === found - 1n) break;
    found = next;
  }
  while (found * found > square) found -= 1n;
  while ((found + 1n) * (found + 1n) <= square) found += 1n;
  const sharp = found * found * exact.d === exact.n * scale * scale;
  return { n: up && !sharp ? found + 1n : found, d: scale };
}

const tens = (power) => (power > 0 ? 10n ** BigInt(power) : 1n);

function plain(whole, places) {
  const digits = whole.toString();
  const power = digits.length - 1 - places;
  if (power < -4 || power > 8) {
    const head = digits.replace(/0+$/, "");
    const mantissa = head.length > 1 ? `${head[0]}.${head.slice(1)}` : head;
    return `${mantissa === "1" ? "" : `${mantissa}·`}10${raised(power)}`;
  }
  if (places <= 0) return grouped(digits + "0".repeat(-places));
  const padded = digits.padStart(places + 1, "0");
  const fraction = padded.slice(-places).replace(/0+$/, "");
  return grouped(padded.slice(0, -places)) + (fraction ? `.${fraction}` : "");
}

const raised = (power) => [...String(power)].map((sign) => (sign === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[Number(sign)])).join("");
const grouped = (digits) => digits.replace(/\B(?=(\d{3})+$)/g, THIN);

/** A number as one reads it, with so many decimals. */
export function number(value, decimals = 0) {
  if (typeof value !== "number" || !Number.isFinite(value)) return "–";
  if (value !== 0 && Math.abs(value) >= 1e15) return value.toExponential(2);
  const [whole, fraction] = Math.abs(value).toFixed(Math.min(decimals, 12)).split(".");
  const sign = value < 0 && /[1-9]/.test(whole + (fraction ?? "")) ? "−" : "";
  return sign + grouped(whole) + (fraction ? `.${fraction}` : "");
}

/** Decimals that are worth showing beside an error of this size: two digits of it. */
export function decimals(width) {
  if (!(width > 0) || !Number.isFinite(width)) return 0;
  return Math.max(0, Math.min(12, 1 - Math.floor(Math.log10(width))));
}

/** An error, rounded up to two digits, or three from a hundred on. */
export function error(width) {
  if (typeof width !== "number" || !Number.isFinite(width)) return "–";
  const scale = 10 ** (width >= 100 ? 0 : decimals(width));
  return number(Math.ceil(width * scale - 1e-9) / scale, width >= 100 ? 0 : decimals(width));
}

/** A value with its interval: "3 937 ± 169", or "10 [7, 15]" where it leans to one side. */
export function within(value, low, high) {
  if (typeof value !== "number") return value === null || value === undefined ? "–" : String(value);
  if (typeof low !== "number" || typeof high !== "number") return number(value, Number.isInteger(value) ? 0 : 3);
  const below = value - low, above = high - value;
  const shown = Math.max(below, above) >= 100 ? 0 : decimals(Math.max(below, above));
  const even = Math.abs(below - above) <= 0.02 * (below + above) + 1e-9;
  return even ? `${number(value, shown)} ± ${error(Math.max(below, above))}` : `${number(value, shown)} [${number(low, shown)}, ${number(high, shown)}]`;
}

/** Two significant digits, as a text that reads back exactly. */
export const short = (value) => String(Number(Number(value).toPrecision(2)));
