"""Chinese for what a plan, its script, an archive or a probe has to tell."""

PLAN = {
    # By what a config is known.
    "header": "标题行",
    "lines": "各行",
    "repository": "仓库",
    "script": "脚本",
    "option": "选项",
    "the mode {mode}": "模式 {mode}",
    "one of {names} reads it": "由 {names} 之一读取",
    "the repository has none for this chain": "仓库中没有这条链的脚本",
    "a plug-in's, of the dialect {name}": "属于插件的方言 {name}",
    "{names}: not known, so it is traced": "{names}：不是已知的脚本，因此追踪它",
    "{names}: known, of the dialect {family}": "{names}：已知，属于方言 {family}",
    "the lines of {family}": "各行与 {family} 相同",
    "the name or the package of {family}": "{family} 的名称或软件包",
    "model_name, inference, and no trainer": "有 model_name 和 inference，没有 trainer",
    # plan --verify
    "the same commands": "命令完全相同",
    "{count} differences": "{count} 处不同",
    "only in the dialect: {command}": "只在方言中：{command}",
    "only in the script: {command}": "只在脚本中：{command}",
    "(in {folder}) {command}": "（在 {folder} 中）{command}",
    "{step}: the dialect has {gone}, the script {come}\n    dialect: {ours}\n    script:  {theirs}": (
        "{step}：方言有 {gone}，脚本有 {come}\n    方言：{ours}\n    脚本：{theirs}"
    ),
    # Notes of a plan.
    "{path}: this mode runs nothing": "{path}：这个模式没有要运行的步骤",
    "{path}: whether both trainings have the same losses is not compared": (
        "{path}：不比较两次训练的损失是否相同"
    ),
    "traced: taken from what {script} called, not from a dialect": (
        "追踪：计划来自 {script} 的实际调用，而不是方言"
    ),
    "{script} called nothing in the mode {mode}: tipc lint may tell why": (
        "{script} 在模式 {mode} 下没有调用任何命令：tipc lint 可能会说明原因"
    ),
    "{name}, which {script} expects to be set, is taken for {value}": (
        "{script} 需要预先设置的 {name} 取为 {value}"
    ),
    "{script} ran without isolation, with your rights, as TIPC_TRACE_UNISOLATED=1 asks for": (
        "按 TIPC_TRACE_UNISOLATED=1 的要求，{script} 未经隔离、以你的权限运行"
    ),
    "{script} sources {path}, which is not there": "{script} 引入的 {path} 不存在",
    "a long silence": "长时间没有动静",
    "its limit of {seconds:g} s": "{seconds:g} 秒的时限",
    "{script} did not end and was stopped after {limit}; the plan is what it had called by then": (
        "{script} 没有结束，在{limit}之后被停止；计划是它到那时为止调用的命令"
    ),
    "{script} ended with exit code {status}: {line}": "{script} 以退出码 {status} 结束：{line}",
    "files of the repository that were left out of the scratch copy: {count}": (
        "没有放入临时副本的仓库文件：{count} 个"
    ),
    # Commands that cannot be planned.
    "{reason} (in the {kind} command)": "{reason}（在 {kind} 命令中）",
    "`${name}` is something of the running shell": "`${name}` 属于正在运行的 shell",
    "`{char}` means something to the shell": "`{char}` 对 shell 有特殊含义",
    "a command substitution needs a shell": "命令替换需要 shell",
    "a quote is opened and never closed": "引号没有闭合",
    "a text in $'…' needs a shell": "$'…' 中的文本需要 shell",
    "an expansion that is more than a variable's name needs a shell": "不只是变量名的展开需要 shell",
    "the braces of one word make more than {limit} words": "一个词中的花括号展开超过 {limit} 个词",
    "the environment variable {name} is not set": "没有设置环境变量 {name}",
    "the environment variable {name} is named like a secret: no plan shows what is in it": (
        "环境变量 {name} 的名称像是机密：计划不会显示其内容"
    ),
    "close the quote": "闭合引号",
    "export {name}=…": "export {name}=…",
    "put it in quotes, or give --allow-shell": "给它加引号，或使用 --allow-shell",
    "write the words out, or quote the braces": "把各词写全，或给花括号加引号",
    "let the script read the variable itself": "让脚本自己读取这个变量",
    "`{item}` is no kind of model: the script stops here with exit code 1": (
        "`{item}` 不是一类模型：脚本在此以退出码 1 停止"
    ),
    "`{name}` is no interpreter: is a line missing or added above?": (
        "`{name}` 不是解释器：上面是否少了或多了一行？"
    ),
    "line {line} names no interpreter": "第 {line} 行没有给出解释器",
    "the line ends in CRLF: bash looks for a program called `python\\r` and runs nothing": (
        "该行以 CRLF 结尾：bash 会寻找名为 `python\\r` 的程序，什么也不运行"
    ),
    "line {line} ({name}) is empty or missing: nothing would run": (
        "第 {line} 行（{name}）为空或缺失：什么也不会运行"
    ),
    "tipc lint tells which line is missing": "tipc lint 会指出缺少哪一行",
    # Going on with a run.
    "{step} runs again, {why}": "{step} 重新运行，{why}",
    "environment": "环境变量",
    "config": "配置",
    "scripts": "脚本",
    # Archives.
    "cannot be read ({error})": "无法读取（{error}）",
    "cannot be read here ({error})": "在本机无法读取（{error}）",
    "is broken or cut off ({error})": "已损坏或不完整（{error}）",
    "is cut off in {name!r}": "在 {name!r} 处中断",
    "holds a file without a name": "含有没有名称的文件",
    "holds a device or a pipe: {name!r}": "含有设备或管道：{name!r}",
    "holds a path out of its target: {name!r}": "含有指向目标之外的路径：{name!r}",
    "holds a path through a link: {name!r}": "含有经过链接的路径：{name!r}",
    "holds a link out of its target: {name!r} -> {link!r}": "含有指向目标之外的链接：{name!r} -> {link!r}",
    "holds a link to nothing: {name!r} -> {link!r}": "含有指向不存在文件的链接：{name!r} -> {link!r}",
    "holds a name that no file can have: {name!r}": "含有文件不能使用的名称：{name!r}",
    "holds more than {limit:,} files": "含有超过 {limit:,} 个文件",
    "unpacks to more than {limit:,} bytes": "解压后超过 {limit:,} 字节",
    "needs {needed:,} bytes, and {target} has room for {free:,}": (
        "需要 {needed:,} 字节，而 {target} 只有 {free:,} 字节"
    ),
    "{archive}: is already unpacked": "{archive}：已经解压",
    "{archive}: unpacked into {target}": "{archive}：已解压到 {target}",
    "{config}: preparing failed with exit code {code}": "{config}：准备数据失败，退出码 {code}",
    # Probes.
    "the probe cannot be started: {error}": "无法启动探测程序：{error}",
    "the probe ended with status {status}": "探测程序以状态 {status} 结束",
    "the probe gave no answer": "探测程序没有回答",
    "the probe gave no answer within {seconds:.0f} s": "探测程序在 {seconds:.0f} 秒内没有回答",
    "the probe used more than {limit} GB of memory": "探测程序占用的内存超过 {limit} GB",
    "the probe was killed by signal {signal}": "探测程序被信号 {signal} 终止",
    "the probe's answer cannot be read: {place}: {error}": "无法读取探测程序的回答：{place}：{error}",
    "its answer cannot be read: {error}": "无法读取它的回答：{error}",
    "a damaged file: {error}": "文件已损坏：{error}",
    "{program} ended with status {status}: {line}": "{program} 以状态 {status} 结束：{line}",
    "{program} gave no answer that can be read": "{program} 的回答无法读取",
    # Machines.
    "{count} cores": "{count} 核",
    "the node {name} does not see {path} and is shut out": "节点 {name} 看不到 {path}，不再使用",
    "the node {name} was lost; it begins again on another": "节点 {name} 失联；在另一节点上重新开始",
    "the node {name} was out of reach; it begins again": "节点 {name} 一时无法连接；重新开始",
    "paddle {version}: environment below {envs}": "paddle {version}：环境位于 {envs}",
    # align, compare, init, and a bug.
    "must be NAME=VALUE, such as forward=1e-5, not `{text}`": (
        "应写成 NAME=VALUE，例如 forward=1e-5，而不是 `{text}`"
    ),
    "`{text}` is not a percentage": "`{text}` 不是百分数",
    "wrote  {name}": "已写入  {name}",
    "kept   {name}  (it is there)": "保留    {name}  （已存在）",
    "next   tipc lint test_tipc/configs, then tipc check: it says what is still missing": (
        "接下来  tipc lint test_tipc/configs，然后 tipc check：它会说明还缺什么"
    ),
    "next   {command}, then change network.py and data.py": (
        "接下来  {command}，然后修改 network.py 和 data.py"
    ),
    "this is a bug in tipc ({error}):\n{text}": "这是 tipc 的缺陷（{error}）：\n{text}",
    "this is a bug in tipc ({error}); please report it with {path}\n": (
        "这是 tipc 的缺陷（{error}）；请附上 {path} 报告\n"
    ),
}
