"""中文：默认计划与上游脚本的不同之处。"""

from tipc.language.entry import Described

FIXES = {
    "TF001": Described("把图片路径传给推理", "脚本读取一个从未赋值的变量，因此训练之后的推理得不到图片。"),
    "TF002": Described("把数据路径传给训练和评估", "第 11 行被解析却从未使用：训练用的是脚本默认的数据。"),
    "TF003": Described(
        "把第 5 行的设备传给训练和评估",
        "第 5 行被解析却从未使用。当它的键是选项（--device:gpu）时传递。",
    ),
    "TF004": Described(
        "每个 GPU 项都有设备",
        "设备列表按 GPU 项取下标；超出长度的项训练时没有设备选项。这里对它们使用最后一项。",
    ),
    "TF005": Described("量化模型在 GPU 上以 int8 运行", "略过规则恰好略过了量化模型的 int8 组合。"),
    "TF006": Described(
        "大于 9 的卡号，以及多于八张卡",
        "脚本按文本长度猜测：`10` 得不到 CUDA_VISIBLE_DEVICES，九张卡被当作机器列表，在一个进程中训练。",
    ),
    "TF007": Described(
        "CUDA_VISIBLE_DEVICES 不会泄漏",
        "它在不同的分支中被导出和取消，因此命令可能沿用上一个单元的值。",
    ),
    "TF008": Described(
        "每条命令有自己的日志和结果目录", "名称中没有单元或干脆缺失：后面的命令会覆盖前面命令写出的内容。"
    ),
    "TF009": Described(
        "没有完全重复的命令", "对不传递的设置做循环，会重复同一条命令：占 PaddleClas 全部命令的 24 %。"
    ),
    "TF010": Described("使用按模式给出的 epoch 数", "脚本忘了传递模式，什么也找不到，总是训练 2 个 epoch。"),
    "TF011": Described(
        "推理不会改变训练的设备", "两个循环都用变量 `use_gpu`：第二种训练方式会用上一次推理的设备训练。"
    ),
    "TF012": Described(
        "值中的竖线保留在值里",
        "`|` 会变成空格，在 PaddleDetection 中则成为真正的管道：`use_gpu=True|False` 会启动程序 `False`。",
    ),
    "TF013": Described("训练的状态是它自己的退出码", "打印出来的是复制训练日志的状态：崩溃会被报告为成功。"),
    "TF014": Described("输出目录不叫 *.log", "存放权重和导出模型的目录用了日志文件的名称。"),
    "TF015": Described(
        "pact 或 fpgm 训练保留自己的预训练权重",
        "脚本从任意 GPU 项的上一次 norm 训练开始；没有 norm 训练时，该选项被丢弃。",
    ),
    "TF016": Described(
        "训练不会在五分钟后被终止",
        "脚本中每次训练都在 `timeout 5m` 下运行，不论模式；tipc 有自己的超时设置。",
    ),
    "TF017": Described(
        "缺失或拼错的量化标志视为 False",
        "对略过规则来说 `Fasle` 既不是 True 也不是 False；缺失的标志还会使参数错位。",
    ),
    "TF019": Described(
        "行尾的回车和空格、null 周围的空格不属于值",
        "Windows 换行的文件什么也不运行，退出码却是 0；` null` 被当作值；`cpu` 后的空格会略过全部推理。",
    ),
    "TF020": Described("值在第二个冒号之后继续", "脚本在那里截断：`https://host/file` 变成 `https`。"),
    "TF021": Described(
        "某行没有列出的模式采用最接近的一项",
        "脚本此时不传递选项，lite 训练会跑完整的训练。这里采用训练部分（lite_train、whole_train）相同的一项，"
        "或单个值。",
    ),
    "TF023": Described(
        "识别模型导出时带有权重",
        "脚本导出 GeneralRecognition 和 MetaBIN 模型时没有给出权重：导出的是随机权重。",
    ),
    "TF024": Described(
        "每个单元使用自己的训练留下的权重",
        "没有 --do_eval 的训练不保留 best_model：脚本随后改用最后一次迭代的权重，后面所有单元也是如此。",
    ),
    "TF025": Described("GPU 推理也有结果目录", "该选项只在 CPU 上传递：GPU 上所有图片都写到同一处。"),
    "TF026": Described(
        "amp_train 确实以混合精度训练",
        "除非 autocast 行写了 amp 或 fp16（没有 amp 配置这样写），"
        "脚本会在每条命令末尾加上 AMP.use_amp=False："
        "混合精度又被关闭。",
    ),
    "TF027": Described("量化确实会运行", "运行量化的那一行被注释掉了；报告的状态是打印命令的状态。"),
    "TF028": Described("量化使用自己的选项", "生成量化命令之前，设备和 batch size 的键被推理的键覆盖了。"),
    "TF029": Described(
        "不给转换工具 --enable_dev_version", "现在的 paddle2onnx 不认识该选项，会直接停止：模型没有转换。"
    ),
    "TF030": Described(
        "转换工具不安装任何东西",
        "除非给出 `--optimize_tool None`，paddle2onnx 运行时会往环境里安装软件包。",
    ),
    "TF031": Described("ONNX 模型推理的状态是它自己的", "脚本再次报告了转换的状态：崩溃会被称为成功。"),
    "TF032": Described(
        "多台机器用 --master、--nnodes 和 --rank 启动",
        "脚本用 --ips 启动，而 paddle 3 已经没有这个选项。每台机器有自己的命令。",
    ),
    "TF033": Described(
        "训练 benchmark 不改动仓库的文件",
        "脚本把数据集的重复次数写进 configs/datasets 中三个文件的第 10 行，并且不恢复。",
    ),
    "TF034": Described(
        "训练 benchmark 不会在五分钟后被终止",
        "带 profiler 的运行，以及 PaddleClas 的多卡运行，都在 `timeout 5m` 之下；tipc 有自己的超时。",
    ),
    "TF035": Described(
        "训练 benchmark 使用配置写明的解释器", "不管配置写的是什么，脚本都把第 3 行改成 `python`。"
    ),
    "TF036": Described(
        "训练 benchmark 中的 fp16 真正用 AMP 训练",
        "训练脚本只认识 `amp`：写 `fp16` 时按 fp32 训练，速度也记在 fp32 名下。",
    ),
}
