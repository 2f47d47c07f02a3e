"""A rule list as an ONNX model of plain operators, and the conversion of pipelines by skl2onnx.

Each condition becomes a column of truth values, each rule the conjunction of its conditions. Per label, the rules are
gone through from last to first and each overwrites the number and probability of those after it where it fires: what is
left is that of the first rule that fires. A rule that tests labels reads the columns of the rules before it. As in SQL,
stop rules are applied in the end: the first stop rule whose number is among the numbers ends the instance, and later
numbers do not count.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np

from plurule._prediction.apply import probability_by_rule
from plurule.data.targets import MARGIN
from plurule.errors import ModelError
from plurule.model import Condition, LabelCondition, MissingCondition, RangeCondition, RuleList
from plurule.model.rule import bottom_up

if TYPE_CHECKING:
    from plurule._estimator import RuleListPredictor

OPSET = 15
"""Version of the operators; all runtimes since 2021 know it."""
ML_OPSET = 2
INT32, INT64, BOOL, DOUBLE = 6, 7, 9, 11
"""Types, as ONNX numbers them."""
OUTPUTS = ("labels", "probabilities", "rules")
COMPARISONS = {">": "Greater", ">=": "GreaterOrEqual", "<": "Less", "<=": "LessOrEqual"}


def to_onnx(rule_list: RuleList) -> bytes:
    """Return an ONNX model that predicts labels, their probabilities, and the rules that decide them (needs onnx).

    Parameters
    ----------
    rule_list
        The rules.

    Returns
    -------
    bytes
        A model with an input for each attribute that rules test, under its name and of shape (rows, 1): doubles, NaN
        where missing (of dates, the seconds since 1970-01-01), or for a nominal attribute strings, of which any that is
        no category is a missing value. The outputs, of shape (rows, labels), are `labels` (0 and 1), `probabilities`,
        and `rules`, the number of the rule that decided (0 for none). Outputs get an underscore at their end if an
        attribute has the name of one.

    Examples
    --------
    >>> import onnxruntime
    >>> from plurule import RuleList
    >>> rules = RuleList.from_text("red <- stripes > 2\\nwhite <- red", ["stripes"], ["red", "white"])
    >>> session = onnxruntime.InferenceSession(to_onnx(rules))
    >>> labels, probabilities, numbers = session.run(None, {"stripes": np.array([[1.0], [3.0]])})
    >>> labels.tolist(), numbers.tolist()
    ([[0, 0], [1, 1]], [[0, 0], [1, 2]])
    """
    try:
        import onnx
    except ImportError as error:
        raise ImportError("ONNX models need onnx: pip install 'plurule[onnx]'") from error
    from onnx import TensorProto, helper

    # A list that tests nothing needs an input all the same, to know how many rows there are.
    read = rule_list.tested_attributes() or list(range(len(rule_list.attributes)))[:1]
    if not read:
        raise ModelError("a list without attributes cannot be an ONNX model: no input says how many rows there are")
    names = [rule_list.attributes[i].name for i in read]
    for name in names:
        if not name or _is_broken(name):
            raise ModelError(f"ONNX allows no input named {name!r}; rename the attribute")
    outputs = list(OUTPUTS)
    while set(outputs) & set(names):
        outputs = [f"{output}_" for output in outputs]
    graph = Graph(_numbered({*names, *outputs}))
    kinds = [TensorProto.STRING if rule_list.attributes[i].is_nominal else TensorProto.DOUBLE for i in read]
    results = _rules(graph, rule_list, dict(zip(read, names, strict=True)))
    for result, output in zip(results, outputs, strict=True):
        graph.nodes.append(helper.make_node("Identity", [result], [output]))
    shape = [None, len(rule_list.labels)]
    output_kinds = (TensorProto.INT64, TensorProto.DOUBLE, TensorProto.INT64)
    model = helper.make_model(
        helper.make_graph(
            graph.nodes,
            "rules",
            [helper.make_tensor_value_info(n, kind, [None, 1]) for n, kind in zip(names, kinds, strict=True)],
            [helper.make_tensor_value_info(n, kind, shape) for n, kind in zip(outputs, output_kinds, strict=True)],
            [onnx.numpy_helper.from_array(value, name) for name, value in graph.constants.items()],
        ),
        opset_imports=[helper.make_opsetid("", OPSET), helper.make_opsetid("ai.onnx.ml", ML_OPSET)],
        ir_version=8,
        producer_name="plurule",
        doc_string="\n".join(f"{number}: {rule.to_text()}" for number, rule in enumerate(rule_list, start=1)),
    )
    onnx.checker.check_model(model)
    return model.SerializeToString()


def _numbered(taken: set[str]) -> Callable[[], str]:
    """Return a function that gives names v1, v2, … without those that are taken."""
    free = (name for number in count(1) if (name := f"v{number}") not in taken)
    return lambda: next(free)


class Graph:
    """Nodes and constants under construction, none of them twice."""

    def __init__(self, new_name: Callable[[], str]) -> None:
        self.new_name = new_name
        self.nodes: list[Any] = []
        self.constants: dict[str, Any] = {}
        self.known: dict[Any, str] = {}
        """Names of results by operator, inputs and attributes, and of constants by value."""

    def add(self, operator: str, *inputs: str, domain: str = "", **attributes: Any) -> str:
        """Add a node and return the name of its result."""
        from onnx import helper

        key = (operator, inputs, str(attributes))
        if key not in self.known:
            self.known[key] = self.new_name()
            node = helper.make_node(operator, inputs, [self.known[key]], domain=domain, **attributes)
            self.nodes.append(node)
        return self.known[key]

    def constant(self, values: Any, dtype: Any) -> str:
        """Add a constant and return its name."""
        array = np.asarray(values, dtype)
        key = (str(array.tolist()), array.shape, array.dtype.str)
        if key not in self.known:
            self.known[key] = self.new_name()
            self.constants[self.known[key]] = array
        return self.known[key]


def _rules(graph: Graph, rule_list: RuleList, inputs: dict[int, str]) -> tuple[str, str, str]:
    """Add the rules, given the columns that they test; the names of labels, probabilities and numbers of rules."""
    columns = {}
    for index, name in inputs.items():
        categories = rule_list.attributes[index].categories
        # Operators are slow on matrices of one column.
        column = graph.add("Squeeze", name, graph.constant([1], np.int64))
        columns[index] = column if categories is None else _codes(graph, column, categories)
    some_column = next(iter(columns.values()))
    never = graph.add("Less", some_column, some_column)
    fires = _fires(graph, rule_list, columns, never)
    shares = probability_by_rule(rule_list)
    nothing = graph.add("Cast", never, to=INT32)
    unknown = [graph.constant([share], np.float64) for share in shares[-1]]
    # Per label the number of the rule that decides, negative if the label is absent, and the probability.
    numbers = [nothing] * len(rule_list.labels)
    probabilities = [graph.add("Where", never, share, share) for share in unknown]
    for position in reversed(range(len(rule_list))):
        for assignment in rule_list[position].head:
            label = assignment.index
            number = graph.constant([position + 1 if assignment.present else -position - 1], np.int32)
            share = graph.constant([shares[position, label]], np.float64)
            numbers[label] = graph.add("Where", fires[position], number, numbers[label])
            probabilities[label] = graph.add("Where", fires[position], share, probabilities[label])
    if any(rule.stop for rule in rule_list):
        last = _last_rule(graph, rule_list, numbers)
        for label, number in enumerate(numbers):
            is_before = graph.add("LessOrEqual", graph.add("Abs", number), last)
            numbers[label] = graph.add("Where", is_before, number, nothing)
            probabilities[label] = graph.add("Where", is_before, probabilities[label], unknown[label])
    decided = _matrix(graph, numbers)
    labels = graph.add("Cast", graph.add("Greater", decided, graph.constant([0], np.int32)), to=INT64)
    rules = graph.add("Cast", graph.add("Abs", decided), to=INT64)
    return labels, _matrix(graph, _enforce_hierarchy(graph, rule_list, probabilities)), rules


def _matrix(graph: Graph, columns: Sequence[str]) -> str:
    """Add a matrix of some columns."""
    rows = [graph.add("Unsqueeze", column, graph.constant([0], np.int64)) for column in columns]
    return graph.add("Transpose", graph.add("Concat", *rows, axis=0), perm=[1, 0])


def _enforce_hierarchy(graph: Graph, rule_list: RuleList, probabilities: Sequence[str]) -> list[str]:
    """Return the columns of probabilities, that of a label at least that of any label which implies it."""
    raised = list(probabilities)
    for below, above in bottom_up(rule_list.hierarchy):
        raised[above] = graph.add("Max", raised[above], raised[below])
    return raised


def _codes(graph: Graph, name: str, categories: Sequence[str]) -> str:
    """Add a column of the places of categories, -1 for all else."""
    held = {category: code for code, category in enumerate(categories) if not _is_broken(category)}
    keys = {"keys_strings": list(held), "values_int64s": list(held.values())}
    return graph.add("LabelEncoder", name, domain="ai.onnx.ml", default_int64=-1, **keys)


def _is_broken(text: str) -> bool:
    return any("\ud800" <= character <= "\udfff" for character in text)


def _fires(graph: Graph, rule_list: RuleList, columns: dict[int, str], never: str) -> list[str]:
    """Add a column per rule that says where its body holds, stop rules aside."""
    fires: list[str] = []
    always = graph.add("Not", never)
    tested = {condition.index for rule in rule_list for condition in rule.label_conditions}
    decided = dict.fromkeys(tested, never)
    present = dict.fromkeys(tested, never)
    for rule in rule_list:
        holds = ""
        for condition in rule.body:
            if isinstance(condition, LabelCondition):
                value = present[condition.index]
                if not condition.present:
                    value = graph.add("And", decided[condition.index], graph.add("Not", value))
            else:
                value = _condition(graph, condition, columns[condition.index], rule_list)
            holds = graph.add("And", holds, value) if holds else value
        fires.append(holds or always)
        for assignment in rule.head:
            label = assignment.index
            if label in tested:
                if assignment.present:
                    newly = graph.add("And", fires[-1], graph.add("Not", decided[label]))
                    present[label] = graph.add("Or", present[label], newly)
                decided[label] = graph.add("Or", decided[label], fires[-1])
    return fires


def _condition(graph: Graph, condition: Condition, column: str, rule_list: RuleList) -> str:
    categories = rule_list.attributes[condition.index].categories
    if categories is not None:
        # The last entry, which -1 picks, is for missing values.
        table = condition.mask(np.array([*range(len(categories)), -1]), categories)
        return graph.add("Gather", graph.constant(table, np.bool_), column)
    if isinstance(condition, MissingCondition):
        is_missing = graph.add("IsNaN", column)
        return is_missing if condition.missing else graph.add("Not", is_missing)
    assert isinstance(condition, RangeCondition)
    tests = [
        graph.add(COMPARISONS[operator], column, graph.constant([bound], np.float64))
        for operator, bound in condition.comparisons()
    ]
    return tests[0] if len(tests) == 1 else graph.add("And", *tests)


def _last_rule(graph: Graph, rule_list: RuleList, numbers: list[str]) -> str:
    """Add the number of the first stop rule that decides something; larger than all numbers where none does."""
    last = graph.constant([len(rule_list) + 1], np.int32)
    for position in reversed(range(len(rule_list))):
        rule = rule_list[position]
        if rule.stop:
            decides = ""
            for assignment in rule.head:
                number = graph.constant([position + 1 if assignment.present else -position - 1], np.int32)
                is_number = graph.add("Equal", numbers[assignment.index], number)
                decides = graph.add("Or", decides, is_number) if decides else is_number
            last = graph.add("Where", decides, graph.constant([position + 1], np.int32), last)
    return last


# Conversion by skl2onnx -----------------------------------------------------------------------------------------------


def declare_outputs(scope: Any = None, inputs: Any = None) -> list[tuple[str, Any]]:
    """Return the outputs of a classifier in a converted pipeline; their types are set by `set_types`."""
    from skl2onnx.common.data_types import DoubleTensorType

    return [(name, DoubleTensorType()) for name in ("label", "probabilities", "rules")]


def set_types(operator: Any) -> None:
    """Set the types of the outputs of a classifier in a converted pipeline."""
    from skl2onnx.common.data_types import DoubleTensorType, Int64TensorType, StringTensorType

    classifier = operator.raw_operator
    classes = classifier._form.classes
    n_labels = len(classifier.rule_list_.labels)
    label, probabilities, rules = operator.outputs
    if classes is None:
        label.set_type(Int64TensorType([None, n_labels]))
    else:
        label.set_type((StringTensorType if classes.dtype.kind in "OU" else Int64TensorType)([None]))
    probabilities.set_type(DoubleTensorType([None, n_labels if classes is None else len(classes)]))
    rules.set_type(Int64TensorType([None, n_labels]))


def convert(scope: Any, operator: Any, container: Any) -> None:
    """Add a classifier to a converted pipeline, with the outputs that `declare_outputs` lists."""
    from onnx import helper, numpy_helper

    classifier = operator.raw_operator
    rule_list = classifier.rule_list_
    graph = Graph(lambda: scope.get_unique_variable_name("plurule"))
    columns = _columns_of(graph, rule_list, operator.inputs)
    labels, probabilities, rules = _rules(graph, rule_list, columns)
    labels, probabilities = _in_form(graph, classifier, labels, probabilities)
    for result, output in zip((labels, probabilities, rules), operator.outputs, strict=True):
        graph.nodes.append(helper.make_node("Identity", [result], [output.full_name]))
    for name, value in graph.constants.items():
        tensor = numpy_helper.from_array(value, name)
        container.add_initializer(name, tensor.data_type, value.shape, value.ravel().tolist())
    for node in graph.nodes:
        container.add_node(
            node.op_type,
            list(node.input),
            list(node.output),
            op_domain=node.domain,
            op_version=ML_OPSET if node.domain else OPSET,
            name=scope.get_unique_operator_name("plurule"),
            **{attribute.name: helper.get_attribute_value(attribute) for attribute in node.attribute},
        )


def _columns_of(graph: Graph, rule_list: RuleList, inputs: Sequence[Any]) -> dict[int, str]:
    """Add the tested columns of what is given: matrices side by side."""
    from skl2onnx.common.data_types import StringTensorType

    n_columns = len(rule_list.attributes)
    widths = [variable.type.shape[1] if len(inputs) > 1 else n_columns for variable in inputs]
    if sum(widths) != n_columns:
        raise ModelError(f"the inputs have {sum(widths)} columns, the rules were learned from {n_columns}")
    places = [(variable, place) for variable, width in zip(inputs, widths, strict=True) for place in range(width)]
    columns = {}
    for index in rule_list.tested_attributes() or [0]:
        variable, place = places[index]
        attribute = rule_list.attributes[index]
        if attribute.is_nominal != isinstance(variable.type, StringTensorType):
            expected = "strings" if attribute.is_nominal else "numbers"
            raise ModelError(
                f"the attribute {attribute.name!r} takes {expected}, but {variable.raw_name!r} holds others"
            )
        column = graph.add("Gather", variable.full_name, graph.constant([place], np.int64), axis=1)
        columns[index] = column if attribute.is_nominal else graph.add("Cast", column, to=DOUBLE)
    return columns


def _in_form(graph: Graph, classifier: RuleListPredictor, labels: str, probabilities: str) -> tuple[str, str]:
    """Add labels and probabilities in the form that the classifier predicts: as they are, or as classes."""
    classes = classifier._form.classes
    if classes is None:
        return labels, probabilities
    if len(classes) == 1 or classes.dtype.kind not in "OUiub":
        raise ModelError(f"the classes {classes.tolist()} cannot be an output of ONNX; take texts or whole numbers")
    # As `TargetForm.probabilities`: the predicted class is the most probable.
    at_least = graph.add("Max", probabilities, graph.constant([0.5 + MARGIN], np.float64))
    at_most = graph.add("Min", probabilities, graph.constant([0.5 - MARGIN], np.float64))
    probabilities = graph.add("Where", graph.add("Cast", labels, to=BOOL), at_least, at_most)
    if classifier._form.is_one_label:
        rest = graph.add("Sub", graph.constant([1.0], np.float64), probabilities)
        probabilities = graph.add("Concat", rest, probabilities, axis=1)
        place = graph.add("Squeeze", labels, graph.constant([1], np.int64))
    else:
        total = graph.add("ReduceSum", probabilities, graph.constant([1], np.int64), keepdims=1)
        probabilities = graph.add("Div", probabilities, total)
        place = graph.add("ArgMax", labels, axis=1, keepdims=0)
    held = classes.astype(np.int64) if classes.dtype.kind in "iub" else classes.astype(object)
    return graph.add("Gather", graph.constant(held, held.dtype), place), probabilities
