"""Chinese for the pages of ``--help``: what commands and options are for."""

OPTIONS = {
    "usage: ": "用法：",
    "positional arguments": "参数",
    "options": "选项",
    "show this help message and exit": "显示此帮助并退出",
    # init, check, align, env, docs
    "In an empty folder: a small repository that is certified as it is. In one that has something: test_tipc/"
    " with configs for base, AMP and PACT, documents and scripts. Only what is missing is written. On a"
    " terminal, what is not given is asked.": (
        "在空目录中：生成一个无需修改即可通过认证的小仓库。在已有内容的目录中：生成 test_tipc/，"
        "含基础、AMP 和 PACT 的配置、文档和脚本。只写缺少的文件。在终端上会询问没有给出的内容。"
    ),
    "a whole repository for this task": "为这种任务生成整个仓库",
    "the model's name": "模型名",
    "the folder test_tipc/ alone, also in an empty folder": "只生成 test_tipc/ 目录，在空目录中也是如此",
    "model's name": "模型名",
    "training script, with its fixed options": "训练脚本及其固定选项",
    "evaluation command": "评估命令",
    "export script": "导出脚本",
    "inference script": "推理脚本",
    "folder of the lite data": "小数据集的目录",
    "image or folder for inference": "推理用的图片或目录",
    "name of the weights that training leaves": "训练留下的权重文件名",
    "option that turns on mixed precision: --amp-option=--amp_level=O2": (
        "开启混合精度的选项：--amp-option=--amp_level=O2"
    ),
    "option that turns on quantisation: --pact-option=--pact_quant": (
        "开启量化的选项：--pact-option=--pact_quant"
    ),
    "epochs of a lite training": "小数据训练的 epoch 数",
    "batch size of a lite training": "小数据训练的批大小",
    "the skeleton of test_tipc/parity.py alone": "只生成 test_tipc/parity.py 的骨架",
    "overwrite what is there (not with --template)": "覆盖已有的文件（不能与 --template 同用）",
    "The spec's checklist for a whole repository.": "按规范的清单检查整个仓库。",
    "its root; the current directory": "仓库根目录；默认为当前目录",
    "what to hold it against: base, with AMP, with PACT, or both; default: the highest it has": (
        "按哪个级别检查：基础、含 AMP、含 PACT 或两者；默认为仓库已有的最高级别"
    ),
    "also run the ```bash blocks of README, docs/ and test_tipc/ in a copy of the repository": (
        "还在仓库的副本中运行 README、docs/ 和 test_tipc/ 里的 ```bash 代码块"
    ),
    "also hold recorded tensors of the reproduction against its reference's": (
        "还把复现记录的张量与参考代码的对比"
    ),
    "what a stage, a stage/name or a pattern of --align may differ by on average: forward=1e-5": (
        "--align 的某个阶段、阶段/名称或模式允许的平均差异：forward=1e-5"
    ),
    "the interpreter of those commands": "这些命令的解释器",
    "as a task list for a pull request": "输出为合并请求的任务清单",
    "Compare two recordings of tipc.align.Recorder, stage by stage, and name the first tensor that differs."
    " What a stage may differ by on average: data 1e-6, forward 1e-6, loss 1e-5, optimizer 1e-6, backward"
    " 1e-5, weights 1e-4; less where the reference's values are small.": (
        "逐阶段比较 tipc.align.Recorder 的两份记录，指出第一个不同的张量。各阶段允许的平均差异："
        "data 1e-6、forward 1e-6、loss 1e-5、optimizer 1e-6、backward 1e-5、weights 1e-4；参考值很小时更严。"
    ),
    "recorded with the reference code": "用参考代码记录的",
    "recorded with the reproduction": "用复现代码记录的",
    "the mean absolute difference that a stage, a stage/name or a pattern may have: forward=1e-5": (
        "某个阶段、阶段/名称或模式允许的平均绝对差：forward=1e-5"
    ),
    "print it as JSON": "输出为 JSON",
    "also write a page with a plot": "还写出一个带图的页面",
    "Tell what this machine can certify.": "说明本机能认证什么。",
    "also tell what is missing for these": "还说明这些配置缺少什么",
    "the interpreter of the configs": "配置的解释器",
    "list the releases of paddle that can be had": "列出可以得到的 paddle 版本",
    "Write the result tables between the markers <!-- tipc:begin train|infer --> and <!-- tipc:end"
    " train|infer --> of test_tipc/README.md and test_tipc/docs/test_train_*.md. What was not run or not"
    " certified is shown as such.": (
        "把结果表写到 test_tipc/README.md 和 test_tipc/docs/test_train_*.md 的标记 "
        "<!-- tipc:begin train|infer --> 与 <!-- tipc:end train|infer --> 之间。"
        "没有运行或没有认证的会如实标出。"
    ),
    "default: the newest finished run of each config": "默认为每个配置最近一次完成的运行",
    "the model repository; default: here": "模型仓库；默认为当前目录",
    "of the tables (default zh)": "表格的语言（默认 zh）",
    "write nothing; exit 1 if a document is not up to date": "不写入；有文档不是最新时以 1 退出",
    # lint, plan, fixes, prepare
    "Find what is wrong in TIPC config files: each finding with its line, what the bash would do with it, and"
    " what to write instead. `tipc explain CODE` says more.": (
        "找出 TIPC 配置文件中的错误：每处都有行号、bash 会怎样处理、应当怎样写。"
        "`tipc explain CODE` 有更多说明。"
    ),
    "exit codes: 0 nothing found · 1 errors or warnings · 2 the call is wrong": (
        "退出码：0 没有问题 · 1 有错误或警告 · 2 调用有误"
    ),
    "default: the current directory": "默认为当前目录",
    "how findings are printed": "输出格式",
    "fix what is mechanical, where the plan loses no command": "作机械修改，前提是计划不丢失任何命令",
    "fix also where the plan loses commands; what it loses is printed": (
        "计划会丢失命令时也修改，并说明丢失了什么"
    ),
    "show what --fix would change, and change nothing": "显示 --fix 会改什么，但不修改",
    "show every finding, not one for many alike": "显示每一处，而不是同类只显示一处",
    "do not report TC052,TC061": "不报告 TC052,TC061",
    "show cosmetic notes, too": "也显示格式方面的提示",
    "instead of detecting it": "不自动识别",
    "the repository's root, instead of detecting it": "仓库根目录，不自动识别",
    "Show what a config runs: cells, commands, what is left out and why.": (
        "显示一个配置会运行什么：单元、命令、略过什么及原因。"
    ),
    "config files, directories or globs, then perhaps a MODE": "配置文件、目录或通配符，最后可以是 MODE",
    "the mode, where it is not the last word (default: lite_train_lite_infer)": (
        "模式，如果它不是最后一个词（默认 lite_train_lite_infer）"
    ),
    "the repository's root (default: the directory that holds test_tipc/)": (
        "仓库根目录（默认为含有 test_tipc/ 的目录）"
    ),
    "models, seg, ocr, clas or det (default: as the file shows)": (
        "models、seg、ocr、clas 或 det（默认由文件判断）"
    ),
    "the commands of the bash script to the letter, bugs included": "与 bash 脚本完全相同的命令，连同其错误",
    "the interpreter to run, whatever the config names": "所用的解释器，不论配置写的是什么",
    "plan for cpu, gpu, npu, xpu, … (default: what this machine has)": (
        "为 cpu、gpu、npu、xpu 等制定计划（默认为本机的设备）"
    ),
    "plan for a machine with N GPUs": "为有 N 块 GPU 的机器制定计划",
    "accept commands that only a shell can run": "接受只有 shell 才能运行的命令",
    "take the plan from the repository's own script": "由仓库自己的脚本得到计划",
    "leave out the step that prepares the data": "略去准备数据的步骤",
    "compare the dialect's plan with the repository's own script": "把方言的计划与仓库自己的脚本比较",
    "also show by what chain and dialect are known": "还显示根据什么识别出链和方言",
    "print lines that can be pasted into a shell": "输出可粘贴到 shell 的命令行",
    "print one JSON object a config": "每个配置输出一个 JSON 对象",
    "List where the default plan differs from the upstream scripts, and why.": (
        "列出默认计划与上游脚本的不同之处及理由。"
    ),
    "only those that this dialect needs": "只列出这种方言需要的",
    "print one JSON object": "输出一个 JSON 对象",
    "Unpack what test_tipc/prepare.py names, or run test_tipc/prepare.sh.": (
        "解压 test_tipc/prepare.py 所列的文件，或运行 test_tipc/prepare.sh。"
    ),
    "config files, directories or globs, and last the mode": "配置文件、目录或通配符，最后是模式",
    "lite_train_lite_infer (the default), whole_infer, …": "lite_train_lite_infer（默认）、whole_infer 等",
    "the root of the model repository": "模型仓库的根目录",
    "the layout of the config, if it is not recognised": "配置的布局（无法识别时）",
    "the interpreter for `python` in the config": "配置中 `python` 所用的解释器",
    "the config is of the repository's own script": "配置属于仓库自己的脚本",
    # run, certify, checks, explain
    "Run the plan of one or more configs, check what came out, report.": (
        "运行一个或多个配置的计划，检查结果，写出报告。"
    ),
    "only steps that match: 'amp and not infer'": "只运行匹配的步骤：'amp and not infer'",
    "only steps of these kinds: train,export": "只运行这些类别的步骤：train,export",
    "go on with a run, the newest if none is named": "继续一次运行，没有指明时为最近一次",
    "what failed, and what depends on it": "重新运行失败的步骤及依赖它们的步骤",
    "with --rerun-failed: what has changed since it passed, too": (
        "与 --rerun-failed 一起：通过之后有改动的步骤也重新运行"
    ),
    "also when steps start, and the status lines of the dialect": "还显示步骤的开始，以及方言的状态行",
    "only the summary": "只显示总结",
    "show the commands in order, run nothing": "按顺序显示命令，什么也不运行",
    "stop everything at the first failure": "第一次失败时全部停止",
    "end a step that takes longer": "终止超过此时间的步骤",
    "the language of messages": "消息的语言",
    "whether output is coloured": "输出是否带颜色",
    # pytest 插件
    "tipc: steps only, nothing is certified (--tipc-no-checks)": (
        "tipc：只运行步骤，不作认证（--tipc-no-checks）"
    ),
    "nothing to check": "没有可检查的内容",
    "no step was run": "没有运行任何步骤",
    "stopping: every process is being ended": "正在停止：终止所有进程",
    "try a failed step again; a late pass is flaky": "重试失败的步骤；重试后才通过的标为不稳定",
    "at most so many steps at once": "最多同时运行这么多步骤",
    "where steps run: local (the default), ray, …": "步骤在哪里运行：local（默认）、ray 等",
    "a new interpreter for every step": "每个步骤都启动新的解释器",
    "--no-prepare: the data is there; --prepare with --resume: prepare again": (
        "--no-prepare：数据已经准备好；--prepare 与 --resume 一起：再准备一次"
    ),
    "run only, certify nothing": "只运行，不认证",
    "what is not certified or flaky is a failure": "未认证或不稳定的也算失败",
    "only every N-th config, from the I-th on: 2/5": "从第 I 个起每 N 个配置取一个：2/5",
    "write the report as {form}, too": "还把报告写成 {form}",
    "the interpreter for `python` in configs": "配置中 `python` 所用的解释器",
    "run on each of these releases: 3.1,3.2,3.3": "在这些版本上分别运行：3.1,3.2,3.3",
    "where --paddle keeps its environments (.tipc/envs)": "--paddle 的环境放在哪里（.tipc/envs）",
    "write below test_tipc/output/NAME, not beside other runs": (
        "写到 test_tipc/output/NAME 下，不与其他运行混在一起"
    ),
    "plan for cpu, gpu, npu, xpu, …": "为 cpu、gpu、npu、xpu 等制定计划",
    "the commands of the upstream script to the letter": "与上游脚本完全相同的命令",
    "let a config use pipes, && and the like": "允许配置使用管道、&& 等",
    "Run the checks again on an earlier run.": "对以前的运行重新检查。",
    "id, prefix of an id, or directory; the newest if not given": (
        "编号、编号的开头或目录；没有给出时为最近一次"
    ),
    "what this machine cannot certify fails, too": "本机无法认证的也算失败",
    "print the verdict as JSON": "把结论输出为 JSON",
    "List the checks; `tipc explain ID` says more.": "列出全部检查；`tipc explain ID` 有更多说明。",
    "with what they read, the reason and the remedy": "连同依据、原因和办法",
    "Tell the reason and the remedy for a lint code, a check or a fix.": (
        "说明 lint 编号、检查或修正的原因和办法。"
    ),
    "TC012 (lint), TF001 (a fix), TL101 (a check), …": "TC012（lint）、TF001（修正）、TL101（检查）等",
    # report, history, compare, trend
    "Show earlier runs. RUN is an id, the beginning of one, or a directory; else the newest.": (
        "显示以前的运行。RUN 是编号、编号的开头或目录；默认为最近一次。"
    ),
    "default: report.html in the run": "默认为运行目录中的 report.html",
    "write the HTML and show it in a browser": "写出 HTML 并在浏览器中打开",
    "default: stdout": "默认为标准输出",
    "html, junit, json, markdown, or of a plug-in": "html、junit、json、markdown，或插件提供的格式",
    "where --format writes (default: stdout)": "--format 写到哪里（默认为标准输出）",
    "List earlier runs, newest last.": "列出以前的运行，最近的在最后。",
    "how many (default 20)": "多少次（默认 20）",
    "only runs on this kind of machine": "只列出这种机器上的运行",
    "Compare run B with run A. One run is compared with the newest one before it on the same machine, of"
    " another version if there is one; without any, the newest run is. Repeats of a run (same commits, same"
    " versions) count with it. How much a figure may vary is measured: from the history, or from the samples"
    " inside the two runs.": (
        "把运行 B 与运行 A 比较。只给出一次运行时，与同一机器上它之前最近的一次比较（如果有，取另一版本的）；"
        "都不给出时，比较最近一次。重复的运行（相同的提交和版本）一并计入。指标本身的波动是测量出来的："
        "取自历史，或取自两次运行内部的样本。"
    ),
    "A B, or B": "A B，或 B",
    "the smallest change that counts (default: 2 for speed and latency, 5 for memory and time)": (
        "算作变化的最小幅度（默认：速度和延迟 2，内存和时间 5）"
    ),
    "show also what did not change": "没有变化的也显示",
    "print the comparison as JSON": "把比较输出为 JSON",
    "also write the report of B with the comparison in it": "还写出带有比较的 B 的报告",
    "Show one figure over the runs: ips, inference_ms, peak_rss_mb, wall_s, loss, acc1, …; or all of a kind:"
    " speed, latency, memory, time, loss, accuracy.": (
        "显示一项指标在各次运行中的变化：ips、inference_ms、peak_rss_mb、wall_s、loss、acc1 等；"
        "或某一类的全部指标：speed、latency、memory、time、loss、accuracy。"
    ),
    "only configs and steps that contain this": "只看名称中含有这些词的配置和步骤",
    "how many runs (default 30)": "最近多少次运行（默认 30）",
    "only on this kind of machine": "只看这种机器",
    # completion, schema, settings
    "Print a script that completes commands, options, modes and paths. For bash put `source <(paddle-tipc"
    " completion bash)` into ~/.bashrc; for zsh the same with zsh into ~/.zshrc, after compinit; for fish:"
    " paddle-tipc completion fish > ~/.config/fish/completions/tipc.fish.": (
        "输出补全命令、选项、模式和路径的脚本。bash："
        "把 `source <(paddle-tipc completion bash)` 写进 ~/.bashrc；"
        "zsh：同样写进 ~/.zshrc，放在 compinit 之后；fish：paddle-tipc completion fish > "
        "~/.config/fish/completions/tipc.fish。"
    ),
    "Print the JSON Schema of what tipc writes: plan (plan --json), lint (--format json), verdict (certify"
    " --json, verdict.json), checklist (check --json), report (report, run --json), comparison (compare"
    " --json). Every document names its own version in `schema`.": (
        "输出 tipc 所写文件的 JSON Schema：plan（plan --json）、lint（--format json）、"
        "verdict（certify --json、"
        "verdict.json）、checklist（check --json）、report（report、run --json）、"
        "comparison（compare --json）。"
        "每个文件都在 `schema` 中写明自己的版本。"
    ),
    "Show the settings of this repository: {own}, or [tool.tipc] in {shared}, looked for upwards from here."
    " Options of the command line outdo them.": (
        "显示这个仓库的设置：{own}，或 {shared} 中的 [tool.tipc]，从当前目录向上查找。命令行选项优先。"
    ),
    "print them as JSON": "输出为 JSON",
    # What `tipc settings` and `tipc history` print.
    "file: ": "文件：",
    "none ({own} or [tool.tipc] in {shared})": "没有（{own}，或 {shared} 中的 [tool.tipc]）",
    "the mode where a call names none": "调用没有给出模式时的模式",
    "plan for this device": "为这种设备制定计划",
    "seconds after which a step is ended": "步骤超过这么多秒就终止",
    "how often a failed step is tried again": "失败的步骤重试几次",
    "where steps run": "步骤在哪里运行",
    "lint codes that are not shown": "不显示的 lint 编号",
    "the level of the specification that is claimed": "声称达到的规范级别",
    "the language of messages: en or zh": "消息的语言：en 或 zh",
    "a text": "文本",
    "a number": "数",
    "a whole number": "整数",
    "true or false": "true 或 false",
    "a list": "列表",
    "no runs in {folder}": "{folder} 里没有运行",
    "result": "结果",
    "models": "模型",
    "tipc: there is no command `{name}`.": "tipc：没有命令 `{name}`。",
    " Did you mean `tipc {close}`?": "是否应为 `tipc {close}`？",
}
