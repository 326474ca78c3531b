#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cachet/deploy/cannot_convert.h"
#include "cachet/deploy/trace.h"
#include "cachet/models/model.h"
#include "cachet/runtime/export_manifest.h"

namespace cachet::deploy {

/// A model as a graph of ATen operators, with descriptions of its inputs.
struct PortableModel {
  std::shared_ptr<torch::jit::Graph> graph;
  std::vector<runtime::ExportedInput> inputs;
  int64_t classes = 0;
  std::vector<std::string> notes;  // sizes that are fixed although they could be free, with reasons
};

/// Returns the note for an export whose sequences have a fixed length. `why` is the reason why the length is fixed.
std::string filled_note(int64_t longest, const CannotConvert& why);

/// Whether the graph accepts sequences of every length that the model accepts, without padding them.
enum class FreeLengths { if_possible, never };

/// Traces a classifier of images or of sequences. The batch size is free. If the graph permits it, sequences may have
/// any length up to the model's maximum; otherwise, sequences are padded to the maximum. The model is in evaluation
/// mode and computes in float32 on the CPU. After the call, the model's parameters require no gradients. Throws
/// CannotConvert if the model cannot be traced, and c10::Error if it does not classify images or sequences.
PortableModel make_portable(const std::shared_ptr<models::Model>& model,
                            FreeLengths lengths = FreeLengths::if_possible);

}  // namespace cachet::deploy
