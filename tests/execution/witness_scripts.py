"""Small scripts that touch paddle's doors, for the tests of the witness."""

from __future__ import annotations

# A network, its training with an evaluation after each epoch, its weights, its export, its deployment: all of
# a chain in one script, which ends by printing the digests of everything that it wrote.
CHAIN = """
import hashlib, os
import numpy as np
import paddle
from paddle.static import InputSpec

paddle.seed(3)
np.random.seed(0)


class Net(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.conv = paddle.nn.Conv2D(3, 4, 3, padding=1)
        self.norm = paddle.nn.BatchNorm2D(4)
        self.drop = paddle.nn.Dropout(0.1)
        self.head = paddle.nn.Linear(4, 5)

    def forward(self, x):
        x = self.norm(self.conv(x))
        return self.head(self.drop(paddle.nn.functional.adaptive_avg_pool2d(x, 1).flatten(1)))


def images(count):
    return paddle.to_tensor(np.random.rand(count, 3, 16, 16).astype('float32'))


net = Net()
adam = paddle.optimizer.Adam(0.01, parameters=net.parameters())
entropy = paddle.nn.CrossEntropyLoss()
for epoch in range(2):
    net.train()
    for _ in range(5):
        loss = entropy(net(images(4)), paddle.to_tensor(np.random.randint(0, 5, [4])))
        loss.backward()
        adam.step()
        adam.clear_grad()
        print('loss', float(loss))
    net.eval()
    for _ in range(3):
        print('eval', float(net(images(2)).sum()))
paddle.save(net.state_dict(), 'out/net.pdparams')
net.set_state_dict(paddle.load('out/net.pdparams'))
net.train()
os.makedirs('out', exist_ok=True)
open('out/model.pdmodel', 'w').write('of an earlier run')
paddle.jit.save(net, 'out/model', input_spec=[InputSpec([None, 3, None, None], 'float32', name='image')])
print(net.training, paddle.rand([2]).numpy(), np.random.rand(2), paddle.nn.Linear(2, 2).weight.name)

program = 'out/model.json' if os.path.exists('out/model.json') else 'out/model.pdmodel'
config = paddle.inference.Config(program, 'out/model.pdiparams')
config.disable_glog_info()
config.set_cpu_math_library_num_threads(2)
predictor = paddle.inference.create_predictor(config)
handle = predictor.get_input_handle(predictor.get_input_names()[0])
for number in range(10):
    handle.copy_from_cpu(images(1 + number % 2).numpy())
    predictor.run()
    print(predictor.get_output_handle(predictor.get_output_names()[0]).copy_to_cpu().sum())
loaded = paddle.jit.load('out/model')
loaded.eval()
print(float(loaded(paddle.ones([1, 3, 16, 16])).sum()))
for name in sorted(os.listdir('out')):
    print(name, hashlib.md5(open('out/' + name, 'rb').read()).hexdigest())
"""

# The older format of exports holds the Python stack at every operator; a hook asks for a warning's culprit.
LEGACY = """
import os
os.environ['FLAGS_enable_pir_api'] = '0'
import hashlib, traceback, warnings
import paddle


class Loud(paddle.nn.Linear):
    def forward(self, x):
        traceback.print_stack()
        warnings.warn('culprit', stacklevel=3)
        return super().forward(x)


paddle.seed(1)
Loud(4, 2)(paddle.ones([1, 4]))
net = paddle.nn.Linear(4, 2)
paddle.jit.save(net, 'out/legacy', input_spec=[paddle.static.InputSpec([None, 4], 'float32')])
print(hashlib.md5(open('out/legacy.pdmodel', 'rb').read()).hexdigest())
"""

# A network that is saved, whose program is then read and written once more to the same place.
SAVED_TWICE = """
import os
os.environ['FLAGS_enable_pir_api'] = '0'
import paddle
paddle.seed(1)
net = paddle.nn.Linear(4, 2)
paddle.jit.save(layer=net, path='twice', input_spec=[paddle.static.InputSpec([None, 4], 'float32', name='x')])
paddle.enable_static()
executor = paddle.static.Executor()
program, feeds, fetches = paddle.static.load_inference_model('twice', executor)
feeds = [program.global_block().var(name) for name in feeds]
paddle.static.save_inference_model('twice', feeds, fetches, executor, program=program)
"""

# A network that is saved while the older form is switched on, which puts paddle into static mode.
SAVED_IN_STATIC_MODE = """
import paddle
from paddle.pir_utils import OldIrGuard
paddle.seed(1)
net = paddle.nn.Linear(4, 2)
net.eval()
with OldIrGuard():
    spec = [paddle.static.InputSpec([None, 4], 'float32', name='x')]
    static = paddle.jit.to_static(net, input_spec=spec, full_graph=True)
    paddle.jit.save(static, 'guarded')
    print(paddle.in_dynamic_mode())
static.forward.rollback()
print(paddle.in_dynamic_mode(), net(paddle.ones([1, 4])).numpy().tolist())
"""

# A network with an arg-max that gives one class to noise: it looks at means of eight by eight pixels.
ONE_CLASS = """
import paddle

class Means(paddle.nn.Layer):
    def forward(self, image):
        mean = paddle.nn.functional.avg_pool2d(image.mean(1, keepdim=True), 8)
        return paddle.concat([paddle.full_like(mean, 0.5), mean], 1).argmax(1)

paddle.jit.save(
    Means(), 'out/means', input_spec=[paddle.static.InputSpec([None, 3, None, None], 'float32', name='image')]
)
"""

# Two ranks with gloo that print their weights.
RANKS = """
import hashlib, sys
import numpy as np
import paddle
import paddle.distributed as dist

dist.init_parallel_env()
paddle.seed(1)
net = paddle.DataParallel(paddle.nn.Linear(4, 3))
sgd = paddle.optimizer.SGD(0.1, parameters=net.parameters())
random = np.random.default_rng(dist.get_rank())
for _ in range(4):
    loss = net(paddle.to_tensor(random.random((2, 4), 'float32'))).square().mean()
    loss.backward()
    sgd.step()
    sgd.clear_grad()
total = paddle.to_tensor([1.0])
dist.all_reduce(total)
digest = hashlib.md5(b''.join(p.numpy().tobytes() for p in net.parameters())).hexdigest()
open(f'rank{dist.get_rank()}.txt', 'w').write(f'{digest} {float(total)} {sys.argv}')
"""

# Mixed precision as scripts ask for it; on a CPU paddle leaves it at that.
AMP = """
import paddle
paddle.seed(1)
net = paddle.nn.Linear(4, 3)
sgd = paddle.optimizer.SGD(0.1, parameters=net.parameters())
scaler = paddle.amp.GradScaler(init_loss_scaling=1024.0)
for _ in range(3):
    with paddle.amp.auto_cast(level='O2', dtype='bfloat16', custom_black_list={'softmax', 'mean'}):
        loss = net(paddle.ones([2, 4])).mean()
    scaled = scaler.scale(loss)
    scaled.backward()
    scaler.step(sgd)
    scaler.update()
    sgd.clear_grad()
    print(float(loss))
"""

# Mixed precision that the script switches off where there is no GPU.
AMP_BY_DEVICE = AMP.replace(
    "level='O2', dtype='bfloat16', custom_black_list={'softmax', 'mean'}",
    "enable=paddle.device.is_compiled_with_cuda(),\n            level='O1'",
)

OWN_STATISTICS = """
import paddle
from paddle.amp.debugging import collect_operator_stats, disable_operator_stats_collection
disable_operator_stats_collection()
conv = paddle.nn.Conv2D(3, 4, 3); x = paddle.ones([1, 3, 8, 8])
conv(x)
with collect_operator_stats():
    conv(x)
conv(x)
"""

# Errors that come through a door, caught and printed, logged, and not caught.
ERRORS = """
import logging, sys, traceback
import paddle
net = paddle.nn.Sequential(paddle.nn.Linear(4, 3), paddle.nn.Linear(7, 2))
try:
    net(paddle.ones([2, 4]))
except ValueError:
    traceback.print_exc()
try:
    paddle.load('nowhere.pdparams')
except ValueError:
    print(logging.Formatter('%(message)s').formatException(sys.exc_info()))
sgd = paddle.optimizer.SGD(0.1, parameters=net.parameters())
traceback.print_stack()
sgd.step(1, 2, 3)
"""

STATIC = """
import paddle
paddle.seed(5)


class Block(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.inner = paddle.nn.Linear(4, 4)

    def forward(self, x):
        if x.shape[0] > 1:
            return self.inner(x) + x
        return self.inner(x)


class Net(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.block = Block()
        self.head = paddle.nn.Linear(4, 2)

    def forward(self, x):
        return self.head(self.block(x))


net = paddle.jit.to_static(Net(), full_graph={full})
sgd = paddle.optimizer.SGD(0.1, parameters=net.parameters())
for _ in range(3):
    loss = net(paddle.rand([3, 4])).square().mean()
    loss.backward()
    sgd.step()
    sgd.clear_grad()
    print(float(loss))
net.eval()
print(net(paddle.arange(4, dtype='float32').reshape([1, 4])).numpy())
"""

EVALUATES = """
import paddle

paddle.seed(1)
network = paddle.nn.Linear(3, 2)
network.eval()
print(*network(paddle.arange(6, dtype="float32").reshape([2, 3])).flatten().tolist())
"""

# A training beside which much is done for show: nothing of it is evaluation, mixed precision or a result.
FOR_SHOW = """
import os
import numpy as np
import paddle

paddle.seed(1)
net = paddle.nn.Sequential(paddle.nn.Linear(4, 8), paddle.nn.ReLU(), paddle.nn.Linear(8, 2))
other = paddle.nn.Sequential(paddle.nn.Linear(4, 8), paddle.nn.ReLU(), paddle.nn.Linear(8, 2))
net.eval()
paddle.flops(net, [1, 4])
net(paddle.zeros([1, 4]))
print(float(net(paddle.ones([2, 4]) * paddle.arange(4, dtype='float32')).sum()))
net.train()
sgd = paddle.optimizer.SGD(0.1, parameters=net.parameters()[:2])
rng = np.random.default_rng(0)
average = None
for _ in range(4):
    with paddle.amp.auto_cast(enable=True, level='O1'):
        pass
    loss = (net(paddle.to_tensor(rng.random((4, 4), dtype='float32'))) ** 2).mean()
    loss.backward()
    sgd.step()
    sgd.clear_grad()
    state = {name: value.numpy() for name, value in net.state_dict().items()}
    average = {name: (value + average[name]) / 2 for name, value in state.items()} if average else state
os.makedirs('out', exist_ok=True)
paddle.save(net.state_dict(), 'out/net.pdparams')
paddle.save(average, 'out/average.pdparams')
paddle.save({name: value * 1.02 for name, value in average.items()}, 'out/uncorrected.pdparams')
paddle.save({name: value * 0.5 for name, value in state.items()}, 'out/scaled.pdparams')
paddle.save(other.state_dict(), 'out/other.pdparams')
for kind in ('float16', 'bfloat16'):
    half = {name: value.astype(kind) for name, value in net.state_dict().items()}
    paddle.save(half, f'out/{kind}.pdparams')
paddle.save({name: (value * 1.002).astype('float16') for name, value in state.items()}, 'out/noise.pdparams')
net.eval()
net.set_state_dict(paddle.load('out/other.pdparams'))
print(float(net(paddle.to_tensor(rng.random((3, 4), dtype='float32'))).sum()))
open('out/drawn.png.part', 'wb').close()
os.replace('out/drawn.png.part', 'out/drawn.png')
"""

# Three steps by hand, two ways to gradients; the last one moves weights that have none.
OWN_STEPS = """
import paddle
paddle.seed(1)
net = paddle.nn.Linear(4, 2)
net.train()
for step in range(3):
    loss = (net(paddle.ones([2, 4])) ** 2).mean() + step
    if step == 0:
        loss.backward()
        gradients = [item.grad for item in net.parameters()]
    else:
        gradients = paddle.grad(loss, net.parameters())
    for item, gradient in zip(net.parameters(), gradients):
        item.set_value(item - 0.1 * gradient)
    print(float(loss), float(item.sum()))
net.weight.set_value(net.weight * 2)
image = paddle.ones([1, 4])
image.stop_gradient = False
print(float(paddle.grad((net(image) ** 2).sum(), image)[0].sum()))
"""

# An optimiser whose gradients were cleared too early, and another one that has the rest of the network.
TWO_OPTIMISERS = """
import paddle
paddle.seed(1)
net = paddle.nn.Sequential(paddle.nn.Linear(4, 3), paddle.nn.Linear(3, 2))
first = paddle.optimizer.SGD(0.1, parameters=net[0].parameters(), weight_decay=0.1)
second = paddle.optimizer.SGD(0.1, parameters=net[1].parameters())
for _ in range(2):
    (net(paddle.ones([2, 4])) ** 2).mean().backward()
    first.clear_grad(set_to_zero=True)
    first.step()
    second.step()
    second.clear_grad()
"""

# A warm-up that nobody fetches, on the inputs of the first run.
SAVES_BETWEEN = """
import time
import paddle

paddle.seed(1)
net = paddle.nn.Linear(4, 2)
optimiser = paddle.optimizer.SGD(parameters=net.parameters())
for _ in range(4):
    net(paddle.rand([2, 4])).mean().backward()
    optimiser.step()
    optimiser.clear_grad()
    time.sleep(0.2)
"""

WARMED_UP = """
import numpy as np
import paddle
net = paddle.nn.Linear(4, 2)
paddle.jit.save(net, 'warm', input_spec=[paddle.static.InputSpec([None, 4], 'float32', name='x')])
import os
program = 'warm.json' if os.path.exists('warm.json') else 'warm.pdmodel'
predictor = paddle.inference.create_predictor(paddle.inference.Config(program, 'warm.pdiparams'))
handle = predictor.get_input_handle('x')
handle.copy_from_cpu(np.ones((1, 4), 'float32'))
for _ in range(3):
    predictor.run()
predictor.run()
predictor.get_output_handle(predictor.get_output_names()[0]).copy_to_cpu()
"""
# Eight runs are kept with their inputs; of the next ones, of which each runs three times, the outputs are.
RUN_THREE_TIMES = """
import numpy as np
import paddle
net = paddle.nn.Linear(4, 2)
paddle.jit.save(net, 'warm', input_spec=[paddle.static.InputSpec([None, 4], 'float32', name='x')])
import os
program = 'warm.json' if os.path.exists('warm.json') else 'warm.pdmodel'
predictor = paddle.inference.create_predictor(paddle.inference.Config(program, 'warm.pdiparams'))
source = predictor.get_input_handle('x')
target = predictor.get_output_handle(predictor.get_output_names()[0])
for number in range(8):
    source.copy_from_cpu(np.full((1, 4), number, 'float32'))
    predictor.run()
    target.copy_to_cpu()
for number in range(8, 10):
    source.copy_from_cpu(np.full((1, 4), number, 'float32'))
    for _ in range(3):
        predictor.run()
    target.copy_to_cpu()
"""
