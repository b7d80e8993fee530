"""中文：关于模型、部署和产物，检查测得了什么；以英文原文为键。"""

FINDINGS_MODEL = {
    # 对比
    "max |Δ| {max_abs:.2g}": "最大 |Δ| {max_abs:.2g}",
    "noise {noise:.2g} of the signal": "噪声为信号的 {noise:.2g}",
    "{equal}/{decisions} decisions equal": "{decisions} 个判断中 {equal} 个相同",
    "no output of the trained network has its form": "训练后的网络没有这种形状的输出",
    "{figures}, after {head}": "{figures}（经过 {head}）",
    "{found} of {all} boxes alike, and {ghosts} others": (
        "{all} 个框中 {found} 个相同，另有 {ghosts} 个别的框"
    ),
    "{found} of {all} boxes alike": "{all} 个框中 {found} 个相同",
    "{found} of {all} boxes alike, {tied} tied with the last of their list": (
        "{all} 个框中 {found} 个相同，{tied} 个与列表末位并列"
    ),
    "there is no exported model that could be tried": "没有可以试用的导出模型",
    "the trained network answers the same to every image: that another one does, too, shows nothing": (
        "训练后的网络对每张图像给出相同的结果：另一个模型也如此，并不能说明什么"
    ),
    "train until the network answers differently to different images (more epochs or a larger learning"
    " rate in the lite mode)": (
        "训练到网络对不同图像给出不同结果为止（在 lite 模式中增加 epoch 或加大学习率）"
    ),
    "let the chain evaluate the trained network (the eval line of the config, or an evaluation at the"
    " end of the training), by calling it in eval mode": (
        "让这条链在 eval 模式下调用并评估训练后的网络（配置的 eval 行，或训练结束时的评估）"
    ),
    "{figures}, with {names} as deployed": "{figures}，其中 {names} 取部署时的值",
    "fed as in {step}: {figures}, {images} images of the evaluation; a part of the preprocessing is in the"
    " model": "按 {step} 的方式输入：{figures}，评估图像 {images} 张；一部分预处理在模型之中",
    "{difference}; the model makes up for it: {images} images are answered as the trained network answers"
    " them, {figures}": "{difference}；模型作了弥补：{images} 张图像的结果与训练后的网络一致，{figures}",
    "{engine}: the network gives nearly all boxes one score, and rounding decides which it lists:"
    " {figures}": ("{engine}：网络给几乎所有的框同一个得分，列出哪些框由舍入决定：{figures}"),
    "the trained network gives nearly all boxes one score, and rounding decides which it lists: {figures}": (
        "训练后的网络给几乎所有的框同一个得分，列出哪些框由舍入决定：{figures}"
    ),
    "other answers than the trained network's: output {output}: {figures}; allowed is noise of {noise:.2g}": (
        "与训练后的网络结果不同：输出 {output}：{figures}；允许的噪声为 {noise:.2g}"
    ),
    "{message}; the export rounds {rounded} values to 8 bits for {layers} layers, what layers give out"
    " as well": ("{message}；导出模型为 {layers} 个层把 {rounded} 个值舍入到 8 位，连层的输出也舍入"),
    "nothing could be compared: {why}": "无法进行比较：{why}",
    "nothing could be compared with the trained network: {why}": "无法与训练后的网络比较：{why}",
    "the network that was exported has all {count} trained tensors, and the model answers as it does:"
    " {figures} ({why})": ("导出的网络有全部 {count} 个训练后的张量，模型的结果与它一致：{figures}（{why}）"),
    "no evaluation of the trained network was seen": "没有观测到对训练后网络的评估",
    "the evaluation's outputs have another form": "评估的输出形状不同",
    "{engines}: {figures}": "{engines}：{figures}",
    "no answer of the exported network is known": "不知道导出网络的任何结果",
    "{engine}: output {output} is not finite": "{engine}：输出 {output} 不是有限值",
    "{engine}: output {output}: {figures}, allowed is {noise:.2g}": (
        "{engine}：输出 {output}：{figures}，允许 {noise:.2g}"
    ),
    "{engine} cannot run it: {error}": "{engine} 无法运行它：{error}",
    "there is a single sample: one batch size is all that can be tried": (
        "只有一个样本：只能试一种 batch 大小"
    ),
    "it refuses batch 1: {error}": "它拒绝 batch 1：{error}",
    "batch 1 could not be tried: {error}": "无法尝试 batch 1：{error}",
    "the predictions depend on the batch: one by one, output {name} has {figures}": (
        "预测结果取决于 batch：逐个输入时，输出 {name} 为 {figures}"
    ),
    "{count} samples alike one by one and together": "{count} 个样本逐个输入和一起输入结果相同",
    "the model was not tried in int8: only the older form (.pdmodel) can be quantised": (
        "没有以 int8 试用模型：只有旧格式（.pdmodel）可以量化"
    ),
    "nothing could be compared in int8": "无法以 int8 进行比较",
    "in int8: {figures}": "int8：{figures}",
    "in int8: {figures}; oneDNN had no VNNI here, without which its sums can saturate": (
        "int8：{figures}；这里的 oneDNN 没有 VNNI，求和可能饱和"
    ),
    "run it on a CPU with AVX512 VNNI or AVX VNNI, and no limit in ONEDNN_MAX_CPU_ISA": (
        "在有 AVX512 VNNI 或 AVX VNNI 的 CPU 上运行，不要用 ONEDNN_MAX_CPU_ISA 限制"
    ),
    "in int8: {figures}, allowed is {noise:.2g}": "int8：{figures}，允许 {noise:.2g}",
    "in int8: {figures}, allowed is {noise:.2g}; from a simulation with the steps of {engine}: {other}": (
        "int8：{figures}，允许 {noise:.2g}；与按 {engine} 的量化步长所做的模拟相比：{other}"
    ),
    "in int8: {figures}; it is the rounding: from a simulation with the steps of {engine}, {other}": (
        "int8：{figures}；原因是舍入：与按 {engine} 的量化步长所做的模拟相比，{other}"
    ),
    "{figures}. Rounding alone turns the decisions of this network": (
        "{figures}。仅舍入就改变了该网络的判定"
    ),
    "{name} {reference:.4g} → {int8:.4g} in int8": "{name} {reference:.4g} → int8 {int8:.4g}",
    "{metric}: a loss of {drop:.3g}; oneDNN had no VNNI here": (
        "{metric}：下降 {drop:.3g}；这里的 oneDNN 没有 VNNI"
    ),
    "{metric}: a loss of {drop:.3g}, allowed are {bound:.3g}": "{metric}：下降 {drop:.3g}，允许 {bound:.3g}",
    # 部署
    "predictors could not be seen: {why}": "无法观测预测器：{why}",
    "no predictor ran: the deployment opened no model": "没有运行任何预测器：部署没有打开模型",
    "{model}; this chain exports none": "{model}；这条链不导出模型",
    "{model}, samples: {samples}": "{model}，{samples} 个样本",
    "it ran {model}, which is not what this chain exported": "它运行的是 {model}，不是这条链导出的模型",
    "{model} was too large to read, or written to before it was read: which one it ran is not known": (
        "{model} 过大，或在读取之前被改写：运行的是哪个模型无从知道"
    ),
    "it gave its predictor a model out of memory: which one is not known": (
        "它从内存把模型交给预测器：不知道是哪个模型"
    ),
    "its inputs could not be replayed: {error}": "无法重放其输入：{error}",
    "replayed, output {name} is another: {figures}": "重放后输出 {name} 不同：{figures}",
    "the deployment fetched no output": "部署没有取出任何输出",
    "outputs as they were: {count}": "{count} 个输出与原来一致",
    "{different} different samples were predicted, the list has {contents} different images": (
        "预测了 {different} 个不同的样本，而列表中有 {contents} 张不同的图像"
    ),
    "{samples} samples were predicted, the list has {images} images": (
        "预测了 {samples} 个样本，而列表中有 {images} 张图像"
    ),
    "the log names {named} of {images} images: nothing about {absent}": (
        "日志提到 {images} 张图像中的 {named} 张：没有 {absent}"
    ),
    "images: {count}": "{count} 张图像",
    "{pairs} images fed alike, max |Δ| {max_abs:.2g}": "{pairs} 张图像的输入相同，最大 |Δ| {max_abs:.2g}",
    "the deployment feeds the images of the evaluation otherwise: {why}": (
        "部署对评估图像的输入方式不同：{why}"
    ),
    "the deployment feeds them otherwise by up to {max_abs:.3g}: {why}": (
        "部署的输入方式不同，最多相差 {max_abs:.3g}：{why}"
    ),
    "{one} against {other}": "{one} 对 {other}",
    "no picture of one is like one of the other": "两者没有相像的图像",
    "the channels are in the other order (RGB and BGR)": "通道顺序相反（RGB 与 BGR）",
    "another mean or scale: deployed = {line} of evaluated, by channel": (
        "均值或缩放不同：按通道，部署 = 评估的 {line}"
    ),
    "no change of mean, scale or colour order explains it: another resize or crop": (
        "不能用均值、缩放或通道顺序来解释：缩放尺寸或裁剪方式不同"
    ),
    "by its image files: {difference}": "由其图像文件看：{difference}",
    "other images, fed in the same way: {order}, {line}": "图像不同，但输入方式相同：{order}，{line}",
    "grey": "灰度",
    "other images, and by channel they are far apart: {deployed} deployed, {evaluated} evaluated": (
        "图像不同，且各通道相差很大：部署为 {deployed}，评估为 {evaluated}"
    ),
    "other images, and by channel much the same: {deployed} deployed, {evaluated} evaluated": (
        "图像不同，各通道大致相同：部署为 {deployed}，评估为 {evaluated}"
    ),
    "its channels are in the order {deployed}, the evaluation's in {evaluated}": (
        "其通道顺序为 {deployed}，评估的为 {evaluated}"
    ),
    "it feeds its images {deployed}, the evaluation {evaluated}": (
        "它输入的图像为{deployed}，评估的为{evaluated}"
    ),
    "upright": "正立",
    "upside down": "上下颠倒",
    "mirrored": "左右镜像",
    "turned around": "旋转 180 度",
    "another mean or scale: it feeds {deployed}, the evaluation {evaluated}": (
        "均值或缩放不同：它输入 {deployed}，评估输入 {evaluated}"
    ),
    "the pictures show the classes {turned}": "图片中的类别{turned}",
    "{count} pictures show the classes as predicted": "{count} 张图片中的类别与预测一致",
    "{count} of {all} pictures show the predicted classes": "{all} 张图片中有 {count} 张显示预测的类别",
    "test_tipc/parity.py broke: {error} (see probe-*.log in {logs})": (
        "test_tipc/parity.py 出错：{error}（见 {logs} 中的 probe-*.log）"
    ),
    "correct test_tipc/parity.py, or remove it: it is not needed": (
        "修正 test_tipc/parity.py，或删除它：它不是必需的"
    ),
    "there is no {name}": "没有 {name}",
    "write test_tipc/parity.py (`tipc init --parity` makes a skeleton; docs/parity.md has the protocol)": (
        "编写 test_tipc/parity.py（`tipc init --parity` 会生成骨架；协议见 docs/parity.md）"
    ),
    "training feeds {one}, deployment {other}: the preprocessing differs": (
        "训练输入 {one}，部署输入 {other}：预处理不同"
    ),
    "same input by parity.py, max |Δ| {max_abs:.2g}": "parity.py 表明输入相同，最大 |Δ| {max_abs:.2g}",
    "the preprocessing differs by {max_abs:.3g}": "预处理相差 {max_abs:.3g}",
    "{message}: {note}": "{message}：{note}",
    "no line of its log could be read as the class of an image": "其日志中没有一行能读作图像的类别",
    "it printed {printed} classes, and {known} answers of its predictor are known": (
        "它打印了 {printed} 个类别，而已知其预测器的 {known} 个结果"
    ),
    "classes as predicted: {count}": "{count} 个类别与预测一致",
    "the numbers that it printed may be decided by a threshold: {why}": "它打印的类别可能由阈值决定：{why}",
    "the labels that it printed may be counted from one: {why}": "它打印的标签可能从一数起：{why}",
    "print the index as `class_id`, from 0 on": "以 `class_id` 打印序号，从 0 数起",
    "it printed class {number} {printed} times, its predictor gave it {given} times": (
        "它打印了 {printed} 次类别 {number}，而其预测器只给出 {given} 次"
    ),
    "result {number} says class {printed}, the predictor gave {given}": (
        "第 {number} 个结果写类别 {printed}，预测器给出 {given}"
    ),
    "it printed class {printed} for {image}; for that picture the predictor gave {given}": (
        "它为 {image} 打印类别 {printed}；预测器对该图给出 {given}"
    ),
    "it printed a probability of {number:g}, which none of its predictor's outputs gives": (
        "它打印的概率 {number:g} 不能由其预测器的任何输出得到"
    ),
    "the probabilities that it printed are not those of its predictor's outputs, image by image": (
        "逐张图像看，它打印的概率不是其预测器输出的概率"
    ),
    "{found} of {steps} inference steps printed predictions that can be compared": (
        "{steps} 个推理步骤中有 {found} 个打印了可以比较的预测"
    ),
    "{one} differs from {other}: {difference}": "{one} 与 {other} 不同：{difference}",
    "{settings} settings, {images} images alike": "{settings} 种设置，{images} 张图像结果相同",
    "each setting has another precision": "各设置的精度不同",
    "{image}: {difference}": "{image}：{difference}",
    "{image} has no prediction": "{image} 没有预测",
    "{image} has a prediction in only one of them": "只有其中一方有 {image} 的预测",
    "{one:g} against {other:g}": "{one:g} 对 {other:g}",
    "{one} values against {other}": "{one} 个值对 {other} 个",
    "class {name} covers {one:.1%} against {other:.1%}": "类别 {name} 占 {one:.1%} 对 {other:.1%}",
    "{file} has no line that is a prediction": "{file} 中没有一行是预测",
    "the step printed no prediction to compare with {file}": "该步骤没有打印可与 {file} 比较的预测",
    "no prediction for {image}, which {file} has": "没有 {image} 的预测，而 {file} 中有",
    "other than in {file}: {difference}": "与 {file} 不同：{difference}",
    "{count} images as in {file}": "{count} 张图像与 {file} 一致",
    # 量化
    "the model could not be opened: not asked": "无法打开模型：没有询问",
    "the model could not be opened: {error}": "无法打开模型：{error}",
    "the model has no convolution and no linear layer that could be quantised": (
        "模型没有可以量化的卷积层或线性层"
    ),
    "none of its {layers} convolutions and linear layers is quantised": (
        "其 {layers} 个卷积层和线性层都没有量化"
    ),
    "{message} ({half} have only the weight or only the input quantised)": (
        "{message}（{half} 个只量化了权重或只量化了输入）"
    ),
    "only {done} of {layers} layers are quantised; not, for one, {operator} {weight}": (
        "{layers} 个层中只有 {done} 个量化；例如 {operator} {weight} 没有"
    ),
    "{done} of {layers} layers at {bits} bits, {per_channel} of them per channel": (
        "{layers} 个层中 {done} 个为 {bits} 位，其中 {per_channel} 个按通道量化"
    ),
    "{off} of {weights} quantised weights are not on their grid: {first}": (
        "{weights} 个量化权重中有 {off} 个不在其网格上：{first}"
    ),
    "the scale of {unknown} of {weights} weights is not in the model": (
        "{weights} 个权重中有 {unknown} 个的缩放系数不在模型中"
    ),
    "all {weights}, stored as {types}": "全部 {weights} 个，存为 {types}",
    "the weights could not be read: the plan names none": "无法读取权重：计划没有给出",
    "the weights could not be read: {error}": "无法读取权重：{error}",
    "none of the {tensors} tensors is known as a clipping value (`….alpha`)": (
        "{tensors} 个张量中没有已知的截断值（`….alpha`）"
    ),
    "{trained} of {clips} clipping values were changed by the optimiser": (
        "{clips} 个截断值中有 {trained} 个被优化器改变"
    ),
    "{moved} of {clips} clipping values moved": "{clips} 个截断值中有 {moved} 个变化",
    "the start of the clipping values is not known": "不知道截断值的初值",
    "{still} of {clips} clipping values never moved: {first} is still {value:g}": (
        "{clips} 个截断值中有 {still} 个从未变化：{first} 仍为 {value:g}"
    ),
    "{name} and more than half of the clipping values had no gradient before the first steps: they were"
    " not learnt": "{name} 和一半以上的截断值在最初几步之前没有梯度：它们没有学习",
    "the evaluation was fed noise: neighbouring pixels correlate by {one:.2f}, in the deployment by"
    " {other:.2f}": "评估输入的是噪声：相邻像素的相关系数为 {one:.2f}，部署中为 {other:.2f}",
    "nothing that the evaluation was fed is like a file that it opened; all that the deployment was fed is": (
        "评估的输入与它打开的文件都不相像；部署的输入则全部相像"
    ),
    "nothing that the deployment was fed is like a file that it opened; all that the evaluation was fed is": (
        "部署的输入与它打开的文件都不相像；评估的输入则全部相像"
    ),
    "feed the images that were opened, prepared as for the evaluation": "输入所打开的图像，预处理与评估相同",
    "evaluate the images, prepared as for the deployment": "用与部署相同的预处理评估图像",
    "{name} is not what it was when training evaluated after its last step: it was not learnt": (
        "{name} 与训练最后一步之后评估时的值不同：它不是学到的"
    ),
    "only {trained} of {clips} clipping values are among what the optimiser changed: the others were"
    " not learnt": ("{clips} 个截断值中只有 {trained} 个被优化器改变：其余的没有学习"),
    "{calls} calls of {operators}": "{operators} 调用 {calls} 次",
    "none of the {kinds} kinds of operators that training called quantises or rounds": (
        "训练调用的 {kinds} 种算子没有一种进行量化或取整"
    ),
    "int8 was asked for": "要求 int8",
    "the benchmark says {told}": "性能数据写的是 {told}",
    "{why}, but the model has no quantised layer: it ran in fp32": (
        "{why}，但模型没有量化的层：它以 fp32 运行"
    ),
    "{why}, and no predictor was seen": "{why}，但没有观测到预测器",
    "{why}, but the predictor computed in {precisions}": "{why}，但预测器以 {precisions} 计算",
    "{why}, but no operator of the predictor computes in it": "{why}，但预测器没有算子以它计算",
    "{why}, but the benchmark log says precision {told}": "{why}，但性能日志写的精度是 {told}",
    "{layers} quantised layers, the predictor computed in int8": "{layers} 个量化层，预测器以 int8 计算",
    "the predictor computed in int8": "预测器以 int8 计算",
    "the quantised model was deployed in {precisions}: int8 is shown by TP305 only": (
        "量化模型以 {precisions} 部署：只有 TP305 验证了 int8"
    ),
    # 性能数据
    "--benchmark was asked for, but {log} has no benchmark block": (
        "要求了 --benchmark，但 {log} 中没有性能数据块"
    ),
    "the block has no {fields} ({place})": "数据块缺少 {fields}（{place}）",
    "{stage} {mean:.2f} ms": "{stage} {mean:.2f} 毫秒",
    "inference takes 0 ms: nothing was run between its stamps ({place})": (
        "推理用时 0 毫秒：两次打点之间没有运行任何东西（{place}）"
    ),
    "data_num or batch_size is not a number ({place})": "data_num 或 batch_size 不是数字（{place}）",
    "the benchmark says {total:g} s, but the step took {wall:.1f} s in all: the figures are not of"
    " this run": ("性能数据写 {total:g} 秒，但该步骤总共只用 {wall:.1f} 秒：这些数字不是本次运行的"),
    "data_num is {runs:g}: nothing was timed": "data_num 为 {runs:g}：没有计时任何东西",
    "the total is {total:g} s, but {runs:g} × the stages are {expected:.4g} s": (
        "总时间为 {total:g} 秒，但 {runs:g} × 各阶段为 {expected:.4g} 秒"
    ),
    "{runs:g} runs, {total:g} s": "{runs:g} 次，{total:g} 秒",
    "{name}: asked for {wanted}, the benchmark says {told} ({place})": (
        "{name}：要求 {wanted}，性能数据写的是 {told}（{place}）"
    ),
    "the block has none of the settings": "数据块没有写任何设置",
    "{runs} runs of {milliseconds:.2f} ms in {engine}": (
        "{engine} 运行 {runs} 次，每次 {milliseconds:.2f} 毫秒"
    ),
    "the block says that oneDNN is on; the predictor ran in {engine}": (
        "数据块写 oneDNN 已启用；预测器以 {engine} 运行"
    ),
    "the block says that oneDNN is off; the predictor ran in it": "数据块写 oneDNN 已关闭；预测器却以它运行",
    "the block says {told} threads; the predictor had {seen}": "数据块写 {told} 个线程；预测器有 {seen} 个",
    "the block says {told}; the predictor computed in {seen}": "数据块写 {told}；预测器以 {seen} 计算",
    "the block says batches of {size}; the predictor was fed {sizes}": (
        "数据块写 batch 为 {size}；预测器的输入为 {sizes}"
    ),
    "the block says {count} data; the predictor was run {seen} times": (
        "数据块写 {count} 个数据；预测器只运行了 {seen} 次"
    ),
    "the block says {mean:g} ms; the quickest {timed} runs took {quick:.3g} ms each": (
        "数据块写 {mean:g} 毫秒；而最快的 {timed} 次运行平均每次用 {quick:.3g} 毫秒"
    ),
    "the block says {mean:g} ms; runs took {usual:.3g} ms, {slow:.3g} ms at most": (
        "数据块写 {mean:g} 毫秒；而各次运行用 {usual:.3g} 毫秒，最多 {slow:.3g} 毫秒"
    ),
    "paddle 3 has oneDNN on unless it is switched off: config.disable_mkldnn() where it is not asked for": (
        "paddle 3 默认启用 oneDNN：没有要求时请调用 config.disable_mkldnn()"
    ),
    # 产物
    "it did not write {file}": "它没有写出 {file}",
    "{file} is empty": "{file} 是空的",
    "{count} written": "写出 {count} 个",
    "{file} is of an earlier run: {minutes:.1f} min older than this step": (
        "{file} 是以前的运行留下的：比该步骤早 {minutes:.1f} 分钟"
    ),
    "{file} is dated in the future: it would look new in every later run": (
        "{file} 的时间在将来：以后每次运行它都会显得是新的"
    ),
    "{file} was replaced after this run": "{file} 在本次运行之后被替换",
    "no folder is named in which the model should be, or it was not made by a python": (
        "没有给出模型所在的目录，或它不是由 python 生成的"
    ),
    "the exported model does not load: {error}": "导出的模型无法加载：{error}",
    "{model}: {inputs}": "{model}：{inputs}",
    "the exported model has {inputs} inputs and {outputs} outputs": (
        "导出的模型有 {inputs} 个输入和 {outputs} 个输出"
    ),
    "a parameter of the exported model is not finite: one of shape {shape}": (
        "导出模型有一个参数不是有限值：形状为 {shape}"
    ),
    "input {name} has a fixed batch of {size}; inference asks for {asked}": (
        "输入 {name} 的 batch 固定为 {size}；推理要求 {asked}"
    ),
    "training left no weights at {weights}": "训练没有在 {weights} 留下权重",
    "{file} cannot be read: {error}": "无法读取 {file}：{error}",
    "{file} has no values": "{file} 中没有值",
    "{name} in {file} is not finite": "{file} 中的 {name} 不是有限值",
    "the weights are those that training started from, every tensor of them ({start})": (
        "权重就是训练开始时的权重，每个张量都相同（{start}）"
    ),
    "{tensors} tensors, {values:,} values": "{tensors} 个张量，{values:,} 个值",
    "no tensor of the exported model can be compared with the weights": "导出模型没有可与权重比较的张量",
    "none of {tensors} exported tensors is in {weights}: random or other weights were exported": (
        "导出的 {tensors} 个张量都不在 {weights} 中：导出的是随机或其他权重"
    ),
    "what it answers to {count} images of the evaluation stands among its own tensors: it may only remember "
    "them": "它对评估中 {count} 张图像的输出就在它自己的张量里：可能只是记住了答案",
    "export the trained network itself": "导出训练好的网络本身",
    "{others} of {tensors} exported tensors are not in {weights} as they are: folded, converted, or not"
    " loaded; parity must tell": (
        "导出的 {tensors} 个张量中有 {others} 个没有原样出现在 {weights} 中：被折叠、转换，或没有加"
        "载；须由一致性检查判断"
    ),
    "all {count} tensors bit-equal": "全部 {count} 个张量逐位相同",
}
