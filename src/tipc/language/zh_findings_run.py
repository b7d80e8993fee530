"""中文：关于步骤、训练和评估，检查测得了什么；以英文原文为键。"""

FINDINGS_RUN = {
    # 步骤与整条链
    "passed in {seconds:.1f} s": "{seconds:.1f} 秒通过",
    "passed in {seconds:.1f} s at attempt {attempt}": "第 {attempt} 次尝试通过，用时 {seconds:.1f} 秒",
    "not selected for this run": "本次运行没有选择它",
    "run them as well: `tipc run --resume --only train,eval,export,infer`": (
        "把它们也运行一遍：`tipc run --resume --only train,eval,export,infer`"
    ),
    "{state}: {why}": "{state}：{why}",
    "it was not run to its end": "没有运行到结束",
    "no reason was recorded": "没有记录原因",
    "{message}; its log says: {text}": "{message}；其日志写道：{text}",
    "the log is not there: {path}": "日志不存在：{path}",
    "exit status 0, but the log has an error: {error} ({place})": (
        "退出码为 0，但日志中有错误：{error}（{place}）"
    ),
    "it goes on without: {error} ({place})": "没有它也继续运行：{error}（{place}）",
    "no escaped error in the log": "日志中没有未处理的错误",
    "{trainer} asked for `{asked}`, ran on {device}: {why}": (
        "{trainer} 要求 `{asked}`，实际在 {device} 上运行：{why}"
    ),
    "left out: {what}: {why}": "略过：{what}：{why}",
    "{first}; {second}": "{first}；{second}",
    "ran on {device}": "在 {device} 上运行",
    "the steps took {seconds:.0f} s together, {most:.0f} s of it to {slowest}; allowed are {limit:.0f} s": (
        "各步骤共用 {seconds:.0f} 秒，其中 {slowest} 占 {most:.0f} 秒；允许 {limit:.0f} 秒"
    ),
    "{message}; the processors worked for {cpu:.0f} s only: were its processes stopped?": (
        "{message}；处理器只工作了 {cpu:.0f} 秒：其进程是否被暂停过？"
    ),
    "{seconds:.0f} s of {limit:.0f} s": "{seconds:.0f} 秒，上限 {limit:.0f} 秒",
    "{message}, and {waited:.0f} s of waiting for processors that others used": (
        "{message}，另有 {waited:.0f} 秒在等待被其他程序占用的处理器"
    ),
    "not all of its steps ran": "并非所有步骤都已运行",
    "the chain has no {kind}": "这条链没有 {kind}",
    "{message} and no {kind}": "{message}，也没有 {kind}",
    "{message}: {why}": "{message}：{why}",
    "ask in the config for {kinds} with settings that are not left out": (
        "在配置中以不会被略过的设置要求 {kinds}"
    ),
    "the run's record was changed: {what}": "运行记录被改动：{what}",
    "{file} changed while the steps ran": "步骤运行期间 {file} 被改动",
    "{file} and {more} more changed while the steps ran": "步骤运行期间 {file} 及另外 {more} 个文件被改动",
    "as they were": "没有变化",
    "scripts that were not there before: {count}, {first} for one": (
        "运行前不存在的脚本有 {count} 个，例如 {first}"
    ),
    "write generated scripts into the output directory; a later step may import what lies elsewhere": (
        "把生成的脚本写进输出目录；放在别处的，后面的步骤可能会导入"
    ),
    "all {samples} samples that the network was fed are the same; the evaluation opened {images} images": (
        "送入网络的 {samples} 个样本全部相同；评估打开了 {images} 张图片"
    ),
    "{samples} samples were fed to the network, {different} of them different; {opened} images were "
    "opened": "送入网络 {samples} 个样本，其中互不相同的 {different} 个；打开的图片有 {opened} 张",
    "of {samples} pictures that the network was fed {different} are no other one moved or turned; {opened} "
    "images were opened": (
        "送入网络的 {samples} 张图片中，不是由另一张平移或翻转而来的有 {different} 张；"
        "打开的图片有 {opened} 张"
    ),
    "the network was fed the same batch in all of its {calls} calls, and {left} images for training were "
    "never opened; no list of files was read that leaves them out": (
        "网络的 {calls} 次调用送入的都是同一个批次，而训练用的图片中有 {left} 张从未打开；"
        "没有读取过把它们排除在外的文件列表"
    ),
    "train on all of the images, or name those that are meant in a list": (
        "用全部图片训练，或在列表中写明要用哪些"
    ),
    "{frozen} of {all} numbers of the network are frozen, {first} for one, and nothing was loaded before": (
        "网络的 {all} 个数值中有 {frozen} 个被冻结（例如 {first}），之前也没有加载过任何权重"
    ),
    "load the weights of what is frozen with paddle.load, or train it": (
        "用 paddle.load 加载被冻结部分的权重，或者训练它"
    ),
    "{standing} of {steps} steps were taken at a learning rate of 0": (
        "{steps} 步中有 {standing} 步的学习率为 0"
    ),
    "none of the {kernels} kernels and matrices of the network has changed, only biases and the like, and "
    "nothing was loaded before": (
        "网络的 {kernels} 个卷积核和矩阵一个也没有改变，变的只有偏置之类，之前也没有加载过任何权重"
    ),
    "gradients were never cleared in the first {steps} steps: each step began with those of all before": (
        "最初 {steps} 步中从未清除梯度：每一步都带着之前所有的梯度开始"
    ),
    "averages that hardly began: they have gone {share:.2g} of the way of the training, and are the weights "
    "that it began with": "刚刚开始的平均：只走了训练路程的 {share:.2g}，仍是训练开始时的权重",
    "let the decay of the averages begin small, or correct them for where they began": (
        "让平均的衰减系数从小开始，或按起点对平均值做修正"
    ),
    "{missing} of {tensors} tensors of the network that was evaluated are not in {weights}, for one {first}; "
    "others of the same layers are": (
        "被评估的网络的 {tensors} 个张量中有 {missing} 个不在 {weights} 里（例如 {first}），"
        "而同一层的其他张量在"
    ),
    "save the whole state of the network: model.state_dict(), running statistics included": (
        "保存网络的全部状态：model.state_dict()，包括滑动统计量"
    ),
    "no network was ever called in training mode; one in evaluation mode was, before {steps} of the {all} "
    "steps": "从未在训练模式下调用过网络；{all} 步中有 {steps} 步之前是在评估模式下调用的",
    "call the network's train() before the first step, and again after each evaluation": (
        "在第一步之前以及每次评估之后调用网络的 train()"
    ),
    "all samples of a batch are the same, in each of the first {batches} batches": (
        "最初 {batches} 个批次中，每个批次的样本都是同一个"
    ),
    "read another image for each place of a batch": "批次的每个位置都读取另一张图片",
    "operators that quantise or round were called {calls} times, and never where the network was called in "
    "training mode: it was trained unquantised": (
        "量化或取整的算子被调用了 {calls} 次，但从来不是在训练模式下调用网络的时候：训练时没有量化"
    ),
    "{samples} samples were predicted; no line of the log is about one of the images, and no file was "
    "written": "预测了 {samples} 个样本；但日志中没有一行说到任何一张图片，也没有写出任何文件",
    "print or write the result of each image, with its name": "连同名字一起打印或写出每张图片的结果",
    "{count} of {learnt} clipping values that were learnt are in the exported model as they were at the "
    "start": "学到的 {learnt} 个截断值中，有 {count} 个在导出的模型里仍是开始时的值",
    "export the learnt clipping values (`….alpha`)": "导出学到的截断值（`….alpha`）",
    "{count} pictures show the classes of another image than they are named after, {first} for one": (
        "有 {count} 张图片画的是另一张图像的类别，与其名字不符（例如 {first}）"
    ),
    "the command names {folder}; none of its images was opened, but {count} others, {first} for one": (
        "命令中写了 {folder}；其中的图片一张也没有打开，打开的是另外 {count} 张（例如 {first}）"
    ),
    "read the images of the folder that the command names, or take the option out of the config": (
        "读取命令所写文件夹中的图片，或从配置中去掉该选项"
    ),
    "call the optimiser's clear_grad after each step": "在每一步之后调用优化器的 clear_grad",
    "the command names {weights}, which was loaded, and no network had a tensor of it": (
        "命令中写了 {weights}，它也被加载了，但没有哪个网络含有其中的任何张量"
    ),
    "give set_state_dict the names that the network has (it ignores others), and train that network": (
        "传给 set_state_dict 的名字要与网络的一致（其他的会被忽略），并训练这个网络"
    ),
    "{ranks} ranks exchanged gradients, and were all fed the same batches: one would have done": (
        "{ranks} 个 rank 交换了梯度，但送入的都是相同的批次：一个就够了"
    ),
    "give each rank its own part of the images, by paddle.io.DistributedBatchSampler": (
        "用 paddle.io.DistributedBatchSampler 分给每个 rank 各自的一部分图片"
    ),
    "set a learning rate above 0, and a schedule that lasts as long as the training": (
        "把学习率设为大于 0，并让调度与训练一样长"
    ),
    "its inputs were not replayed: {engine} is no engine of the probes": (
        "它的输入没有重放：探针没有 {engine} 这个引擎"
    ),
    "whether the weights changed is not known: {why}": "权重是否改变无从知道：{why}",
    "let the script end as Python ends, by its last line or sys.exit": (
        "让脚本像 Python 那样正常结束：执行到最后一行，或调用 sys.exit"
    ),
    "could not be watched: {doors}": "无法观察：{doors}",
    "{message}; but {door} could not be watched: {why}": "{message}；但无法观察 {door}：{why}",
    "the check itself broke: {kind}: {error} ({place})": "检查自身出错：{kind}：{error}（{place}）",
    "{model}: {steps} steps against what was seen of them": "{model}：将 {steps} 个步骤与观测到的事实核对",
    "what rounding does to the exported models": "舍入对导出模型的影响",
    # 观测
    "nothing was seen": "没有观测到任何内容",
    "there was no witness": "没有 witness 在场",
    "what it did was not seen: {why}": "没有观测到它做了什么：{why}",
    "run it with `tipc run`: the witness watches every Python script": (
        "用 `tipc run` 运行：witness 会在每个 Python 脚本之前启动"
    ),
    "trained": "训练",
    "evaluated": "评估",
    "predicted": "预测",
    "nothing was {done} where it could be seen; the script started `{program}`": (
        "在可观测的范围内没有进行{done}；脚本启动了 `{program}`"
    ),
    # 训练
    "the script never imported paddle: nothing was trained": "脚本从未导入 paddle：没有训练任何东西",
    "no training was seen: {backwards} calls of backward, {steps} steps of an optimiser": (
        "没有观测到训练：backward 调用 {backwards} 次，优化器更新 {steps} 步"
    ),
    "{steps} steps were taken, and no weight has changed: the learning rate was {rate:g}": (
        "走了 {steps} 步，但没有任何权重变化：学习率为 {rate:g}"
    ),
    "{steps} steps changed the weights by {change:.2g} of their size: no more than rounding does, at"
    " a learning rate of {rate:.2g}": (
        "{steps} 步使权重变化了其大小的 {change:.2g}：不超过舍入误差，学习率为 {rate:.2g}"
    ),
    "the weights are not finite at the end of the training": "训练结束时权重不是有限值",
    "backward was called on a loss that is not finite": "对非有限的损失调用了 backward",
    "training ended after step {steps}: backward was called {unused} times more, and no step followed": (
        "训练在第 {steps} 步之后结束：此后又调用了 {unused} 次 backward，却没有再更新"
    ),
    "the network was fed the same batch in all of its {calls} calls, and an epoch has several": (
        "网络的 {calls} 次调用输入的都是同一个 batch，而一个 epoch 有多个 batch"
    ),
    "{steps} steps on {samples} samples": "{samples} 个样本上训练 {steps} 步",
    "{message}, the weights changed by {change:.2g}": "{message}，权重变化 {change:.2g}",
    "all {count} trained tensors are in it": "其中有全部 {count} 个训练后的张量",
    "the file holds the weights that training began with, not those that it ended with": (
        "文件中是训练开始时的权重，而不是训练结束时的权重"
    ),
    "what was saved could not be seen: {why}": "无法观测保存了什么：{why}",
    "the file is not what the training saved: no call of paddle.save wrote these weights": (
        "该文件不是训练所保存的：没有任何 paddle.save 调用写出这些权重"
    ),
    "none of the tensors in the file was changed by the training": "文件中没有任何张量被训练改变",
    "saved after step {step} of {steps}: {trained} of the {count} tensors as they were then": (
        "在第 {step} 步（共 {steps} 步）后保存：{count} 个张量中有 {trained} 个与当时一致"
    ),
    "{tensor} is not what the optimiser left, and others are: it was changed after training": (
        "{tensor} 不是优化器留下的值，而其他张量是：它在训练之后被改动"
    ),
    "{count} of {judged} tensors, {first} for one, are neither what the optimiser left nor averages: each"
    " lies off the way that it went": (
        "{judged} 个张量中有 {count} 个（例如 {first}）既不是优化器留下的值，也不是平均值："
        "每个都偏离了自己走过的路径"
    ),
    "averages: they lie along the way that training went (off by {share:.2g} of it)": (
        "平均值：位于训练所走的路径上（偏离该路径的 {share:.2g}）"
    ),
    "the file holds another network's weights: {tensor} lies off the way by {times:.3g} times what training"
    " went": ("文件中是另一个网络的权重：{tensor} 偏离训练路径，距离为训练所走路程的 {times:.3g} 倍"),
    "the file holds another network's weights: they lie off the way by {times:.3g} times what training"
    " went": ("文件中是另一个网络的权重：它们偏离训练路径，距离为训练所走路程的 {times:.3g} 倍"),
    "none of the tensors that were saved is one that the optimiser had; whether they are averages does"
    " not show": ("保存的张量没有一个是优化器持有过的；无法判断它们是否为平均值"),
    "{seen} of {processes} processes were seen to train": "{processes} 个进程中观测到 {seen} 个在训练",
    "{ranks} ranks trained apart: after the first steps there were {networks} different networks, which"
    " were made equal later": (
        "{ranks} 个 rank 各自训练：最初几步之后有 {networks} 个不同的网络，后来才被改为相同"
    ),
    "{ranks} ranks exchanged gradients, and ended with equal weights": (
        "{ranks} 个 rank 交换了梯度，结束时权重相同"
    ),
    "{ranks} ranks exchanged nothing: each trained the same network on the same data": (
        "{ranks} 个 rank 没有任何交换：各自用相同的数据训练相同的网络"
    ),
    "{ranks} ranks ended with equal weights": "{ranks} 个 rank 结束时权重相同",
    "{ranks} ranks exchanged gradients, and ended with {networks} different networks": (
        "{ranks} 个 rank 交换了梯度，但结束时有 {networks} 个不同的网络"
    ),
    "{ranks} ranks trained apart: no DataParallel was called, and there are {networks} different networks"
    " at the end": ("{ranks} 个 rank 各自训练：没有调用 DataParallel，结束时有 {networks} 个不同的网络"),
    # 训练日志
    "{problem} ({place})": "{problem}（{place}）",
    "{lines} lines, {steps} steps": "{lines} 行，{steps} 步",
    "the log gives a loss of {told:.4g}; those seen lie between {low:.4g} and {high:.4g}": (
        "日志写的损失为 {told:.4g}；观测到的在 {low:.4g} 与 {high:.4g} 之间"
    ),
    "the log says {told:g} samples a batch; the network was fed {low} to {high}": (
        "日志写每个 batch 有 {told:g} 个样本；网络实际输入 {low} 到 {high} 个"
    ),
    "the log has more words like NaN than are looked at ({log})": (
        "日志中类似 NaN 的词多到没有全部查看（{log}）"
    ),
    "the log has more that could be an error than is looked at ({log})": (
        "日志中可能是错误的内容多到没有全部查看（{log}）"
    ),
    "the command asks for batches of {asked:g}; the network was fed {sizes}, as the log says": (
        "命令要求 batch 大小为 {asked:g}；网络实际输入 {sizes}，日志也这样写"
    ),
    "the log says {told:.4g} s a batch; a step took {seen:.4g} s at least": (
        "日志写每个 batch 用 {told:.4g} 秒；实际一步至少用 {seen:.4g} 秒"
    ),
    "the log says {told:.4g} samples a second; a step of {samples} at most took {seen:.4g} s at least": (
        "日志写每秒 {told:.4g} 个样本；实际每步最多 {samples} 个样本，至少用 {seen:.4g} 秒"
    ),
    "the log's speed is in {unit}, which the witness does not count": (
        "日志中速度的单位是 {unit}，witness 不统计这种数量"
    ),
    "the log says {told} iterations; backward was called {backwards} times": (
        "日志记录了 {told} 次迭代；backward 只调用了 {backwards} 次"
    ),
    "{name} in the file is as it was made; training evaluated its network with another one": (
        "文件中的 {name} 仍是初始值；训练评估网络时用的是另外的值"
    ),
    "save the whole state of the network that was trained: model.state_dict()": (
        "保存所训练网络的全部状态：model.state_dict()"
    ),
    "the log has a line for each of {lines} batches, and none of them is of epoch {epoch}": (
        "日志为 {lines} 个 batch 各写了一行，其中没有一行属于第 {epoch} 个 epoch"
    ),
    "{name} is {told:g} in the log; metric() of test_tipc/parity.py makes {found:g} of what the exported "
    "model answers to the same {samples} images": (
        "日志中 {name} 为 {told:g}；test_tipc/parity.py 的 metric() 由导出的模型对同样 {samples} 张图像的"
        "输出算得 {found:g}"
    ),
    "print what the evaluation found": "打印评估得到的结果",
    "the log gives a loss of {told:.4g} at step {step}, where backward was called on {seen:.4g}; neither this"
    " nor the others follow from those that were minimised": (
        "日志在第 {step} 步记录的损失为 {told:.4g}，而 backward 是对 {seen:.4g} 调用的；"
        "这个值和其他值都不是由被最小化的损失得出的"
    ),
    "{count} of {all} trainable tensors were given to no optimiser, {first} for one, and nothing was loaded"
    " before: they are as they were made": (
        "{all} 个可训练的张量中有 {count} 个没有交给任何优化器，例如 {first}，"
        "而且之前没有加载任何权重：它们还是初始值"
    ),
    "{count} of {all} tensors that the optimiser had never had a gradient, {first} for one, and nothing was"
    " loaded before: they are as they were made": (
        "优化器拿到的 {all} 个张量中有 {count} 个从未有过梯度，例如 {first}，"
        "而且之前没有加载任何权重：它们还是初始值"
    ),
    "do not detach what comes out of them, nor use no_grad; set stop_gradient on those that stay": (
        "不要对它们的输出使用 detach，也不要在 no_grad 下计算；不变的参数设置 stop_gradient"
    ),
    "{epochs:g} epochs were asked for; the network was fed {batches} batches": (
        "要求 {epochs:g} 个 epoch；网络只输入了 {batches} 个 batch"
    ),
    "other than in the specification: {message}": "与规范不同：{message}",
    "the training log has no line with a loss or a speed ({log})": "训练日志中没有带损失或速度的行（{log}）",
    "the training log is empty ({log})": "训练日志是空的（{log}）",
    "all four in each of {count} training lines": "{count} 行训练日志每行都有这四项",
    "{name} in {count} of {total}": "{name} 在 {total} 行中有 {count} 行",
    "not on every training line: {fields} ({place})": "并非每行训练日志都有：{fields}（{place}）",
    "units as the spec has them": "单位符合规范",
    "{name} has no unit, not `{wanted}`": "{name} 没有单位，应为 `{wanted}`",
    "{name} has `{unit}`, not `{wanted}`": "{name} 的单位是 `{unit}`，应为 `{wanted}`",
    "the log says {told:.1f} s of training, but the step took {wall:.1f} s in all: the figures are"
    " not of this run ({place})": (
        "日志写训练用了 {told:.1f} 秒，但该步骤总共只用 {wall:.1f} 秒：这些数字不是本次运行的（{place}）"
    ),
    "{part} {waited} is more than {whole} {cost}, which must contain it ({place})": (
        "{part} {waited} 大于应当包含它的 {whole} {cost}（{place}）"
    ),
    "the log has no avg_samples, and no batch size was given": (
        "日志没有 avg_samples，也没有给出 batch 大小"
    ),
    "avg_ips = samples / avg_batch_cost in {right} of {all} lines": (
        "{all} 行中有 {right} 行满足 avg_ips = 样本数 / avg_batch_cost"
    ),
    "avg_ips {told:.4g}, but {samples:g} samples in {seconds:.4g} s are {speed:.4g} per second ({place})": (
        "avg_ips 为 {told:.4g}，但 {seconds:.4g} 秒 {samples:g} 个样本应为每秒 {speed:.4g} 个（{place}）"
    ),
    "{name} is {value} ({place})": "{name} 为 {value}（{place}）",
    "loss {first:.4g} → {last:.4g}": "损失 {first:.4g} → {last:.4g}",
    "{loss}, ips {ips:.1f}": "{loss}，ips {ips:.1f}",
    "{values} values in {lines} lines": "{lines} 行中有 {values} 个不同的值",
    "one training line; {values} values in {steps} steps": (
        "只有一行训练日志；{steps} 步中有 {values} 个不同的值"
    ),
    "a single training line: whether the loss moves cannot be seen": (
        "只有一行训练日志：无法判断损失是否变化"
    ),
    "the loss is {loss} in all {lines} training lines": "全部 {lines} 行训练日志的损失都是 {loss}",
    "iteration": "迭代",
    "{unit} {seen} of {asked:g}": "{unit} {seen} / {asked:g}",
    "asked for {asked:g} {unit}s, the log ends at {unit} {seen} ({log})": (
        "要求 {asked:g} 个{unit}，日志止于{unit} {seen}（{log}）"
    ),
    "neither the command nor the log gives epochs or iterations": "命令和日志都没有给出 epoch 或迭代次数",
    "the loss grew from {first:.4g} to {mean:.4g}, the mean of the last {count}": (
        "损失从 {first:.4g} 增大到 {mean:.4g}（最后 {count} 个的平均值）"
    ),
    "{first:.4g} at the beginning, {mean:.4g} at the end": "开始时 {first:.4g}，结束时 {mean:.4g}",
    # 评估
    "the network found nothing in {samples} samples, and the log has no metric ({log})": (
        "网络在 {samples} 个样本中没有检出任何目标，日志中也没有指标（{log}）"
    ),
    "train until it finds something, or start from pretrained weights": (
        "训练到能检出目标为止，或从预训练权重开始"
    ),
    "no metric (accuracy, mIoU, …) in the evaluation's log ({log})": (
        "评估日志中没有指标（精度、mIoU 等）（{log}）"
    ),
    "{name} is {value:g}: no share and no per cent ({place})": (
        "{name} 为 {value:g}：既不是 0 到 1 的比例，也不是百分数（{place}）"
    ),
    "{count} metrics between 0 and 1, or per cent": "{count} 个指标都在 0 到 1 之间，或为百分数",
    "{name} is {value:g} of {samples} samples; training found {nearest:g} of {part}": (
        "{samples} 个样本的 {name} 为 {value:g}；训练时 {part} 个样本为 {nearest:g}"
    ),
    "{name} is {value:g}, but training's own evaluations found {last:g} at the end, and never anything"
    " nearer than {nearest:g}": (
        "{name} 为 {value:g}，但训练自己的评估最后得到 {last:g}，且从未得到比 {nearest:g} 更接近的值"
    ),
    "{name} {value:g}, as training found": "{name} {value:g}，与训练时得到的一致",
    "no metric in common with training: {own} against {others}": "与训练没有共同的指标：{own} 对 {others}",
    "training evaluated {samples} samples, and printed no metric": (
        "训练评估了 {samples} 个样本，但没有打印指标"
    ),
    "training evaluated nothing": "训练没有进行评估",
    "{samples} samples; the trained weights are not known": "{samples} 个样本；不知道训练后的权重",
    "the network was fed the same in all of its {calls} calls; the evaluation opened {images} images": (
        "网络的 {calls} 次调用输入都相同；而评估打开了 {images} 张图像"
    ),
    "the plain network was evaluated, not the quantised one: {plain} of its {tensors} tensors were never"
    " loaded, for one {first}, which is {quantised} in {weights}": (
        "评估的是未量化的网络：其 {tensors} 个张量中有 {plain} 个从未加载，例如 {first}，它在 {weights}"
        " 中名为 {quantised}"
    ),
    "quantise the network for the evaluation as for the training: give its command the same option": (
        "评估时也像训练时一样量化网络：给评估命令同样的选项"
    ),
    "{samples} samples, with the {tensors} trained tensors": (
        "{samples} 个样本，使用 {tensors} 个训练后的张量"
    ),
    "the network that was evaluated is not the trained one: {others} of {tensors} tensors are not in"
    " {weights}, for one {first}": (
        "评估的网络不是训练出的网络：{tensors} 个张量中有 {others} 个不在 {weights} 中，例如 {first}"
    ),
    "{shared} of {tensors} tensors of the network are in {weights} as they are": (
        "网络的 {tensors} 个张量中有 {shared} 个原样在 {weights} 中"
    ),
    "the script never imported paddle: nothing was evaluated": "脚本从未导入 paddle：没有评估任何东西",
    "a predictor was evaluated on {samples} samples": "用预测器评估了 {samples} 个样本",
    "calls of networks could not be seen: {why}": "无法观测网络的调用：{why}",
    "the evaluation opened no image file; training opened {count}: what the network was fed does not show": (
        "评估没有打开任何图像文件；训练打开了 {count} 个：看不出网络输入了什么"
    ),
    "evaluate on images, opened as training opens its own": "在图像上评估，像训练那样打开它们",
    "every gradient was 0 before the first {steps} steps: what changed the weights was not the loss": (
        "前 {steps} 步之前所有梯度都是 0：改变权重的不是损失"
    ),
    "call the optimiser's step before gradients are cleared": "在清除梯度之前调用优化器的 step",
    "the command names {weights}, and no weights were loaded from it": (
        "命令指定了 {weights}，但没有从中加载任何权重"
    ),
    "load them with paddle.load before the first step, or leave the option out": (
        "在第一步之前用 paddle.load 加载它们，或者去掉这个选项"
    ),
    "{count} of {images} images that the command names were never opened, {first} for one; others were": (
        "命令指定的 {images} 张图像中有 {count} 张从未打开，例如 {first}；打开的是别的图像"
    ),
    "{message}: it stopped early, as line {line} says": "{message}：第 {line} 行说明它提前停止了",
    "{opened} images were evaluated, and {left} more lie beside them; no list of files was read that leaves"
    " them out": ("评估了 {opened} 张图像，旁边还有 {left} 张；没有读取把它们排除在外的文件列表"),
    "{opened} images were opened, and the network was fed {samples} samples": (
        "打开了 {opened} 张图像，而网络只输入了 {samples} 个样本"
    ),
    "evaluate all of the images": "评估所有图像",
    "the network was called {calls} times in training mode, never in eval mode: dropout and batch norms may"
    " have changed its answers": (
        "网络在训练模式下被调用了 {calls} 次，从未在评估模式下调用：dropout 和批归一化可能改变了它的输出"
    ),
    "call model.eval() before the evaluation": "在评估之前调用 model.eval()",
    "no network was called in eval mode: nothing was evaluated": (
        "没有在 eval 模式下调用任何网络：没有评估任何东西"
    ),
    "{name} is {value:g}: of {samples} samples, {right:.3g} would be right": (
        "{name} 为 {value:g}：这意味着 {samples} 个样本中有 {right:.3g} 个正确"
    ),
    "{name} {value:g}: {right} of {samples} samples": "{name} {value:g}：{samples} 个样本中 {right} 个正确",
    "{still} of {graded} tensors that had a gradient are as they were before the first step, {first} for"
    " one: not the optimiser's steps changed the others": (
        "{graded} 个有梯度的张量中有 {still} 个与第一步之前相同，例如 {first}：其余的不是由优化器改变的"
    ),
    "give all parameters to an optimiser of paddle's, or set stop_gradient on those that stay": (
        "把所有参数交给 paddle 的优化器，不变的参数设置 stop_gradient"
    ),
    "{file} is not the file that the training step left: it was changed afterwards": (
        "{file} 不是训练步骤留下的文件：后来被改动过"
    ),
    "training and evaluation opened the same {count} images, and none of those in {folder}": (
        "训练和评估打开的是同样的 {count} 张图像，{folder} 中的一张也没有打开"
    ),
    "training and evaluation opened the same {count} images": "训练和评估打开的是同样的 {count} 张图像",
    "{count} images, training opened others": "{count} 张图像，训练打开的是另外的图像",
    # 混合精度
    "Run on a GPU of compute capability ≥ 7.0 to certify it.": "在计算能力不低于 7.0 的 GPU 上运行才能认证。",
    "{name} {count} of {total}": "{name} {count} / {total}",
    "{shares} calls in fp16/bf16": "{shares} 次调用为 fp16/bf16",
    "no call of conv2d or matmul was counted": "没有统计到 conv2d 或 matmul 的调用",
    "none was called": "没有调用任何算子",
    "{counts}; this GPU has compute capability {major}.{minor}, below 7.0": (
        "{counts}；此 GPU 的计算能力为 {major}.{minor}，低于 7.0"
    ),
    "no operator counts of this training: {why}": "没有该训练的算子统计：{why}",
    "run the step with `tipc run`: the witness counts them": "用 `tipc run` 运行该步骤：witness 会统计",
    "mixed precision was asked for, but {counts}": "要求混合精度，但 {counts}",
    "paddle stays in fp32 there": "paddle 在此仍用 fp32",
    "precision was emulated": "低精度只是模拟",
    "{counts} on this CPU; {how}.": "在此 CPU 上 {counts}；{how}。",
    "no operator counts ({why}); {how}.": "没有算子统计（{why}）；{how}。",
    "mixed precision was asked for, but every auto_cast keeps {operators} in fp32: nothing is left of it": (
        "要求混合精度，但每个 auto_cast 都让 {operators} 保持 fp32：混合精度不起作用"
    ),
    "mixed precision was asked for, but {inside} of {calls} calls of the network were in an enabled "
    "auto_cast": ("要求混合精度，但网络的 {calls} 次调用中只有 {inside} 次在启用的 auto_cast 中"),
    "it tried: {trace}": "它尝试过：{trace}",
    "auto_cast was called and, on this CPU, switched off by the script: enable={value}": (
        "调用了 auto_cast，但脚本在此 CPU 上将其关闭：enable={value}"
    ),
    "mixed precision was asked for, but the network was never called in an enabled auto_cast, and no"
    " operator ran in low precision": (
        "要求混合精度，但网络从未在启用的 auto_cast 中调用，也没有算子以低精度运行"
    ),
    "{count} calls of conv2d, matmul or cast in fp16/bf16": (
        "conv2d、matmul 或 cast 有 {count} 次 fp16/bf16 调用"
    ),
    "auto_cast at level {setting}": "auto_cast 的级别为 {setting}",
    "the driver does not tell the compute capability": "驱动没有给出计算能力",
    "{name} has {capability}": "{name} 的计算能力为 {capability}",
}
