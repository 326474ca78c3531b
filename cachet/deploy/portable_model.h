#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cachet/deploy/cannot_convert.h"
#include "cachet/deploy/trace.h"
#include "cachet/models/model.h"
#include "cachet/runtime/export_manifest.h"

namespace cachet::deploy {

/// A model as a graph of ATen operators and what it takes.
struct PortableModel {
  std::shared_ptr<torch::jit::Graph> graph;
  std::vector<runtime::ExportedInput> inputs;
  int64_t classes = 0;
  std::vector<std::string> notes;  // what is fixed though it might be free, and why
};

/// The message of an export if the length of sequences is not free.
std::string filled_note(int64_t longest, const CannotConvert& why);

/// Whether sequences of each length that a model takes can be given to its graph as they are.
enum class FreeLengths { if_possible, never };

/// Traces a classifier of images, whose batch is free, or of sequences, whose batch is, and whose length if the graph
/// allows it; else sequences are as long as the model takes them, filled with padding. The model is in evaluation
/// mode and computes in float32 on the CPU; its parameters no longer ask for gradients. Throws CannotConvert if it
/// cannot be traced, c10::Error for a model of another kind.
PortableModel make_portable(const std::shared_ptr<models::Model>& model,
                            FreeLengths lengths = FreeLengths::if_possible);

}  // namespace cachet::deploy
