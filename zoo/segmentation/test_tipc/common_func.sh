#!/usr/bin/env bash
# Shared by prepare.sh and test_train_inference_python.sh, which run from the root of this repository.

# die MESSAGE: one line on stderr, exit code 2
die() {
    echo "error: $1" >&2
    exit 2
}

# need_config FILE: the first argument of both scripts
need_config() {
    [ -n "$1" ] || die "usage: bash test_tipc/$(basename "$0") test_tipc/configs/<model>/<config>.txt MODE"
    [ -f "$1" ] || die "$1: no such config"
}

# run_tipc ARGUMENTS: tipc of the active environment, or of the interpreter in $PYTHON
run_tipc() {
    if command -v tipc >/dev/null; then
        tipc "$@"
    else
        "${PYTHON:-python3}" -m tipc "$@"
    fi
}
