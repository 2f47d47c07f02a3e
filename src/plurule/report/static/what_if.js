/* Enter or pick an instance, and see which rules fire, what they decide, and what would change that; beside another, if wanted. */

(function whatIf() {
  const { model, element } = plurule;
  const byId = (id) => document.getElementById(id);
  const picker = byId("pick");
  const comparison = byId("compare");
  const firedList = byId("fired");
  const values = model.attributes.map(() => null);
  let origin = null;
  let isChanged = true;

  /* How often rules test an attribute decides where it stands. */
  const uses = model.attributes.map(() => 0);
  model.rules.forEach((rule) => rule.body.forEach((c) => { if (c.attribute !== undefined) { uses[c.attribute] += 1; } }));
  const order = model.attributes.map((_, place) => place).sort((a, b) => uses[b] - uses[a] || a - b);

  /* Controls: for each attribute a list of its categories, or a field, with a slider over the values of the data. */

  const controls = new Map();
  for (const place of order) {
    const attribute = model.attributes[place];
    const id = `attribute-${place}`;
    const given = attribute.binary ? ["no", "yes"] : attribute.categories;
    const control = given !== undefined
      ? element("select", { id }, element("option", { value: "" }, "(missing)"),
        ...given.map((category, code) => element("option", { value: code }, category)))
      : element("input", { id, type: "text", inputmode: "decimal", placeholder: "missing", spellcheck: "false" });
    const slider = attribute.range === undefined ? null : makeSlider(attribute);
    for (const event of ["input", "change"]) {
      control.addEventListener(event, () => { read(place); show(); });
    }
    if (slider !== null) {
      slider.addEventListener("input", () => {
        control.value = plurule.valueText(attribute, Number(Number(slider.value).toPrecision(12)));
        read(place);
        show();
      });
    }
    controls.set(place, { control, slider });
    const range = attribute.range === undefined ? attribute.unit : [attribute.range.map((end) => (attribute.date ? plurule.valueText(attribute, end) : plurule.shortNumber(end))).join(" – "), attribute.unit].filter(Boolean).join(" ");
    const about = element("small", { class: "note", id: `${id}-about` }, [range, attribute.description].filter(Boolean).join("; "));
    control.setAttribute("aria-describedby", about.id);
    byId("inputs").append(element("div", { class: "field" },
      element("label", { for: id }, element("bdi", {}, attribute.name)), about,
      element("span", { class: "control" }, control, slider === null ? "" : slider)));
  }

  function makeSlider({ name, range: [low, high], step }) {
    const [min, max] = [Math.floor(low / step) * step, Math.ceil(high / step) * step];
    return element("input", { type: "range", min, max: max > min ? max : min + step, step, "aria-label": `${name}, slider` });
  }

  /* A text that is no number counts as missing, and is marked. */
  function read(place) {
    const { control, slider } = controls.get(place);
    const text = control.value.trim();
    const number = plurule.parseValue(model.attributes[place], text);
    const valid = text === "" || Number.isFinite(number);
    values[place] = text === "" || !valid ? null : number;
    control.setAttribute("aria-invalid", String(!valid));
    slide(slider, values[place]);
    isChanged = true;
  }

  function slide(slider, value) {
    if (slider !== null) {
      slider.classList.toggle("unset", value === null);
      slider.value = value === null ? slider.min : value;
    }
  }

  function write(given) {
    for (const [place, { control, slider }] of controls) {
      values[place] = given[place];
      control.value = given[place] === null ? "" : plurule.valueText(model.attributes[place], given[place]);
      control.setAttribute("aria-invalid", "false");
      slide(slider, given[place]);
    }
  }

  /* What comes out */

  function show() {
    const outcome = plurule.decide(values);
    plurule.outcome = outcome;
    const truth = isChanged ? undefined : model.instances[origin].truth;
    byId("predicted").replaceChildren(...predictedLabels(outcome, truth));
    showFired(outcome.fired, mostIdle);
    if (outcome.fired.length === 0) {
      byId("ended").textContent = "No rule fires: every label is absent by default.";
    } else if (outcome.endedBy >= 0) {
      byId("ended").textContent = `Rule ${outcome.endedBy + 1} is a stop rule and ends the instance.`;
    } else {
      byId("ended").textContent = "Labels that no rule decides are absent by default.";
    }
    picker.value = isChanged ? "" : String(origin);
    const own = isChanged && origin !== null ? `${model.instances[origin].name}, changed` : "your own";
    if (picker.options[0].textContent !== own) {
      picker.options[0].textContent = own;
    }
    byId("reset").disabled = !isChanged;
    const near = plurule.near(values);
    byId("near").replaceChildren(...(near.length > 0 ? near.map(nearItem)
      : [element("li", {}, "No rule is near: three changes of attributes or fewer make no other rule decide.")]));
    showLikely(outcome);
  }

  /* Rules that decide something are all shown; of those that find their labels decided, only so many unless asked for. */
  const mostIdle = 20;
  function showFired(fired, most) {
    let idle = 0;
    const shown = fired.filter(({ decided }) => decided.length > 0 || ++idle <= most);
    firedList.replaceChildren(...shown.map(firedItem));
    if (idle > most) {
      const button = element("button", { type: "button" }, `Show ${idle - most} more rules that find their labels decided`);
      button.addEventListener("click", () => showFired(fired, Infinity));
      firedList.append(element("li", { class: "idle" }, button));
    }
  }

  function predictedLabels({ predicted }, truth) {
    const present = predicted.flatMap((value, label) => (value === 1 ? [label] : []));
    const pieces = [];
    for (const label of present) {
      const isWrong = truth !== undefined && !truth.includes(label);
      pieces.push(plurule.labelElement(label, 1, isWrong ? "wrong" : ""), isWrong ? " (wrong) " : " ");
    }
    if (present.length === 0) {
      pieces.push("none");
    }
    const missed = truth === undefined ? [] : truth.filter((label) => predicted[label] !== 1);
    if (missed.length > 0) {
      pieces.push(element("span", { class: "missed" }, "missed: ",
        ...missed.flatMap((label) => [plurule.labelElement(label, 1, "faint"), " "])));
    }
    return pieces;
  }

  function ruleButton(place) {
    const button = element("button", { type: "button", class: "link-like" }, `Rule ${place + 1}`);
    button.addEventListener("click", () => plurule.showRule(place));
    return button;
  }

  function firedItem({ place, decided }) {
    const rule = model.rules[place];
    const labels = plurule.stated(rule).map(([label, present]) => ({ label, present, late: !decided.includes(label) }))
      .sort((a, b) => a.late - b.late || (rule.head.length > 8 ? b.present - a.present : 0) || a.label - b.label)
      .map(({ label, present, late }) => plurule.labelElement(label, present, late ? "late" : ""));
    const reasons = rule.body.flatMap((condition, i) => [i === 0 ? "" : " ∧ ", ...reason(condition)]);
    const stop = rule.stop && decided.length > 0 ? [" ", element("span", { class: "mark" }, "stop")] : [];
    return element("li", { value: place + 1, "data-rule": place, class: decided.length === 0 ? "idle" : "deciding" }, ruleButton(place), plurule.shortList(labels, 10), ...stop,
      decided.length === 0 ? element("span", { class: "note" }, " (decided before)") : "",
      element("div", { class: "reasons" }, ...(reasons.length === 0 ? ["always"] : reasons)));
  }

  function reason(condition) {
    const piece = plurule.conditionElement(condition);
    const isChoice = condition.categories !== undefined && condition.categories.length > 1;
    if (condition.above === undefined && condition.atMost === undefined && !isChoice) {
      return [piece];
    }
    return [piece, element("span", { class: "note" }, ` (it is ${valueText(condition.attribute, values[condition.attribute])})`)];
  }

  /* `adds blue, removes red if stars ≤ 4`, with a button that makes it so */
  function nearItem({ place, missed, changed, changes }) {
    const isDecided = (label) => model.groups.some((group) => group.includes(label) && changes.some(([other, present]) => present === 1 && group.includes(other)));
    const added = changes.filter(([, present]) => present === 1).map(([label]) => plurule.labelElement(label, 1));
    const removed = changes.filter(([label, present]) => present !== 1 && !isDecided(label))
      .map(([label]) => element("bdi", { class: "label absent" }, model.labels[label]));
    const labels = [
      ...(added.length > 0 ? ["adds", plurule.shortList(added, 6)] : []),
      ...(added.length > 0 && removed.length > 0 ? [", "] : []),
      ...(removed.length > 0 ? ["removes", plurule.shortList(removed, 6)] : []),
    ];
    const conditions = missed.flatMap((condition, i) => [i === 0 ? "" : " ∧ ", plurule.conditionElement(condition),
      element("span", { class: "note" }, ` (it is ${valueText(condition.attribute, values[condition.attribute])})`)]);
    const button = element("button", { type: "button", class: "small" }, "Try it");
    button.addEventListener("click", () => {
      isChanged = true;
      write(changed);
      show();
      byId("reset").focus();
    });
    return element("li", { "data-rule": place }, ...labels, " if ", ...conditions,
      element("span", { class: "note" }, " – "), ruleButton(place), " ", button);
  }

  function valueText(place, value) {
    const { categories, binary, unit } = model.attributes[place];
    const given = binary ? ["no", "yes"] : categories ?? [];
    const text = value === null ? "missing" : plurule.valueText(model.attributes[place], value);
    return value === null ? text : given[value] ?? (unit === undefined ? text : `${text} ${unit}`);
  }

  /* Labels by how likely they are, and the same of the other instance, with what is different there. */
  function showLikely(outcome) {
    const other = comparison.value === "" ? null : Number(comparison.value);
    const outcomes = other === null ? [outcome] : [outcome, plurule.outcomeOf(other)];
    const names = other === null ? ["Probability"] : [isChanged ? "Here" : model.instances[origin].name, model.instances[other].name];
    const likely = model.labels.map((_, label) => ({ label, p: plurule.probability(outcome, label) })).sort((a, b) => b.p - a.p);
    const head = ["Label", ...names.flatMap((name) => [name, "decided by"])];
    const lines = likely.map(({ label }) => element("tr", {},
      element("th", { scope: "row" }, plurule.labelElement(label, 1, outcome.predicted[label] === 1 ? "" : "faint")),
      ...outcomes.flatMap((one) => {
        const p = plurule.probability(one, label);
        return [
          element("td", { class: `count bar good share-${Math.round(50 * p)}` }, p.toFixed(2)),
          element("td", {}, one.decidedBy[label] === -1 ? "no rule" : ruleButton(one.decidedBy[label])),
        ];
      })));
    byId("likely").replaceChildren(titles(head), element("tbody", {}, ...lines));
    byId("differing").hidden = other === null;
    if (other !== null) {
      const theirs = model.instances[other].values;
      const differing = order.filter((place) => values[place] !== theirs[place]).map((place) => element("tr", {},
        element("th", { scope: "row" }, element("bdi", {}, model.attributes[place].name)),
        ...[values, theirs].map((of) => element("td", {}, valueText(place, of[place])))));
      byId("differing-table").replaceChildren(titles(["Attribute", ...names]), element("tbody", {}, ...(differing.length > 0 ? differing
        : [element("tr", {}, element("td", { colspan: 3 }, "in no attribute that the rules test"))])));
    }
  }

  function titles(names) {
    return element("thead", {}, element("tr", {}, ...names.map((name) => element("th", { scope: "col" }, name))));
  }

  /* Picking */

  function pick(place) {
    [origin, isChanged] = [place, false];
    write(model.instances[place].values);
    show();
  }

  plurule.showInstance = function (place) {
    plurule.leaveLabel();
    pick(place);
    byId("what-if").scrollIntoView();
    picker.focus({ preventScroll: true });
  };

  const options = () => model.instances.map((instance, place) => element("option", { value: place }, instance.name));
  picker.append(element("option", { value: "" }, "your own"), ...options());
  comparison.append(element("option", { value: "" }, "no other"), ...options());
  picker.addEventListener("change", () => {
    if (picker.value !== "") {
      pick(Number(picker.value));
    }
  });
  comparison.addEventListener("change", show);
  const step = (by) => {
    const count = model.instances.length;
    const at = origin === null ? (by > 0 ? -1 : count) : origin;
    pick((at + by + count) % count);
  };
  byId("previous").addEventListener("click", () => step(-1));
  byId("next").addEventListener("click", () => step(1));
  const clear = () => {
    [origin, isChanged] = [null, true];
    write(values.map(() => null));
    show();
  };
  byId("clear").addEventListener("click", clear);
  byId("reset").addEventListener("click", () => (origin === null ? clear() : pick(origin)));

  const find = byId("find-attribute");
  find.addEventListener("input", () => {
    const wanted = find.value.toLowerCase();
    for (const [place, { control }] of controls) {
      control.closest(".field").hidden = !model.attributes[place].name.toLowerCase().includes(wanted);
    }
  });
  find.parentElement.hidden = model.attributes.length <= 12;
  byId("instance-form").addEventListener("submit", (event) => event.preventDefault());
  byId("pick-row").hidden = model.instances.length === 0;
  byId("what-if-panel").hidden = false;
  if (model.instances.length > 0) {
    pick(0);
  } else {
    show();
  }
})();
