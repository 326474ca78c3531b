#pragma once

#include <CLI/App.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/training/train_arguments.h"

namespace cachet::app {

/// The most common options of `cachet train`. Each has the same effect as --set of its key.
struct ShortOptions {
  std::string data, init, cache, norm, attention;
  std::string batch_size;  // a number, or "auto"
  std::optional<int64_t> epochs, image_size;
  std::optional<double> learning_rate;
  bool freeze = false;
};

/// Adds --data, --epochs, --batch-size, --lr, --image-size, --init, --cache, --norm, --attention and --freeze.
void add_short_options(CLI::App& app, ShortOptions& options);

/// Returns the arguments with these options as settings, before the settings of --set. If the target is a path or the
/// name of a recipe, --data is data.root. If the target is a model's name, a recipe is made from the model and the
/// data, and lines on standard error report it. If the target is weights of the hub ("hf:OWNER/NAME"), the model is the
/// one that timm's config.json names, and the run starts from the weights. Throws UsageError for a model without data,
/// and for a task that the model cannot do.
TrainArguments with_own_data(const TrainArguments& arguments, const ShortOptions& options);

}  // namespace cachet::app
