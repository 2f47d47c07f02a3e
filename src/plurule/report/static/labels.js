/* A page for each label, at #label-0, #label-1, …: the rules that speak for it and against it, its scores, its instances. */

(function labelPages() {
  const { model, element } = plurule;
  const byId = (id) => document.getElementById(id);
  const view = byId("label-view");
  const chooser = byId("label-chosen");
  const title = document.title;

  function show(label) {
    const name = model.labels[label];
    chooser.value = String(label);
    document.title = `${name} – ${title}`;
    byId("label-name").textContent = name;
    byId("label-content").replaceChildren(element("p", { class: "note" }, model.descriptions[label]), figures(label), ...ruleTables(label), ...instances(label));
    document.body.classList.add("one-label");
    view.hidden = false;
    window.scrollTo(0, 0);
    byId("label-name").focus({ preventScroll: true });
  }

  plurule.leaveLabel = function () {
    if (!view.hidden) {
      document.body.classList.remove("one-label");
      view.hidden = true;
      document.title = title;
      history.replaceState(null, "", "#labels");
    }
  };

  function figures(label) {
    const of = model.byLabel[label];
    const percent = (share) => (share === null ? "–" : `${(100 * share).toFixed(0)} %`);
    const said = [["rules for it", of.present_rules], ["rules against it", of.absent_rules], ["rules that test it", of.tested],
      ...[["instances with it", "frequency"], ["predicted", "predicted"], ["precision", "precision"], ["recall", "recall"], ["F1", "f1"]]
        .filter(([, key]) => model.byLabel.some((row) => row[key] !== null)).map(([text, key]) => [text, percent(of[key])])];
    return element("dl", { class: "figures" },
      ...said.map(([text, value]) => element("div", {}, element("dt", {}, text), element("dd", {}, String(value)))));
  }

  function ruleTables(label) {
    const about = (present) => model.rules.flatMap((rule, place) => {
      const i = rule.head.findIndex(([of, sign, implied]) => of === label && sign === present && !implied);
      return i === -1 ? [] : [{ rule, place, i }];
    });
    const testing = model.rules.flatMap((rule, place) => (rule.body.some((c) => c.label === label) ? [{ rule, place }] : []));
    return [
      ["Rules for it", about(1), "No rule predicts it: it is never present."],
      ["Rules against it", about(0), "No rule predicts it to be absent."],
      ["Rules that test it", testing, "No rule asks whether it was predicted."],
    ].flatMap(([heading, found, none]) => [element("h3", {}, `${heading} (${found.length})`),
      found.length === 0 ? element("p", { class: "note" }, none) : ruleTable(heading, found)]);
  }

  function ruleTable(heading, found) {
    const isAbout = found[0].i !== undefined;
    const columns = isAbout ? ["if", "in training", ...(found[0].rule.data === undefined ? [] : ["on the data"]), "also"] : ["if", "it predicts"];
    const right = (part, whole) => (part < 0 ? String(whole) : whole ? `${plurule.shareText(part, whole)} of ${plurule.shortNumber(whole)}` : "decides none");
    const lines = found.map(({ rule, place, i }) => {
      const button = element("button", { type: "button", class: "link-like" }, `Rule ${place + 1}`);
      button.addEventListener("click", () => { plurule.leaveLabel(); plurule.showRule(place); });
      const others = plurule.stated(rule).filter(([of]) => !isAbout || of !== rule.head[i][0]);
      const cells = [element("td", {}, plurule.bodyText(rule) || "always")];
      if (isAbout) {
        const [good, bad] = rule.decided.length > 0 ? rule.decided[i] : [rule.tp, rule.fp];
        cells.push(element("td", { class: "count" }, right(good, good + bad)));
        if (rule.data !== undefined) {
          const [decided, rightly] = rule.data.decided[i];
          cells.push(element("td", { class: "count" }, right(rightly, decided)));
        }
      }
      cells.push(element("td", {}, plurule.shortList(others.map(([of, present]) => plurule.labelElement(of, present)), 6)));
      return element("tr", {}, element("th", { scope: "row" }, button), ...cells);
    });
    const header = ["Rule", ...columns].map((name) => element("th", { scope: "col", class: name.includes(" ") && isAbout ? "count" : "" }, name));
    return element("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": heading },
      element("table", { class: "plain of-label" }, element("thead", {}, element("tr", {}, ...header)), element("tbody", {}, ...lines)));
  }

  function instances(label) {
    if (model.instances.length === 0) {
      return [];
    }
    const groups = new Map([["predicted, and right", []], ["predicted, but wrong", []], ["missed: it is there, but not predicted", []], ["predicted", []]]);
    model.instances.forEach((instance, i) => {
      const predicted = plurule.outcomeOf(i).predicted[label] === 1;
      const there = instance.truth === undefined ? null : instance.truth.includes(label);
      const key = there === null ? (predicted ? 3 : -1) : predicted ? (there ? 0 : 1) : there ? 2 : -1;
      if (key >= 0) {
        [...groups.values()][key].push(i);
      }
    });
    const pieces = [...groups].filter(([, found]) => found.length > 0).flatMap(([text, found]) => [
      element("h4", {}, `${text} (${found.length})`),
      element("p", { class: "names" }, plurule.shortList(found.map((i) => {
        const button = element("button", { type: "button", class: "link-like" }, model.instances[i].name);
        button.addEventListener("click", () => plurule.showInstance(i));
        return button;
      }), 40)),
    ]);
    return [element("h3", {}, `Its instances, of the ${model.instances.length} in this page`),
      ...(pieces.length > 0 ? pieces : [element("p", { class: "note" }, "none")])];
  }

  function followAddress() {
    const found = /^#label-(\d+)$/.exec(window.location.hash);
    if (found !== null && Number(found[1]) < model.labels.length) {
      show(Number(found[1]));
    } else if (!view.hidden) {
      const target = window.location.hash;
      plurule.leaveLabel();
      if (target !== "") {
        history.replaceState(null, "", target);
        document.querySelector(target)?.scrollIntoView();
      }
    }
  }

  chooser.append(...model.labels.map((name, label) => element("option", { value: label }, name)));
  chooser.addEventListener("change", () => { window.location.hash = `#label-${chooser.value}`; });
  const step = (by) => { window.location.hash = `#label-${(Number(chooser.value) + by + model.labels.length) % model.labels.length}`; };
  byId("previous-label").addEventListener("click", () => step(-1));
  byId("next-label").addEventListener("click", () => step(1));
  window.addEventListener("hashchange", followAddress);
  followAddress();
})();
