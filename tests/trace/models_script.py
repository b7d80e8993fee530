"""A repository whose own script behaves as the dialect ``models`` does, and forks of it."""

from __future__ import annotations

from pathlib import Path

# Written for these tests: much shorter than the upstream scripts, with the same commands in the same order.
SCRIPT = r"""#!/bin/bash
IFS=$'\n' read -r -d '' -a lines < <(head -n 32 "$1" | grep -v '^$'; printf '\0')
mode=$2
key() { local IFS=:; local f=(${lines[$1]}); printf %s "${f[0]}"; }
val() { local IFS=:; local f=(${lines[$1]}); printf %s "${f[1]}"; }
per() { val "$1" | tr '|' '\n' | grep "^$mode=" | cut -d= -f2; }
opt() { if [ "$1" != null ] && [ -n "$2" ] && [ "$2" != null ]; then printf '%s=%s' "$1" "$2"; fi; }
model=$(val 1) py=$(val 2)
out=./test_tipc/output/$model/$mode
mkdir -p "$out"
run() {
    eval "$1"
    if [ $? -eq 0 ]; then word=successfully; else word=failed; fi
    echo -e "\033[33m Run $word with command - $model - $1!  \033[0m" | tee -a "$out/results_python.log"
}
infer() {
    IFS='|' read -r -a devices <<<"$(val 27)"; IFS='|' read -r -a batches <<<"$(val 28)"
    for use in "${devices[@]}"; do
        kind=gpu; [ "$use" = False ] && kind=cpu
        for batch in "${batches[@]}"; do
            run "$py $(val 26) $(key 27)=$use $(opt "$(key 29)" "$1") $(opt "$(key 28)" "$batch") $2 \
$(opt "$(key 31)" "$(val 31)") > $out/python_infer_${kind}_batchsize_$batch.log 2>&1 "
        done
    done
}
if [ "$mode" = whole_infer ]; then
    run "$py $(val 24) $(opt "$(key 20)" "$(val 23)") $(opt "$(key 19)" "$(val 19)") \
> $out/export_0.log 2>&1 "
    infer "$(val 19)" "$(opt "$(key 30)" "$(val 30)")"
    exit
fi
IFS='|' read -r -a entries <<<"$(val 3)"
IFS='|' read -r -a trainers <<<"$(val 12)"
for gpu in "${entries[@]}"; do
    for trainer in "${trainers[@]}"; do
        export autocast=False nodes=1
        [ "$trainer" = amp_train ] && autocast=True
        ips=${gpu%%;*} ids=${gpu##*;} launch=
        if [ "$ips" != "$ids" ]; then
            nodes=$(tr ',' '\n' <<<"$ips" | wc -l)
            launch="-m paddle.distributed.launch --ips=$ips --gpus=$ids"
        elif [[ $ids == *,* ]]; then
            launch="-m paddle.distributed.launch --gpus=$ids"
        fi
        save=$out/${trainer}_gpus_${ids}_autocast_${autocast}_nodes_$nodes.log
        run "$py $launch $(val 13) $(opt "$(key 6)" "$save") $(opt "$(key 5)" "$(per 5)") \
$(opt "$(key 8)" "$(val 8)") $(opt "$(key 7)" "$(per 7)")"
        if [ "$(val 16)" != null ]; then
            export CUDA_VISIBLE_DEVICES=${ids%%,*}
            run "$py $(val 16) $(opt "$(key 8)" "$save/$(val 9)") > ${save%.log}_eval.log 2>&1 "
        fi
        if [ "$(val 21)" != null ]; then
            run "$py $(val 21) $(opt "$(key 20)" "$save/$(val 9)") $(opt "$(key 19)" "$save") \
> ${save%.log}_export.log 2>&1 "
            export CUDA_VISIBLE_DEVICES=${ids%%,*}
            infer "$save" ""
            unset CUDA_VISIBLE_DEVICES
        fi
    done
done
"""


def make_repository(root: Path, config: str, script: str = SCRIPT) -> Path:
    """A repository with the script and one config; returns the config's path."""
    path = root / "test_tipc" / "configs" / "toy" / "train_infer_python.txt"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(config, encoding="utf-8")
    (root / "test_tipc" / "test_train_inference_python.sh").write_text(script, encoding="utf-8")
    return path
