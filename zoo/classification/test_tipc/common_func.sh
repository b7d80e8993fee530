#!/usr/bin/env bash
# Shared by prepare.sh and test_train_inference_python.sh, which run from the root of this repository.

# die MESSAGE: one line on stderr, exit code 2
die() {
    echo "error: $1" >&2
    exit 2
}

# need_config FILE: the first argument of both scripts. Its folder may have any name that models.json gives the model:
# tipc finds the config then.
need_config() {
    [ -n "$1" ] || die "usage: bash test_tipc/$(basename "$0") test_tipc/configs/<model>/<config>.txt MODE"
    [ -f "$1" ] || has_another_name "$(dirname "$1")" || die "$1: no such config"
}

# has_another_name FOLDER: it is not there, and models.json lists its name
has_another_name() {
    [ ! -e "$1" ] && grep -qsF "\"$(basename "$1")\"" test_tipc/models.json
}

# run_tipc ARGUMENTS: tipc of the interpreter in $PYTHON, or of the active environment. The interpreter is asked, not
# the command: iproute2 installs another program of that name.
run_tipc() {
    local python
    for python in "${PYTHON:-python3}" python; do
        if "$python" -c 'import tipc' 2>/dev/null; then
            "$python" -m tipc "$@"
            return
        fi
    done
    die "${PYTHON:-python3} has no tipc: activate the environment that has it, or name its interpreter in PYTHON"
}
