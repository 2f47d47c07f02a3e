"use strict";

/* Predictions for the rows of a CSV file that a visitor chooses, by the program of the reports. All text goes in as text. */
(function ownRows() {
  const { labels, attributes } = plurule.model;
  const missing = new Set(["", "?", "NA", "N/A", "NaN", "nan", "null"]);
  const most = 200;

  function parse(text) {
    const first = text.slice(0, (text + "\n").search(/[\r\n]/));
    const delimiter = [",", ";", "\t"].reduce((a, b) => (first.split(b).length > first.split(a).length ? b : a));
    const field = new RegExp(`("(?:[^"]|"")*"|(?!")[^${delimiter}\\r\\n]*)(${delimiter}|\\r?\\n|\\r|$)`, "gy");
    const rows = [[]];
    while (field.lastIndex < text.length) {
      const [, value, end] = field.exec(text) ?? [null, "", "stop"];
      if (end === "stop") {
        throw new Error(`row ${rows.length - 1}: something follows a closing quote`);
      }
      rows.at(-1).push(value.startsWith('"') ? value.slice(1, -1).replaceAll('""', '"') : value.trim());
      if (end !== delimiter && end !== "") {
        rows.push([]);
      }
    }
    return rows.filter((row) => row.some((value) => value !== ""));
  }

  function valueOf(attribute, text, odd) {
    if (missing.has(text)) {
      return null;
    }
    const value = attribute.categories === undefined ? Number(text) : attribute.categories.indexOf(text);
    if (Number.isNaN(value) || value === -1) {
      odd.add(`${attribute.name} “${text}”`);
      return null;
    }
    return value;
  }

  function show(rows) {
    const [names, ...instances] = rows;
    const places = attributes.map((attribute) => names.indexOf(attribute.name));
    const absent = attributes.filter((_, i) => places[i] === -1).map((attribute) => attribute.name);
    if (absent.length === attributes.length) {
      throw new Error(`the file has none of the columns that rules test: ${absent.join(", ")}`);
    }
    const odd = new Set();
    const lines = instances.slice(0, most).map((row) => {
      const values = attributes.map((attribute, i) => valueOf(attribute, row[places[i]] ?? "", odd));
      const { predicted, fired } = plurule.decide(values);
      const present = labels.filter((_, label) => predicted[label] === 1).join(", ");
      const rules = fired.filter(({ decided }) => decided.length > 0).map(({ place }) => place + 1);
      return [row[0], present || "none", rules.join(", ") || "none"];
    });
    const cells = (kind, line) => {
      const row = document.createElement("tr");
      row.append(...line.map((text) => Object.assign(document.createElement(kind), { textContent: text })));
      return row;
    };
    const table = Object.assign(document.createElement("table"), { className: "table" });
    table.append(cells("th", [names[0], "labels", "by rules"]), ...lines.map((line) => cells("td", line)));
    document.getElementById("own-table").replaceChildren(table);
    return [
      `${lines.length} of ${instances.length} rows.`,
      absent.length === 0 ? "" : `Columns that are not there count as missing: ${absent.join(", ")}.`,
      odd.size === 0 ? "" : `Values that the rules do not know count as missing: ${[...odd].slice(0, 5).join(", ")}${odd.size > 5 ? ", …" : ""}.`,
    ].join(" ").trim();
  }

  document.getElementById("own-file").addEventListener("change", async ({ target }) => {
    const notes = document.getElementById("own-notes");
    try {
      notes.textContent = show(parse((await target.files[0].text()).replace(/^\ufeff/, "")));
    } catch (error) {
      document.getElementById("own-table").replaceChildren();
      notes.textContent = `This file cannot be used: ${error.message}.`;
    }
  });
})();
