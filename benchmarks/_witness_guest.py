"""What witness.py measures: ``train TURNS ANSWERS``, ``export PREFIX``, ``infer PREFIX``.

A training makes a turn of steps for every line that it reads from the pipe TURNS, and answers on the pipe
ANSWERS with the seconds of each step, of the clock and of the processor.
"""

from __future__ import annotations

import sys
import time

import numpy as np
import paddle

SIZE, BATCH, STEPS = 224, 4, 4
IMAGES = 32


def train(turns: str, answers: str) -> None:
    """As any training: forward, backward, step; the loss is read, as trainings that log it do."""
    paddle.seed(1)
    network = paddle.vision.models.mobilenet_v3_small(num_classes=10)
    momentum = paddle.optimizer.Momentum(0.01, parameters=network.parameters())
    entropy = paddle.nn.CrossEntropyLoss()
    random = np.random.default_rng(1)
    with open(turns, encoding="utf-8") as asked, open(answers, "w", encoding="utf-8") as told:
        for _line in asked:
            for _ in range(STEPS):
                images = paddle.to_tensor(random.random((BATCH, 3, SIZE, SIZE), "float32"))
                labels = paddle.to_tensor(random.integers(0, 10, [BATCH]))
                clock, processor = time.perf_counter(), time.process_time()
                loss = entropy(network(images), labels)
                loss.backward()
                momentum.step()
                momentum.clear_grad()
                float(loss)
                print(time.perf_counter() - clock, time.process_time() - processor, file=told)
            told.flush()


def export(prefix: str) -> None:
    """A network to infer with."""
    network = paddle.vision.models.mobilenet_v3_small(num_classes=10)
    network.eval()
    spec = paddle.static.InputSpec([None, 3, SIZE, SIZE], "float32", name="image")
    paddle.jit.save(network, prefix, input_spec=[spec])


def infer(prefix: str) -> None:
    """As any deployment: a config, a predictor, images one after the other."""
    config = paddle.inference.Config(f"{prefix}.json", f"{prefix}.pdiparams")
    config.disable_glog_info()
    predictor = paddle.inference.create_predictor(config)
    source = predictor.get_input_handle(predictor.get_input_names()[0])
    result = predictor.get_output_handle(predictor.get_output_names()[0])
    random = np.random.default_rng(1)
    for _ in range(IMAGES):
        source.copy_from_cpu(random.random((1, 3, SIZE, SIZE), "float32"))
        predictor.run()
        print(result.copy_to_cpu().argmax())


if __name__ == "__main__":
    {"train": train, "export": export, "infer": infer}[sys.argv[1]](*sys.argv[2:])
