"""The arguments and options of commands: what they are called, and what their help says.

The signature of a command has their types and defaults. What is called `tune.folds` here is the option of one command.
What is `writable` names a file to write, which is looked at before the work.
"""

from __future__ import annotations

from typing import Any

from typer import Argument, Option

EMBEDDED = "world-flags"
"""The name by which the embedded data can be given to every command."""
DEFAULT_FOLDS = "10"
REPEATS, QUICK_REPEATS = 5, 2

PAIR = "Which part of a -train/-test pair"
COLUMNS = "names or patterns separated by commas, first:3, last:3, or a Mulan XML file."
EXPERT_PANEL = "What experts know"


def _output(text: str) -> Any:
    """The option that names the file to write."""
    return Option("--output", "-o", metavar="FILE", help=text, writable=True)


ARGUMENTS: dict[str, Any] = {
    "data": Argument(
        metavar="DATA", help=f"Data file (CSV, ARFF, …), base name of a -train/-test pair, or {EMBEDDED}."
    ),
    "model": Argument(metavar="MODEL", help="Model file, as written by plurule fit."),
    "before": Argument(metavar="BEFORE", help="Model file."),
    "after": Argument(metavar="AFTER", help="Another model file."),
    "rule": Argument(metavar="RULE", help="Such as 'red, ¬blue <- stripes > 2 and continent = Asia'."),
    "number": Argument(metavar="NUMBER", help="Number of the rule."),
    "numbers": Argument(metavar="NUMBERS", help="Numbers of the rules."),
    "to": Argument(metavar="TO", help="Number that the rule gets."),
    "name": Argument(help="Name of a data set."),
    "names": Argument(help="Names of data sets."),
    "source": Argument(metavar="FROM", help="Data file, or base name of a -train/-test pair."),
    "target": Argument(metavar="TO", help="File to write: .arff, .csv, .tsv or .parquet.", writable=True),
    "sources": Argument(
        metavar="[MODEL] DATA",
        help="A model file, as written by plurule fit, and a data file, the base name of a -train/-test pair, or "
        f"{EMBEDDED}; the data alone to train and score.",
    ),
}

OPTIONS: dict[str, Any] = {
    # Data
    "data": Option(
        *("--data", "-d"),
        metavar="DATA",
        help=f"Data to count on: a file, the base name of a -train/-test pair, or {EMBEDDED}.",
    ),
    "reproduce.data": Option(
        help="Folder with the data sets, one folder each; PLURULE_DATA and fetched sets if left out."
    ),
    "labels": Option("--labels", "-l", metavar="LABELS", help=f"Which columns are labels: {COLUMNS}"),
    "reproduce.labels": Option(
        *("--labels", "-l"), help=f"Which columns are labels in sets that do not say so, such as CSV: {COLUMNS}"
    ),
    "split": Option(help=f"{PAIR}."),
    **dict.fromkeys(("show.split", "report.split"), Option(help=f"{PAIR}; the test part if left out.")),
    **dict.fromkeys(("fit.split", "tune.split"), Option(help=f"{PAIR}; the training part if left out.")),
    "evaluate.split": Option(help=f"{PAIR}; left out, the test part for a model, and all to train and score."),
    "drop": Option(help="Column to leave out, such as an identifier; a name or pattern, repeatable."),
    "convert.drop": Option(help="Column to leave out; repeatable."),
    "decimal": Option(help="CSV: what separates the decimals of a number, a point or a comma.", metavar=".|,"),
    "identifier": Option(
        "--id", help="Column of the data that tells rows apart, to be written with them.", metavar="COLUMN"
    ),
    "memory": Option(
        help="Data that need more, such as 2GB, are read in parts and counted from disk; half of what there is if left "
        "out. So are the files of a pattern, 'data/*.parquet'.",
        metavar="SIZE",
    ),
    "dask": Option(help="Run on a Dask cluster: address of its scheduler, tcp://host:8786."),
    "checkpoint": Option(
        help="Of data that are read in parts: keep every rule here as soon as it is learned, and go on from there.",
        metavar="FILE",
    ),
    "cache": Option(
        help="Of data that are read in parts: keep the binned columns in this folder, for the next fit of these files.",
        metavar="FOLDER",
    ),
    "dictionary": Option(
        help="Units and descriptions of attributes and labels, for the report, explanations and exports: a CSV file "
        "with the columns name, unit and description, or YAML.",
        metavar="FILE",
    ),
    "meka": Option("--meka", help="Write ARFF for MEKA instead of Mulan."),
    "nominal": Option(help="CSV column that is nominal though its values are numbers; repeatable."),
    "force": Option("--force", help="Fetch anew though it is there."),
    # Output
    "output": _output("File to write; standard output if not given."),
    "fit.output": _output("Model file to write (JSON); - is standard output. Without it the model is only shown."),
    "tune.output": _output("Model file to write (JSON), trained with what was chosen."),
    "evaluate.output": _output("Write the scores to this file: JSON, or CSV if it ends in .csv."),
    "report.output": _output("HTML file to write."),
    **dict.fromkeys(("edit.output", "simplify.output"), _output("Model file to write; may be the same as MODEL.")),
    "as_json": Option("--json", help="Print as JSON."),
    "evaluate.as_json": Option("--json", help="Print the scores as JSON."),
    "as_csv": Option("--csv", help="Print the scores as CSV."),
    "probabilities": Option("--proba", help="Write probabilities instead of 0 and 1."),
    "plain": Option("--plain", help="One rule per line, thresholds in full, nothing else."),
    "explain.form": Option("--as", help="What to print."),
    "dependencies.form": Option("--as", help="What to print; dot is for Graphviz."),
    "export.to": Option("--to", help="The form."),
    "export.table": Option(help="SQL: name of the table with the instances."),
    "dialect": Option(help="SQL: sqlite, duckdb or postgresql."),
    "key": Option(help="SQL: column of the table to return as well; may be repeated."),
    "function": Option(help="Python: name of the function."),
    "caption": Option(help="LaTeX: caption of the table."),
    "title": Option(help="What stands at the top of the page."),
    "html": Option(help="HTML page to write, with a graph of the labels.", writable=True),
    "out": Option(help="Folder for the results; a run that was stopped goes on there."),
    # What of it
    "rules": Option(help="Show only this many rules, from the top.", min=1),
    "label": Option(help="Show only rules whose head has this label."),
    "examples": Option(help="Instances of the data to put into the page.", min=0),
    "row": Option(help="Row to explain, from 0; may be repeated."),
    "limit": Option(help="Explain at most this many rows; 10 if not given, all as CSV.", min=1),
    "joint_absence": Option(help="List labels that are absent together as well."),
    "at": Option(help="Number the rule gets; at the end if not given."),
    "tolerance": Option(help="How much the score may fall in all.", min=0),
    "simplify.measure": Option(help="The score that may fall."),
    # Learning
    "published": Option("--published", help="The learner of the paper in all that is not given, instead of ours."),
    "choose_lift": Option(
        help="Choose the lift by cross-validation for this measure, such as micro_f1.", metavar="MEASURE"
    ),
    "initial_rules": Option(
        help="Rules that come first and stay as they are: a text file with a rule per line, or a model file.",
        metavar="FILE",
        rich_help_panel=EXPERT_PANEL,
    ),
    "objective": Option(help="What to train for: micro-f+, micro-f+-, macro-f+, macro-f+-, ha+, ha+-, …"),
    "objectives": Option(help="What to train for, separated by commas: micro-f+, macro-f+-, ha+, …"),
    "measure": Option(help="Measure to choose by, such as subset_accuracy; that of the objective if left out."),
    "lift": Option(help="'kln at 3: 1.08', 'peak 3: 1.04', none, or tune: chosen anew on each training part."),
    "lifts": Option(help="Lifts to choose from, separated by commas: 'kln at 3: 1.08, peak 3: 1.04', or paper."),
    "learner": Option(help="published: the paper's, with --objective and --lift; default: what plurule fit learns."),
    "tune.folds": Option(help="A number, mulan (as in the paper), or a splitter such as ShuffleSplit(n_splits=10)."),
    "evaluate.folds": Option(
        help="Cross-validation: a number, mulan or a splitter such as ShuffleSplit(n_splits=10). "
        f"Without it, a -train/-test pair is used as one, and anything else is cut into {DEFAULT_FOLDS} folds."
    ),
    "reproduce.folds": Option(help="Folds of the cross-validation: a number, mulan (as in the paper) or a splitter."),
    "tune.seed": Option(help="Shuffles folds that are given as a number."),
    "evaluate.seed": Option(help="Shuffles the folds."),
    "reproduce.seed": Option(help="Shuffles the folds; splits sets without a test part."),
    "tune.show": Option(help="How many candidates to show.", min=1),
    "tune.table": Option(help="Write all candidates to this CSV file.", writable=True),
    "journal": Option(help="File that keeps finished results; a run that was stopped goes on from it."),
    "jobs": Option(help="Processes; all cores if left out."),
    "evaluate.jobs": Option(help="Threads; all cores if left out."),
    "wide": Option("--wide", help="Choose β, the lift, signs, head mode and length together; not as in the paper."),
    "max_rules": Option(help="With --wide, take the best list of at most so many rules."),
    "sets": Option(help="Data sets, separated by commas; those of the paper if left out."),
    "repeats": Option(
        help=f"How often training times are measured; {REPEATS} if left out, with --quick {QUICK_REPEATS}.", min=1
    ),
    "reference": Option(help="Table (CSV) of models of the paper's own program to compare with."),
    "quick": Option("--quick", help="Two small sets and a few lifts: a look at everything in a minute."),
}


def described(command: str, name: str, required: bool) -> Any:
    """What is known of a parameter of a command; None of what is not for the user."""
    return OPTIONS.get(f"{command}.{name}") or (ARGUMENTS if required else OPTIONS).get(name)
