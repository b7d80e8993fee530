#!/bin/bash
# usage: bash test_tipc/prepare.sh test_tipc/configs/<model>/<config>.txt MODE [DATA]
#   lite_* modes unpack lite_data.tar, which lies in the repository.
#   whole_* modes take DATA, a folder with people/ and street/ that are listed as lite_data/ is.
source "$(dirname "$0")/common_func.sh"

config=$1
mode=${2:-lite_train_lite_infer}
data=$3
need_config "$config"

case "$mode" in
    lite_*)
        if [ -L lite_data ]; then rm lite_data; fi
        tar -xf lite_data.tar || die "lite_data.tar cannot be unpacked: python tools/make_lite_data.py makes it anew"
        echo "lite_data: $(wc -l < lite_data/people/train.txt) people and $(wc -l < lite_data/street/train.txt) street images to train with"
        ;;
    whole_*)
        [ -n "$data" ] || die "$mode needs the folder of the data: bash test_tipc/prepare.sh $config $mode /path/to/data"
        [ -f "$data/people/train.txt" ] || [ -f "$data/street/train.txt" ] || die "$data: neither people/train.txt nor street/train.txt"
        [ -L lite_data ] || rm -rf lite_data
        ln -sfn "$(realpath "$data")" lite_data
        ;;
    *)
        die "$mode: not a mode (lite_train_lite_infer, lite_train_whole_infer, whole_train_whole_infer, whole_infer)"
        ;;
esac
