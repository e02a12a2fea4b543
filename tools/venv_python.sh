#!/usr/bin/env bash
# Runs a script with the Python that has the packages of requirements.txt: $KILN_PYTHON, or .venv's. Exits with 77, which
# the tests that use it count as skipped, where there is neither.
set -euo pipefail
python=${KILN_PYTHON:-$(dirname "${BASH_SOURCE[0]}")/../.venv/bin/python}
if [ ! -x "$python" ]; then
  echo "SKIP: there is no .venv; './dev venv' makes it"
  exit 77
fi
exec "$python" "$@"
