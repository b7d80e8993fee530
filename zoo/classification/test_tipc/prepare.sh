#!/usr/bin/env bash
# usage: bash test_tipc/prepare.sh test_tipc/configs/<model>/<config>.txt MODE [DATA]
#   lite_* modes unpack lite_data.tar, which lies in the repository.
#   whole_* modes take DATA, a folder with train/<class>/ and val/<class>/ as ImageNet has, and put a link to it in
#   the place of lite_data, where line 11 of the config looks for it. Without DATA an earlier link is used.
set -euo pipefail
config=${1:-} mode=${2:-lite_train_lite_infer} data=${3:-}
[ -z "$config" ] || config=$(realpath -m "$config")
[ -z "$data" ] || data=$(realpath "$data")
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source test_tipc/common_func.sh
need_config "$config"

case $mode in
lite_*)
    [ ! -L lite_data ] || rm lite_data
    tar -xf lite_data.tar || die "lite_data.tar cannot be unpacked: python tools/make_lite_data.py makes it anew"
    echo "lite_data: $(wc -l <lite_data/train_list.txt) images to train with, $(wc -l <lite_data/val_list.txt) to test"
    ;;
whole_*)
    if [ -n "$data" ]; then
        [ -d "$data" ] || die "$data: no such folder"
        [ -L lite_data ] || rm -rf lite_data
        ln -sfn "$data" lite_data
    fi
    [ -L lite_data ] || die "$mode needs data: bash test_tipc/prepare.sh $config $mode /path/to/imagenet"
    echo "lite_data: a link to $(realpath lite_data)"
    ;;
*) die "$mode: not a mode (lite_train_lite_infer, lite_train_whole_infer, whole_train_whole_infer, whole_infer)" ;;
esac
