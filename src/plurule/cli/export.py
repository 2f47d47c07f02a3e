"""`plurule export`: a model in another form."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Literal

import typer

from plurule.cli.loading import ModelArgument
from plurule.cli.writing import OutputOption, check_writable, put

Form = Literal["sql", "python", "markdown", "latex", "text"]


def export(
    model: ModelArgument,
    to: Annotated[Form, typer.Option("--to", help="The form.")],
    output: OutputOption = None,
    table: Annotated[str, typer.Option(help="SQL: name of the table with the instances.")] = "instances",
    dialect: Annotated[str, typer.Option(help="SQL: sqlite, duckdb or postgresql.")] = "sqlite",
    key: Annotated[
        list[str] | None, typer.Option(help="SQL: column of the table to return as well; may be repeated.")
    ] = None,
    function: Annotated[str, typer.Option(help="Python: name of the function.")] = "predict",
    caption: Annotated[str | None, typer.Option(help="LaTeX: caption of the table.")] = None,
) -> None:
    """Write a model as SQL, Python, Markdown, LaTeX or text.

    That is a query, a function, a table, or text that can be read back.
    """
    from plurule.cli.loading import load_model
    from plurule.model.text import write

    check_writable(output)
    rule_list = load_model(model)
    forms: dict[Form, Callable[[], str]] = {
        "sql": lambda: rule_list.to_sql(table, dialect, key or ()),
        "python": lambda: rule_list.to_python(function),
        "markdown": rule_list.to_markdown,
        "latex": lambda: rule_list.to_latex(caption),
        "text": lambda: "\n".join(map(write, rule_list)),
    }
    put(forms[to](), output)
