#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cachet/deploy/trace.h"
#include "cachet/models/model.h"

namespace cachet::deploy {

/// An input of a model that is carried to another engine; −1 stands for a size that is free.
struct PortableInput {
  std::string name;  // "images"; of sequences "ids", "padding" and, of pairs, "second_ids", "second_padding"
  at::ScalarType dtype = at::kFloat;
  std::vector<int64_t> shape;
};

/// A model as a graph of ATen operators and what it takes.
struct PortableModel {
  std::shared_ptr<torch::jit::Graph> graph;
  std::vector<PortableInput> inputs;
  int64_t classes = 0;
  std::vector<std::string> notes;  // what is fixed though it might be free, and why
};

/// What a classifier of images or of sequences takes where it runs as it is: batch and length are free. Throws
/// c10::Error for other models.
std::vector<PortableInput> inputs_of(const models::Model& model);

/// Traces a classifier of images, whose batch is free, or of sequences, whose batch is, and whose length where the
/// graph allows it; else sequences are as long as the model takes them, filled with padding. The model is in evaluation
/// mode and computes in float32 on the CPU; its parameters no longer ask for gradients. Throws c10::Error where it
/// cannot be traced.
PortableModel make_portable(const std::shared_ptr<models::Model>& model);

}  // namespace cachet::deploy
