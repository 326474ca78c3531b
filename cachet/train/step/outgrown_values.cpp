#include "cachet/train/step/outgrown_values.h"

#include <ATen/core/grad_mode.h>

#include <cmath>
#include <iomanip>
#include <sstream>
#include <vector>

#include "cachet/io/tensors/state_dict.h"

namespace cachet::train {

std::optional<std::string> outgrown_value(const torch::nn::Module& model) {
  const at::NoGradGuard no_grad;
  std::vector<io::NamedTensor> all = io::distinct_parameters(model);
  for (io::NamedTensor& state : io::distinct_buffers(model)) all.push_back(std::move(state));
  for (const io::NamedTensor& named : all) {
    if (!named.tensor.is_floating_point() || named.tensor.numel() == 0) continue;
    const auto largest = named.tensor.abs().max().item<double>();
    if (std::isfinite(static_cast<float>(largest * largest))) continue;
    std::ostringstream text;
    text << named.name() << " of the model holds ";
    if (std::isfinite(largest))
      text << "numbers up to " << std::setprecision(2) << largest;
    else
      text << "a number that is " << (std::isnan(largest) ? "NaN" : "infinite");
    return std::move(text).str();
  }
  return std::nullopt;
}

}  // namespace cachet::train
