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

/// What is traced: tensors in, a tensor out. Its weights become constants of the graph.
using Traceable = std::function<at::Tensor(const std::vector<at::Tensor>& inputs)>;

/// A size of the inputs that may differ from call to call: that of `input` along `dimension`.
struct FreeSize {
  std::string name;  // "batch"
  size_t input = 0;
  int64_t dimension = 0;
  int64_t least = 2, more = 5, last = 7;  // sizes to trace with
};

/// Synthetic inputs of given free sizes, one for each of them, in their order.
using MakeInputs = std::function<std::vector<at::Tensor>(const std::vector<int64_t>& sizes)>;

/// The graph of one call, operators of this library as the ATen operators of which they are composed. A number that
/// depends on a free size is computed from that of the inputs: found by tracing with several sizes. Throws c10::Error
/// where the graph itself, or a number in another way than in proportion and a constant, depends on one; the message
/// names the size.
std::shared_ptr<torch::jit::Graph> trace(const Traceable& model, const std::vector<std::string>& input_names,
                                         const std::vector<FreeSize>& free_sizes, const MakeInputs& inputs);

}  // namespace cachet::deploy
