#!/usr/bin/env bash
# usage: bash test_tipc/test_train_inference_python.sh test_tipc/configs/<model>/<config>.txt MODE [options of tipc run]
# Trains, evaluates, exports and infers as the config says, and certifies the result. Exit code 0 only if all of it did.
set -euo pipefail
config=${1:-} mode=${2:-lite_train_lite_infer}
[ -z "$config" ] || config=$(realpath -m "$config")
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source test_tipc/common_func.sh
need_config "$config"
run_tipc run "$config" "$mode" "${@:3}"
