/* Rules from text, as `plurule.model.text` reads them, about the labels and attributes of the page. */

(function ruleText() {
  const { model } = plurule;
  const number = /[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?![\w.])/y;
  const bound = new RegExp(`\\d{4}-\\d\\d-\\d\\d(?:[T ]\\d\\d:\\d\\d(?::\\d\\d(?:\\.\\d{1,6})?)?)?(?![\\w.:-])|${number.source}`, "y");
  const comparison = /<=|≤|>=|≥|==|=|≠|!=|>|<(?!-)/y;
  const below = ["<=", "≤", "<"];
  const notEqual = ["≠", "!="];
  const byName = (names, texts) => new Map([...names.map((name, i) => [name, i]), ...texts.map((text, i) => [text, i])]);
  const labels = byName(model.labels, model.labelTexts);
  const attributes = byName(model.attributes.map(({ name }) => name), model.attributes.map(({ text }) => text));

  /* The next smaller double: from 2 on is above the number before 2. */
  plurule.before = function (value) {
    const bits = new BigInt64Array(1);
    const numbers = new Float64Array(bits.buffer);
    numbers[0] = value === 0 ? -0 : value;
    bits[0] += value > 0 ? -1n : 1n;
    return numbers[0];
  };

  /* A range from its comparisons, each an operator and a number. */
  plurule.range = function (attribute, comparisons) {
    const range = { attribute, comparisons };
    for (const [operator, value] of comparisons) {
      const isNext = operator === ">=" || operator === "<";
      range[operator.startsWith(">") ? "above" : "atMost"] = isNext ? plurule.before(value) : value;
    }
    return range;
  };

  /* The head with all that it implies, in label order. */
  plurule.completed = function (stated) {
    const values = new Map(stated);
    const waiting = [...stated];
    const imply = (label, present) => {
      if (values.has(label) && values.get(label) !== present) {
        throw new Error(`the labels of the head contradict each other at ${model.labels[label]}`);
      }
      if (!values.has(label)) {
        values.set(label, present);
        waiting.push([label, present]);
      }
    };
    for (const [label, present] of waiting) {
      if (present) {
        model.groups.filter((group) => group.includes(label)).flat().forEach((other) => other === label || imply(other, 0));
        model.hierarchy.forEach(([low, high]) => low === label && imply(high, 1));
      } else {
        model.hierarchy.forEach(([low, high]) => high === label && imply(low, 0));
      }
    }
    const isStated = new Set(stated.map(([label]) => label));
    return [...values].sort(([a], [b]) => a - b).map(([label, present]) => [label, present, ...(isStated.has(label) ? [] : [1])]);
  };

  plurule.parseRule = function (text) {
    const marks = /\s\[((?:stop|locked)(?:,\s*(?:stop|locked))*)\]\s*$/i.exec(text);
    const whole = marks === null ? text : text.slice(0, marks.index);
    let at = 0;

    const fail = (problem) => {
      throw new Error(`${problem}, found ${/^\s*$/.test(whole.slice(at)) ? "the end of the text" : `“${whole.slice(at, at + 20)}”`}`);
    };
    const skip = () => { at += /^\s*/.exec(whole.slice(at))[0].length; };
    const accept = (pattern) => {
      skip();
      pattern.lastIndex = at;
      const match = pattern.exec(whole);
      at += match === null ? 0 : match[0].length;
      return match;
    };

    /* The longest of some names that stands here, perhaps in quotes; undefined if none does. */
    function known(...maps) {
      skip();
      const quoted = /"(?:[^"\\]|\\.)*"/y;
      quoted.lastIndex = at;
      const token = quoted.exec(whole);
      const chunk = token ?? /^[^,<>=≤≥≠←∧&¬"\\{}]+/.exec(whole.slice(at));
      const ends = chunk === null ? [] : token ? [token[0].length] : [...chunk[0].matchAll(/\S+/g)].map((word) => word.index + word[0].length);
      return ends.reverse().map((end) => whole.slice(at, at + end))
        .find((name) => maps.some((map) => map.has(name)) && (token || !/\s(?:is\s+(?:missing|known)|(?:not\s+)?in)$/i.test(name)));
    }
    function name(expected, ...maps) {
      const found = known(...maps);
      if (found === undefined) {
        fail(`expected ${expected}`);
      }
      at += found.length;
      return found;
    }
    const isNegated = (...maps) => accept(/not?(?=\s*")/iy) !== null || (known(...maps) === undefined && accept(/¬|!|not?\b/iy) !== null);
    const readNumber = (attribute) => {
      const match = accept(bound);
      const { date } = attribute === undefined ? {} : model.attributes[attribute];
      const value = match === null ? NaN : plurule.parseValue({ date }, match[0]);
      return Number.isFinite(value) ? value : fail(date ? "expected a date such as 2024-09-19" : "expected a number");
    };

    function interval() {
      const start = at;
      const low = accept(bound);
      const first = low && accept(comparison)?.[0];
      if (!below.includes(first) || accept(bound) !== null) {
        at = start;
        return null;
      }
      const attribute = attributes.get(name("an attribute that rules of this page test", attributes));
      const lowest = plurule.parseValue(model.attributes[attribute], low[0]);
      if (!Number.isFinite(lowest)) {
        fail(`expected numbers around ${model.attributes[attribute].name}`);
      }
      const second = accept(comparison)?.[0];
      if (!below.includes(second)) {
        fail("expected '<=' or '<'");
      }
      return numeric(attribute, [[first === "<" ? ">" : ">=", lowest], [second === "<" ? "<" : "<=", readNumber(attribute)]]);
    }
    function numeric(attribute, comparisons) {
      if (model.attributes[attribute].categories !== undefined) {
        fail(`${model.attributes[attribute].name} has categories, expected '='`);
      }
      const range = plurule.range(attribute, comparisons);
      return range.above >= range.atMost ? fail("expected an interval that holds a number") : range;
    }
    function categories(attribute, negated, many) {
      const { categories: all, categoryTexts: texts, name: title } = model.attributes[attribute];
      if (all === undefined) {
        fail(`${title} is a number, expected '<=' or '>'`);
      }
      const codes = byName(all, texts ?? all.map((category) => JSON.stringify(category)));
      const chosen = [];
      do {
        chosen.push(codes.get(name(`a category of ${title}`, codes)));
      } while (many && accept(/,/y));
      if (many && !accept(/\}/y)) {
        fail("expected '}'");
      }
      return { attribute, categories: [...all.keys()].filter((code) => chosen.includes(code) !== negated) };
    }
    function presence(attribute, present) {
      const { categories: all, binary, name: title } = model.attributes[attribute];
      if (binary) {
        return plurule.range(attribute, [[present ? ">" : "<=", 0.5]]);
      }
      const code = (all ?? []).findIndex((category) => (present ? ["yes", "true", "1"] : ["no", "false", "0"]).includes(category.toLowerCase()));
      return code === -1 || all.length !== 2 ? fail(`expected a comparison after ${title}`) : { attribute, categories: [code] };
    }

    function condition() {
      const range = interval();
      if (range !== null) {
        return range;
      }
      const negated = isNegated(labels, attributes);
      const found = name("a label or an attribute that rules of this page test", labels, attributes);
      const attribute = attributes.get(found);
      const suffix = accept(/is\s+(missing|known)\b|(not\s+)?in\s*\{/iy);
      const operator = suffix === null ? accept(comparison)?.[0] : undefined;
      if (suffix === null && operator === undefined) {
        return labels.has(found) ? { label: labels.get(found), is: Number(!negated) } : presence(attribute, !negated);
      }
      if (negated) {
        fail("only labels can be negated");
      }
      if (attribute === undefined) {
        const value = readNumber();
        return (value === 0 || value === 1) && operator?.startsWith("=") ? { label: labels.get(found), is: value } : fail("a label is compared with = 1 or = 0");
      }
      if (suffix !== null) {
        return suffix[1] === undefined ? categories(attribute, suffix[2] !== undefined, true) : { attribute, missing: suffix[1].toLowerCase() === "missing" };
      }
      if (operator.startsWith("=") || notEqual.includes(operator)) {
        return categories(attribute, notEqual.includes(operator), false);
      }
      return numeric(attribute, [[operator.replace("≤", "<=").replace("≥", ">="), readNumber(attribute)]]);
    }

    const stated = [];
    do {
      const present = Number(!isNegated(labels));
      const label = labels.get(name("a label", labels));
      if (stated.some(([other]) => other === label)) {
        fail(`expected each label once, ${model.labels[label]} is there twice`);
      }
      stated.push([label, present]);
    } while (accept(/,/y));
    if (accept(/<-|←|:-/y) === null) {
      fail("expected ',' and a label, or '<-'");
    }
    const body = [];
    for (skip(); at < whole.length; skip()) {
      if (body.length > 0 && accept(/∧|&&?|and\b/iy) === null) {
        fail("expected 'and' or the end");
      }
      body.push(condition());
    }
    const isMarked = (mark) => marks !== null && marks[1].toLowerCase().includes(mark);
    return { head: plurule.completed(stated), body, stop: isMarked("stop"), locked: isMarked("locked"), text: text.trim() };
  };
})();
