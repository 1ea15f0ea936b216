"""Without the packages that only chapters need, models and labs work, and the rest says what is missing."""

import json
import subprocess
import sys

import pytest

from attnbook.extras import needed_from

CALLS = {
    "sacrebleu": "attnbook.measure.metrics.bleu([list('abcd')], [list('abcd')])",
    "babel": "attnbook.data.written_date(datetime.date(1987, 9, 3), 'de', 'd. MMMM y')",
    "IPython": "attnpages.teaching.show_source(attnbook.measure.metrics.bleu)",
}
# A Python that lacks the extra, asked everything at once: each further one would import torch again.
PROGRAM = """
import datetime, json, sys

class Nowhere:
    \"""As if these were not installed.\"""

    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {"IPython", "babel", "ipykernel", "ipywidgets", "pygments", "sacrebleu"}:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Nowhere())
import attnlabs, attnbook.data, attnbook.measure.evaluation, attnruns.experiments.__main__, attnbook.measure.metrics
import attnbook.models, attnpages.figures, attnpages.teaching, attnbook.training

passed = attnlabs.evaluate("lab02", "masked_softmax", lambda scores, mask: scores).passed
said = {"evaluate": str(passed)}
for package, call in json.loads(sys.argv[1]).items():
    try:
        eval(call)
    except ModuleNotFoundError as error:
        said[package] = str(error)
print(json.dumps(said))
"""


@pytest.fixture(scope="module")
def said() -> dict[str, str]:
    """What a Python says that lacks the extra, by the package that it would need."""
    command = [sys.executable, "-c", PROGRAM, json.dumps(CALLS)]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=True)
    return json.loads(done.stdout)


@pytest.mark.slow
def test_models_labs_figures_and_experiments_need_none_of_them(said):
    assert said["evaluate"] == "False"


@pytest.mark.slow
@pytest.mark.parametrize("package", CALLS)
def test_what_needs_one_says_which_and_where_it_comes_from(said, package):
    assert said[package].startswith(
        f"{package} is not installed; it comes with the book's extra 'notebooks', which `pip"
    )


def test_a_package_that_is_there_passes():
    with needed_from("notebooks"):
        import babel
    assert babel.__name__ == "babel"


def test_other_errors_stay_as_they_are():
    with pytest.raises(ValueError, match="of its own"), needed_from("notebooks"):
        raise ValueError("of its own")
