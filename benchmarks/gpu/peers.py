"""What the steps of ours are compared with: classifiers of other codes in PyTorch, with the names of their weights, and their steps
on a device."""
import pathlib
import sys
import time
import typing

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import published_models
import python_models

TYPES = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}
LEARNING_RATE = 1e-30  # changes no weight, so that any number of steps has the gradients of the first one


class Peer(typing.NamedTuple):
    """A classifier of another code. `make` returns None if the code is not here. `source` is the code base of the names."""
    name: str
    make: typing.Callable
    source: str = "timm"
    rename: typing.Callable = staticmethod(lambda name: name)
    keeps_state: bool = False  # whether forward passes change it
    mixes_types: bool = False  # so that it runs only under autocast
    computed: tuple = ()  # names of tensors that ours compute


def vit_name(name):
    """Of python_models.ViT, as timm names it."""
    for own, timms in (("embed.", "patch_embed.proj."), (".mlp.0.", ".mlp.fc1."), (".mlp.2.", ".mlp.fc2.")):
        name = timms + name[len(own):] if name.startswith(own) else name.replace(own, timms) if own.startswith(".") else name
    return name


def timm_peer(name):
    return Peer("timm", lambda: published_models.timm_model(name))


def pytorch_vit(small=False):
    def make():
        if small:
            python_models.DIM, python_models.DEPTH, python_models.TOKENS, python_models.CLASSES = 48, 2, 5, 10
        return python_models.ViT(False)
    return Peer("PyTorch", make, rename=vit_name)


def published_vit():
    return Peer("published code", lambda: published_models.published_vit(True), "grc", vit_name, True, True)


def published_pvt_tiny():
    return Peer("published code", lambda: published_models.published_pvt_tiny(True), "grc", keeps_state=True, mixes_types=True)


def published_un():
    return Peer("published code", published_models.published_t2t_with_un, "t2t", keeps_state=True, computed=("pos_embed",))


def wait_for(device):
    if device.type == "cuda":
        torch.cuda.synchronize()


class PeerSteps:
    """Steps of a module on one batch that stays on the device. `compile_mode`: of torch.compile; None: eager."""

    def __init__(self, model, mode, precision, images, labels, device, compile_mode=None, mixes_types=False):
        self.model, self.trains, self.device = model.to(device), mode == "train", device
        self.images, self.labels, self.group = images.to(device), labels.to(device), 1
        narrow = TYPES[precision]
        self.autocast = narrow if precision != "fp32" and (self.trains or mixes_types) else None
        self.model.train(self.trains)
        if not self.trains and precision != "fp32" and not mixes_types:
            self.model, self.images = self.model.to(narrow), self.images.to(narrow)
        if self.trains:
            self.optimizer = torch.optim.AdamW(self.model.parameters(), LEARNING_RATE, fused=True)
        self.call = torch.compile(self.model, mode=None if compile_mode == "default" else compile_mode) if compile_mode else self.model

    def step(self):
        narrow = {"enabled": self.autocast is not None, "dtype": self.autocast or torch.bfloat16}
        if not self.trains:
            with torch.no_grad(), torch.autocast(self.device.type, **narrow):
                return self.call(self.images)
        self.optimizer.zero_grad()
        with torch.autocast(self.device.type, **narrow):
            logits = self.call(self.images)
            loss = torch.nn.functional.cross_entropy(logits, self.labels)
        loss.backward()
        self.optimizer.step()
        return logits

    def results(self, steps):
        """Logits and gradients of the last of so many steps, in float32 on the CPU."""
        for _ in range(steps):
            logits = self.step()
        found = {"logits": logits.detach().float().cpu().clone()}
        if self.trains:
            found |= {name: parameter.grad.float().cpu().clone() for name, parameter in self.model.named_parameters()
                      if parameter.grad is not None}
        return found

    def time(self, seconds):
        """Milliseconds of a step."""
        start, steps = time.perf_counter(), 0
        while True:
            for _ in range(self.group):
                self.step()
            wait_for(self.device)
            steps += self.group
            passed = time.perf_counter() - start
            if passed >= seconds:
                self.group = max(1, int(steps * 0.2 / passed))
                return 1e3 * passed / steps
