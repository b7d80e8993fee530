#!/bin/bash
# usage: bash test_tipc/test_train_inference_python.sh test_tipc/configs/<model>/<config>.txt MODE
# Trains, evaluates, exports and infers as the config says, and certifies the result. The exit code is 0 only if all did.
source "$(dirname "$0")/common_func.sh"

config=$1
mode=${2:-lite_train_lite_infer}
need_config "$config"
command -v tipc > /dev/null || die "tipc is not installed: pip install -e '.[zoo]' in the root of the project"
exec tipc run "$config" "$mode" "${@:3}"
