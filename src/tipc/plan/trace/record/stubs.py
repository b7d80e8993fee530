"""What a traced script finds on its PATH: real core utilities, and recording stubs for everything else.

``@BASE@`` is the directory that holds them. A stub never runs what it stands for: it writes down how it was
called, leaves the files that the script is known to look for afterwards, and succeeds. A record goes out in
one piece, so that background jobs cannot mix, and through a descriptor that no ``rm`` can reach.
"""

from __future__ import annotations

import os
import shutil

# Programs that only work on text and files. They really run, inside the scratch copy.
CORE = """
    [ arch awk base64 basename bash bc bunzip2 bzip2 cat chmod cksum cmp column comm cp csplit cut
    date dc dd df diff dircolors dirname du echo egrep env envsubst expand expr factor false fgrep
    file find flock fmt fold gawk getopt grep gunzip gzip head hostname id install ionice join link ln
    logname ls mawk md5sum mkdir mkfifo mktemp mv nice nl nohup nproc numfmt od paste patch pathchk
    perl pr printenv printf ptx pwd readlink realpath rev rm rmdir sed seq setsid sha1sum sha256sum
    sha512sum shred shuf sort split stat stdbuf stty sum sync tac tail tar taskset test timeout touch
    tr true truncate tsort tty uname unexpand uniq unlink unxz unzip uuidgen vdir wc which whoami
    xargs xz yes zcat zip zipinfo
"""

# The names that scripts call most. Any other name that is not there reaches ``command_not_found_handle``;
# these exist as files, so that ``timeout``, ``nohup``, ``env`` and ``xargs`` find them, too.
STUBS = """
    python python2 pip pip2 pip3 wget curl git svn hg apt apt-get yum dnf apk brew conda mamba
    virtualenv uv docker nvidia-docker nvidia-smi rocm-smi npu-smi xpu_smi cmake make gcc g++ cc nvcc
    ninja bazel go java node npm ssh scp rsync ftp nc telnet aria2c axel mount umount reboot shutdown
    systemctl service ps kill pkill killall top free lscpu lspci ifconfig ip netstat ss ping paddle2onnx
    x2paddle fleetrun mpirun mpiexec torchrun hub paddle visualdl paddle_lite_opt opt trtexec ldconfig
    crontab su chown chgrp
"""
PYTHONS = ("python3", *(f"python3.{minor}" for minor in range(4, 16)))

# Programs that run the command that follows their options.
WRAPPERS = ("sudo", "numactl", "time", "doas", "gosu", "srun")

# One write for a record, as concurrent jobs share the channel: bash writes up to 4 KiB at once, cat more.
TELL = r"""
tell() {
    local IFS= LC_ALL=C
    local all="$*"
    if [ $((${#all} + $#)) -lt 4000 ]; then
        printf '%s\0' "$@" '@END@' >&218
    else
        local file="@BASE@/out/$EPOCHREALTIME.$$"
        printf '%s\0' "$@" '@END@' >"$file"
        @BASE@/core/cat "$file" >&218
        @BASE@/core/rm -f "$file"
    fi
}
"""

STUB = (
    rf"""#!/usr/bin/bash -p
{TELL}"""
    + r"""
name=${TIPC_NAME-$0}
unset TIPC_NAME
case $name in @BASE@/bin/*) name=${name##*/} ;; esac
# Long enough for a background job to be recorded before what the script calls after its sleep.
if [ "${name##*/}" = sleep ]; then exec @BASE@/core/sleep 0.05; fi
now=$EPOCHREALTIME
output=
[[ /proc/$$/fd/1 -ef /proc/$$/fd/219 ]] || output=$(@BASE@/core/readlink /proc/$$/fd/1)
{ mapfile -d '' -t variables </proc/$$/environ; } 2>/dev/null
if [ ${#variables[@]} -eq 0 ]; then for v in $(compgen -e); do variables+=("$v=${!v}"); done; fi
tell call "$now" "$PWD" "$output" "$#" "$name" "$@" "${variables[@]}"
case ${1-} in --version | -V) echo "Python 3.10.0" ;; esac
before=
leave() {
    [ -e "$1" ] && return
    case $1 in
    */) @BASE@/core/mkdir -p -- "$1" ;;
    *) @BASE@/core/mkdir -p -- "${1%/*}" && : >>"$1" ;;
    esac 2>/dev/null
}
case ${name##*/} in
make | cmake | ninja | bazel | gcc | g++ | cc)
    # The folder may have been emptied before: what it is to build is there afterwards.
    mapfile -d '' -t programs <@BASE@/programs
    for program in "${programs[@]}"; do
        @BASE@/core/mkdir -p -- "${program%/*}" && @BASE@/core/ln -s @BASE@/stub "$program"
    done 2>/dev/null
    ;;
esac
mapfile -d '' -t rules <@BASE@/leave
for ((i = 0; i < ${#rules[@]}; i += 3)); do
    [[ -z ${rules[i + 1]} && " $name $* " == *" ${rules[i]} "* ]] && leave "${rules[i + 2]}"
done
for word in "$@"; do
    key=${word%%=*} path=${word#*=}
    [ "$key" = "$word" ] && key=$before
    before=$word
    while [[ $key == -* ]]; do key=${key#-}; done
    if [[ $path == */* && $path != *://* && ! -d $path && ! ${path##*/} =~ \.[a-z] ]] &&
        [[ $key =~ (save|out|work_?dir|ckpt|dst|log) ]]
    then
        @BASE@/core/mkdir -p -- "$path" 2>/dev/null
    fi
    for ((i = 0; i < ${#rules[@]}; i += 3)); do
        [[ -n $key && ${rules[i + 1]} == "$key" && " $name $* " == *" ${rules[i]} "* ]] &&
            leave "$path${rules[i + 2]}"
    done
done
exit 0
"""
)

WRAPPER = r"""#!/usr/bin/bash -p
while [ $# -gt 0 ] && ! type -P -- "$1" >/dev/null; do shift; done
[ $# -eq 0 ] || exec "$@"
"""

TEE = (
    rf"""#!/usr/bin/bash -p
{TELL}"""
    + r"""
tell tee "$EPOCHREALTIME" "$PWD" "$(@BASE@/core/readlink /proc/$$/fd/0)" "$@"
exec @BASE@/core/tee "$@"
"""
)

SH = """#!/usr/bin/bash -p
exec @BASE@/core/bash "$@"
"""

# Read by every bash that the script starts. Names that do not exist are recorded, if they can be a program's
# (``python3.7\\r`` and ``False`` come from mistakes in a config). Each command is written down with its
# directory, which is how the files that the script looks for are found.
BASH_ENV = r"""
command_not_found_handle() {
    if [[ $1 =~ ^[A-Za-z_][A-Za-z0-9_.+-]*$ && $1 != @(True|False|None|null) ]]; then
        TIPC_NAME=$1 @BASE@/stub "${@:2}"
    else
        echo "bash: $1: command not found" >&2
        return 127
    fi
}
BASH_XTRACEFD=217
PS4='+ $EPOCHREALTIME $PWD'$'\t'
set -x
"""

# What is written beside the core utilities, by name.
FILES = {"stub": STUB, "wrapper": WRAPPER, "tee": TEE, "sh": SH, "bash_env": BASH_ENV}

PLACES = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def core_tools() -> dict[str, str]:
    """Where this machine has the core utilities; what is missing here will be a stub there."""
    found = {name: shutil.which(name, path=PLACES) for name in (*CORE.split(), "sleep", "tee")}
    return {name: os.path.realpath(path) for name, path in found.items() if path}
