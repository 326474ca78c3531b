#pragma once

#include <memory>
#include <openvino/core/model.hpp>

namespace torch::jit {
struct Graph;
}

/// Faults of OpenVINO, 2026.4 if no version is given, and how models are written so that they do not matter.
namespace cachet::deploy {

/// A `narrow` whose length is computed loses a dimension of that length when OpenVINO simplifies it: `slice` does not.
void replace_computed_narrows(torch::jit::Graph& graph);

/// OpenVINO drops a slice that begins at 0 before GatherElements, also where it cuts another dimension than the one
/// that is gathered along, and then refuses the shapes: a split that gives the same part stays.
void replace_slices_before_gathers(const std::shared_ptr<ov::Model>& model);

/// OpenVINO before 2026 adds a boolean mask of an attention to its scores as numbers. A mask of 0 and −∞ gives the same
/// answers in each version (tried: 2024.6, 2025.2, 2026.1 and 2026.4).
void replace_boolean_attention_masks(const std::shared_ptr<ov::Model>& model);

/// The oldest OpenVINO that was tried. It answers as 2026.4 does (docs/deploying.md).
inline constexpr const char* kOldestOpenVino = "2024.6";

}  // namespace cachet::deploy
