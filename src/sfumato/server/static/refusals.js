// A refusal teaches: which words are meant, why, and what would pass, which one button puts in their place.

import { el, fill, show } from "./dom.js";

const MARKED = /^( *)(\^+) ?(.*)$/;
const WIDE = /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Extended_Pictographic}/u;
const QUESTION = /^\s*(?:select|with|from|explain)\b/i;
const PRICE = /^epsilon\s*=\s*([0-9][0-9./eE-]*)\b/;

/** {line, from, to, note}: what the place shows. */
export function shown(problem) {
  const [line, under] = problem.place.split("\n");
  const found = under === undefined ? null : MARKED.exec(under);
  if (!found) return { line: problem.place, from: 0, to: 0, note: "" };
  const blank = found[1].length;
  const from = index(line, blank), to = index(line, blank + found[2].length);
  return { line, from, to: Math.max(to, from + 1), note: found[3] };
}

/** Which character stands in this column, where some are two columns wide. */
function index(line, column) {
  let at = 0, seen = 0;
  for (const sign of line) {
    if (seen >= column) break;
    seen += WIDE.test(sign) ? 2 : 1;
    at += sign.length;
  }
  return at;
}

/** The same words in the text: [start, end], or null if they are not there. */
export function meant(problem, text) {
  const { line, from, to } = shown(problem);
  if (!to) return null;
  const ahead = line.startsWith("…") ? 1 : 0;
  const body = line.slice(ahead).replace(/…$/, "");
  let offset = 0;
  for (const own of text.split("\n")) {
    const found = own.replaceAll("\t", " ").indexOf(body);
    if (found >= 0 && body) {
      const start = offset + found + from - ahead, end = Math.min(offset + found + to - ahead, offset + own.length);
      if (start < end) return [start, end];
    }
    offset += own.length + 1;
  }
  return null;
}

/** What a rewrite can be used for: a question, a price, or only reading. */
export function use(rewrite) {
  if (QUESTION.test(rewrite)) return { kind: "question", text: rewrite };
  const found = PRICE.exec(rewrite.trim());
  return found ? { kind: "price", text: found[1] } : null;
}

/** Show a refusal in its place. `apply` is called with what the button stands for. */
export function showRefusal(root, problem, { apply, title = "This question is refused" }) {
  const { line, from, to, note } = shown(problem);
  const marked = to ? [line.slice(0, from), el("mark", { text: line.slice(from, to) }), line.slice(to)] : [line];
  const usable = problem.rewrite ? use(problem.rewrite) : null;
  fill(
    root,
    el("h3", {}, title, problem.code && el("code", { class: "code", text: problem.code })),
    line && el("p", { class: "place" }, el("code", {}, marked)),
    el("p", { class: "reason" }, note && el("strong", { text: `${capital(note)}. ` }), sentence(problem.reason || problem.title)),
    problem.rewrite && el(
      "div",
      { class: "rewrite" },
      el("span", { class: "quiet", text: usable ? "This would pass:" : "Instead:" }),
      el("code", { text: problem.rewrite }),
    ),
    usable && apply && el(
      "button",
      { type: "button", class: "apply", text: usable.kind === "question" ? "Use this question" : `Use ε = ${usable.text}`, on: { click: () => apply(usable) } },
    ),
  );
  show(root);
}

const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);
const sentence = (text) => (text ? `${capital(text)}${/[.!?]$/.test(text) ? "" : "."}` : "");

export function hideRefusal(root) {
  show(root, false);
  fill(root);
}

/** Words for what went wrong elsewhere. */
export function explained(problem) {
  if (problem.name === "AbortError") return "";
  const said = [problem.reason, problem.rewrite && `Try: ${problem.rewrite}`].filter(Boolean).join(". ");
  return said || (problem.status ? `The server answered with status ${problem.status}.` : "No reply came from the server.");
}
