"""Lies that only paddle can show: edits of the honest repository of ``certify_paddle_repo``."""

from __future__ import annotations

from dataclasses import dataclass

TRAIN, EXPORT, INFER = "train.py", "tools/export_model.py", "deploy/inference_python/infer.py"


@dataclass(frozen=True)
class PaddleLie:
    """One edit, and who must find it."""

    name: str
    file: str
    old: str
    new: str
    check: str
    cause: str
    precision: str = "fp32"
    infer_precision: str = "fp32"


SAVE = 'paddle.save(model.state_dict(), args.output_dir + "/latest.pdparams")'
LIES = [
    PaddleLie(
        "export of random weights",
        EXPORT,
        "model.set_state_dict(state)",
        "paddle.seed(9)\nmodel = net.Net()",
        "TX704",
        "random or other weights",
    ),
    PaddleLie(
        "export with other outputs",
        EXPORT,
        "model.eval()",
        "class Other(paddle.nn.Layer):\n    def __init__(self, inner):\n        super().__init__()\n"
        "        self.inner = inner\n    def forward(self, x):\n        return -self.inner(x)\n"
        "model = Other(model)\nmodel.eval()",
        "TP301",
        "other answers than the trained network's",
    ),
    PaddleLie(
        "export that remembers the answers",
        EXPORT,
        "model.eval()",
        "import data\nmodel.eval()\nknown = paddle.to_tensor(data.load(data.images('lite_data/val')))\n"
        "class Remember(paddle.nn.Layer):\n    def __init__(self):\n        super().__init__()\n"
        "        self.register_buffer('keys', known.flatten(1))\n"
        "        self.register_buffer('table', model(known).detach())\n    def forward(self, x):\n"
        "        far = 2 * paddle.matmul(x.flatten(1), self.keys.T) - (self.keys * self.keys).sum(1)\n"
        "        return paddle.gather(self.table, far.argmax(1))\n"
        "model = Remember()\nmodel.eval()",
        "TX704",
        "it may only remember them",
    ),
    PaddleLie(
        "export that normalises by the batch",
        EXPORT,
        "model.eval()",
        "class ByBatch(paddle.nn.Layer):\n    def __init__(self, inner):\n        super().__init__()\n"
        "        self.inner = inner\n    def forward(self, x):\n        y = self.inner(x)\n"
        "        return y - y.mean(axis=0, keepdim=True)\nmodel = ByBatch(model)\nmodel.eval()",
        "TP303",
        "the predictions depend on the batch",
    ),
    PaddleLie(
        "export with a fixed batch",
        EXPORT,
        "[None, 3, 16, 16]",
        "[1, 3, 16, 16]",
        "TX702",
        "a fixed batch of 1",
    ),
    PaddleLie(
        "half a parameter file",
        EXPORT,
        'args.save_inference_dir + "/inference")',
        'args.save_inference_dir + "/inference")\n'
        "open(args.save_inference_dir + '/inference.pdiparams', 'r+b').truncate(900)",
        "TX702",
        "does not load",
    ),
    PaddleLie(
        "deployment with the channels in the other order",
        INFER,
        "return data.load(paths)",
        "return data.load(paths)[:, ::-1]",
        "TP304",
        "RGB and BGR",
    ),
    PaddleLie(
        "deployment without the normalisation",
        INFER,
        "return data.load(paths)",
        "return data.load(paths) * data.STD + data.MEAN",
        "TP304",
        "another mean or scale",
    ),
    PaddleLie(
        "weights with NaN in them",
        TRAIN,
        SAVE,
        "model.head.bias.set_value(paddle.full([3], float('nan')))\n    " + SAVE,
        "TX703",
        "head.bias",
    ),
    PaddleLie(
        "half a weights file",
        TRAIN,
        SAVE,
        SAVE + "\n    open(args.output_dir + '/latest.pdparams', 'r+b').truncate(500)",
        "TX703",
        "cannot be read",
    ),
    PaddleLie(
        "weights saved before the training",
        TRAIN,
        SAVE,
        "paddle.seed(77)\n    other = net.Net()\n    other.head.bias.set_value(paddle.to_tensor([-9.0, "
        "-9.0, 9.0]))\n"
        "    paddle.save(other.state_dict(), args.output_dir + '/latest.pdparams')",
        "TL108",
        "training's own evaluations found",
    ),
    PaddleLie(
        "AMP option that nothing reads",
        TRAIN,
        'args.amp_level != "O0"',
        "False",
        "TA202",
        "the network was never called in an enabled auto_cast",
        precision="amp",
    ),
    PaddleLie(
        "pact_train that quantises nothing",
        TRAIN,
        "net.build(args.pact_quant)",
        "net.build(False)",
        "TQ401",
        "none of its 3 convolutions and linear layers",
        precision="pact",
    ),
    PaddleLie(
        "clipping values that nobody trains",
        TRAIN,
        "parameters=model.parameters())",
        "parameters=[p for n, p in model.named_parameters() if not n.endswith('alpha')])",
        "TQ403",
        "3 of 3 clipping values never moved",
        precision="pact",
    ),
    PaddleLie(
        "export that drops the quantisers",
        EXPORT,
        "model = convert(model)",
        "plain = net.Net()\nplain.set_state_dict({k.replace('inner.', ''): v for k, v in "
        "state.items()})\nmodel = plain",
        "TQ401",
        "none of its 3",
        precision="pact",
    ),
    PaddleLie(
        "quantised weights that were never rounded",
        EXPORT,
        'dtype="int8"',
        'dtype="float32"',
        "TQ402",
        "not on their grid",
        precision="pact",
    ),
    PaddleLie(
        "int8 asked of a model with nothing quantised",
        INFER,
        "import argparse",
        "import argparse",
        "TQ404",
        "no quantised layer",
        infer_precision="int8",
    ),
    PaddleLie(
        "inference script that prints what it always prints",
        INFER,
        "class_id: {row.argmax()}",
        "class_id: 2",
        "TP307",
        "it printed class 2",
    ),
    PaddleLie(
        "an optimiser that moves one tensor by hand",
        TRAIN,
        "optimiser = paddle.optimizer.Momentum(0.05, parameters=model.parameters())",
        "class Mine(paddle.optimizer.SGD):\n        def step(self):\n"
        "            first = self._parameter_list[0]\n            first.set_value(first.numpy() * 0.99)\n"
        "    optimiser = Mine(0.05, parameters=model.parameters())",
        "TT901",
        "tensors that had a gradient are as they were",
    ),
    PaddleLie(
        "clipping values that have no gradient and are moved by hand",
        TRAIN,
        "            scaler.update()\n",
        "            scaler.update()\n"
        "            for name, clip in model.named_parameters():\n"
        "                if name.endswith('alpha'):\n"
        "                    clip.set_value(clip.numpy() * 0.99)\n",
        "TQ403",
        "had no gradient",
        precision="pact",
    ),
    PaddleLie(
        "an export that appends to the weights file",
        EXPORT,
        "model = convert(model)",
        "model = convert(model)\nwith open(args.pretrained, 'ab') as file:\n    file.write(b'more')",
        "TT902",
        "it was changed afterwards",
    ),
    PaddleLie(
        "a network whose lower part is cut off from the loss",
        "net.py",
        "paddle.flatten(self.features(x), 1)",
        "paddle.flatten(self.features(x).detach(), 1)",
        "TT901",
        "6 of 8 tensors that the optimiser had never had a gradient",
    ),
    PaddleLie(
        "evaluation of the training images, beside images for it",
        TRAIN,
        'args.data_path + "/val"',
        'args.data_path + "/train"',
        "TT907",
        "none of those in",
    ),
    PaddleLie(
        "a real training that prints losses by a formula",
        TRAIN,
        "loss: {float(loss):.6f}",
        "loss: {2.3 * 0.9 ** (epoch * 2 + start / 4):.6f}",
        "TT904",
        "follow from those that were minimised",
    ),
    PaddleLie(
        "every other epoch is trained, and all are counted",
        TRAIN,
        "for epoch in range(1, args.epochs + 1):",
        "for epoch in (1, *range(2, args.epochs + 1, 2)):",
        "TT904",
        "none of them is of epoch 3",
    ),
    PaddleLie(
        "an evaluation that prints a metric of its own",
        TRAIN,
        "{np.mean(guess == [data.label(path) for path in paths]):.4f}",
        "{0.5 * np.mean(guess == [data.label(path) for path in paths]):.4f}",
        "TT906",
        "metric() of test_tipc/parity.py",
    ),
    PaddleLie(
        "a deployment that opens its images and feeds others, kept before",
        INFER,
        "batch = preprocess(part)",
        "preprocess(part)\n        batch = np.load('kept.npy')[start : start + size]",
        "TP304",
        "nothing that the deployment was fed is like a file that it opened",
    ),
    PaddleLie(
        "statistics of a batch norm that are saved as they were made",
        TRAIN,
        SAVE,
        "model.features[1]._mean.set_value(paddle.zeros([8]))\n    " + SAVE,
        "TT902",
        "features.1._mean in the file is as it was made",
    ),
    PaddleLie(
        "auto_cast around a call without gradients, and training in fp32",
        TRAIN,
        "            with paddle.amp.auto_cast(",
        "            with paddle.amp.auto_cast(level='O1'), paddle.no_grad():\n                model(x)\n"
        "            with paddle.amp.auto_cast(",
        "TA202",
        "never called in an enabled auto_cast",
        precision="amp",
    ),
    PaddleLie(
        "images that are cast to fp16 and back, and training in fp32",
        TRAIN,
        "cross_entropy(model(x), y)",
        "cross_entropy(model(x.astype('float16').astype('float32')), y)",
        "TA202",
        "never called in an enabled auto_cast",
        precision="amp",
    ),
    PaddleLie(
        "gradients that nobody clears",
        TRAIN,
        "            optimiser.clear_grad()\n",
        "",
        "TT901",
        "gradients were never cleared",
    ),
    PaddleLie(
        "a network of which only biases learn",
        TRAIN,
        "    optimiser = paddle.optimizer.Momentum(",
        "    for name, one in model.named_parameters():\n"
        "        one.stop_gradient = not name.endswith('bias')\n"
        "    optimiser = paddle.optimizer.Momentum(",
        "TT901",
        "none of the 3 kernels and matrices",
    ),
    PaddleLie(
        "a training that begins with its fourth epoch",
        TRAIN,
        "for epoch in range(1, args.epochs + 1):",
        "for epoch in range(4, args.epochs + 1):",
        "TT904",
        "none of them is of epoch 1",
    ),
    PaddleLie(
        "noise in place of the images that every evaluation opens",
        TRAIN,
        "guess = model(paddle.to_tensor(data.load(paths)))",
        "noise = np.random.default_rng(3).standard_normal(data.load(paths).shape).astype('float32')\n"
        "    guess = model(paddle.to_tensor(noise))",
        "TP304",
        "nothing that the evaluation was fed is like a file that it opened",
    ),
]
# Unusual, and honest: nothing is found in them.
HONEST = {
    # paddle.jit.save writes batch norms and dropouts as for inference, whatever the network's mode.
    "a network that is exported in training mode": [(EXPORT, "model.eval()", "model.train()")],
    "one folder of images for everything": [(TRAIN, 'args.data_path + "/train"', 'args.data_path + "/val"')],
    "a network of which only the head learns": [
        (
            TRAIN,
            "    optimiser = paddle.optimizer.Momentum(",
            "    for one in model.features.parameters():\n        one.stop_gradient = True\n"
            "    optimiser = paddle.optimizer.Momentum(",
        )
    ],
    "the normalisation is a part of the exported model": [
        (
            EXPORT,
            "model.eval()",
            "class Normalising(paddle.nn.Layer):\n    def __init__(self, inner):\n"
            "        super().__init__()\n        self.inner = inner\n    def forward(self, x):\n"
            "        return self.inner((x - 0.5) / 0.25)\nmodel = Normalising(model)\nmodel.eval()",
        ),
        (INFER, "return data.load(paths)", "return data.load(paths) * data.STD + data.MEAN"),
    ],
    "the model takes pixels as they lie in the file": [
        (
            EXPORT,
            "model.eval()",
            "class Pixels(paddle.nn.Layer):\n    def __init__(self, inner):\n"
            "        super().__init__()\n        self.inner = inner\n    def forward(self, x):\n"
            "        x = (x.astype('float32') / 255 - 0.5) / 0.25\n"
            "        return self.inner(x.transpose([0, 3, 1, 2]))\nmodel = Pixels(model)\nmodel.eval()",
        ),
        (EXPORT, '[None, 3, 16, 16], "float32"', '[None, 16, 16, 3], "uint8"'),
        (
            INFER,
            "return data.load(paths)",
            "pixels = (data.load(paths) * data.STD + data.MEAN) * 255\n"
            "    return pixels.round().astype('uint8').transpose(0, 2, 3, 1)",
        ),
    ],
    "a deployment that warms up with noise and runs every batch three times": [
        (
            INFER,
            "    images = data.images(args.img_path)\n",
            "    for _ in range(10):\n"
            "        source.reshape([size, 3, 16, 16])\n"
            "        source.copy_from_cpu(np.random.rand(size, 3, 16, 16).astype('float32'))\n"
            "        predictor.run()\n        target.copy_to_cpu()\n"
            "    images = data.images(args.img_path)\n",
        ),
        (
            INFER,
            "        predictor.run()\n        scores",
            "        [predictor.run() for _ in range(3)]\n        scores",
        ),
    ],
    "gradients of two halves of a batch are gathered for a step": [
        (
            TRAIN,
            "            scaler.scale(loss).backward()\n",
            "            middle = len(part) // 2\n"
            "            for piece in (slice(0, middle), slice(middle, None)):\n"
            "                loss = paddle.nn.functional.cross_entropy(model(x[piece]), y[piece])\n"
            "                scaler.scale(loss / 2).backward()\n",
        ),
        (TRAIN, "loss = paddle.nn.functional.cross_entropy(model(x), y)\n", "pass\n"),
    ],
    "layers that stay because their rate is zero": [
        (
            TRAIN,
            "    optimiser = paddle.optimizer.Momentum(",
            "    for one in model.features.parameters():\n"
            "        one.optimize_attr['learning_rate'] = 0.0\n"
            "    optimiser = paddle.optimizer.Momentum(",
        )
    ],
}
MORE_EDITS = {
    "images that are cast to fp16 and back, and training in fp32": [
        (TRAIN, 'auto_cast(enable=args.amp_level != "O0"', "auto_cast(enable=False"),
    ],
    "a deployment that opens its images and feeds others, kept before": [
        (TRAIN, SAVE, SAVE + "\n    np.save('kept.npy', data.load(data.images(args.data_path + '/train')))"),
    ],
    "auto_cast around a call without gradients, and training in fp32": [
        (
            TRAIN,
            'with paddle.amp.auto_cast(enable=args.amp_level != "O0"',
            'with paddle.amp.auto_cast(enable=False and args.amp_level != "O0"',
        )
    ],
    "clipping values that have no gradient and are moved by hand": [
        ("net.py", "a = self.alpha\n", "a = self.alpha.detach()\n"),
    ],
    "quantised weights that were never rounded": [
        (EXPORT, "np.round(weight / scale.reshape(shape) * 127)", "weight / scale.reshape(shape) * 127"),
        (EXPORT, 'grid.astype("int8")', 'grid.astype("float32")'),
    ],
}
