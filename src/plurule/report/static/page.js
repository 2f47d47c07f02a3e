/* Small helpers, and what concerns the page as a whole. All text goes in as text, never as HTML. */

plurule.element = function (name, attributes, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (value === true) {
      element.setAttribute(key, "");
    } else if (value !== false && value !== undefined) {
      element.setAttribute(key, value);
    }
  }
  element.append(...children);
  return element;
};

plurule.labelElement = function (label, present, extra) {
  const sign = present ? "" : "¬";
  const kind = (present ? "label present" : "label absent") + (extra ? " " + extra : "");
  return plurule.element("bdi", { class: kind }, sign + plurule.model.labels[label]);
};

plurule.conditionElement = function (condition) {
  const { element } = plurule;
  if (condition.label !== undefined) {
    return plurule.labelElement(condition.label, condition.is);
  }
  const [before, name, operator, value] = condition.parts;
  return element("span", { class: "condition" },
    before === "" ? "" : element("span", operator === "" ? {} : { class: "value" }, `${before} `), element("bdi", {}, name),
    operator === "" ? "" : ` ${operator} `, operator === "" ? "" : element("bdi", { class: "value" }, value));
};

/* Pieces with spaces between them; of many only the first, and a button that brings the others. */
plurule.shortList = function (pieces, most) {
  const { element } = plurule;
  const list = element("span", {}, ...pieces.slice(0, most).flatMap((piece) => [" ", piece]));
  if (pieces.length > most) {
    const button = element("button", { type: "button", class: "link-like" }, `+${pieces.length - most} more`);
    button.addEventListener("click", (event) => {
      event.stopPropagation();
      button.replaceWith(...pieces.slice(most).flatMap((piece) => [piece, " "]));
    });
    list.append(" ", button);
  }
  return list;
};

plurule.shortNumber = (number) => String(Number.isInteger(number) ? number : Number(number.toPrecision(4)));

/* A date from text, as seconds since 1970; undefined if it is none. */
function seconds(text) {
  const parts = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d)(:\d\d)?(\.\d{1,6})?)?$/.exec(text);
  const whole = parts === null ? NaN : Date.parse(`${parts[1]}T${parts[2] ?? "00:00"}${parts[3] ?? ":00"}Z`) / 1000;
  return Number.isFinite(whole) ? whole + Number(parts[4] ?? 0) : undefined;
}

/* The number that a text says about an attribute: of dates, seconds; NaN if it says none. */
plurule.parseValue = ({ date }, text) => (date ? seconds(text) : undefined) ?? (text.trim() === "" ? NaN : Number(text));

/* The text of a number, which `parseValue` reads back. */
plurule.valueText = function ({ date }, number) {
  const whole = Math.floor(number);
  if (!date || Math.abs(whole) > 1e11) {
    return String(number);
  }
  const fraction = (number - whole).toFixed(6).replace(/^0|\.?0+$/g, "");
  const text = (new Date(whole * 1000).toISOString().slice(0, 19) + fraction).replace(/T00:00:00$/, "");
  return seconds(text) === number ? text : String(number);
};

plurule.shareText = (part, whole) => (whole ? (100 * part / whole).toFixed(0) + " %" : "–");

plurule.share = ([part, whole]) => (whole ? part / whole : -1);

plurule.bodyText = (rule) => rule.body.map((condition) => plurule.conditionElement(condition).textContent).join(" ∧ ");

/* What a head says: not what another class implies. */
plurule.stated = (rule) => rule.head.filter(([, , implied]) => !implied);

plurule.headText = (rule) => plurule.stated(rule).map(([label, present]) => plurule.labelElement(label, present).textContent).join(", ");

/* Hand a table to the browser as a CSV file. A text that a spreadsheet would take for a formula is marked as text. */
plurule.saveTable = function (name, lines) {
  const cell = (value) => {
    const text = value === undefined ? "" : String(value);
    const plain = typeof value === "string" && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
    return /[",\n\r]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain;
  };
  plurule.saveFile(name, ["\ufeff", ...lines.map((line) => line.map(cell).join(",") + "\r\n")], "text/csv");
};

/* Hand a file to the browser. */
plurule.saveFile = function (name, texts, type) {
  const link = plurule.element("a", { download: name, href: URL.createObjectURL(new Blob(texts, { type })) });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
};

(function chooseTheme() {
  const button = document.getElementById("theme");
  const root = document.documentElement;
  const prefersDark = window.matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : prefersDark.matches);
  const name = () => { button.textContent = isDark() ? "Light colours" : "Dark colours"; };
  button.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    name();
  });
  prefersDark.addEventListener("change", name);
  button.hidden = false;
  name();
})();

/* On paper, what is folded away at the top is open. */
(function openForPrint() {
  const closed = () => document.querySelectorAll(".overview details:not([open])");
  let opened = [];
  window.addEventListener("beforeprint", () => {
    opened = [...closed()];
    opened.forEach((details) => { details.open = true; });
  });
  window.addEventListener("afterprint", () => opened.forEach((details) => { details.open = false; }));
})();

(function markSection() {
  const links = new Map([...document.querySelectorAll("nav a")].map((link) => [link.hash.slice(1), link]));
  const seen = new Set();
  const observer = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      seen[entry.isIntersecting ? "add" : "delete"](entry.target.id);
    }
    let current = null;
    for (const [id, link] of links) {
      link.removeAttribute("aria-current");
      if (current === null && seen.has(id)) {
        current = link;
      }
    }
    if (current !== null) {
      current.setAttribute("aria-current", "true");
    }
  }, { rootMargin: "-80px 0px -60% 0px" });
  document.querySelectorAll("main section").forEach((section) => observer.observe(section));
})();

(function highlightGraph() {
  const graph = document.querySelector("#dependencies svg.graph");
  if (graph === null) {
    return;
  }
  const links = [...graph.querySelectorAll(".link")].map((link) => ({ link, ends: link.dataset.ends.split(" ") }));
  const nodes = [...graph.querySelectorAll(".node")];
  const show = (chosen) => {
    graph.classList.toggle("chosen", chosen !== null);
    const near = new Set([chosen]);
    for (const { link, ends } of links) {
      const touches = ends.includes(chosen);
      link.classList.toggle("near", touches);
      if (touches) {
        ends.forEach((end) => near.add(end));
      }
    }
    nodes.forEach((node) => node.classList.toggle("near", near.has(node.dataset.node)));
  };
  for (const node of nodes) {
    node.addEventListener("mouseenter", () => show(node.dataset.node));
    node.addEventListener("mouseleave", () => show(null));
  }
})();
