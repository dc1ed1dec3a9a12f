"""Control: a case whose module cannot be imported."""

import flce_module_that_does_not_exist  # noqa: F401
