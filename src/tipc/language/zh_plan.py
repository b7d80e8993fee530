"""Chinese for what a plan, its script, an archive or a probe has to tell."""

PLAN = {
    # By what a config is known.
    "header": "标题行",
    "lines": "各行",
    "repository": "仓库",
    "script": "脚本",
    "option": "选项",
    # plan --verify
    "the same commands": "命令完全相同",
    "{count} differences": "{count} 处不同",
    # Notes of a plan.
    "a long silence": "长时间没有动静",
    "its limit of {seconds:g} s": "{seconds:g} 秒的时限",
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
    "`{item}` is not a kind of model: the script stops here with exit code 1": (
        "`{item}` 不是一类模型：脚本在此以退出码 1 停止"
    ),
    "`{name}` is not an interpreter: is a line missing or added above?": (
        "`{name}` 不是解释器：上面是否少了或多了一行？"
    ),
    "line {line} names no interpreter": "第 {line} 行没有给出解释器",
    "the line ends in CRLF: bash looks for a program called `python\\r` and runs nothing": (
        "该行以 CRLF 结尾：bash 会寻找名为 `python\\r` 的程序，什么也不运行"
    ),
    "line {line} ({name}) is empty or missing: nothing would run": (
        "第 {line} 行（{name}）为空或缺失：什么也不会运行"
    ),
    "tipc lint shows which line is missing": "tipc lint 会指出缺少哪一行",
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
    # Machines.
    "{count} cores": "{count} 核",
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
