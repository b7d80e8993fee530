"""Every lint code: how bad it is, its title, the reason and the remedy. ``tipc explain CODE`` prints them."""

from __future__ import annotations

from typing import NamedTuple


class Code(NamedTuple):
    """One kind of finding."""

    code: str
    severity: str  # error, warning or note
    title: str
    reason: str
    remedy: str


_TABLE = (
    # The file as a whole
    Code(
        "TC001",
        "error",
        "the file is empty",
        "The bash reads every field as an empty text and runs no command at all; it exits with 0.",
        "Start from `tipc init`, or copy a config of the same family.",
    ),
    Code(
        "TC002",
        "warning",
        "the file is not text",
        "A NUL byte or bytes that are not UTF-8: bash drops or mangles them, and the commands with them.",
        "Save the file as UTF-8 text.",
    ),
    Code(
        "TC003",
        "warning",
        "lines end in CRLF",
        "The bash does not strip the carriage return: the interpreter is called `python3.7\\r`, which "
        "is not found, for every command; the exit code is 0 all the same.",
        "Convert the file to LF line ends.",
    ),
    Code(
        "TC004",
        "note",
        "there is no newline at the end",
        "The bash copes. Tools that append a line (benchmark_train.sh does) glue it to the last one.",
        "End the last line with a newline.",
    ),
    Code(
        "TC005",
        "warning",
        "the file begins with a byte order mark",
        "The three bytes become part of the first line. Harmless only as long as nothing reads that line.",
        "Save the file as UTF-8 without BOM.",
    ),
    Code(
        "TC006",
        "error",
        "a blank line pushes the last lines out of reach",
        "This family of scripts reads a fixed number of physical lines; a blank one counts, so as many"
        " lines at the end are never read.",
        "Remove the blank line.",
    ),
    Code(
        "TC009",
        "note",
        "no known layout fits this file",
        "Without a layout only the rules that hold for every config are checked.",
        "Name the dialect with --dialect, if it is one of the known ones.",
    ),
    # Lines
    Code(
        "TC010",
        "error",
        "the file ends too early",
        "The scripts read by line number. All that is missing is empty: lists have no items, so whole "
        "stages run no command, silently.",
        "Add the missing lines; a line that is not needed is `key:null`.",
    ),
    Code(
        "TC011",
        "error",
        "there is a line too many",
        "The scripts read by line number: every value below is read one line too low.",
        "Remove the line.",
    ),
    Code(
        "TC012",
        "error",
        "a line is missing",
        "The scripts read by line number: every value below is read one line too high.",
        "Insert the line; one that is not needed is `key:null`.",
    ),
    Code(
        "TC013",
        "warning",
        "a line has another name than its place asks for",
        "The scripts go by the place and ignore the name, or take it for a trainer's name.",
        "Correct the name, or put the line where it belongs.",
    ),
    Code(
        "TC014",
        "error",
        "the file does not follow the layout",
        "So many lines are missing, added or in other places that a list of them would not help.",
        "Compare the file with one of the same family, or start from `tipc init`.",
    ),
    Code(
        "TC015",
        "error",
        "a config of benchmark_train has the name of a training config",
        "It has other lines: the training script takes the batch size for the interpreter and runs nothing.",
        "Rename the file, or write it in the layout of the training script.",
    ),
    Code(
        "TC016",
        "warning",
        "the file ends before a section",
        "The stages of the missing sections run no command, silently.",
        "Add the sections if the model can be exported; without them the chain is not certified.",
    ),
    Code(
        "TC017",
        "warning",
        "the last optional lines are not there",
        "What is not there is not passed. If it is an earlier line that is missing, the last ones are read "
        "as others.",
        "Add the lines; one that is not needed is `null:null`.",
    ),
    # Colons
    Code(
        "TC020",
        "error",
        "there is no colon",
        "Key and value are separated by the first colon. Without it the value is empty and the option "
        "is not passed.",
        "Write `key:value`; `key:null` for a line that is not needed.",
    ),
    Code(
        "TC021",
        "error",
        "there is `=` where `:` belongs",
        "The whole line is taken for the key and the value is empty; the option is not passed.",
        "Write `:` between key and value.",
    ),
    Code(
        "TC022",
        "warning",
        "the value is cut at its second colon",
        "The scripts split the line at every colon and take the second field: `https://host/x` becomes"
        " `https`.",
        "Use a value without a colon, such as a path in the repository; `tipc` itself reads the whole value.",
    ),
    Code(
        "TC023",
        "warning",
        "a key has no colon",
        "The script reads only the key of this line, so it works; a script that reads the value finds none.",
        "Write `key:null`.",
    ),
    # null, blanks, booleans
    Code(
        "TC030",
        "warning",
        "`null` has a blank beside it",
        "Only the exact text `null` means nothing. With a blank it is an ordinary value, so a script "
        "or an option called null is run.",
        "Write `null` without blanks.",
    ),
    Code(
        "TC031",
        "warning",
        "a list item has a blank beside it",
        "Items are compared as they stand: ` True` is not `True`, so the branch is not taken.",
        "Remove the blanks around `|`.",
    ),
    Code(
        "TC032",
        "warning",
        "there are blanks around a value",
        "They become part of a name or of a path.",
        "Remove the blanks.",
    ),
    Code(
        "TC033",
        "warning",
        "a boolean is misspelt",
        "The scripts compare with `True` and `False`. Any other word is neither: rules for both are skipped.",
        "Write `True` or `False`.",
    ),
    Code(
        "TC034",
        "warning",
        "there is a blank where a script or null belongs",
        "A blank is not `null`: where the line is used, the interpreter is started without a script.",
        "Write `null`.",
    ),
    # Modes
    Code(
        "TC040",
        "warning",
        "there is no such mode",
        "The item is never chosen, because no mode has that name.",
        "Correct the mode's name.",
    ),
    Code(
        "TC041",
        "warning",
        "a mode is not listed",
        "In that mode the option is not passed at all, and the training runs its own default: often "
        "the full schedule.",
        "List the mode, with a value.",
    ),
    Code(
        "TC042",
        "warning",
        "there is a plain value where one per mode is read",
        "The scripts look for `mode=value`. A plain value has none, so the option is never passed.",
        "Write `mode=value|mode=value`.",
    ),
    Code(
        "TC043",
        "error",
        "an item of a per-mode line is not `mode=value`",
        "The item has no value, or more than one `=`; the script takes the text between the first two.",
        "Write `mode=value|mode=value`.",
    ),
    Code(
        "TC044",
        "warning",
        "a mode is listed twice",
        "The first item counts; the others are ignored.",
        "Remove one of them.",
    ),
    # Trainers
    Code(
        "TC050",
        "warning",
        "a trainer has no line",
        "The scripts then run the norm training under that name (PaddleDetection: nothing), so the "
        "result names something that never ran.",
        "Add a line for the trainer, or correct its name in the list.",
    ),
    Code(
        "TC051",
        "warning",
        "a listed trainer has the script `null`",
        "It is skipped without a word.",
        "Give it a script, or take it out of the list.",
    ),
    Code(
        "TC052",
        "warning",
        "a trainer is listed twice",
        "It is trained twice; the second run overwrites what the first one saved.",
        "Remove one of them.",
    ),
    # GPUs
    Code(
        "TC060",
        "error",
        "a GPU entry cannot be understood",
        "The scripts tell the kind of training from the length of the text and pass it on as it is.",
        "Write ids with commas (`0,1`), `-1` for the CPU, or `ip,ip;ids`, entries separated by `|`.",
    ),
    Code(
        "TC061",
        "error",
        "an address is a placeholder",
        "The launcher is started with it and waits for machines that do not exist.",
        "Put in the machines' addresses, or take the entry out.",
    ),
    Code(
        "TC062",
        "warning",
        "the scripts misread this GPU entry",
        "They go by the text's length: two digits are taken for one GPU with nothing made visible, "
        "nine GPUs and more for an address.",
        "Use ids below 10 and at most eight of them for the bash; `tipc` reads them all.",
    ),
    Code(
        "TC063",
        "warning",
        "several GPUs are launched where one is visible",
        "The scripts make one GPU visible for an entry like `0` and undo it only after an inference. Without"
        " an export there is none: the next entry, `0,1`, is launched with one visible GPU.",
        "List the entry with several GPUs first, or give an export; `tipc` itself sets it for each step.",
    ),
    # Files of the repository
    Code(
        "TC070",
        "error",
        "a script does not exist",
        "The command fails; the bash prints `Run failed` and still exits with 0.",
        "Correct the path. It is relative to the repository's root.",
    ),
    Code(
        "TC071",
        "warning",
        "a file that a command names does not exist",
        "The command fails when it reads it.",
        "Correct the path. It is relative to the directory that the command runs in.",
    ),
    Code(
        "TC072",
        "warning",
        "the inference script is null",
        "The scripts do not look: after an export they run `python null` with all the options.",
        "Name the inference script, or make the export null as well.",
    ),
    Code(
        "TC073",
        "warning",
        "the model to quantise is outside the repository",
        "The script goes into that folder and back by `cd ../../deploy`, which then is another folder: "
        "nothing is inferred.",
        "Put the model into a folder of the repository.",
    ),
    Code(
        "TC074",
        "warning",
        "the export before an inference is another than the one after a training",
        "The specification wants line 25 to be what line 22 is: else a trained model and one that is only "
        "inferred are exported in two ways.",
        "Write the same script and options in both lines, or null in line 25.",
    ),
    # Words of a command
    Code(
        "TC080",
        "warning",
        "a file name has its extension twice",
        "The file that is looked for is never written.",
        "Write the extension once.",
    ),
    Code(
        "TC081",
        "warning",
        "an option is given twice",
        "The last one wins; which one that is depends on the script's word order.",
        "Remove one of them.",
    ),
    Code(
        "TC082",
        "warning",
        "there is shell syntax in a value",
        "The scripts `eval` the command, so it takes effect there. `tipc` refuses it unless --allow-"
        "shell is given.",
        "Move it into a script of its own.",
    ),
    # Values
    Code(
        "TC090",
        "error",
        "a device is not known",
        "The scripts know True, False, gpu and cpu here; for any other word they print a notice and "
        "run no inference.",
        "Write `True|False` or `gpu|cpu`.",
    ),
    Code(
        "TC091",
        "warning",
        "a number is expected",
        "The word is passed on as it is; most scripts refuse it.",
        "Write a number.",
    ),
    Code(
        "TC092",
        "warning",
        "two lists that go together differ in length",
        "They are read side by side; what is missing is empty.",
        "Give both lists the same number of items.",
    ),
    Code(
        "TC093",
        "error",
        "a list is empty",
        "The loop over it has no turn: not one command of that stage runs, and nothing is reported.",
        "Give it an item; `null` for none.",
    ),
)

CODES = {entry.code: entry for entry in _TABLE}
