"""English: lint by case: what is wrong, what the bash does with it, what to write instead."""

CASES = {
    "TC001": ("the file is empty", "no command runs, and the exit code is 0", "start from `tipc init`"),
    "TC002-nul": (
        "a NUL byte is in the file",
        "bash drops NUL bytes",
        "save the file as UTF-8 text",
    ),
    "TC002-byte": (
        "the byte {byte}, which is not UTF-8, is in the file",
        "bash passes it on as it is",
        "save the file as UTF-8 text",
    ),
    "TC003-all": (
        "every line ends in CRLF, as on Windows",
        "the interpreter is called `python3.7\\r`: command not found for every command, and exit code 0",
        "convert the file to LF line ends",
    ),
    "TC003-some": (
        "{count} lines end in CRLF, as on Windows",
        "the carriage return becomes part of the value: a name or a path that does not exist",
        "convert the file to LF line ends",
    ),
    "TC004": (
        "there is no newline at the end of the file",
        "the bash copes; a tool that appends a line glues it to this one",
        "end the last line with a newline",
    ),
    "TC005": (
        "the file begins with a byte order mark",
        "the mark becomes part of the first line",
        "save the file as UTF-8 without BOM",
    ),
    "TC006": (
        "a blank line: the script reads only the first {limit} lines, blank ones counted",
        "`{name}` (line {line}) and what is below it is never read",
        "remove the blank lines",
    ),
    "TC009": (
        "no known layout fits this file",
        "only the rules for every config were checked",
        "--dialect {dialects}",
    ),
    "TC010": (
        "the file ends too early: {missing} of {rows} lines are missing, expected `{next}` next",
        "all that is missing is empty: the stages that need it run no command, and the exit code is 0",
        "add the missing lines; one that is not needed is `key:null`",
    ),
    "TC011": (
        "there is a line too many: `{text}`",
        "every value below is read one line too low",
        "remove line {line}",
    ),
    "TC011-blank": (
        "there is a line too many: it holds only blanks",
        "every value below is read one line too low",
        "remove line {line}",
    ),
    "TC012": (
        "a line is missing: expected {expected}, found `{found}`",
        "every value below is read 1 line too high; {effect}",
        "insert {insert} as line {line}",
    ),
    "TC012-many": (
        "{count} lines are missing: expected {expected}, found `{found}`",
        "every value below is read {count} lines too high; {effect}",
        "insert {insert} as line {line} to {last}",
    ),
    "TC013-option": (
        "this is the place of the option for `{row}`, found `{found}`",
        "the bash goes by the place: it passes the value of one option under the name of another",
        "put the option for `{row}` here",
    ),
    "TC013-name": (
        "this is the place of `{name}`, found `{found}`",
        "the bash ignores the name and goes on",
        "write `{name}:`",
    ),
    "TC013-trainer": (
        "this is the place of `{name}`, found `{found}`",
        "the name is a trainer's name here",
        "write `{name}:`",
    ),
    "TC013-elsewhere": (
        "the script reads `{key}` from line {reads}, and it is in line {stands}",
        "it takes `{text}` for `{key}`",
        "put it where the script reads it: `lines[{index}]`",
    ),
    "TC014": (
        "this does not follow the layout of {family}: {missing} lines are missing and {extra} are too many",
        "the scripts read by line number and take whatever stands there",
        "compare it with a file of this family",
    ),
    "TC015": (
        "this is the layout of benchmark_train.sh in a file with the name of a training config",
        "the training script takes the batch size for the interpreter: `1: command not found`",
        "rename the file, or write it in the layout of the training script",
    ),
    "TC016": (
        "the file ends before `{section}`: {missing} of {rows} lines are missing, expected `{next}` next",
        "the stages below it run no command, and the exit code is 0",
        "add the section; a line that is not needed is `key:null`",
    ),
    "TC017": (
        "{missing} of {rows} lines, optional ones, are missing at the end, expected `{next}` next",
        "their options are not passed; if an earlier line is missing, these are read as others",
        "add them; one that is not needed is `null:null`",
    ),
    "TC020": (
        "there is no colon in the line of `{row}`",
        "the value is empty and the option is not passed",
        "write `{text}:value`, or `:null`",
    ),
    "TC021": (
        "there is `=` where `:` belongs, after `{name}`",
        "the whole line is taken for the key `{key}`; the value is empty",
        "write `{name}:`",
    ),
    "TC022": (
        "the value is cut at its second colon",
        "the bash reads `{kept}` and drops the rest",
        "use a value without a colon",
    ),
    "TC023": (
        "there is no colon after `{text}`",
        "the script reads only the key here, so it works all the same",
        "write `{text}:null`",
    ),
    "TC030": (
        "`{shown}` is not `null`",
        "only the exact text `null` means nothing; this one is run or passed as a value",
        "write `null`",
    ),
    "TC031": (
        "the item `{item}` has a blank beside it",
        "`{text}` is compared as it stands and is not `{item}`",
        "remove the blank",
    ),
    "TC032": (
        "there are blanks around `{text}`",
        "they become part of the name or break the option in two words",
        "remove the blanks",
    ),
    "TC033": (
        "`{word}` is neither `True` nor `False`",
        "the bash compares it with both and takes neither branch; `{right}` is meant",
        "write `{right}`",
    ),
    "TC034": (
        "there is only a blank behind `{key}:`",
        "a blank is not `null`: where this line is used, the interpreter runs without a script",
        "write `null`",
    ),
    "TC040": ("there is no mode `{mode}`", "the item is never chosen", "{fix}"),
    "TC041": (
        "{modes} not listed",
        "in that mode `{key}` is not passed at all and the training runs its own default",
        "add {items}",
    ),
    "TC041-unread": (
        "{modes} not listed",
        "the bash reads this line for no mode at all; `tipc` takes the nearest one that is listed",
        "add {items}",
    ),
    "TC042": (
        "`{value}` is a plain value where one per mode is read",
        "the script looks for `mode=value`, finds none and passes no option",
        "write `{right}`",
    ),
    "TC043": (
        "`{item}` is not `mode=value`",
        "the script takes the text between the first two `=`",
        "write `mode=value`",
    ),
    "TC044": ("the mode `{mode}` is listed twice", "only the first item counts", "remove this one"),
    "TC050-norm": (
        "the trainer `{trainer}` has no line",
        "the script runs the norm training under its name",
        "{fix}",
    ),
    "TC050-nothing": ("the trainer `{trainer}` has no line", "the script runs nothing", "{fix}"),
    "TC051": (
        "the trainer `{trainer}` is listed, and its script is null",
        "it is skipped silently",
        "give `{trainer}` a script, or take it out of the list",
    ),
    "TC052": (
        "the trainer `{trainer}` is listed twice",
        "it is trained twice into one directory",
        "remove one of them",
    ),
    "TC060": (
        "`{entry}` is not a GPU entry",
        "it is passed to the launcher as it is",
        "write ids with commas, `-1` for the CPU, or `ip,ip;ids`",
    ),
    "TC061": (
        "`{address}` is a placeholder, not a machine",
        "the launcher is started with it and waits for machines that are not there",
        "put in the machines' addresses",
    ),
    "TC062-one": (
        "the script misreads `{entry}`",
        "it goes by the text's length and sees one GPU, with nothing made visible",
        "use ids below 10, and at most eight of them; `tipc` itself reads it right",
    ),
    "TC062-address": (
        "the script misreads `{entry}`",
        "it goes by the text's length and sees an address with no GPU",
        "use ids below 10, and at most eight of them; `tipc` itself reads it right",
    ),
    "TC063": (
        "`{entry}` is launched while one GPU is visible",
        "the script undoes CUDA_VISIBLE_DEVICES only after an inference, and there is no export",
        "put this entry first; `tipc` itself sets it for each step",
    ),
    "TC070": (
        "there is no script `{script}`",
        "the command fails; the bash prints `Run failed` and exits with 0",
        "{fix}",
    ),
    "TC071": ("there is no file `{file}`", "the command fails when it reads it", "correct the path"),
    "TC072": (
        "the inference script is null, and a model is exported",
        "the script runs `python null` with all the options of the inference",
        "name the inference script",
    ),
    "TC073": (
        "the model to quantise, `{model}`, is outside the repository",
        "the script goes there and back by `cd ../../deploy`: both fail, and nothing is inferred",
        "name a folder of the repository",
    ),
    "TC074": (
        "this is another export than the one of line {line}, `{export}`",
        "a model that is only inferred is exported otherwise than a trained one",
        "write the same in both lines, or null here",
    ),
    "TC080": (
        "the extension `{extension}` is there twice",
        "such a file is never written",
        "write `{extension}` once",
    ),
    "TC080-file": (
        "the file's own extension `.txt` is there twice",
        "scripts and documents that name the config do not find it",
        "rename it to `{name}`",
    ),
    "TC081": ("the option `{option}` is given twice", "the last one wins", "remove one of them"),
    "TC081-line": (
        "the option `{option}` is given here and by line {line}",
        "it stands twice in the command; line {line} comes last and wins",
        "remove it here",
    ),
    "TC082": (
        "`{text}` is shell syntax",
        "the scripts `eval` the command, so it takes effect (most turn `|` into a blank)",
        "move it into a script of its own",
    ),
    "TC090": (
        "`{word}` is not a device that the script knows",
        "it prints a notice and runs no inference for it",
        "{fix}",
    ),
    "TC091": ("`{text}` is not a number", "it is passed on as it is", "write a number"),
    "TC092": (
        "`{name}` has {size} items, `{longer}` has {longest}",
        "they are read side by side; what is missing is empty",
        "give `{name}` {longest} items",
    ),
    "TC093": (
        "the list of `{row}` is empty",
        "the loop over it has no turn: not one command runs in it",
        "give it an item, or `null`",
    ),
}
