"""中文：界面上的词句，以英文原文为键（``tipc.language.say``）。"""

from tipc.language.zh_details import DETAILS
from tipc.language.zh_errors import ERRORS
from tipc.language.zh_findings_model import FINDINGS_MODEL
from tipc.language.zh_findings_repo import FINDINGS_REPO
from tipc.language.zh_findings_run import FINDINGS_RUN
from tipc.language.zh_options import OPTIONS
from tipc.language.zh_page import PAGE
from tipc.language.zh_plan import PLAN

TEXTS = {
    **DETAILS,
    **FINDINGS_RUN,
    **FINDINGS_MODEL,
    **FINDINGS_REPO,
    **ERRORS,
    **OPTIONS,
    **PAGE,
    **PLAN,
    # 运行结果
    "PASSED": "通过",
    "FAILED": "失败",
    "TIMEOUT": "超时",
    "NOT CERTIFIED": "未认证",
    "NOT CHECKED": "未检查",
    "INTERRUPTED": "已中断",
    "INCOMPLETE": "未完成",
    "NOTHING RUN": "未运行",
    "{word} {where}": "{word}{where}",
    "{count} {state}": "{count} 个{state}",
    "on {devices}": "（{devices}）",
    # 对齐（tipc align）
    "ALIGNED": "已对齐",
    "NOT ALIGNED": "未对齐",
    "stage": "阶段",
    "name": "名称",
    "mean |Δ|": "平均 |Δ|",
    "max |Δ|": "最大 |Δ|",
    "allowed": "允许",
    "difference / allowed, log scale": "差异 / 允许值，对数刻度",
    "{wrong} of {count} tensors": "{count} 个张量中的 {wrong} 个",
    "the first is {where}: {why}": "第一个是 {where}：{why}",
    "not recorded: {stages}": "没有记录：{stages}",
    "shape {reference} in the reference, {ours} in ours": "参考的形状是 {reference}，我们的是 {ours}",
    "mean |Δ| {mean:.2e} where {allowed:.0e} is allowed, on values up to {scale:.3g}": (
        "平均 |Δ| {mean:.2e}，允许 {allowed:.0e}，数值最大 {scale:.3g}"
    ),
    "not in ours": "我们的记录中没有",
    "not in the reference": "参考的记录中没有",
    "reference": "参考",
    "ours": "我们的",
    "Mean absolute difference of each tensor": "每个张量的平均绝对差",
    "A dot is the difference, the bar in its row what is allowed; the scale is logarithmic. What cannot be "
    "compared stands at the right edge.": (
        "圆点是差异，同一行的竖线是允许值；对数刻度。无法比较的画在右边缘。"
    ),
    "differences by tensor": "各张量的差异",
    "scale of mean |Δ|": "平均 |Δ| 的刻度",
    # 各版本对照表
    "passed on {devices}": "通过（{devices}）",
    "chain": "训练方式",
    "on": "设备",
    "release": "版本",
    "verdict": "结论",
    "differs": "不一致",
    "not checked": "未检查",
    # 步骤和单元的状态
    "passed": "通过",
    "flaky": "重试后通过",
    "failed": "失败",
    "timeout": "超时",
    "blocked": "受阻",
    "interrupted": "已中断",
    "pending": "未运行",
    "check failed": "检查未通过",
    "unchecked": "未检查",
    "not certified": "未认证",
    "skipped": "略过",
    "outdated": "已过期",
    "not selected": "未选中",
    "timed out": "超时",
    "not run": "未运行",
    # 数量
    "{count} steps": "{count} 个步骤",
    "{count} checks": "{count} 项检查",
    "{count} cells": "{count} 个单元",
    "{count} configs": "{count} 个配置",
    "{count} attempts": "{count} 次尝试",
    "{checks} failed": "{checks}未通过",
    "{checks} could not be made": "{checks}无法进行",
    "{cells} not certified": "{cells}未认证",
    " (strict)": "（严格模式）",
    "also: ": "同样：",
    "{title}: {text}": "{title}：{text}",
    "no browser could be started; open the file yourself": "无法启动浏览器；请自行打开文件",
    "not in the history: ": "没有写入历史：",
    "no report.html: ": "没有 report.html：",
    "not written: {path}: {error}": "没有写出 {path}：{error}",
    "nothing in {name}: {error}": "{name} 中没有内容：{error}",
    " (its steps add up to {time})": "（各步骤用时合计 {time}）",
    "and {count} more": "还有 {count} 个",
    "and {count} more; the report has them all": "还有 {count} 个，详见报告",
    "and {count} more causes; the report has them all": "还有 {count} 个原因，详见报告",
    "{count} passed: {names}": "{count} 项通过：{names}",
    # 失败
    "(it printed nothing)": "（没有任何输出）",
    "cause": "原因",
    "try": "建议",
    "log": "日志",
    "again": "重新运行",
    "data": "数据",
    "is it already there?": "数据已经存在？",
    "the commands ended well; whether their results are right was not looked at": (
        "命令均正常结束；结果是否正确没有检查"
    ),
    "report: ": "报告：",
    "checks": "检查",
    # 运行过程
    ", attempt {number}": "，第 {number} 次尝试",
    "{reason}, again": "{reason}，再试一次",
    "{state} before, {why} (--outdated runs it again)": "此前{state}，{why}（--outdated 会重新运行）",
    "{state} before (--prepare runs it again)": "此前{state}（--prepare 会重新运行）",
    "{state} before, nothing has changed": "此前{state}，没有变化",
    "{state} before, nothing has changed (--rerun-failed runs it again)": (
        "此前{state}，没有变化（--rerun-failed 会重新运行）"
    ),
    "dialect {name}": "方言 {name}",
    "{done} of {total} done, {left} to come": "已完成 {done}/{total}，剩余 {left}",
    "prepare removed {paths} and did not put it back": "prepare 删除了 {paths}，并且没有放回",
    "prepare removed {paths}; put it back, then": "prepare 删除了 {paths}；请放回，然后",
    "prepare ended with 0, but the network does not reach {hosts}": (
        "prepare 以 0 结束，但网络无法连接到 {hosts}"
    ),
    "preparing {config} calls {names}, which is not on PATH: what it would install with it, install by "
    "hand, or put a link of that name to your interpreter on PATH": (
        "准备 {config} 的数据时会调用 {names}，而 PATH 中没有它：请手动安装它要安装的软件包，"
        "或在 PATH 中建立指向所用解释器的同名链接"
    ),
    "preparing {config} installs packages with {names}, while steps run {python}: that one's folder, put "
    "first on PATH, changes it": (
        "准备 {config} 的数据时会用 {names} 安装软件包，而步骤使用的是 {python}："
        "若要装到那里，请把它所在的目录放到 PATH 最前面"
    ),
    "preparing {config} will remove {paths}": "准备 {config} 的数据时会删除 {paths}",
    "preparing {config} will remove {paths} ({option}: it will not)": (
        "准备 {config} 的数据时会删除 {paths}（使用 {option} 则不会）"
    ),
    "missing: ": "缺少：",
    "to go on: ": "继续运行：",
    "checking: ": "正在检查：",
    "waiting to start": "等待启动",
    "checking {steps} against what was seen of them": "正在检查 {steps}是否与观察到的事实一致",
    "checked, {seconds} s after the last step": "检查完毕，距最后一个步骤 {seconds} 秒",
    # 计划
    "as upstream": "与上游脚本一致",
    "this machine: {machine}": "本机：{machine}",
    "chain: ": "链路：",
    "note: ": "注意：",
    "differs from the script (tipc fixes):": "与脚本不同之处（tipc fixes）：",
    "nothing": "无",
    "{steps}: {total}; {count} left out": "{steps}：{total}；略过 {count} 个",
    " (line {line})": "（第 {line} 行）",
    "known by {kind}: {text}": "识别依据 {kind}：{text}",
    "left out: {what}: {why}": "略过：{what}：{why}",
    "left out: {files} for {why}": "略过：{files}，原因：{why}",
    "training and inference": "训练和推理",
    "post-training quantisation": "离线量化",
    "conversion to ONNX": "转换为 ONNX",
    "dynamic against static graph": "动态图与静态图对比",
    "inference of a published model": "已发布模型的推理",
    "training benchmark": "训练性能测试",
    "serving by a Python service": "Python 服务化部署",
    "serving by a C++ service": "C++ 服务化部署",
    "inference by a C++ program": "C++ 推理",
    "inference by Paddle Lite on a phone": "Paddle Lite 端侧推理",
    "inference in a browser": "浏览器（Paddle.js）推理",
    "a pipeline of several models": "多模型串联",
    # lint
    "error": "错误",
    "warning": "警告",
    "note": "提示",
    "{count} errors": "{count} 个错误",
    "{count} warnings": "{count} 个警告",
    "{count} notes": "{count} 个提示",
    "{count} files": "{count} 个文件",
    "nothing found": "没有发现问题",
    "{found} in {files}": "{files}：{found}",
    "({notes}: --notes shows them)": "（另有{notes}，--notes 可显示）",
    "fix: ": "修改：",
    "(tipc lint --fix can do it)": "（tipc lint --fix 可自动修改）",
    "the same {times} times in other places: {named}": "另有 {times} 处相同：{named}",
    "(--each shows all)": "（--each 显示全部）",
    "fixed {place}: {fix}": "已修改 {place}：{fix}",
    "risk {path}: {cost}": "风险 {path}：{cost}",
    "not fixed {path}: {script} is not known, so what reads this file is not": (
        "未修改 {path}：{script} 不是已知的脚本，因此不清楚该文件会被怎样读取"
    ),
    "not fixed {place}: {cost} (--unsafe-fixes does it all the same)": (
        "未修改 {place}：{cost}（--unsafe-fixes 仍会修改）"
    ),
    # explain、fixes、检查结果
    "reads": "依据",
    "reason": "原因",
    "in": "涉及",
    "remedy": "办法",
    "(lint {severity})": "（lint {severity}）",
    "the scripts of {families}": "{families} 的脚本",
    "(a fix of the default plan)": "（默认计划的修正）",
    "(a check, for each {scope})": "（检查，针对每个 {scope}）",
    "`tipc plan --as-upstream` makes none of these differences.": (
        "使用 `tipc plan --as-upstream` 时，一个修正也不做。"
    ),
    "CERTIFIED": "已认证",
    " (not required)": "（非必需）",
    "try: ": "建议：",
    "and {count} more (--json has them all)": "还有 {count} 个（--json 中有全部）",
    "TIPC checklist: ": "TIPC 检查清单：",
    "{topics} unchecked": "{topics}未检查",
    "steps": "步骤",
    "logs": "日志",
    "mixed precision": "混合精度",
    "parity": "一致性",
    "quantisation": "量化",
    "stored results": "保存的结果",
    "benchmark": "性能数据",
    "artefacts": "产物",
    "training and evaluation": "训练和评估",
    "inference": "推理",
    "documents": "文档",
    # 命令行的错误
    "there is no option `{word}`": "没有选项 `{word}`",
    "{option}: `{word}` is not a whole number": "{option}：`{word}` 不是整数",
    "{option}: `{word}` is not a number": "{option}：`{word}` 不是数字",
    "{option}: there is no `{word}`, only {known}": "{option}：没有 `{word}`，可用的有 {known}",
    "{option} needs a value": "{option} 需要一个值",
    "{option} needs {count} values": "{option} 需要 {count} 个值",
    "{option} and {other} cannot be given together": "{option} 和 {other} 不能同时使用",
    "{option} takes no value": "{option} 不接受值",
    "{names} is missing": "缺少 {names}",
    "`{word}` could be {names}": "`{word}` 可能是 {names}",
    "{option}: {what}": "{option}：{what}",
    "; did you mean `{close}`?": "；是否应为 `{close}`？",
    "must be a number of seconds above 0, not `{text}`": "必须是大于 0 的秒数，而不是 `{text}`",
    "must be like 2/5 (part 2 of 5), not `{text}`": "应写成 2/5（5 份中的第 2 份）的形式，而不是 `{text}`",
    "must be 0, 1, 2, …, not `{text}`": "必须是 0、1、2……，而不是 `{text}`",
    "must be 1, 2, 3, …, not `{text}`": "必须是 1、2、3……，而不是 `{text}`",
    # CI 的任务摘要
    "step": "步骤",
    "command": "命令",
    "state": "状态",
    "check": "检查",
    "finding": "结论",
    "times": "次数",
    # tipc --help
    "usage: tipc COMMAND [ARGUMENTS]   (tipc COMMAND --help says more)\n": (
        "用法：tipc COMMAND [ARGUMENTS]   （tipc COMMAND --help 有更多说明）\n"
    ),
    "Training and Inference Pipeline Certification for PaddlePaddle repositories.": (
        "PaddlePaddle 模型仓库的训推一体全流程认证（TIPC）。"
    ),
    "a new repository from a template, or test_tipc/ for your own": (
        "用模板新建仓库，或为已有的仓库生成 test_tipc/"
    ),
    "find what is wrong in config files, and fix what is mechanical": "找出配置文件中的错误，并作机械修改",
    "show what a config runs: cells, commands, what is left out and why": (
        "显示一个配置会运行什么：单元、命令、略过什么及原因"
    ),
    "list where the default plan differs from the bash, and why": "列出默认计划与 bash 的不同之处及理由",
    "fetch or unpack the data that a config needs": "下载或解压配置所需的数据",
    "run the plan, check what came out, report": "运行计划，检查结果，写出报告",
    "run the checks again on an earlier run": "对以前的运行重新检查",
    "the spec's checklist for a whole repository": "按规范的清单检查整个仓库",
    "a reproduction's recorded tensors against its reference's": "把复现记录的张量与参考代码的对比",
    "list the checks": "列出全部检查",
    "tell the reason and the remedy for a lint code, a check or a fix": (
        "说明 lint 代码、检查或修正的原因和办法"
    ),
    "show an earlier run: terminal, HTML, JUnit, JSON, Markdown": (
        "查看以前的运行：终端、HTML、JUnit、JSON、Markdown"
    ),
    "write the result tables into test_tipc/README.md and docs/": "把结果表格写入 test_tipc/ 的文档",
    "list earlier runs and their figures": "列出以前的运行及其数据",
    "compare two runs: speed, latency, memory, accuracy": "比较两次运行：速度、延迟、内存、精度",
    "show one figure over the runs": "显示一项数据在各次运行中的变化",
    "tell what this machine can certify": "说明本机能认证什么",
    "print the completion of commands and options for bash, zsh or fish": (
        "输出 bash、zsh 或 fish 的命令和选项补全"
    ),
    "print the JSON Schema of a plan, a report, a verdict, …": "输出计划、报告、结论等的 JSON Schema",
    "no GPU": "没有 GPU",
    "{chosen} of {steps}": "{steps}中的 {chosen} 个",
    "written: ": "已写入：",
    "show the settings of this repository, and where they come from": "显示本仓库的设置及其来源",
    "Every command takes --lang en|zh; else TIPC_LANG, LC_ALL, LC_MESSAGES or LANG\n"
    "tells the language; and --color auto|always|never; NO_COLOR is honoured.\n"
    "exit codes: 0 all passed · 1 something failed · 2 the config or the call is\n"
    "            wrong · 3 an error of the environment or of tipc · 130 interrupted\n": (
        "每个命令都接受 --lang en|zh；否则由 TIPC_LANG、LC_ALL、LC_MESSAGES 或 LANG\n"
        "决定语言；以及 --color auto|always|never；遵守 NO_COLOR。\n"
        "退出码：0 全部通过 · 1 有失败 · 2 配置或调用有误 ·\n"
        "        3 环境或 tipc 自身的错误 · 130 已中断\n"
    ),
}
