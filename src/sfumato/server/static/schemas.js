// The public schema: what may be known of a table before anybody pays. A click writes a name into the question.

import { unitColumn } from "./building.js";
import { el, fill } from "./dom.js";
import { name } from "./sql.js";

const counted = (count, one, many) => `${count} ${count === 1 ? one : many}`;

export function unitWords(schema) {
  const unit = Array.isArray(schema.unit) ? schema.unit.join(", ") : schema.unit || "row";
  const limits = [
    schema.max_rows ? `counts for at most ${counted(schema.max_rows, "row", "rows")}` : "counts for a number of rows that is learned first",
    schema.max_groups ? `in ${counted(schema.max_groups, "group", "groups")}` : "",
  ];
  return { unit, text: `Each ${unit} is protected, and ${limits.filter(Boolean).join(" ")}. Neighbours: ${schema.relation}.` };
}

function column(found, own, put) {
  const keys = found.keys?.length ? found.keys.map(String) : null;
  const known = found.bounds ? `${found.bounds[0]} – ${found.bounds[1]}` : keys ? counted(keys.length, "public key", "public keys") : "";
  return el(
    "li", {},
    el(
      "button",
      { type: "button", class: "column", title: "Write it into the question", on: { click: () => put(name(found.name)) } },
      el("span", { class: "label", text: found.name }),
      el("span", { class: "type", text: found.name === own ? `${found.type} · unit` : found.type }),
    ),
    known && el("small", { text: known }),
    keys && el(
      "p",
      { class: "keys" },
      keys.slice(0, 12).map((key) => el("span", { text: key })),
      keys.length > 12 && el("span", { text: `and ${keys.length - 12} more` }),
    ),
  );
}

export function showSchema(root, schema, put) {
  const { unit } = unitWords(schema);
  const tables = schema.tables ?? [];
  fill(
    root,
    tables.map((table) => el(
      "div",
      {},
      tables.length > 1 && el("h3", { text: table.name }),
      el("ul", { class: "columns" }, table.columns.map((found) => column(found, unitColumn(unit, table), put))),
    )),
  );
}
