#pragma once

#include <cmath>
#include <random>

#include "cachet/report/format.h"
#include "cachet/report/page/plug_in_sections.h"
#include "cachet/report/page/run_page.h"
#include "tests/report/stored_png.h"

namespace cachet::report::test {

inline const std::vector<std::string> kGarments = {"T-shirt", "Trouser", "Pullover", "Dress", "Coat",
                                                   "Sandal",  "Shirt",   "Sneaker",  "Bag",   "Ankle boot"};

/// A curve that decays from `first` to `last`, with noise.
inline Series synthetic_series(const std::string& name, int points, double first, double last, double noise, int stride,
                               unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal(0, noise);
  Series series{name, {}, {}};
  for (int i = 0; i < points; ++i) {
    series.x.push_back((i + 1) * stride);
    series.y.push_back(last + (first - last) * std::exp(-4.0 * i / points) + normal(random));
  }
  return series;
}

/// Every part that the page of a run that classifies images can have, from synthetic numbers that look like a run.
inline RunPage synthetic_run() {
  RunPage run;
  run.name = "vit_tiny · GRC + UN";
  run.subtitle = "Fashion-MNIST, 10,000 training and 2,000 test images; recipes/vision/fashion_mnist_cached.toml";
  run.status = Status::finished;
  run.facts = {{"Top-1", "87.4 %", "best of 15 epochs, at 14"},
               {"Parameters", "2.71 M", "+3.1 % against plain"},
               {"MACs per image", "48.2 M", "45.1 M products, 3.1 M attention"},
               {"Duration", "2m47s", "epoch 15 of 15"},
               {"Training", "1.31 k img/s", "2 CPU threads, fp32"},
               {"Peak memory", "412 MiB", "live tensors"}};
  Series loss = synthetic_series("train", 5865, 2.3, 0.28, 0.05, 1, 1);
  loss.y[900] = NAN;
  add_chart(run.charts, {"Loss", "", {loss, synthetic_series("eval", 15, 1.1, 0.36, 0.01, 391, 2)}});
  add_chart(run.charts, {"Top-1",
                         "%",
                         {synthetic_series("train", 15, 0.45, 0.91, 0.004, 391, 3),
                          synthetic_series("eval", 15, 0.58, 0.876, 0.006, 391, 4)},
                         /*in_percent=*/true});
  Series rate{"", {}, {}};
  for (int i = 0; i < 5865; i += 5) {
    rate.x.push_back(i + 1);
    rate.y.push_back(i < 500 ? 1e-3 * i / 500 : 5e-4 * (1 + std::cos(M_PI * (i - 500) / 5365)));
  }
  add_chart(run.charts, {"Learning rate", "", {rate}, false, /*from_zero=*/true});
  add_chart(run.charts, {"Gradient norm", "", {synthetic_series("", 1200, 6, 0.9, 0.2, 5, 5)}, false, true});
  add_chart(run.charts,
            {"Throughput", "images/s", {synthetic_series("train", 390, 1150, 1310, 25, 15, 6)}, false, true});
  add_chart(
      run.charts,
      {"Waiting for data", "% of a step", {synthetic_series("train", 390, 0.08, 0.02, 0.004, 15, 7)}, true, true});
  std::vector<LayerShares> cache_shares;
  for (int layer = 0; layer < 6; ++layer) {
    LayerShares shares{"layer " + std::to_string(layer), {}};
    for (int head = 0; head < 3; ++head) {
      const double last = 0.1 + 0.12 * layer + 0.07 * head;
      shares.heads.push_back(
          synthetic_series("head " + std::to_string(head), 200, 0.5, last, 0.004, 29, 10 * layer + head));
    }
    cache_shares.push_back(std::move(shares));
  }
  std::vector<WindowStatistics> window_statistics;
  for (int layer = 0; layer < 8; ++layer) {
    WindowStatistics statistics{"layer " + std::to_string(layer), {"", {0}, {0}}, {"", {0}, {0}}};
    for (int step = 40; step <= 5865; step += 25) {
      for (Series* series : {&statistics.window, &statistics.filtered}) series->x.push_back(step);
      statistics.window.y.push_back(std::max(0.0, (step - 400) * (0.99 - 0.005 * layer)));
      statistics.filtered.y.push_back(std::max(0.0, (step - 400) * 0.004 * (layer + 1) / 2));
    }
    window_statistics.push_back(std::move(statistics));
  }
  ConfusionMatrix confusion{"Confusion matrix", kGarments, {}, ""};
  ImageGrid wrong{"Wrong", {}, ""}, right{"Right", {}, ""};
  std::mt19937 random(8);
  for (int truth = 0; truth < 10; ++truth) {
    for (int predicted = 0; predicted < 10; ++predicted) {
      const bool tops = (truth % 2 == 0 && truth < 8) && (predicted % 2 == 0 && predicted < 8);
      confusion.counts.push_back(truth == predicted ? 165 + random() % 30 : tops ? random() % 24 : random() % 9 / 6);
    }
  }
  for (int i = 0; i < 24; ++i) {
    const std::string png = stored_png(28, [&](int row, int column) {
      const double y = (row - 14) / 12.0, x = (column - 14) / (5.0 + i % 7);
      return std::abs(x) + 0.5 * y * y < 1 ? 120 + (row * 7 + column * 13 + i * 31) % 110 : 0;
    });
    const size_t truth = i % 10;
    if (i < 12) {
      wrong.pictures.push_back({png, kGarments[truth], kGarments[(truth + 2) % 10], 0.95 - 0.04 * i});
    } else {
      right.pictures.push_back({png, kGarments[truth], kGarments[truth], 0.999 - 0.01 * i});
    }
  }
  std::vector<Series> cache_sizes;
  for (int layer = 0; layer < 6; ++layer)
    cache_sizes.push_back(
        synthetic_series("layer " + std::to_string(layer), 200, 0.01, 0.3 + 0.4 * layer, 0.002, 29, 90 + layer));
  run.sections = {cache_section(cache_shares, cache_sizes), unified_norm_section(window_statistics),
                  Section{"Predictions", {confusion, wrong, right}, ""}};
  run.recipe =
      "base = \"fashion_mnist_base.toml\"  # data, schedule, augmentation\n\n[model]\nname = \"vit_tiny\"\npatch = "
      "4\n\n"
      "[model.cache]\nkind = \"grc\"\nvariant = \"official\"\nratio = 0.5\n\n[model.norm]\nkind = \"un\"\nwindow = 4\n";
  run.environment = {{"commit", "f46b496"},
                     {"LibTorch", "2.13.0"},
                     {"instruction set", "AVX2"},
                     {"threads", "2"},
                     {"command", "cachet train recipes/vision/fashion_mnist_cached.toml --set train.seed=3"}};
  run.footer = "Written by cachet 0.1.0.";
  return run;
}

}  // namespace cachet::report::test
