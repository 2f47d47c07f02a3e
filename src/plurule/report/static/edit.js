/* The rules under edit: every edit gives a new list, whose scores on the instances of the page are shown beside those of the
   saved one, and is noted for the edit script. The rest of the page is about the saved rules. */

(function editRules() {
  const { model, element } = plurule;
  const byId = (id) => document.getElementById(id);
  const states = [model.rules];
  const edits = [];
  const rules = () => states[states.length - 1];
  const percent = (share) => `${(100 * share).toFixed(1)} %`;

  /* Text */

  function conditionText(condition) {
    if (condition.label !== undefined) {
      return (condition.is ? "" : "¬") + model.labelTexts[condition.label];
    }
    if (condition.comparisons === undefined) {
      return condition.text;
    }
    const { text } = model.attributes[condition.attribute];
    const written = ([operator, number]) => [operator, plurule.valueText(model.attributes[condition.attribute], number)];
    const [first, second] = condition.comparisons.map(written);
    return second === undefined ? `${text} ${first.join(" ")}`
      : `${first[1]} ${first[0].replace(">", "<")} ${text} ${second.join(" ")}`;
  }

  function ruleText(rule) {
    const head = plurule.stated(rule).map(([label, present]) => (present ? "" : "¬") + model.labelTexts[label]).join(", ");
    return `${head} <- ${rule.body.map(conditionText).join(" and ")}${rule.stop ? " [stop]" : ""}`;
  }

  /* Scores */

  const predictions = (list) => model.instances.map(({ values }) => plurule.decide(values, list).predicted.map((value) => Number(value === 1)));
  const isKnown = model.instances.length > 0 && model.instances.every(({ truth }) => truth !== undefined);

  function scores(predicted) {
    let right = 0, hits = 0, missed = 0, exact = 0;
    predicted.forEach((row, i) => {
      const truth = new Set(model.instances[i].truth);
      const wrong = row.filter((value, label) => Boolean(value) !== truth.has(label)).length;
      hits += row.filter((value, label) => value && truth.has(label)).length;
      right += row.length - wrong;
      missed += wrong;
      exact += wrong === 0;
    });
    return {
      "Hamming accuracy": right / (right + missed || 1),
      "micro F1": hits === 0 ? 0 : 2 * hits / (2 * hits + missed),
      "subset accuracy": exact / predicted.length,
    };
  }

  let before = null;

  function showScores() {
    before ??= predictions(model.rules);
    const after = predictions(rules());
    const others = after.filter((row, i) => row.some((value, label) => value !== before[i][label])).length;
    const rows = model.instances.length === 0 ? "The page holds no instances to try them on."
      : `Other labels for ${others} of the ${before.length} instances in this page.`;
    byId("edit-status").textContent = edits.length === 0 ? "No edits yet." : `${edits.length} ${edits.length === 1 ? "edit" : "edits"}. ${rows}`;
    if (!isKnown) {
      return;
    }
    const saved = scores(before);
    const lines = Object.entries(scores(after)).map(([name, score]) => {
      const change = score - saved[name];
      const points = Math.abs(change) < 0.0005 ? "0" : `${change > 0 ? "+" : "−"}${(100 * Math.abs(change)).toFixed(1)}`;
      return element("tr", {}, element("th", { scope: "row" }, name),
        ...[percent(saved[name]), percent(score), points].map((text) => element("td", { class: "count" }, text)));
    });
    byId("edit-scores").tBodies[0].replaceChildren(...lines);
  }

  /* Edits */

  function apply(edit, list, focus) {
    edits.push(edit);
    states.push(list);
    show();
    if (focus !== undefined) {
      const [place, action] = focus;
      const item = byId("edit-list").children[Math.min(place, list.length - 1)];
      (item?.querySelector(`[data-action=${action}]:enabled`) ?? item?.querySelector("button:enabled") ?? byId("add-text")).focus();
    }
  }

  function move(place, to) {
    const list = [...rules()];
    list.splice(to, 0, ...list.splice(place, 1));
    apply({ do: "move", number: place + 1, to: to + 1 }, list, [to, to < place ? "up" : "down"]);
  }

  function remove(place) {
    apply({ do: "remove", numbers: [place + 1] }, rules().filter((_, i) => i !== place), [place, "delete"]);
  }

  function lock(place) {
    const locked = !rules()[place].locked;
    const list = rules().map((rule, i) => (i === place ? { ...rule, locked } : rule));
    apply({ do: locked ? "lock" : "unlock", numbers: [place + 1] }, list, [place, "lock"]);
  }

  function setNumber(place, at, which, input) {
    const rule = rules()[place];
    const comparisons = rule.body[at].comparisons.map(([operator, number], i) => [operator, i === which ? plurule.parseValue(model.attributes[rule.body[at].attribute], input.value) : number]);
    const { attribute } = rule.body[at];
    const range = plurule.range(attribute, comparisons);
    if (input.value.trim() === "" || !Number.isFinite(comparisons[which][1]) || range.above >= range.atMost) {
      input.setAttribute("aria-invalid", "true");
      byId("edit-problem").textContent = `“${input.value}” gives no range that holds a number; rule ${place + 1} stays as it is.`;
      return;
    }
    const changed = { ...rule, body: rule.body.map((condition, i) => (i === at ? range : condition)) };
    apply({ do: "replace", number: place + 1, rule: ruleText(changed) }, rules().map((other, i) => (i === place ? changed : other)), [place, `number-${at}-${which}`]);
  }

  function add(text) {
    const rule = plurule.parseRule(text);
    const wanted = byId("add-at").value === "" ? rules().length + 1 : Number(byId("add-at").value);
    const at = Math.min(Math.max(Math.round(wanted), 1), rules().length + 1);
    const list = [...rules()];
    list.splice(at - 1, 0, rule);
    apply({ do: "add", rule: rule.text, at }, list);
  }

  /* The list */

  function conditionElement(condition, place, at, locked) {
    if (condition.label !== undefined) {
      return plurule.labelElement(condition.label, condition.is);
    }
    if (condition.comparisons === undefined) {
      return condition.parts === undefined ? element("span", { class: "condition" }, describe(condition)) : plurule.conditionElement(condition);
    }
    const { name, date } = model.attributes[condition.attribute];
    const inputs = condition.comparisons.map(([operator, number], which) => {
      const input = element("input", {
        type: date ? "text" : "number", step: "any", class: "threshold", value: plurule.valueText({ date }, number), disabled: locked, "data-action": `number-${at}-${which}`,
        "aria-label": `Rule ${place + 1}: ${name} ${operator}`,
      });
      input.addEventListener("change", () => setNumber(place, at, which, input));
      return input;
    });
    const [first, second] = condition.comparisons;
    const shown = second === undefined ? [element("bdi", {}, name), ` ${sign(first[0])} `, inputs[0]]
      : [inputs[0], ` ${sign(first[0].replace(">", "<"))} `, element("bdi", {}, name), ` ${sign(second[0])} `, inputs[1]];
    return element("span", { class: "condition" }, ...shown);
  }

  const sign = (operator) => operator.replace("<=", "≤").replace(">=", "≥");

  function describe({ attribute, categories, missing }) {
    const { name, categories: all } = model.attributes[attribute];
    return categories === undefined ? `${name} is ${missing ? "missing" : "known"}` : `${name} in {${categories.map((code) => all[code]).join(", ")}}`;
  }

  function button(action, text, title, disabled, run) {
    const made = element("button", { type: "button", class: "small", "data-action": action, "aria-label": title, title, disabled }, text);
    made.addEventListener("click", run);
    return made;
  }

  function listItem(rule, place, list) {
    const number = place + 1;
    const head = plurule.stated(rule).flatMap(([label, present]) => [plurule.labelElement(label, present), " "]);
    const body = rule.body.flatMap((condition, at) => [at === 0 ? "" : " ∧ ", conditionElement(condition, place, at, rule.locked)]);
    const marks = ["stop", "locked"].filter((mark) => rule[mark]).flatMap((mark) => [" ", element("span", { class: "mark" }, mark)]);
    const item = element("li", { class: model.rules.includes(rule) ? "" : "changed" },
      element("span", { class: "note" }, `${number}`),
      element("span", { class: "edit-rule" }, ...head, "← ", ...(body.length === 0 ? [element("span", { class: "always" }, "always")] : body), ...marks),
      element("span", { class: "edit-buttons" },
        button("up", "↑", `Move rule ${number} up`, rule.locked || place === 0, () => move(place, place - 1)),
        button("down", "↓", `Move rule ${number} down`, rule.locked || place === list.length - 1, () => move(place, place + 1)),
        button("lock", rule.locked ? "Unlock" : "Lock", `${rule.locked ? "Unlock" : "Lock"} rule ${number}`, false, () => lock(place)),
        button("delete", "Delete", `Delete rule ${number}`, rule.locked, () => remove(place))));
    return item;
  }

  function show() {
    byId("edit-problem").textContent = "";
    byId("edit-list").replaceChildren(...rules().map(listItem));
    byId("undo").disabled = edits.length === 0;
    byId("save-edits").disabled = edits.length === 0;
    showScores();
  }

  /* Controls */

  byId("add-form").addEventListener("submit", (event) => {
    event.preventDefault();
    const input = byId("add-text");
    try {
      add(input.value);
      input.value = "";
      input.removeAttribute("aria-invalid");
    } catch (error) {
      input.setAttribute("aria-invalid", "true");
      byId("edit-problem").textContent = `This is no rule: ${error.message}.`;
    }
    input.focus();
  });
  byId("undo").addEventListener("click", () => {
    edits.pop();
    states.pop();
    show();
    (edits.length === 0 ? byId("add-text") : byId("undo")).focus();
  });
  byId("save-edits").addEventListener("click", () => {
    plurule.saveFile("edits.json", [`${JSON.stringify({ rules: model.digest, edits }, null, 1)}\n`], "application/json");
  });
  byId("edit-scores").hidden = !isKnown;
  byId("edit-panel").hidden = false;
  // Thousands of rules take a while to lay out, and few readers edit.
  byId("edit-details").addEventListener("toggle", show, { once: true });
})();
