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

/// A function that is traced. The function maps input tensors to one output tensor. The weights that the function uses
/// become constants of the traced graph.
using Traceable = std::function<at::Tensor(const std::vector<at::Tensor>& inputs)>;

/// A size of the inputs that may differ between calls: the size of `input` along `dimension`.
struct FreeSize {
  std::string name;  // "batch"
  size_t input = 0;
  int64_t dimension = 0;
  int64_t least = 2, more = 5, last = 7;  // sizes of the traced inputs
};

/// A function that returns synthetic inputs of the model. The argument `sizes` has one value for each free size
/// (FreeSize), in the order of the free sizes.
using MakeInputs = std::function<std::vector<at::Tensor>(const std::vector<int64_t>& sizes)>;

/// Returns the graph of one call of the model. Operators of this library are replaced by the ATen operators that
/// compose them. If a number depends on a free size, the graph computes the number from the sizes of the inputs. To
/// find such numbers, the function traces the model with several sizes. Throws c10::Error, which names the size, if the
/// structure of the graph depends on a free size, or if a number is not of the form slope · size + offset.
std::shared_ptr<torch::jit::Graph> trace(const Traceable& model, const std::vector<std::string>& input_names,
                                         const std::vector<FreeSize>& free_sizes, const MakeInputs& inputs);

}  // namespace cachet::deploy
