// Pictures of numbers that are not sharp: where a value may lie, colour fades. A thin line with ends says the same exactly.

import { svg } from "./dom.js";
import { number, within } from "./numbers.js";

const clip = (value, low, high) => Math.max(low, Math.min(high, value));
const isNumber = (value) => typeof value === "number" && Number.isFinite(value);

let drawings = 0;

function frame(width, height, label, kind) {
  drawings += 1;
  const paints = svg("defs", {});
  return { id: `drawing-${drawings}`, paints, root: svg(
    "svg",
    { class: `chart ${kind}`, viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": label },
    paints,
  ) };
}

/** Round steps for an axis: about so many, with the decimals they need. */
export function ticks(low, high, about) {
  const rough = (high - low) / Math.max(1, about);
  if (!(rough > 0)) return { at: [low], decimals: 0 };
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].find((times) => times * power >= rough) * power;
  const at = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9; i += 1) at.push(i * step);
  return { at, decimals: Math.max(0, -Math.floor(Math.log10(step) + 1e-9)) };
}

/** The ends of an axis: zero belongs to what is counted or added up. */
export function domain(rows, { zero, most = Infinity }) {
  const ends = rows.flatMap((row) => [row.value, row.low, row.high]).filter(isNumber);
  if (zero || !ends.length) ends.push(0);
  let low = Math.min(...ends), high = Math.max(...ends);
  if (low === high) [low, high] = zero ? [Math.min(0, low), Math.max(1, high)] : [low - 1, high + 1];
  const pad = (high - low) * 0.06;
  low = zero && low >= 0 ? 0 : low - pad;
  return [Math.max(low, -most), Math.min(high + pad, most)];
}

const EASE = [0, 0.15, 0.3, 0.45, 0.6, 0.75, 0.9, 1];
const eased = (t) => (1 + Math.cos(Math.PI * t)) / 2;

/** Where colour is how strong: [[value, opacity], …]. A bar from zero fades over its interval; what is not a bar is a haze around its value. */
function strengths(low, value, high, zero) {
  const falling = (from, to, top) => EASE.map((t) => [from + t * (to - from), top * eased(t)]);
  if (zero && low >= 0) return [[0, 0.3], ...falling(low, high, 0.92)];
  if (zero && high <= 0) return [...falling(high, low, 0.92).reverse(), [0, 0.3]];
  const peak = value >= low && value <= high ? value : (low + high) / 2; // a quantile may be drawn outside of its own interval
  return [...falling(peak, low, 0.85).reverse(), ...falling(peak, high, 0.85)];
}

/** A gradient along one direction, by coordinates of the picture; the colour is the style's. */
function paint(chart, key, place, stops, vertical) {
  const spots = stops.map(([value, opacity]) => [place(value), opacity]).sort((a, b) => a[0] - b[0]);
  const [from, to] = [spots[0][0], spots.at(-1)[0]], length = Math.max(to - from, 1e-6), id = `${chart.id}-${key}`;
  const ends = vertical ? { x1: 0, x2: 0, y1: from, y2: from + length } : { x1: from, x2: from + length, y1: 0, y2: 0 };
  chart.paints.append(svg(
    "linearGradient",
    { id, gradientUnits: "userSpaceOnUse", ...ends },
    spots.map(([at, opacity]) => svg("stop", { offset: (at - from) / length, class: "stop", "stop-opacity": opacity.toFixed(3) })),
  ));
  return { from, to, fill: `url(#${id})` };
}

function ends(row) {
  const known = isNumber(row.low) && isNumber(row.high);
  return { known, low: known ? row.low : row.value, high: known ? row.high : row.value };
}

/** One line for each row: its name, a bar that fades where the value may end, its figure. */
export function bars(rows, { width, zero = true, label = "", kind = "", most = Infinity, figures = true }) {
  const longest = (texts) => Math.max(0, ...texts.map((text) => text.length));
  const names = longest(rows.map((row) => row.label)) * 7.5 + 14;
  const narrow = width < 440 && (figures || names > 0.34 * width), line = narrow ? 44 : 30, top = 4, bottom = 26; // names then stand above their bars
  const told = rows.map((row) => row.figure ?? within(row.value, row.low, row.high));
  const left = narrow ? 0 : Math.min(0.34 * width, names);
  const right = narrow || !figures ? 8 : Math.min(0.3 * width, longest(told) * 7.4 + 18);
  const [low, high] = domain(rows, { zero, most }), height = top + rows.length * line + bottom;
  const open = (value) => left + 1 + ((value - low) / (high - low)) * (width - left - right - 2), x = (value) => open(clip(value, low, high));
  const chart = frame(width, height, label, kind), axis = ticks(low, high, (width - left - right) / 90);
  for (const at of axis.at) {
    chart.root.append(svg("line", { class: at === 0 ? "base" : "grid", x1: x(at), x2: x(at), y1: top, y2: height - bottom + 2 }));
    chart.root.append(svg("text", { class: "tick", x: clip(x(at), 8, width - 12), y: height - 8, "text-anchor": "middle", text: number(at, axis.decimals) }));
  }
  rows.forEach((row, i) => {
    const y = top + i * line + (narrow ? 20 : 0), thick = narrow ? 18 : line, middle = y + thick / 2, text = narrow ? y - 4 : middle + 4;
    if (isNumber(row.value)) chart.root.append(...bar(chart, row, i, { open, low, high, y: y + (narrow ? 1 : 5), thick: thick - (narrow ? 2 : 10), zero }));
    chart.root.append(svg(
      "text",
      { class: "name", x: narrow ? 1 : left - 10, y: text, "text-anchor": narrow ? "start" : "end", text: cut(row.label, narrow ? 0.6 * width : left - 10) },
      svg("title", { text: row.label }),
    ));
    if (figures) chart.root.append(svg("text", { class: "figure", x: width - 2, y: text, "text-anchor": "end", text: told[i] }));
  });
  return chart.root;
}

function bar(chart, row, i, { open, low, high, y, thick, zero }) {
  const its = ends(row), painted = paint(chart, i, open, strengths(its.low, row.value, its.high, zero), false), middle = y + thick / 2;
  const from = Math.max(painted.from, open(low)), to = Math.min(painted.to, open(high)), inside = (value) => value >= low && value <= high;
  const found = [svg("rect", { x: from, y, width: Math.max(0, to - from), height: thick, rx: 3, fill: painted.fill })];
  const a = open(Math.max(its.low, low)), b = open(Math.min(its.high, high));
  const cap = (value, at) => (inside(value) ? `M${at} ${middle - 4}v8` : "");
  if (its.known) found.push(svg("path", { class: "error", d: `M${a} ${middle}H${b}${cap(its.low, a)}${cap(its.high, b)}` }));
  if (inside(row.value)) found.push(svg("circle", { class: "point", cx: open(row.value), cy: middle, r: 3.2 }));
  return found;
}

const cut = (text, room) => (text.length * 7 > room ? `${text.slice(0, Math.max(2, Math.floor(room / 7) - 1))}…` : text);

/** Values along an ordered axis: columns that fade upwards, each with its error bar; many of them become a line in a band. */
export function columns(rows, { width, zero = true, label = "", kind = "" }) {
  const height = Math.round(clip(width * 0.5, 220, 330)), top = 12, bottom = 30, right = 10;
  const [low, high] = domain(rows, { zero }), axis = ticks(low, high, 5);
  const left = Math.max(...axis.at.map((at) => number(at, axis.decimals).length)) * 7 + 14;
  const step = (width - left - right) / rows.length, thick = Math.min(46, step * 0.66);
  const x = (i) => left + (i + 0.5) * step, y = (value) => top + (1 - (value - low) / (high - low)) * (height - top - bottom);
  const chart = frame(width, height, label, kind);
  for (const at of axis.at) {
    chart.root.append(svg("line", { class: at === 0 ? "base" : "grid", x1: left, x2: width - right, y1: y(at), y2: y(at) }));
    chart.root.append(svg("text", { class: "tick", x: left - 8, y: y(at) + 4, "text-anchor": "end", text: number(at, axis.decimals) }));
  }
  const every = Math.ceil((Math.max(...rows.map((row) => row.label.length)) * 6.6 + 10) / step);
  rows.forEach((row, i) => {
    if (i % every === 0) chart.root.append(svg("text", { class: "tick", x: x(i), y: height - 9, "text-anchor": "middle", text: row.label }));
  });
  const known = rows.map((row, i) => ({ ...row, i })).filter((row) => isNumber(row.value));
  if (step < 7) chart.root.append(...ribbon(known, x, y));
  else for (const row of known) chart.root.append(...pillar(chart, row, x(row.i), { y, thick, zero }));
  return chart.root;
}

function pillar(chart, row, x, { y, thick, zero }) {
  const its = ends(row), painted = paint(chart, row.i, y, strengths(its.low, row.value, its.high, zero), true);
  const found = [svg("rect", { x: x - thick / 2, y: painted.from, width: thick, height: Math.max(0, painted.to - painted.from), rx: 3, fill: painted.fill })];
  const cap = Math.min(4, thick / 2);
  if (its.known) found.push(svg(
    "path",
    { class: "error", d: `M${x} ${y(its.low)}V${y(its.high)}M${x - cap} ${y(its.low)}h${2 * cap}M${x - cap} ${y(its.high)}h${2 * cap}` },
  ));
  found.push(svg(
    "circle",
    { class: "point", cx: x, cy: y(row.value), r: 3.2 },
    svg("title", { text: `${row.label}: ${within(row.value, row.low, row.high)}` }),
  ));
  return found;
}

function ribbon(rows, x, y) {
  const along = (pick, list) => list.map((row, i) => `${i ? "L" : "M"}${x(row.i)} ${y(pick(row))}`).join("");
  const edge = (name) => (row) => (isNumber(row[name]) ? row[name] : row.value);
  const back = along(edge("low"), [...rows].reverse()).replace("M", "L");
  return [svg("path", { class: "band", d: `${along(edge("high"), rows)}${back}Z` }), svg("path", { class: "course", d: along((row) => row.value, rows) })];
}

/** What was spent over time, as steps under those of the budget. Points: {when, spent, budget, title}. */
export function course(points, { width, label, format }) {
  const height = Math.round(clip(width * 0.3, 190, 280)), top = 22, bottom = 30, left = 46, right = 14;
  const last = points.at(-1).when, first = Math.min(points[0].when, last - 60_000);
  const most = 1.06 * Math.max(...points.map((point) => Math.max(point.spent, point.budget))) || 1;
  const x = (when) => left + ((when - first) / (last - first)) * (width - left - right), y = (amount) => top + (1 - amount / most) * (height - top - bottom);
  const steps = (pick) => `M${x(first)} ${y(pick(points[0]))}${points.slice(1).map((point) => `H${x(point.when)}V${y(pick(point))}`).join("")}`;
  const chart = frame(width, height, label, ""), axis = ticks(0, most, 4), tall = Math.max(...points.map((point) => point.spent), most * 0.02);
  for (const at of axis.at) {
    chart.root.append(svg("line", { class: at === 0 ? "base" : "grid", x1: left, x2: width - right, y1: y(at), y2: y(at) }));
    chart.root.append(svg("text", { class: "tick", x: left - 8, y: y(at) + 4, "text-anchor": "end", text: number(at, axis.decimals) }));
  }
  chart.root.append(svg("path", { class: "ceiling", d: steps((point) => point.budget) }));
  chart.root.append(svg("text", { class: "tick", x: width - right, y: y(points.at(-1).budget) - 7, "text-anchor": "end", text: "budget" }));
  const area = paint(chart, "area", y, [[0, 0.06], [tall, 0.5]], true), spent = steps((point) => point.spent);
  chart.root.append(svg("path", { fill: area.fill, d: `${spent}V${y(0)}H${x(first)}Z` }), svg("path", { class: "course", d: spent }));
  const moments = points.filter((point, i) => i > 0 && point.spent !== points[i - 1].spent);
  if (moments.length <= 80) for (const point of moments) chart.root.append(svg(
    "circle",
    { class: "point", cx: x(point.when), cy: y(point.spent), r: 3.2 },
    svg("title", { text: point.title }),
  ));
  for (const [when, anchor] of [[first, "start"], [last, "end"]]) chart.root.append(svg(
    "text",
    { class: "tick", x: x(when), y: height - 9, "text-anchor": anchor, text: format(when) },
  ));
  return chart.root;
}
