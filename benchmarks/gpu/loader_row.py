"""The loader's row: the fraction of the time in which training on JPEG files waits for them."""
import json
import os
import pathlib
import random
import re
import subprocess
import tempfile

WIDTH, HEIGHT = 500, 375
DISTINCT = 512
AT_MOST = 0.02


def write_images(folder, count):
    """JPEG files as large as ImageNet's, of smooth noise, in two classes of two splits. From the 512th on, links to earlier files:
    writing files takes longer than reading them."""
    from PIL import Image
    draw = random.Random(0)
    for split, number in (("train", count), ("val", 8)):
        for i in range(number):
            path = folder / split / f"class{i % 2}" / f"{i}.jpg"
            path.parent.mkdir(parents=True, exist_ok=True)
            if i >= DISTINCT:
                path.hardlink_to(path.with_name(f"{i % DISTINCT}.jpg"))
                continue
            small = Image.frombytes("RGB", (WIDTH // 5, HEIGHT // 5), draw.randbytes(WIDTH // 5 * (HEIGHT // 5) * 3))
            small.resize((WIDTH, HEIGHT), Image.Resampling.BICUBIC).save(path, quality=90)


def loader_row(setting, row):
    """ViT-S in batches of 128; the first half of the steps warms up."""
    from measure import Void
    trial = setting.options.trial
    batch, steps, images = (2, 8, 16) if trial else (128, 200, 6400)
    head = {"row": row, "model": "ViT-S", "mode": "train", "precision": "bf16", "batch": batch, "at_most": AT_MOST}
    if not setting.wants("ViT-S") or not setting.has_time(row):
        return
    try:
        folder = pathlib.Path(tempfile.mkdtemp(dir=setting.scratch))
        write_images(folder / "images", images)
        settings = [f"train.limit={steps} steps", "train.epochs=1000", f"train.batch_size={batch}", "train.precision=bf16",
                    f"train.log_every={steps // 2} steps", f"train.device={setting.device.type}",
                    f"data.workers={os.cpu_count()}", "train.evaluate_every=1000 epochs",
                    *(["model.depth=1", "model.embed_dim=48", "model.num_heads=6"] if trial else [])]
        words = [setting.programs / "cachet", "train", "vit_small_patch16_224", "--data", folder / "images", "--run", folder / "run",
                 "--progress", "none", *(word for each in settings for word in ("--set", each))]
        done = subprocess.run(words, capture_output=True, text=True)
        if done.returncode != 0:
            raise Void(f"Cachet: {(done.stderr.strip().splitlines() or ['no message'])[-1]}")
        lines = map(json.loads, (folder / "run/metrics.jsonl").read_text().splitlines())
        last = [line["machine"] for line in lines if line["kind"] == "step"][-1]
        head |= {"waited": last["data_wait"], "images_per_second": last["samples_per_second"]}
        if not trial and not re.search("replayed as CUDA graphs", (folder / "run/log.txt").read_text()):
            raise Void("the steps were not replayed; the log of the run has the reason")
    except (Void, ImportError) as reason:
        head["void"] = str(reason)
    setting.write(head)
