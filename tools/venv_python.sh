#!/usr/bin/env bash
# Runs a script with the Python that has the packages of requirements.txt: $KILN_PYTHON, or .venv's. Exits with 77, which
# the tests that use it count as skipped, where there is neither.
set -euo pipefail
venv=$(dirname "${BASH_SOURCE[0]}")/../.venv
python=${KILN_PYTHON:-$venv/bin/python}
if [ ! -x "$python" ] || { [ -z "${KILN_PYTHON:-}" ] && [ ! -e "$venv/requirements.installed" ]; }; then
  echo "SKIP: .venv is not there or not complete; './dev venv' makes it"
  exit 77
fi
exec "$python" "$@"
