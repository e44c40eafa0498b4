"""Runs AWS's published examples of custom operators in C++, unmodified, and says whether they are right and rank as
published: python tools/custom_op_examples.py <checkout of aws-neuron/aws-neuron-samples>

The models' data set, MNIST, is replaced by random images of its shape; nothing is downloaded. Needs PyTorch.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

STAGES = ("neuron", "neuron-tcm", "neuron-multicore")  # of the performance tutorial, slowest first
PUBLISHED = {"neuron": 8.0986, "neuron-tcm": 220.738, "neuron-multicore": 269.936}  # iterations/s on trn1

IMAGES = '''
import torch
class MNIST(torch.utils.data.Dataset):
    def __init__(self, root, train, download, transform):
        generator = torch.Generator().manual_seed(1)
        self.images = torch.rand(320, 1, 28, 28, generator=generator)
        self.labels = (self.images.mean((1, 2, 3)) * 1e4).long() % 10
    def __len__(self): return len(self.images)
    def __getitem__(self, i): return self.images[i], int(self.labels[i])
'''

COMPARE = '''
import torch, torch_neuronx, model, my_ops
torch.manual_seed(0)
net = model.MLP()
x = torch.rand(32, 784, requires_grad=True)
got = net(x)
expected = torch.log_softmax(net.fc3(torch.relu(net.fc2(torch.relu(net.fc1(x))))), dim=1)
assert torch.equal(got, expected), "the model's result differs from the CPU's"
if hasattr(my_ops.Relu, "backward") and "backward" in vars(my_ops.Relu):
    a, = torch.autograd.grad(my_ops.Relu.apply(x - 0.5).sum(), x)
    b, = torch.autograd.grad(torch.relu(x - 0.5).sum(), x)
    assert torch.equal(a, b), "the gradient differs from the CPU's"
'''


def run(folder, *arguments):
    """`trnsim run` in a folder; returns what it printed. Ends the program where it fails."""
    command = [sys.executable, "-m", "trnsim", "run", "--chip", "trn1", *arguments]
    environment = {**os.environ, "PYTHONPATH": f"{folder}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(command)} in {folder} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def prepared(example, target):
    """A copy of an example with random images, its library built."""
    shutil.copytree(example, target)
    for name, text in (("torchvision/datasets/mnist.py", IMAGES), ("torchvision/datasets/__init__.py", ""),
                       ("torchvision/__init__.py", ""), ("torchvision/transforms.py", "def ToTensor(): return None\n"),
                       ("compare.py", COMPARE)):
        path = target / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    run(target, "--quiet", "build.py")
    run(target, "--json", "compare.json", "--quiet", "compare.py")
    return target


def operator_ms(folder):
    """Device time of the operator calls of compare.py's forward pass, ms."""
    runs = json.loads((folder / "compare.json").read_text())["runs"]
    return sum(entry["latency_ns"] for entry in runs[:2]) / 1e6


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("checkout", type=Path)
    models = parser.parse_args().checkout / "torch-neuronx"
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        training = prepared(models / "training" / "customop_mlp" / "neuron", work / "training")
        run(training, "--quiet", "train.py")
        print("training/neuron: model and gradient equal the CPU's; train.py runs")
        times = {}
        for stage in STAGES:
            target = prepared(models / "inference" / "customop_mlp" / stage, work / stage)
            run(target, "--quiet", "inference.py")
            times[stage] = operator_ms(target)
        # What the published throughput leaves beside the operators is one number for all the stages.
        rest = 1e3 / PUBLISHED[STAGES[-1]] - times[STAGES[-1]]
        for stage in STAGES:
            measured = 1e3 / PUBLISHED[stage] - rest
            print(f"inference/{stage}: equals the CPU's; operators {times[stage]:.3f} ms, published {measured:.3f} ms")
        assert times[STAGES[0]] > times[STAGES[1]] > times[STAGES[2]], "the stages do not rank as published"


if __name__ == "__main__":
    main()
