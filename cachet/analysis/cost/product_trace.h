#pragma once

#include <torch/nn/module.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cachet/analysis/cost/products.h"

namespace cachet::analysis {

/// An operator call that used a module's parameters or multiplied on its behalf.
struct OperatorUse {
  std::string path;                   // of the module: "blocks.0.attn.qkv"
  std::vector<int64_t> output_shape;  // of the operator's first result; empty if it reads weights alone, or if
                                      // another module has the tensor, too, and used it before
  Products macs;
};

/// While it lives, notes what the operators that this thread calls do with a model's parameters, in any forward pass
/// and on any device, the meta device included. One at a time on a thread.
///
/// A product belongs to the module that owns the weight, also where only a view of it is multiplied. Products of
/// activations belong to the attention function that was entered last, or to the attention itself if it has used a
/// weight of its own since then. A weight that is neither parameter nor view of
/// one (cut and joined anew) belongs to the module whose turn was last. products.h defines the products of attention:
/// those of activations, with weights of an attention function, and with buffers of attention.
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
