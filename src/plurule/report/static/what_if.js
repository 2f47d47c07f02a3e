/* Enter or pick an instance, and see which rules fire and what they decide. */

(function whatIf() {
  const { model, element } = plurule;
  const picker = document.getElementById("pick");
  const predictedBox = document.getElementById("predicted");
  const firedList = document.getElementById("fired");
  const ended = document.getElementById("ended");
  const fields = document.getElementById("inputs");
  const values = model.attributes.map(() => null);
  let picked = null;

  /* How often rules test an attribute decides where it stands. */
  const uses = model.attributes.map(() => 0);
  model.rules.forEach((rule) => rule.body.forEach((c) => { if (c.attribute !== undefined) { uses[c.attribute] += 1; } }));
  const order = model.attributes.map((_, place) => place).sort((a, b) => uses[b] - uses[a] || a - b);

  const controls = new Map();
  for (const place of order) {
    const attribute = model.attributes[place];
    const id = `attribute-${place}`;
    let control;
    if (attribute.categories !== undefined) {
      control = element("select", { id }, element("option", { value: "" }, "(missing)"),
        ...attribute.categories.map((category, code) => element("option", { value: code }, category)));
    } else {
      const hint = attribute.range === undefined ? "missing" : `missing (${attribute.range.map(plurule.shortNumber).join(" – ")})`;
      control = element("input", { id, type: "text", inputmode: "decimal", placeholder: hint, spellcheck: "false" });
    }
    for (const event of ["input", "change"]) {
      control.addEventListener(event, () => { read(place); show(); });
    }
    controls.set(place, control);
    fields.append(element("div", { class: "field" },
      element("label", { for: id }, element("bdi", {}, attribute.name)), control));
  }

  /* A text that is no number counts as missing, and is marked. */
  function read(place) {
    const control = controls.get(place);
    const text = control.value.trim();
    const number = Number(text);
    const valid = text === "" || Number.isFinite(number);
    values[place] = text === "" || !valid ? null : number;
    control.setAttribute("aria-invalid", String(!valid));
    picked = null;
  }

  function write(given) {
    for (const [place, control] of controls) {
      values[place] = given[place];
      control.value = given[place] === null ? "" : String(given[place]);
      control.setAttribute("aria-invalid", "false");
    }
  }

  function show() {
    const outcome = plurule.decide(values);
    plurule.outcome = outcome;
    const truth = picked === null ? undefined : model.instances[picked].truth;
    predictedBox.replaceChildren(...predictedLabels(outcome, truth));
    showFired(outcome.fired, mostIdle);
    if (outcome.fired.length === 0) {
      ended.textContent = "No rule fires: every label is absent by default.";
    } else if (outcome.endedBy >= 0) {
      ended.textContent = `Rule ${outcome.endedBy + 1} is a stop rule and ends the instance.`;
    } else {
      ended.textContent = "Labels that no rule decides are absent by default.";
    }
    if (picked === null) {
      picker.value = "";
    }
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

  function firedItem({ place, decided }) {
    const rule = model.rules[place];
    const button = element("button", { type: "button", class: "link-like" }, `Rule ${place + 1}`);
    button.addEventListener("click", () => plurule.showRule(place));
    const labels = rule.head.map(([label, present]) => ({ label, present, late: !decided.includes(label) }))
      .sort((a, b) => a.late - b.late || (rule.head.length > 8 ? b.present - a.present : 0) || a.label - b.label)
      .map(({ label, present, late }) => plurule.labelElement(label, present, late ? "late" : ""));
    const reasons = rule.body.flatMap((condition, i) => [i === 0 ? "" : " ∧ ", ...reason(condition)]);
    const stop = rule.stop && decided.length > 0 ? [" ", element("span", { class: "mark" }, "stop")] : [];
    return element("li", { value: place + 1, "data-rule": place, class: decided.length === 0 ? "idle" : "deciding" }, button, plurule.shortList(labels, 10), ...stop,
      decided.length === 0 ? element("span", { class: "note" }, " (decided before)") : "",
      element("div", { class: "reasons" }, ...(reasons.length === 0 ? ["always"] : reasons)));
  }

  function reason(condition) {
    const piece = plurule.conditionElement(condition);
    if (condition.above === undefined && condition.atMost === undefined) {
      return [piece];
    }
    return [piece, element("span", { class: "note" }, ` (it is ${values[condition.attribute]})`)];
  }

  function pick(place) {
    picked = place;
    picker.value = String(place);
    write(model.instances[place].values);
    show();
  }

  plurule.showInstance = function (place) {
    pick(place);
    document.getElementById("what-if").scrollIntoView();
    picker.focus({ preventScroll: true });
  };

  picker.append(element("option", { value: "" }, "your own"),
    ...model.instances.map((instance, place) => element("option", { value: place }, `instance ${instance.name}`)));
  picker.addEventListener("change", () => {
    if (picker.value !== "") {
      pick(Number(picker.value));
    }
  });
  const step = (by) => {
    const count = model.instances.length;
    const at = picker.value === "" ? (by > 0 ? -1 : count) : Number(picker.value);
    pick((at + by + count) % count);
  };
  document.getElementById("previous").addEventListener("click", () => step(-1));
  document.getElementById("next").addEventListener("click", () => step(1));
  document.getElementById("clear").addEventListener("click", () => {
    picked = null;
    write(values.map(() => null));
    show();
  });

  const find = document.getElementById("find-attribute");
  find.addEventListener("input", () => {
    const wanted = find.value.toLowerCase();
    for (const [place, control] of controls) {
      control.parentElement.hidden = !model.attributes[place].name.toLowerCase().includes(wanted);
    }
  });
  find.parentElement.hidden = model.attributes.length <= 12;
  document.getElementById("instance-form").addEventListener("submit", (event) => event.preventDefault());
  for (const id of ["pick-label", "previous", "next"]) {
    document.getElementById(id).hidden = model.instances.length === 0;
  }
  document.getElementById("what-if-panel").hidden = false;
  if (model.instances.length > 0) {
    pick(0);
  } else {
    show();
  }
})();
