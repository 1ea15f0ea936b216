"""From the runs of a result file to what the plots take: one list over seeds for each model."""

from collections.abc import Mapping, Sequence


def by_model(result: Mapping, field: str, models: Sequence[str] | None = None) -> dict[str, list]:
    """Return ``{model: [the field's value of each seed]}``, seeds in rising order.

    Args:
        result: as ``load_result`` returns it.
        field: name of a number (or list, or mapping) that each run holds, e.g. ``"seconds"``.
        models: which models, in that order; ``None`` takes all, in the order of the file.

    Raises:
        ValueError: if a model isn't in the result, or a run has no such field.
    """
    runs = sorted(result["runs"], key=lambda run: run["seed"])
    there = list(dict.fromkeys(run["model"] for run in result["runs"]))
    values = {}
    for model in there if models is None else models:
        if model not in there:
            raise ValueError(f"result has no model {model!r}; there is: {', '.join(there)}")
        chosen = [run for run in runs if run["model"] == model]
        if any(field not in run for run in chosen):
            raise ValueError(f"the runs of {model!r} have no field {field!r}; there is: {', '.join(chosen[0])}")
        values[model] = [run[field] for run in chosen]
    return values


def by_length(
    result: Mapping, field: str = "exact_match", models: Sequence[str] | None = None
) -> dict[str, dict[int, list[float]]]:
    """Return ``{model: {length: [one value a seed]}}``, as :func:`plot_by_length` takes it.

    Args:
        field: name of what each run holds as ``{length: value}``.
        result, models: as in :func:`by_model`.

    Raises:
        ValueError: as :func:`by_model`.
    """
    curves = {}
    for model, tables in by_model(result, field, models).items():
        lengths = sorted({int(length) for table in tables for length in table})
        rows = [{int(length): value for length, value in table.items()} for table in tables]
        curves[model] = {length: [row[length] for row in rows if length in row] for length in lengths}
    return curves
