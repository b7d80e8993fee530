#!/usr/bin/env bash
# usage: bash test_tipc/prepare.sh test_tipc/configs/<model>/<config>.txt MODE
# Unpacks lite_data.tar, which lies in the repository, for the lite modes.
set -euo pipefail
config=${1:-} mode=${2:-lite_train_lite_infer}
[ -z "$config" ] || config=$(realpath -m "$config")
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source test_tipc/common_func.sh
need_config "$config"

case $mode in
lite_*)
    [ -f lite_data.tar ] || die "lite_data.tar is not there: tar -zcf lite_data.tar lite_data, with 8 to 16 images a split"
    tar -xf lite_data.tar || die "lite_data.tar cannot be unpacked"
    ;;
*) die "$mode: put the whole data set where line 11 of the config looks for it, then run the chain without this script" ;;
esac
