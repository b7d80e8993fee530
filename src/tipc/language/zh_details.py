"""Chinese for texts that come as plain English (``tipc.language.details``).

They are errors within errors, what the guest and the probes say, notes that a plan or a journal has kept.

The first template that fits a text is taken: those that begin with a value stand after the others.
"""

DETAILS = {
    # Files that cannot be read or written.
    "it is not an .npz file": "它不是 .npz 文件",
    "it is not a regular file": "它不是普通文件",
    "it is larger than {size}": "它大于 {size}",
    "a line is longer than {size}": "有一行长于 {size}",
    "it is not there": "它不存在",
    "it cannot be read": "无法读取",
    "it is closed": "它已关闭",
    "too long": "太长",
    "nested too deeply": "嵌套过深",
    "no JSON: {error}": "不是 JSON：{error}",
    "a call is damaged": "一条调用记录已损坏",
    "a list is damaged": "一个列表已损坏",
    "a text is damaged": "一段文本已损坏",
    "a message has an English template and values": "一条消息应有英文模板和参数",
    "a reason has a code": "一个原因应有编号",
    "a run of format {format}; this tipc reads format {known}": (
        "运行记录的格式是 {format}；这个 tipc 读取格式 {known}"
    ),
    "not a file of parameters": "不是参数文件",
    "the file is cut off": "文件不完整",
    "the array {name} has no values": "数组 {name} 没有数值",
    "a type of number that is not known: {kind}": "未知的数值类型：{kind}",
    "a type of numbers `{text}`, which no array has": "数值类型 `{text}` 不是数组的类型",
    "it unpacks to more than {size} MB or {count} files": "解包后超过 {size} MB 或 {count} 个文件",
    "it unpacks to more than {size} GiB": "解包后超过 {size} GiB",
    "it is cut off: the end-of-archive block is missing": "它不完整：缺少压缩包的结尾块",
    "there is no end mark": "没有结束标记",
    "much follows its end mark": "结束标记之后还有很多内容",
    "no structure ({endings}) with parameters in {folder}": ("{folder} 中没有带参数的模型结构（{endings}）"),
    "{error} in test_tipc/parity.py, which is still the skeleton": ("{error}：test_tipc/parity.py 还是骨架"),
    "it has the name of a config, and is not one": "它有配置文件的名称，但不是配置文件",
    # -k
    "expected `and` or `or`": "应为 `and` 或 `or`",
    "expected `)`": "应为 `)`",
    "expected a word": "应为一个词",
    # What the system says.
    "[Errno {number}] {what}: {path}": "[Errno {number}] {what}：{path}",
    "No such file or directory": "没有这个文件或目录",
    "Permission denied": "权限不足",
    "Operation not permitted": "不允许的操作",
    "Is a directory": "这是目录",
    "Not a directory": "不是目录",
    "File exists": "文件已存在",
    "File name too long": "文件名太长",
    "No space left on device": "磁盘空间不足",
    "Disk quota exceeded": "超出磁盘配额",
    "Read-only file system": "只读文件系统",
    "Too many open files": "打开的文件太多",
    "Too many levels of symbolic links": "符号链接层数太多",
    "Input/output error": "输入输出错误",
    "Exec format error": "可执行文件格式错误",
    "Cannot allocate memory": "内存不足",
    "Text file busy": "文件正被执行",
    # Why a step or a probe could not be started, or was lost.
    "no such program: {program}": "没有这个程序：{program}",
    "nothing can be started: {error}": "无法启动任何程序：{error}",
    "the log {path} cannot be written: {error}": "无法写入日志 {path}：{error}",
    "the directory {path} cannot be entered: {error}": "无法进入目录 {path}：{error}",
    "the keeper of the step was killed": "看管这个步骤的进程被终止",
    "these processes could not be ended: {pids}": "无法终止这些进程：{pids}",
    "nothing is known about its end": "不知道它是怎样结束的",
    "it ended while it imported paddle": "它在导入 paddle 时结束",
    "importing paddle has opened a device ({device}), which a fork cannot use": (
        "导入 paddle 时打开了设备（{device}），fork 出的进程无法使用"
    ),
    "no answer after {seconds} s": "{seconds} 秒后没有回答",
    "the node did not answer": "节点没有回答",
    "no node of the cluster sees {path}: {names}": "集群中没有节点能看到 {path}：{names}",
    "the step was lost with its node {name}: {error}": "步骤随节点 {name} 丢失：{error}",
    "the step was lost with its worker on the node {name}: {error}": (
        "步骤随节点 {name} 上的工作进程丢失：{error}"
    ),
    "it did not end in time": "它没有及时结束",
    "it ended without a result": "它结束时没有结果",
    "its answer is empty": "它的回答是空的",
    "it died": "它异常结束",
    "mapping the id {user} into a user namespace: {error}": "把 id {user} 映射到用户命名空间：{error}",
    "seccomp: {error}": "seccomp：{error}",
    "no list of system calls for the processor {machine}": "没有处理器 {machine} 的系统调用表",
    "another tipc is working on this run": "另一个 tipc 正在处理这次运行",
    "another tipc run works in this directory": "另一个 tipc run 正在这个目录中工作",
    # What the witness could not see.
    "the command is not a Python script": "命令不是 Python 脚本",
    "the script ended before the witness could begin": "脚本在见证程序开始之前就结束了",
    "the step has left no facts": "步骤没有留下事实记录",
    "its arrays were beyond the limit": "它的数组超出限制",
    "the process ended before it reported anything": "进程在报告之前就结束了",
    "the process was ended before its last word": "进程在最后一次报告之前被终止",
    "its report is malformed: {error}": "它的报告格式不对：{error}",
    "its import was not seen": "没有看到它的导入",
    "a static program was saved: there is no dynamic network to ask": (
        "保存的是静态图：没有可以询问的动态图网络"
    ),
    "inputs and outputs are beyond the limit": "输入和输出超出限制",
    "the export has no InputSpec": "导出时没有 InputSpec",
    "no input was found that it takes": "没有找到它能接受的输入",
    # How an exported model's answers were compared.
    "soft-max over the last axis": "沿最后一轴的 softmax",
    "soft-max over axis 1": "沿轴 1 的 softmax",
    "arg-max over axis 1": "沿轴 1 的 argmax",
    "arg-max over axis 1, kept": "沿轴 1 的 argmax（保留该轴）",
    "arg-max over the last axis": "沿最后一轴的 argmax",
    "above one half": "大于二分之一",
    "identity, as a set": "相同（不计顺序）",
    # Notes of plans, and why a file is of a chain and a dialect.
    "the mode {mode}": "模式 {mode}",
    "one of {names} reads it": "由 {names} 之一读取",
    "the repository has none for this chain": "仓库中没有这条链的脚本",
    "a plug-in's, of the dialect {name}": "属于插件的方言 {name}",
    "the lines of {family}": "各行与 {family} 相同",
    "the name or the package of {family}": "{family} 的名称或软件包",
    "model_name, inference, and no trainer": "有 model_name 和 inference，没有 trainer",
    "only in the dialect: {command}": "只在方言中：{command}",
    "only in the script: {command}": "只在脚本中：{command}",
    "(in {folder}) {command}": "（在 {folder} 中）{command}",
    "traced: taken from what {script} called, not from a dialect": (
        "追踪：计划来自 {script} 的实际调用，而不是方言"
    ),
    "files of the repository that were left out of the scratch copy: {count}": (
        "没有放入临时副本的仓库文件：{count} 个"
    ),
    "the probe cannot be started: {error}": "无法启动探测程序：{error}",
    "the probe ended with status {status}": "探测程序以状态 {status} 结束",
    "the probe gave no answer": "探测程序没有回答",
    "the probe gave no answer within {seconds:.0f} s": "探测程序在 {seconds:.0f} 秒内没有回答",
    "the probe used more than {limit} GB of memory": "探测程序占用的内存超过 {limit} GB",
    "the probe was killed by signal {signal}": "探测程序被信号 {signal} 终止",
    "the probe's answer cannot be read: {place}: {error}": "无法读取探测程序的回答：{place}：{error}",
    "its answer cannot be read: {error}": "无法读取它的回答：{error}",
    "a damaged file: {error}": "文件已损坏：{error}",
    "the node {name} does not see {path} and is not used any more": "节点 {name} 看不到 {path}，不再使用",
    "the node {name} was lost; the step starts again on another": "节点 {name} 失联；在另一节点上重新开始",
    "the node {name} could not be reached; the step starts again": "节点 {name} 一时无法连接；重新开始",
    # Those that begin with a value.
    "{name} cannot be executed: {why}": "{name} 无法执行：{why}",
    "{name} cannot be started: {error}": "{name} 无法启动：{error}",
    "{name} is cut off after {length} of {size} bytes": "{name} 不完整：{size} 字节中只有 {length} 字节",
    "{module}.{name} is not an array: the file was not opened": "{module}.{name} 不是数组：没有打开这个文件",
    "{name} is not a stage; there are {stages}": "{name} 不是阶段；可用的有 {stages}",
    "{name} needs a name of its own": "{name} 需要单独的名称",
    "{name}: a {kind} is neither a tensor nor a number": "{name}：{kind} 既不是张量也不是数",
    "{text} is not a number": "{text} 不是数",
    "{text} is too large": "{text} 太大",
    "{text} is not a text": "{text} 不是文本",
    "{names}: not known, so it is traced": "{names}：不是已知的脚本，因此追踪它",
    "{names}: known, of the dialect {family}": "{names}：已知，属于方言 {family}",
    "{step}: the dialect has {gone}, the script {come}\n    dialect: {ours}\n    script:  {theirs}": (
        "{step}：方言有 {gone}，脚本有 {come}\n    方言：{ours}\n    脚本：{theirs}"
    ),
    "{path}: this mode runs nothing": "{path}：这个模式没有要运行的步骤",
    "{path}: whether both trainings have the same losses is not compared": (
        "{path}：不比较两次训练的损失是否相同"
    ),
    "{script} called nothing in the mode {mode}: tipc lint may say why": (
        "{script} 在模式 {mode} 下没有调用任何命令：tipc lint 可能会说明原因"
    ),
    "{name}, which {script} expects to be set, is taken for {value}": (
        "{script} 需要预先设置的 {name} 取为 {value}"
    ),
    "{script} ran without isolation, with your rights, as TIPC_TRACE_UNISOLATED=1 asks for": (
        "按 TIPC_TRACE_UNISOLATED=1 的要求，{script} 未经隔离、以你的权限运行"
    ),
    "{script} sources {path}, which is not there": "{script} 引入的 {path} 不存在",
    "{script} did not end and was stopped after {limit}; the plan is what it had called by then": (
        "{script} 没有结束，在{limit}之后被停止；计划是它到那时为止调用的命令"
    ),
    "{script} ended with exit code {status}: {line}": "{script} 以退出码 {status} 结束：{line}",
    "{program} ended with status {status}: {line}": "{program} 以状态 {status} 结束：{line}",
    "{program} gave no answer that can be read": "{program} 的回答无法读取",
    "{kind}Error: {error}": "{kind}Error: {error}",
}
