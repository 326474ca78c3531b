#pragma once

#include <torch/nn/module.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cachet/analysis/cost/products.h"

namespace cachet::analysis {

/// An operator call that used a module's parameters, or whose multiply–accumulates count for the module.
struct OperatorUse {
  std::string path;                   // path of the module: "blocks.0.attn.qkv"
  std::vector<int64_t> output_shape;  // shape of the operator's first result; empty if the operator only reads weights.
                                      // Also empty if a shared tensor is used again after another module ran.
  Products macs;
};

/// During its lifetime, a ProductTrace records how operators of this thread use a model's parameters, in any forward
/// pass and on any device, including the meta device. A thread can have only one ProductTrace at a time.
///
/// A product belongs to the module that owns the weight, also if only a view of the weight is multiplied. A product of
/// activations belongs to the attention function that ran last, or to an attention layer that used its weights later.
/// If a weight is neither a parameter nor a view of a parameter, its product belongs to the module that ran last. The
/// column `attention` (products.h) counts products of activations, products with weights of an attention function, and
/// products with buffers of attention functions or attention layers.
class ProductTrace {
 public:
  explicit ProductTrace(torch::nn::Module& root);
  ~ProductTrace();
  ProductTrace(const ProductTrace&) = delete;
  ProductTrace& operator=(const ProductTrace&) = delete;

  const std::vector<OperatorUse>& uses() const;

 private:
  struct Recorder;
  std::unique_ptr<Recorder> recorder_;
};

}  // namespace cachet::analysis
