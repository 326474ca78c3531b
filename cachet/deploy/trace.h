#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace torch::jit {
struct Graph;
}

/// A model as a graph of ATen operators, for engines that run such graphs.
namespace cachet::deploy {

/// A function to trace: its inputs are tensors, its output is a tensor. Its weights become constants of the graph.
using Traceable = std::function<at::Tensor(const std::vector<at::Tensor>& inputs)>;

/// A size of the inputs that may differ from call to call: that of `input` along `dimension`.
struct FreeSize {
  std::string name;  // "batch"
  size_t input = 0;
  int64_t dimension = 0;
  int64_t least = 2, more = 5, last = 7;  // sizes to trace with
};

/// Returns synthetic inputs for given free sizes, one size for each of them, in their order.
using MakeInputs = std::function<std::vector<at::Tensor>(const std::vector<int64_t>& sizes)>;

/// Returns the graph of one call, with operators of this library as the ATen operators that compose them. A number that
/// depends on a free size is computed from the inputs' size; it is found by tracing with several sizes. Throws
/// c10::Error if the graph itself depends on a free size, or a number depends on it in another way than in proportion
/// and a constant. The message names the size.
std::shared_ptr<torch::jit::Graph> trace(const Traceable& model, const std::vector<std::string>& input_names,
                                         const std::vector<FreeSize>& free_sizes, const MakeInputs& inputs);

}  // namespace cachet::deploy
