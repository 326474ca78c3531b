#pragma once

#include <torch/nn/module.h>

#include <vector>

#include "cachet/ops/support/host_flag.h"

namespace cachet::train {

/// Returns the modules of a model that store a fact about their buffers on the host.
std::vector<ops::HostFlag*> flagged_modules(const torch::nn::Module& model);

}  // namespace cachet::train
