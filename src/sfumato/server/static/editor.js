// The text of a question: a plain text area, so that every keyboard, screen reader and spell of autofill works, with colours and marks on a sheet behind it.

import { complete, offers } from "./completion.js";
import { announce, el, fill, find } from "./dom.js";
import { colour, pieces } from "./sql.js";

export class Editor {
  constructor(root, { changed, done }) {
    this.area = find("textarea", root);
    this.sheet = find(".sheet", root);
    this.list = find("[role=listbox]", root);
    this.known = { tables: [], columns: [] };
    this.names = new Set();
    this.mark = null;
    this.offered = null;
    this.chosen = -1;
    this.changed = changed;
    this.done = done;
    this.area.addEventListener("input", (event) => this.typed(event));
    this.area.addEventListener("keydown", (event) => this.pressed(event));
    this.area.addEventListener("blur", () => this.close());
    this.area.addEventListener("click", () => this.close());
    this.list.addEventListener("mousedown", (event) => {
      event.preventDefault(); // the text keeps the focus
      const option = event.target.closest("[role=option]");
      if (option) this.accept(Number(option.dataset.index));
    });
  }

  get text() {
    return this.area.value;
  }

  /** Another text in the place of this one; where the focus is here, Ctrl-Z brings the old one back. */
  write(text, { focus = false } = {}) {
    if (focus) this.area.focus();
    if (document.activeElement === this.area) {
      this.area.select();
      this.insert(text);
    } else {
      this.area.value = text;
    }
    this.close();
    this.mark = null;
    this.paint();
    this.changed();
  }

  /** Put a text where the caret is. */
  put(text) {
    this.area.focus();
    this.insert(text);
    this.close();
  }

  insert(text) {
    // The one way that browsers have to type for somebody, with undo; it is old, and where it is gone the text is set.
    if (!document.execCommand?.("insertText", false, text)) {
      this.area.setRangeText(text, this.area.selectionStart, this.area.selectionEnd, "end");
      this.area.dispatchEvent(new InputEvent("input", { inputType: "insertText" }));
    }
  }

  learn(schema) {
    this.known = offers(schema);
    this.names = new Set([...this.known.tables, ...this.known.columns].map((option) => option.text.toLowerCase().replaceAll('"', "")));
    this.paint();
  }

  /** Mark the words that are meant, or none. */
  point(span) {
    this.mark = span;
    this.area.setAttribute("aria-invalid", span ? "true" : "false");
    this.paint();
  }

  paint() {
    const parts = [];
    for (const piece of pieces(this.text)) {
      for (const [text, meant] of this.split(piece)) {
        const span = el("span", { class: `sql-${colour(piece, this.names)}`, text });
        parts.push(meant ? el("mark", {}, span) : span);
      }
    }
    fill(this.sheet, ...parts, "\n"); // a last line that is empty has a height, too
  }

  /** A piece, cut where the mark begins and ends. */
  split(piece) {
    const [start, end] = this.mark ?? [0, 0];
    const from = Math.max(0, Math.min(piece.text.length, start - piece.start)), to = Math.max(0, Math.min(piece.text.length, end - piece.start));
    const cuts = [[piece.text.slice(0, from), false], [piece.text.slice(from, to), true], [piece.text.slice(to), false]];
    return cuts.filter(([text]) => text);
  }

  typed(event) {
    this.mark = null;
    this.paint();
    this.changed();
    if (event.inputType?.startsWith("insert") && event.inputType !== "insertFromPaste") this.offer();
    else this.close();
  }

  offer(asked = false) {
    const { selectionStart: caret, selectionEnd: end } = this.area;
    this.offered = caret === end ? complete(this.text, caret, this.known, { asked }) : null;
    if (!this.offered) return this.close();
    this.chosen = asked ? 0 : -1;
    fill(
      this.list,
      this.offered.options.map((option, i) => el(
        "li",
        { role: "option", id: `offer-${i}`, data: { index: i } },
        el("span", { text: option.text }),
        el("small", { text: option.about }),
      )),
    );
    this.list.hidden = false;
    this.place();
    this.highlight();
    if (asked) announce(`${this.offered.options.length} suggestions. Arrow keys choose, Enter takes one.`);
  }

  /** Under the word that is being written: where a mark of no width stands on the sheet. */
  place() {
    const probe = document.createRange(), at = this.offered.from;
    let seen = 0;
    const walker = document.createTreeWalker(this.sheet, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      if (seen + node.length >= at) {
        probe.setStart(node, at - seen);
        break;
      }
      seen += node.length;
    }
    const box = this.sheet.getBoundingClientRect(), spot = probe.getBoundingClientRect();
    const found = spot.height ? spot : box;
    const room = box.width - this.list.offsetWidth - 4;
    this.list.style.left = `${Math.max(4, Math.min(found.left - box.left, room))}px`;
    this.list.style.top = `${found.bottom - box.top + 4}px`;
  }

  highlight() {
    [...this.list.children].forEach((option, i) => option.setAttribute("aria-selected", i === this.chosen ? "true" : "false"));
    if (this.chosen >= 0) this.area.setAttribute("aria-activedescendant", `offer-${this.chosen}`);
    else this.area.removeAttribute("aria-activedescendant");
  }

  close() {
    this.offered = null;
    this.list.hidden = true;
    this.area.removeAttribute("aria-activedescendant");
  }

  accept(i) {
    const { from, to, options } = this.offered;
    this.close();
    this.area.setSelectionRange(from, to);
    this.insert(options[i].text + (/^[A-Z ]+$/.test(options[i].text) ? " " : ""));
    this.close();
  }

  pressed(event) {
    if (event.key === " " && event.ctrlKey) {
      event.preventDefault();
      return this.offer(true);
    }
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      return this.done();
    }
    if (!this.offered) return undefined;
    const count = this.offered.options.length;
    const moves = { ArrowDown: 1, ArrowUp: -1 };
    if (event.key in moves) {
      event.preventDefault();
      this.chosen = this.chosen < 0 && event.key === "ArrowUp" ? count - 1 : (this.chosen + moves[event.key] + count) % count;
      this.highlight();
      announce(`${this.offered.options[this.chosen].text} ${this.offered.options[this.chosen].about}`);
    } else if (event.key === "Escape") {
      event.preventDefault();
      this.close();
    } else if (event.key === "Tab" || (event.key === "Enter" && this.chosen >= 0)) {
      event.preventDefault();
      this.accept(Math.max(0, this.chosen));
    }
    return undefined;
  }
}
