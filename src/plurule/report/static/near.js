/* Rules that do not fire but almost do, and what would have to be different. */

(function nearRules() {
  const { model } = plurule;
  const mostChanges = 3;
  const mostTried = 100;

  /* The next larger double. */
  function after(number) {
    const bits = new BigInt64Array(1);
    const numbers = new Float64Array(bits.buffer);
    numbers[0] = number === 0 ? 0 : number;
    bits[0] += number < 0 ? -1n : 1n;
    return numbers[0];
  }

  /* Values that may satisfy a condition, those that people would say first. */
  function proposals(condition, { categories, step, date }) {
    if (categories !== undefined) {
      return [...categories.keys(), null];
    }
    const { above, atMost } = condition;
    const round = step === undefined ? [] : [
      ...(above === undefined ? [] : [(Math.floor(above / step) + 1) * step]),
      ...(atMost === undefined ? [] : [Math.floor(atMost / step) * step]),
    ].map((number) => Number(number.toPrecision(12)));
    const exact = [...(above === undefined ? [] : [date ? Math.floor(above) + 1 : after(above)]), ...(atMost === undefined ? [] : [atMost])];
    return [...round, ...exact, 0, 1, null];
  }

  /* How far a value is from another, as a share of what occurs. */
  function distance(from, to, { range }) {
    if (from === null || to === null || range === undefined) {
      return 1;
    }
    return Math.min(Math.abs(to - from) / (range[1] - range[0] || 1), 1);
  }

  /* The value nearest to what is there that satisfies a condition, with how far it is; undefined if none does. */
  function nearestValue(condition, values) {
    const place = condition.attribute;
    const attribute = model.attributes[place];
    const tried = [...values];
    const fitting = proposals(condition, attribute).filter((value) => {
      tried[place] = value;
      return plurule.satisfies(condition, tried, []);
    }).map((value) => ({ value, far: distance(values[place], value, attribute) }));
    // What a step further is as near as what is barely enough: sorting is stable.
    return fitting.sort((a, b) => Math.ceil(a.far * 50) - Math.ceil(b.far * 50))[0];
  }

  /* Of an instance, up to so many sets of conditions, the fewest and nearest first: if they were met, the rule would fire
     and other labels would be predicted. This is tried with the nearest values, since earlier rules may then fire, too. */
  plurule.near = function (values, most = 3) {
    const before = plurule.decide(values);
    const isPresent = ({ predicted }, label) => Number(predicted[label] === 1);
    const candidates = [];
    model.rules.forEach((rule, place) => {
      if (rule.head.every(([label, present]) => isPresent(before, label) === present)) {
        return;
      }
      const missed = rule.body.filter((c) => c.label === undefined && !plurule.satisfies(c, values, before.predicted));
      if (missed.length === 0 || missed.length > mostChanges) {
        return;
      }
      const changed = [...values];
      let far = 0;
      for (const condition of missed) {
        const found = nearestValue(condition, changed);
        if (found === undefined) {
          return;
        }
        changed[condition.attribute] = found.value;
        far += found.far;
      }
      candidates.push({ place, missed, changed, far });
    });
    candidates.sort((a, b) => a.missed.length - b.missed.length || a.far - b.far || a.place - b.place);
    const found = [];
    for (const candidate of candidates.slice(0, mostTried)) {
      const outcome = plurule.decide(candidate.changed);
      const decides = outcome.fired.some(({ place, decided }) => place === candidate.place
        && decided.some((label) => isPresent(outcome, label) !== isPresent(before, label)));
      if (decides) {
        const changes = model.labels.flatMap((_, label) => (
          isPresent(outcome, label) === isPresent(before, label) ? [] : [[label, isPresent(outcome, label)]]));
        found.push({ ...candidate, changes });
      }
      if (found.length === most) {
        break;
      }
    }
    return found;
  };
})();
