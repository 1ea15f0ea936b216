"""Without the packages that only chapters need, models and labs work, and the rest says what is missing."""

import subprocess
import sys
import textwrap

import pytest

from attnbook.extras import needed_from

LACKING = """
    import sys

    class Nowhere:
        \"""As if these were not installed.\"""

        def find_spec(self, name, path=None, target=None):
            if name.split(".")[0] in {"IPython", "babel", "ipykernel", "ipywidgets", "pygments", "sacrebleu"}:
                raise ModuleNotFoundError(f"No module named {name!r}", name=name)

    sys.meta_path.insert(0, Nowhere())
"""


def say(code: str) -> str:
    """What a Python says that lacks the extra."""
    program = textwrap.dedent(LACKING) + textwrap.dedent(code)
    return subprocess.run([sys.executable, "-c", program], capture_output=True, encoding="utf-8", check=True).stdout


def test_models_labs_figures_and_experiments_need_none_of_them():
    said = say("""
        import attnbook.checks, attnbook.data, attnbook.evaluation, attnbook.experiments.__main__, attnbook.metrics
        import attnbook.models, attnbook.plotting, attnbook.teaching, attnbook.training
        from attnbook.checks import evaluate
        print(evaluate("lab02", "masked_softmax", lambda scores, mask: scores).passed)
    """)
    assert said.strip() == "False"


@pytest.mark.parametrize(
    "call, package",
    [
        ("attnbook.metrics.bleu([list('abcd')], [list('abcd')])", "sacrebleu"),
        ("attnbook.data.written_date(datetime.date(1987, 9, 3), 'de', 'd. MMMM y')", "babel"),
        ("attnbook.teaching.show_source(attnbook.metrics.bleu)", "IPython"),
    ],
)
def test_what_needs_one_says_which_and_where_it_comes_from(call, package):
    said = say(f"""
        import datetime, attnbook.data, attnbook.metrics, attnbook.teaching
        try:
            {call}
        except ModuleNotFoundError as error:
            print(error)
    """)
    assert said.startswith(f"{package} is not installed; it comes with the book's extra 'notebooks', which `pip")


def test_a_package_that_is_there_passes():
    with needed_from("notebooks"):
        import babel
    assert babel.__name__ == "babel"


def test_other_errors_stay_as_they_are():
    with pytest.raises(ValueError, match="of its own"), needed_from("notebooks"):
        raise ValueError("of its own")
