"""The helper that holds every lab's tests shows what its assertions compared."""

import pytest

pytest.register_assert_rewrite("catalogue")
