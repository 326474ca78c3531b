#pragma once

#include <memory>
#include <openvino/core/model.hpp>

namespace torch::jit {
struct Graph;
}

/// What OpenVINO (2026.4) does wrongly with models that are right, and how they are put so that it does not.
namespace cachet::deploy {

/// A `narrow` whose length is computed loses a dimension of that length when OpenVINO simplifies it: `slice` does not.
void replace_computed_narrows(torch::jit::Graph& graph);

/// OpenVINO drops a slice that begins at 0 before GatherElements, also where it cuts another dimension than the one
/// that is gathered along, and then refuses the shapes: a split that gives the same part stays.
void replace_slices_before_gathers(const std::shared_ptr<ov::Model>& model);

}  // namespace cachet::deploy
