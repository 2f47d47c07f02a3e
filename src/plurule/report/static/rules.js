/* The table of rules: sort, filter, open. Rows are in the page already; here they are reordered, hidden and explained. */

(function ruleTable() {
  const { model, element } = plurule;
  const table = document.getElementById("rule-table");
  const body = table.tBodies[0];
  const form = document.getElementById("filters");
  const rows = [...body.querySelectorAll("tr[data-rule]")].map((row, place) => {
    const rule = model.rules[place];
    const found = rule.found;
    return {
      row, rule, place,
      button: row.querySelector("button"),
      text: (row.cells[1].textContent + " " + row.cells[2].textContent).replace(/\s+/g, " ").toLowerCase(),
      labels: new Set([...plurule.stated(rule).map(([label]) => label), ...rule.body.map((c) => c.label)]),
      attributes: new Set(rule.body.map((c) => c.attribute)),
      number: place, size: plurule.stated(rule).length, conditions: rule.body.length, coverage: rule.coverage,
      precision: plurule.share(rule.trained), detail: null, fits: true,
      found: found === undefined ? -1 : plurule.share([found.right, found.decided]),
      p: found === undefined || found.p === undefined ? 2 : found.p,
    };
  });
  if (rows.length === 0) {
    return;
  }

  /* Only so many rows are laid out at once; a browser takes long over thousands. On paper there are all. */

  const atOnce = 400;
  let limit = atOnce;
  let inOrder = rows;
  function reveal() {
    let left = limit;
    let shown = 0;
    for (const item of inOrder) {
      const visible = item.fits && left > 0;
      left -= visible;
      shown += item.fits;
      item.row.hidden = !visible;
      if (item.detail !== null) {
        item.detail.hidden = !visible;
      }
    }
    document.getElementById("more-rules").hidden = shown <= limit;
    document.getElementById("show-all").textContent = `Show all ${shown}`;
    return shown;
  }
  document.getElementById("show-more").addEventListener("click", () => { limit += atOnce; reveal(); });
  document.getElementById("show-all").addEventListener("click", () => { limit = Infinity; reveal(); });
  window.addEventListener("beforeprint", () => { limit = Infinity; reveal(); });

  /* Sorting */

  let sortedBy = { key: "number", down: false };
  function sort(key) {
    sortedBy = { key, down: sortedBy.key === key ? !sortedBy.down : key !== "number" };
    const sign = sortedBy.down ? -1 : 1;
    const ordered = [...rows].sort((a, b) => sign * (a[key] - b[key]) || a.place - b.place);
    for (const header of table.tHead.rows[0].cells) {
      if (header.dataset.sort === key) {
        header.setAttribute("aria-sort", sortedBy.down ? "descending" : "ascending");
      } else {
        header.removeAttribute("aria-sort");
      }
    }
    const pieces = document.createDocumentFragment();
    for (const item of ordered) {
      pieces.append(item.row);
      if (item.detail !== null) {
        pieces.append(item.detail);
      }
    }
    body.append(pieces);
    inOrder = ordered;
    limit = atOnce;
    reveal();
  }
  for (const header of table.tHead.rows[0].cells) {
    const button = element("button", { type: "button", class: "sort" }, ...header.childNodes);
    button.addEventListener("click", () => sort(header.dataset.sort));
    header.append(button);
  }

  /* Filtering */

  const inputs = {
    text: document.getElementById("filter-text"),
    label: document.getElementById("filter-label"),
    attribute: document.getElementById("filter-attribute"),
    size: document.getElementById("filter-size"),
    coverage: document.getElementById("filter-coverage"),
  };
  model.attributes.map((attribute, place) => ({ name: attribute.name, place }))
    .sort((a, b) => a.name.localeCompare(b.name))
    .forEach(({ name, place }) => inputs.attribute.append(element("option", { value: place }, name)));
  [...new Set(rows.map((item) => item.size))].sort((a, b) => a - b)
    .forEach((size) => inputs.size.append(element("option", { value: size }, String(size))));

  function filter() {
    const words = inputs.text.value.toLowerCase().split(/\s+/).filter((word) => word !== "");
    const label = inputs.label.value === "" ? null : Number(inputs.label.value);
    const attribute = inputs.attribute.value === "" ? null : Number(inputs.attribute.value);
    const size = inputs.size.value === "" ? null : Number(inputs.size.value);
    const coverage = inputs.coverage.value === "" ? -Infinity : Number(inputs.coverage.value);
    for (const item of rows) {
      item.fits = item.coverage >= coverage
        && (size === null || item.size === size)
        && (label === null || item.labels.has(label))
        && (attribute === null || item.attributes.has(attribute))
        && words.every((word) => item.text.includes(word));
    }
    limit = atOnce;
    const shown = reveal();
    document.getElementById("shown").textContent =
      shown === rows.length ? `All ${rows.length} rules` : `${shown} of ${rows.length} rules`;
  }
  form.addEventListener("input", filter);
  form.addEventListener("change", filter);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(filter));
  form.hidden = false;
  filter();

  /* Opening */

  function toggle(item, open) {
    if (open === (item.detail !== null)) {
      return;
    }
    if (open) {
      item.detail = element("tr", { class: "detail", id: `rule-${item.place + 1}-detail` },
        element("td", { colspan: table.tHead.rows[0].cells.length }, describe(item)));
      item.row.after(item.detail);
      item.button.setAttribute("aria-controls", item.detail.id);
    } else {
      item.detail.remove();
      item.detail = null;
      item.button.removeAttribute("aria-controls");
    }
    item.button.setAttribute("aria-expanded", String(open));
    item.row.classList.toggle("opened", open);
  }

  function describe({ rule, place }) {
    const sections = [conditionList(rule), labelTable(rule), exampleList(rule, place)];
    return element("div", { class: "details" }, ...sections.filter((section) => section !== null));
  }

  function conditionList(rule) {
    const data = rule.data;
    const items = rule.body.map((condition, i) => element("li", {}, plurule.conditionElement(condition),
      data === undefined ? "" : element("span", { class: "note" }, ` leaves ${data.passing[i]} instances`)));
    const counts = `When it was learned: coverage ${plurule.shortNumber(rule.coverage)}, ${plurule.shortNumber(rule.tp)} right and `
      + `${plurule.shortNumber(rule.fp)} wrong predictions (TP, FP), those of labels that earlier rules decide among them.`;
    return element("div", {},
      element("h3", {}, rule.body.length === 0 ? "No conditions" : "Conditions"),
      data === undefined ? "" : element("p", { class: "note" }, `${data.reached} instances come as far as this rule.`),
      items.length === 0 ? "" : element("ol", { class: "conditions" }, ...items),
      rule.tp + rule.fp === 0 ? "" : element("p", { class: "note" }, counts));
  }

  function labelTable(rule) {
    const trained = rule.decided.length > 0;
    const data = rule.data;
    const known = data !== undefined && data.decided.every(([, right]) => right >= 0);
    const header = element("tr", {}, element("th", { scope: "col" }, "Label"));
    const columns = [];
    if (trained) {
      columns.push("in training", "right");
    }
    if (data !== undefined) {
      columns.push("in the data", ...(known ? ["right"] : []));
    }
    header.append(...columns.map((name) => element("th", { scope: "col", class: "count" }, name)));
    const lines = rule.head.map(([label, present], i) => {
      const cells = [];
      if (trained) {
        const [right, wrong] = rule.decided[i];
        cells.push(plurule.shortNumber(right + wrong), plurule.shareText(right, right + wrong));
      }
      if (data !== undefined) {
        const [decided, right] = data.decided[i];
        cells.push(String(decided), ...(known ? [plurule.shareText(right, decided)] : []));
      }
      return element("tr", {}, element("th", { scope: "row" },
        element("a", { href: `#label-${label}` }, plurule.labelElement(label, present))),
        ...cells.map((text) => element("td", { class: "count" }, text)));
    });
    return element("div", {}, element("h3", {}, "What it decides"),
      element("div", { class: "tall", tabindex: 0, role: "region", "aria-label": "What it decides" },
        element("table", { class: "plain" }, element("thead", {}, header), element("tbody", {}, ...lines))));
  }

  function exampleList(rule, place) {
    if (model.instances.length === 0) {
      return null;
    }
    const covered = [];
    model.instances.forEach((instance, i) => {
      if (!plurule.covers(rule, instance.values)) {
        return;
      }
      const fired = plurule.outcomeOf(i).fired.find((one) => one.place === place);
      if (fired !== undefined) {
        covered.push({ instance, i, decided: fired.decided });
      }
    });
    const most = 10;
    covered.sort((a, b) => (a.decided.length === 0) - (b.decided.length === 0) || a.i - b.i);
    const items = covered.slice(0, most).map(({ instance, i, decided }) => {
      const link = element("button", { type: "button", class: "link-like" }, instance.name);
      link.addEventListener("click", () => plurule.showInstance(i));
      if (decided.length === 0) {
        return element("li", {}, link, " decides nothing new");
      }
      const parts = decided.map((label) => {
        const present = plurule.model.rules[place].head.find(([l]) => l === label)[1];
        const truth = instance.truth === undefined ? null : instance.truth.includes(label);
        const mark = truth === null ? "" : truth === (present === 1) ? "✓ " : "✗ ";
        return element("span", {}, mark, plurule.labelElement(label, present));
      });
      return element("li", {}, link, plurule.shortList(parts, 3));
    });
    const more = covered.length - items.length;
    return element("div", {},
      element("h3", {}, "Covered examples"),
      element("p", { class: "note" }, `${covered.length} of the ${model.instances.length} instances in this page`),
      element("ul", { class: "examples tall" }, ...items),
      more > 0 ? element("p", { class: "note" }, `and ${more} more`) : "");
  }

  /* Saving what is shown, in its order */

  const saved = {
    rule: (item) => item.place + 1,
    labels: (item) => plurule.headText(item.rule),
    if: (item) => plurule.bodyText(item.rule),
    stop: ({ rule }) => Number(rule.stop),
    coverage: ({ rule }) => rule.coverage,
    tp: ({ rule }) => rule.tp,
    fp: ({ rule }) => rule.fp,
    right_in_training: ({ rule }) => rule.trained[0],
    decided_in_training: ({ rule }) => rule.trained[1],
    ...(rows[0].rule.found === undefined ? {} : {
      right_on_data: ({ rule }) => rule.found.right,
      decided_on_data: ({ rule }) => rule.found.decided,
      low: ({ rule }) => rule.found.low,
      high: ({ rule }) => rule.found.high,
      p: ({ rule }) => rule.found.p,
    }),
  };
  document.getElementById("save-rules").addEventListener("click", () => {
    const lines = inOrder.filter((item) => item.fits).map((item) => Object.values(saved).map((value) => value(item)));
    plurule.saveTable("rules.csv", [Object.keys(saved), ...lines]);
  });

  body.addEventListener("click", (event) => {
    const row = event.target.closest("tr[data-rule]");
    if (row === null || String(window.getSelection()) !== "") {
      return;
    }
    const item = rows[Number(row.dataset.rule)];
    toggle(item, item.detail === null);
  });
  body.addEventListener("keydown", (event) => {
    const row = event.target.closest("tr[data-rule]");
    if (row === null || !["ArrowDown", "ArrowUp", "Escape"].includes(event.key)) {
      return;
    }
    event.preventDefault();
    if (event.key === "Escape") {
      toggle(rows[Number(row.dataset.rule)], false);
      return;
    }
    const step = event.key === "ArrowDown" ? "nextElementSibling" : "previousElementSibling";
    let next = row[step];
    while (next !== null && (next.hidden || next.dataset.rule === undefined)) {
      next = next[step];
    }
    if (next !== null) {
      next.querySelector("button").focus();
    }
  });

  plurule.showRule = function (place) {
    const item = rows[place];
    form.reset();
    setTimeout(() => {
      while (item.row.hidden) {
        limit += atOnce;
        reveal();
      }
      toggle(item, true);
      item.row.scrollIntoView({ block: "center" });
      item.button.focus({ preventScroll: true });
    });
  };
})();
