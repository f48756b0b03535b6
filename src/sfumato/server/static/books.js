// The books: what was spent, by whom, on what, and whether it adds up. For owners and auditors, who ask nothing here.

import * as api from "./api.js";
import { bar, showBudget, told } from "./budgets.js";
import { openCard } from "./cards.js";
import { course } from "./charts.js";
import { drawn, el, fill, find, show } from "./dom.js";
import { History, when } from "./histories.js";
import { size } from "./promises.js";
import { explained } from "./refusals.js";

const DAY = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" });

export class Books {
  constructor() {
    this.history = new History(
      find("#log"),
      { who: true, openCard: (number, opener) => openCard(this.dataset, number, opener), empty: "Nothing was asked yet." },
    );
    find("#verify").addEventListener("click", () => this.verify());
    find("#asker").addEventListener("change", (event) => {
      const chosen = event.target.value;
      this.history.pick = chosen ? (entry) => entry.who === chosen : () => true;
      this.history.show();
    });
  }

  async open(dataset, role) {
    this.dataset = dataset;
    fill(find("#verdict"));
    show(find("#overruns-box"), false);
    const [schema, money] = await Promise.all([api.schema(dataset), api.budget(dataset)]);
    if (this.dataset !== dataset) return;
    find("#books-title").textContent = schema.name;
    find("#books-about").textContent = schema.about ?? "";
    showBudget(find("#whole-budget"), money);
    this.course(money);
    this.shares(money.shares ?? []);
    await this.history.open(dataset);
    this.askers(money.shares ?? []);
    if (role === "owner") this.overruns(dataset);
  }

  course(money) {
    const letter = size(money.budget)?.letter ?? "";
    const points = (money.course ?? []).map(([time, spent, budget]) => ({ when: Date.parse(time), spent, budget, title: `${when(time)}: ${letter} ${spent}` }));
    const place = find("#course");
    if (!points.length) return fill(place, el("p", { class: "quiet", text: "Nothing was spent yet." }));
    points.push({ ...points.at(-1), when: Math.max(Date.now(), points.at(-1).when) });
    return drawn(place, (width) => course(points, { width, label: `Spent over time: ${told(money)}`, format: (time) => DAY.format(time) }));
  }

  shares(found) {
    const place = find("#shares");
    if (!found.length) return fill(place, el("p", { class: "quiet", text: "Everybody draws on the same budget." }));
    return fill(
      place,
      el(
        "ul",
        { class: "shares" },
        found.map((share) => el(
          "li",
          {},
          el("p", { class: "sum" }, el("span", { text: share.name }), el("span", { class: "quiet", text: told(share) })),
          bar(share, { label: `Budget of ${share.name}` }),
        )),
      ),
    );
  }

  askers(shares) {
    const names = [...new Set([...shares.map((share) => share.name), ...this.history.entries.map((entry) => entry.who)].filter(Boolean))].sort();
    fill(find("#asker"), el("option", { value: "", text: "everybody" }), names.map((name) => el("option", { value: name, text: name })));
    this.history.pick = () => true;
    this.history.show();
  }

  async verify() {
    const place = find("#verdict"), dataset = this.dataset;
    fill(place, el("p", { class: "quiet", text: "Reading the ledger…" }));
    try {
      const found = await api.verify(dataset, find("#kept-head").value.trim());
      if (this.dataset !== dataset) return;
      const says = Array.isArray(found.says) ? found.says : [found.says];
      fill(
        place,
        el("p", { class: found.holds ? "holds" : "broken", text: found.holds ? "The ledger is intact." : "The ledger is not intact." }),
        el("ul", {}, says.filter(Boolean).map((line) => el("li", { text: line }))),
        found.head && el(
          "p",
          { class: "quiet" },
          "Last line: ",
          el("code", { class: "head-line", text: typeof found.head === "string" ? found.head : JSON.stringify(found.head) }),
        ),
      );
    } catch (problem) {
      fill(place, el("p", { class: "trouble", text: explained(problem) }));
    }
  }

  /** Answers that ran out of time tell a little about the data, so only the owner sees how many there were. */
  async overruns(dataset) {
    const place = find("#overruns");
    try {
      const found = await api.overruns(dataset);
      if (this.dataset !== dataset) return;
      const by = Object.entries(found.by ?? {}).map(([name, count]) => `${name} ${count}`).join(", ");
      const told = found.count === 1 ? "1 question" : `${found.count} questions`;
      const note = "Their charge is kept. Only you see this: it depends on the data.";
      fill(place, el("p", {}, el("strong", { text: told }), by && ` (${by})`), el("p", { class: "quiet", text: note }));
    } catch (problem) {
      fill(place, el("p", { class: "trouble", text: explained(problem) }));
    }
    show(find("#overruns-box"));
  }
}
