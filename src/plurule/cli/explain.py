"""`plurule explain`: why instances get their labels; `plurule dependencies`: what a model says about labels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from plurule.cli.loading import DataArgument, DataOption, ModelArgument, SplitOption
from plurule.cli.writing import OutputOption, check_writable, put

if TYPE_CHECKING:
    from plurule.inspection import Explanations


Form = Literal["text", "csv", "html"]
StatementForm = Literal["text", "csv", "dot"]


def explain(
    model: ModelArgument,
    data: DataArgument,
    row: Annotated[list[int] | None, typer.Option(help="Row to explain, from 0; may be repeated.")] = None,
    limit: Annotated[
        int | None, typer.Option(help="Explain at most this many rows; 10 if not given, all as CSV.", min=1)
    ] = None,
    form: Annotated[Form, typer.Option("--as", help="What to print.")] = "text",
    split: SplitOption = "all",
    output: OutputOption = None,
) -> None:
    """Say which rule decided each label of instances, and why."""
    from plurule.cli.loading import load_attributes, load_model
    from plurule.errors import DataError

    check_writable(output)
    rule_list = load_model(model)
    table = load_attributes(data, split)
    most = limit or (len(table) if form == "csv" else 10)
    wanted = list(range(min(most, len(table)))) if row is None else row
    outside = [i for i in wanted if not 0 <= i < len(table)]
    if outside:
        raise DataError(f"{data}: there is no row {outside[0]}; rows are numbered from 0 to {len(table) - 1}")
    put(_explained(rule_list.explain(table[wanted]), wanted, form), output)


def _explained(explanations: Explanations, rows: list[int], form: Form) -> str:
    from dataclasses import replace

    from plurule.files import to_csv

    if form == "csv":
        return to_csv([{**record, "instance": rows[record["instance"]]} for record in explanations.to_records()])
    named = [replace(one, instance=row) for one, row in zip(explanations, rows, strict=True)]
    if form == "html":
        from plurule.report import render_explanations

        return render_explanations(named)
    return "\n".join(map(str, named))


def dependencies(
    model: ModelArgument,
    data: DataOption = None,
    split: SplitOption = "all",
    joint_absence: Annotated[bool, typer.Option(help="List labels that are absent together as well.")] = False,
    form: Annotated[StatementForm, typer.Option("--as", help="What to print; dot is for Graphviz.")] = "text",
    output: OutputOption = None,
) -> None:
    """List what the rules say about how labels depend.

    Labels go together, follow from, or exclude each other.
    """
    from plurule.cli.loading import load_model_and_data
    from plurule.files import to_csv

    check_writable(output)
    rule_list, instances = load_model_and_data(model, data, split)
    found = rule_list.dependencies(instances, joint_absence=joint_absence)
    if form == "csv":
        put(to_csv(found.to_records()), output)
    else:
        put(found.to_graph().to_dot() if form == "dot" else str(found), output)
