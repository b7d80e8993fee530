"""Chinese for what is wrong with a call, a file or a machine, and for what to do about it."""

ERRORS = {
    # Names that are not there, and what was meant.
    "did you mean `{close}`?": "是否应为 `{close}`？",
    "did you mean `{close}`? one of {names}": "是否应为 `{close}`？可用的有 {names}",
    "did you mean `{close}`? tipc history lists them": "是否应为 `{close}`？tipc history 会列出它们",
    "one of {names}": "可用的有 {names}",
    "--lang: there is no language `{value}`": "--lang：没有语言 `{value}`",
    "--color: there is no `{value}`": "--color：没有 `{value}`",
    "its interpreter: --python {path}": "其中的解释器：--python {path}",
    "--python: {path} is a folder": "--python：{path} 是目录",
    "--python: there is no program `{name}`": "--python：没有程序 `{name}`",
    "name an interpreter that is there: --python PROGRAM": "指定一个存在的解释器：--python PROGRAM",
    "other scripts are here: {names}; a template brings its own": (
        "这里已有其他脚本：{names}；模板自带同名脚本"
    ),
    "an empty folder; for this repository: tipc init --model {model}": (
        "换一个空目录；若是本仓库：tipc init --model {model}"
    ),
    "--repo: there is no such directory": "--repo：没有这个目录",
    "--ignore: there is no lint code `{code}`": "--ignore：没有 lint 编号 `{code}`",
    "there is no code, check or fix `{name}`": "没有编号、检查或修正 `{name}`",
    "there is no schema `{name}`": "没有 schema `{name}`",
    "there is no setting `{name}`": "没有设置 `{name}`",
    "there is no device `{device}`": "没有设备 `{device}`",
    "there is no dialect `{name}`": "没有方言 `{name}`",
    "the chain {chain} has no dialect `{name}`": "链 {chain} 没有方言 `{name}`",
    "the dialect `{name}` has no table for {chain} files": "方言 `{name}` 没有 {chain} 文件的表",
    "there is no executor `{name}`": "没有执行器 `{name}`",
    "there is no form of report `{name}`": "没有报告格式 `{name}`",
    "there is no release {name} of {package}": "{package} 没有版本 {name}",
    "unknown mode `{mode}`": "未知的模式 `{mode}`",
    # Files and folders.
    "tipc run CONFIG [MODE]; the runs of {folder} are kept there: cd {folder}": (
        "tipc run CONFIG [MODE]；{folder} 的运行记录在那里：cd {folder}"
    ),
    "is not a directory": "不是目录",
    "there is no such file or directory": "没有这个文件或目录",
    "there is no such config file": "没有这个配置文件",
    "there is no such archive": "没有这个压缩包",
    "there is no such recording": "没有这个记录文件",
    "there is no TIPC config in this directory": "这个目录里没有 TIPC 配置",
    "there is no TIPC config file in this directory": "这个目录里没有 TIPC 配置文件",
    "no config file matches": "没有匹配的配置文件",
    "no config file is named": "没有给出配置文件",
    "the config file is empty": "配置文件是空的",
    "the config file has more than {most} lines": "配置文件超过 {most} 行",
    "the config file cannot be read: {reason}": "无法读取配置文件：{reason}",
    "the config file cannot be read: {strerror}": "无法读取配置文件：{strerror}",
    "the config file cannot be written: {strerror}": "无法写入配置文件：{strerror}",
    "cannot be read: {error}": "无法读取：{error}",
    "cannot be read: {strerror}": "无法读取：{strerror}",
    "cannot be written: {strerror}": "无法写入：{strerror}",
    "{repo} cannot be copied to {copy}: {error}": "无法把 {repo} 复制到 {copy}：{error}",
    "this is a directory, not a config file": "这是目录，不是配置文件",
    "this is a binary file (it has a NUL byte), not a config": "这是二进制文件（含有 NUL 字节），不是配置",
    "the document cannot be read: {error}": "无法读取文档：{error}",
    "no section begins with a header": "没有以标题行开头的部分",
    "no room left on the disk": "磁盘空间不足",
    "make room, then `tipc run --resume` goes on where this run stopped": (
        "腾出空间，然后用 `tipc run --resume` 从停下的地方继续"
    ),
    "make room, then start it again: nothing has run yet": "腾出空间后重新开始：还没有运行任何步骤",
    "make room, then `tipc certify {run}`: the steps need not run again": (
        "腾出空间后运行 `tipc certify {run}`：步骤不必重新运行"
    ),
    "move the file away": "把这个文件移走",
    "wait for it, or end it": "等它结束，或终止它",
    "this file system has no locks ({strerror}), so two runs could spoil each other's files": (
        "这个文件系统不支持锁（{strerror}），两次运行可能破坏彼此的文件"
    ),
    "a local disk: TIPC_HOME=DIR for the runs, a copy of the repository for its outputs": (
        "使用本地磁盘：用 TIPC_HOME=DIR 存放运行记录，用仓库的副本存放输出"
    ),
    # Configs that cannot be planned.
    "this is not a TIPC config: no header, name or line says what it is for": (
        "这不是 TIPC 配置：标题、文件名和各行都没有说明它的用途"
    ),
    "this is a config for {title} ({chain}); no dialect fits it, and its repository has no script to trace": (
        "这是{title}（{chain}）的配置；没有合适的方言，仓库里也没有可追踪的脚本"
    ),
    "the lists of this config multiply to more than {most} commands": (
        "此配置中的各个列表相乘超过 {most} 条命令"
    ),
    "{script} calls nothing that could be a step of a plan": "{script} 没有调用任何可以成为计划步骤的东西",
    "this is a config for {title} ({chain}): {script} calls nothing that could be a step of a plan": (
        "这是{title}（{chain}）的配置：{script} 没有调用任何可以作为计划步骤的命令"
    ),
    "this is a config for {title} ({chain}), which tipc plans only from the repository's own script,"
    " and there is none": "这是{title}（{chain}）的配置，tipc 只能根据仓库自己的脚本制定计划，而仓库没有",
    "--dialect {names}, or --repo with the repository's root": (
        "--dialect {names}，或用 --repo 给出仓库根目录"
    ),
    "--dialect models|seg|ocr|clas|det, or --repo DIR for the repository's root": (
        "--dialect models|seg|ocr|clas|det，或用 --repo DIR 给出仓库根目录"
    ),
    "--repo DIR names the repository's root": "用 --repo DIR 给出仓库根目录",
    "the benchmark's block lists no batch size or no precision": "benchmark 部分没有列出批大小或精度",
    "this line of the benchmark's block should be `{name}:…`": "benchmark 部分的这一行应为 `{name}:…`",
    "this config has no block `{block}`: there is nothing to measure": "配置中没有 `{block}` 部分：无可测量",
    "no config here can be planned without tracing: {counts}": "这里的配置都只能通过追踪来计划：{counts}",
    "no config here has this mode, or a script: {counts}": "这里的配置都没有这个模式，或没有脚本：{counts}",
    "{fix}; {count} more: tipc lint {config}": "{fix}；另有 {count} 处：tipc lint {config}",
    "{code} {message}": "{code} {message}",
    "nothing runs in mode {mode}": "在模式 {mode} 下没有要运行的步骤",
    "tipc plan shows what is left out, and why": "tipc plan 会说明略过了什么及原因",
    "nothing but preparation would run": "除了准备数据，没有要运行的步骤",
    "tipc lint; nothing was run": "tipc lint；没有运行任何步骤",
    "no step is selected by -k and --only": "-k 和 --only 没有选中任何步骤",
    "tipc plan lists the steps": "tipc plan 会列出步骤",
    "-k: {what}\n  {place}": "-k：{what}\n  {place}",
    "-k: the expression is nested too deeply": "-k：表达式嵌套过深",
    "--only: `{unknown}` is not a kind of step": "--only：没有 `{unknown}` 这类步骤",
    "--only: no kind of step is named": "--only：没有给出步骤类别",
    "`{key}` has two steps `{id}`": "`{key}` 有两个步骤 `{id}`",
    "run configs of the same name separately": "请分别运行同名的配置",
    "step `{id}` needs `{unknown}`, which the plan does not have": (
        "步骤 `{id}` 需要 `{unknown}`，而计划中没有"
    ),
    "steps need each other: {names}": "步骤互相依赖：{names}",
    # Tracing.
    "its repository has no script to trace": "仓库没有可追踪的脚本",
    "several scripts could read this config: {names}": "有多个脚本可能读取这个配置：{names}",
    "name one: TIPC_TRACE_SCRIPT={candidates}": "请指定一个：TIPC_TRACE_SCRIPT={candidates}",
    "there is no script `{given}` in {repo}": "{repo} 中没有脚本 `{given}`",
    "the config is not in the repository {root}": "配置不在仓库 {root} 里",
    "{chosen} leads out of the repository {root}: it is not traced": (
        "{chosen} 指向仓库 {root} 之外：不追踪它"
    ),
    "no dialect fits this file, so there is nothing to compare its script with": (
        "没有适合这个文件的方言，因此没有可与脚本比较的计划"
    ),
    "{script} calls tipc itself: there is nothing to trace": "{script} 自己调用 tipc：没有可追踪的内容",
    "leave out --trace": "去掉 --trace",
    "{script} calls commands without end (stopped after {calls}): no plan can be taken from it": (
        "{script} 无休止地调用命令（在第 {calls} 条之后停止）：无法由它得到计划"
    ),
    "{script} takes more memory than a traced script may ({size} MiB): no plan can be taken from it": (
        "{script} 占用的内存超过了追踪的上限（{size} MiB）：无法由它得到计划"
    ),
    "{script} calls commands with more than {words} words in all: no plan can be taken from it": (
        "{script} 调用的命令总共超过 {words} 个词：无法由它得到计划"
    ),
    "it is not traced: {strerror}": "不追踪它：{strerror}",
    "TIPC_TRACE_SECONDS is `{text}`: not a number of seconds": "TIPC_TRACE_SECONDS 是 `{text}`：不是秒数",
    "{repo} is part of the system or somebody's home, and no repository: no script is traced there": (
        "{repo} 属于系统或某人的主目录，不是仓库：不在那里追踪脚本"
    ),
    "the traced script could not be stopped in time": "被追踪的脚本没能及时停止",
    "the tracer broke (exit {returncode}): {stderr}": "追踪程序出错（退出码 {returncode}）：{stderr}",
    "the tracer broke: {broken}": "追踪程序出错：{broken}",
    "the tracer gave no answer that can be read ({error})": "追踪程序的回答无法读取（{error}）",
    "the tracer gave no answer that can be read ({error!r})": "追踪程序的回答无法读取（{error!r}）",
    "the script cannot be isolated on this machine ({refused}), so it was not run": (
        "本机无法隔离这个脚本（{refused}），因此没有运行它"
    ),
    "allow user namespaces here (sysctl user.max_user_namespaces, kernel.unprivileged_userns_clone,"
    " kernel.apparmor_restrict_unprivileged_userns, or docker --security-opt seccomp=unconfined"
    " --security-opt systempaths=unconfined), or, if you trust the script as you trust your own,"
    " --trace with TIPC_TRACE_UNISOLATED=1: then it runs with your rights, and only PATH keeps it from real"
    " programs": (
        "允许用户命名空间（sysctl user.max_user_namespaces、kernel.unprivileged_userns_clone、"
        "kernel.apparmor_restrict_unprivileged_userns，或 docker --security-opt seccomp=unconfined "
        "--security-opt systempaths=unconfined）；如果像信任自己的脚本一样信任它，也可以用 --trace 并设置 "
        "TIPC_TRACE_UNISOLATED=1：它会以你的权限运行，只有 PATH 使它碰不到真正的程序"
    ),
    # Calls.
    "which config?": "哪个配置？",
    "which model?": "哪个模型？",
    "compare takes two runs at most": "compare 最多接受两次运行",
    "one folder at most, not {names}": "最多一个目录，而不是 {names}",
    "tipc run CONFIG… [MODE], or tipc run --resume": "tipc run CONFIG… [MODE]，或 tipc run --resume",
    "tipc run --resume RUN, for one of them": "对其中一个：tipc run --resume RUN",
    "tipc run CONFIG makes a new one": "tipc run CONFIG 会新建一次运行",
    "tipc checks, tipc fixes, docs/lint.md": "tipc checks、tipc fixes、docs/lint.zh-CN.md",
    "{option} cannot change a run that goes on": "{option} 不能改变正在继续的运行",
    "--resume and --rerun-failed take a run, not configs": "--resume 和 --rerun-failed 接受运行，不接受配置",
    "--resume or --rerun-failed, not both": "--resume 与 --rerun-failed 不能同时使用",
    "--outdated goes with --rerun-failed": "--outdated 要与 --rerun-failed 一起使用",
    "--resume runs what is outdated": "--resume 会运行已过期的步骤",
    "--envs goes with --paddle": "--envs 要与 --paddle 一起使用",
    "--shard {part}/{parts}: there are not so many configs": "--shard {part}/{parts}：没有这么多配置",
    "--paddle starts new runs": "--paddle 会新建运行",
    "--paddle brings its own interpreters": "--paddle 自带解释器",
    "leave --python out": "去掉 --python",
    "--paddle names its own output folders": "--paddle 自己决定输出目录",
    "leave --output out": "去掉 --output",
    "another tipc makes this environment": "另一个 tipc 正在创建该环境",
    "--paddle takes releases, not `{names}`": "--paddle 接受版本号，而不是 `{names}`",
    "the configs here are of {names}: none of another dialect is written": (
        "这里的配置属于 {names}：不会写入其他方言的配置"
    ),
    "{missing} must be fetched, {kept} is kept in {envs}: connect to the network, or --paddle {kept}": (
        "{missing} 需要下载，{kept} 已保存在 {envs}：请连接网络，或使用 --paddle {kept}"
    ),
    "copy a config that is there and change it; tipc init --parity writes parity.py alone": (
        "复制已有的配置并修改；tipc init --parity 只生成 parity.py"
    ),
    "`{model}` cannot be a model's name here": "`{model}` 不能用作模型名",
    "letters, digits, _, ., + and -, as in mobilenet_v3_small": (
        "字母、数字、_、.、+ 和 -，例如 mobilenet_v3_small"
    ),
    "{name}: {value!r} cannot stand in a config": "{name}：{value!r} 不能写进配置",
    "no colon, no line break, not empty": "不能有冒号或换行，不能为空",
    "{make_data} failed: {stderr}": "{make_data} 失败：{stderr}",
    # Runs and what is kept of them.
    "`{ref}` is an earlier call of the run `{name}`": "`{ref}` 是运行 `{name}` 较早的一次调用",
    "its report was kept: {page}": "它的报告保留在：{page}",
    "there is no run in {folder}": "{folder} 里没有运行",
    "there is no run `{ref}` in {folder}": "{folder} 里没有运行 `{ref}`",
    "there is no run before {id} to compare it with": "{id} 之前没有可供比较的运行",
    "`{ref}` names several runs: {names}": "`{ref}` 对应多次运行：{names}",
    "there is no {what} of a config in {repo}": "{repo} 中没有任何配置的{what}",
    "run": "运行",
    "finished run": "已完成的运行",
    "the run {id} is not finished": "运行 {id} 还没有完成",
    "no run has the figure `{metric}` of what was asked for": "所要求的范围内没有运行含有指标 `{metric}`",
    "no run has the figure `{metric}`: there is no run": "没有指标 `{metric}`：还没有运行",
    "a thousand runs were started within one second in {folder}": "{folder} 中一秒之内启动了一千次运行",
    "this run cannot be resumed: its request is not known": "这次运行无法继续：不知道它的请求",
    "preparing {config} failed, and doing it again may remove data": (
        "准备 {config} 失败，重新准备可能会删除数据"
    ),
    "`--prepare` does it again; is the data already there? `--no-prepare`": (
        "`--prepare` 会重新准备；数据已经在那里？`--no-prepare`"
    ),
    "the plans of this run cannot be read: {error}": "无法读取这次运行的计划：{error}",
    "not a run: {strerror}": "不是一次运行：{strerror}",
    "not a run: its journal has no first line": "不是一次运行：日志没有第一行",
    "`tipc run CONFIG` makes a new run; this one is left as it is": (
        "`tipc run CONFIG` 会新建一次运行；这一次保持原样"
    ),
    "the journal is damaged here: {error}": "日志在此处损坏：{error}",
    "the journal is damaged: it does not begin with the call of the run": (
        "日志已损坏：它不是以运行的调用开头"
    ),
    "the facts are damaged": "观测记录已损坏",
    "the facts have been changed since they were written": "观测记录在写入之后被改动过",
    "the facts of the step have been removed": "步骤的观测记录已被删除",
    "the arrays of the facts are not as they were written": "观测记录的数组与写入时不同",
    "facts of version {version}, not {known}": "观测记录的版本是 {version}，而不是 {known}",
    "the history cannot be used: {error}": "无法使用历史记录：{error}",
    "written by a newer tipc": "由更新版本的 tipc 写入",
    "update tipc": "请更新 tipc",
    "not a verdict: schema {data!r}, expected {schema!r}": "不是结论：schema 是 {data!r}，应为 {schema!r}",
    "a damaged verdict: {loc}: {msg}": "结论已损坏：{loc}：{msg}",
    "this is not a plan: it is not a JSON object": "这不是计划：它不是 JSON 对象",
    "this is not a plan: {where}: {msg}": "这不是计划：{where}：{msg}",
    "a plan of schema {data!r}; this tipc reads {schema}": (
        "计划的 schema 是 {data!r}；这个 tipc 读取 {schema}"
    ),
    "`{begin}` must be followed by exactly one `{end}`": "`{begin}` 之后必须恰有一个 `{end}`",
    # Preparing.
    "neither {declared} nor {script} is there": "{declared} 和 {script} 都不存在",
    "{script} only calls `tipc prepare`": "{script} 只是调用 `tipc prepare`",
    "name the archives in {declared}, or let {script} do the work itself": (
        "在 {declared} 中写明压缩包，或让 {script} 自己完成"
    ),
    "ARCHIVES must be a literal list of (archive, target), or a dict from mode to such a list": (
        "ARCHIVES 必须是由（压缩包，目标）组成的字面量列表，或从模式到这种列表的字典"
    ),
    "the target `{target}` is outside the repository": "目标 `{target}` 在仓库之外",
    "{why}; nothing was unpacked": "{why}；没有解压任何文件",
    # Machines, environments, plug-ins.
    "{program} cannot be started: {strerror}": "无法启动 {program}：{strerror}",
    "give a working interpreter with --python": "用 --python 给出可用的解释器",
    "ray is not installed": "没有安装 ray",
    "no Ray cluster answers at {address}: {why}": "{address} 处没有 Ray 集群应答：{why}",
    "ray start --head, or set RAY_ADDRESS to the address of one; if it wants a token, set"
    " RAY_AUTH_MODE=token and RAY_AUTH_TOKEN as Ray documents": (
        "ray start --head，或把 RAY_ADDRESS 设为集群地址；如需令牌，按 Ray 的文档设置 "
        "RAY_AUTH_MODE=token 和 RAY_AUTH_TOKEN"
    ),
    "neither pip nor uv is there": "既没有 pip 也没有 uv",
    "the releases of {package} cannot be listed: {done}": "无法列出 {package} 的版本：{done}",
    "is there a network?": "有网络吗？",
    "connect to the network: nothing for {asked} is kept in {envs}": (
        "请连接网络：{envs} 中没有保存 {asked} 的环境"
    ),
    "no environment for {package} {version}: {done}": "没有 {package} {version} 的环境：{done}",
    "by hand: cd {repo} && {names}": "手动执行：cd {repo} && {names}",
    "a plug-in of tipc does not load: {error}": "tipc 的插件无法加载：{error}",
    "correct or uninstall it: pip list | grep tipc": "修复或卸载它：pip list | grep tipc",
    "the plug-in {plugin} gave {item!r}, which is no {kind} of tipc": (
        "插件 {plugin} 给出的 {item!r} 不是 tipc 的 {kind}"
    ),
    "the plug-in {plugin} has `{name}`, a name that is taken": "插件 {plugin} 的 `{name}` 与已有名称重复",
    "a plug-in has a check with id {id}, scope {scope}": "某插件的检查编号为 {id}，范围为 {scope}",
    "the engine `{name}` computes in `{precision}`, which is no precision that tipc knows": (
        "引擎 `{name}` 以 `{precision}` 计算，tipc 不认识这种精度"
    ),
    "a plug-in has an engine without {absent}: {module!r}": "某插件的引擎缺少 {absent}：{module!r}",
    "this is not a recording: {error}": "这不是记录文件：{error}",
    "this is not a recording of tipc.align: {found}": "这不是 tipc.align 的记录文件：{found}",
    "it is empty": "它是空的",
    "`{name}` is not stage/name": "`{name}` 不是 阶段/名称",
    "`{name}` holds no numbers": "`{name}` 不是数值",
    "--threshold {pattern}: no tensor has this name": "--threshold {pattern}：没有这个名称的张量",
    "a stage, stage/name or a pattern: forward, forward/logits, 'backward/head.*'": (
        "阶段、阶段/名称或模式：forward、forward/logits、'backward/head.*'"
    ),
    "record with tipc.align.Recorder; stages are {names}": "用 tipc.align.Recorder 记录；阶段有 {names}",
    # Settings.
    "`{name}` must be {kind}, not {value!r}": "`{name}` 必须是{kind}，而不是 {value!r}",
    "`{name}` cannot be `{value}`": "`{name}` 不能是 `{value}`",
    "`{name}` must be at least {least:g}, not {value:g}": "`{name}` 至少是 {least:g}，而不是 {value:g}",
    "`{name}` must be a list of texts": "`{name}` 必须是文本列表",
    "the settings cannot be read: {error}": "无法读取设置：{error}",
    "`tool.tipc` must be a table": "`tool.tipc` 必须是表",
    "the current directory has been removed": "当前目录已被删除",
    "cd to another one": "用 cd 换到另一个目录",
    "not valid TOML: it is nested too deeply": "不是有效的 TOML：嵌套过深",
    "not valid TOML: {message}": "不是有效的 TOML：{message}",
}
