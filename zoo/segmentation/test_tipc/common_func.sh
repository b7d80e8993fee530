#!/bin/bash
# Shared by prepare.sh and test_train_inference_python.sh. What TIPC asks for is done by `tipc`; this only checks the call.

# die MESSAGE: one line on stderr, exit code 2
function die(){
    echo "error: $1" >&2
    exit 2
}

# need_config FILE: the config must exist, and the scripts run from the root of this repository
function need_config(){
    [ -d test_tipc ] || die "run this from the root of the repository: bash test_tipc/$(basename "$0") CONFIG MODE"
    [ -n "$1" ] || die "usage: bash test_tipc/$(basename "$0") test_tipc/configs/<model>/<config>.txt MODE"
    [ -f "$1" ] || die "$1: no such config"
}
