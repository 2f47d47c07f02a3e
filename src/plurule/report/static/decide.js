"use strict";

/* The decision list, run in the page. Numbers are doubles here as in Python, so predictions are the same. */

const plurule = { model: JSON.parse(document.getElementById("model").textContent) };
window.plurule = plurule;

/* Values: a number, the code of a category, or null where missing, for each attribute of the model. */
plurule.satisfies = function (condition, values, predicted) {
  if (condition.label !== undefined) {
    return predicted[condition.label] === condition.is;
  }
  const value = values[condition.attribute];
  if (condition.missing !== undefined) {
    return (value === null) === condition.missing;
  }
  if (value === null) {
    return false;
  }
  if (condition.categories !== undefined) {
    return condition.categories.includes(value);
  }
  return (condition.above === undefined || value > condition.above)
    && (condition.atMost === undefined || value <= condition.atMost);
};

/* Whether all conditions of a rule hold; those on labels only if there are predictions. */
plurule.covers = function ({ body }, values, predicted) {
  for (let i = 0; i < body.length; i++) {
    if ((predicted !== undefined || body[i].label === undefined) && !plurule.satisfies(body[i], values, predicted)) {
      return false;
    }
  }
  return true;
};

/* What the rules decide: per label 1, 0 or -1 (decided by no rule, so absent), the rules that fire in order, and the place
   of the stop rule that ended the instance, or -1. */
plurule.decide = function (values, rules = plurule.model.rules) {
  const { labels } = plurule.model;
  const predicted = new Array(labels.length).fill(-1);
  const decidedBy = new Array(labels.length).fill(-1);
  const fired = [];
  for (let place = 0; place < rules.length; place++) {
    const rule = rules[place];
    if (!plurule.covers(rule, values, predicted)) {
      continue;
    }
    const decided = [];
    for (const [label, present] of rule.head) {
      if (predicted[label] === -1) {
        predicted[label] = present;
        decidedBy[label] = place;
        decided.push(label);
      }
    }
    fired.push({ place, decided });
    if (rule.stop && decided.length > 0) {
      return { predicted, decidedBy, fired, endedBy: place };
    }
  }
  return { predicted, decidedBy, fired, endedBy: -1 };
};

/* How likely a label is present, given what was decided; those of the classes of a column add up to 1. */
plurule.probability = function (outcome, label) {
  const group = plurule.model.groups.find((labels) => labels.includes(label)) ?? [];
  const sum = group.reduce((total, of) => total + implied(outcome, of), 0);
  return implied(outcome, label) / (sum || 1);
};

/* At least as likely as any label that implies it. */
function implied(outcome, label) {
  const labels = new Set([label]);
  for (const above of labels) {
    plurule.model.hierarchy.filter(([, of]) => of === above).forEach(([below]) => labels.add(below));
  }
  return Math.max(...[...labels].map((of) => byItself(outcome, of)));
}

function byItself({ decidedBy }, label) {
  const place = decidedBy[label];
  if (place === -1) {
    return plurule.model.undecided[label];
  }
  const { head, p } = plurule.model.rules[place];
  return p[head.findIndex(([of]) => of === label)];
}

/* What the rules decide for an instance of the page; each is decided once. */
const outcomes = [];
plurule.outcomeOf = (i) => (outcomes[i] ??= plurule.decide(plurule.model.instances[i].values));
