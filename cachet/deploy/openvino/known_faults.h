#pragma once

#include <memory>
#include <openvino/core/model.hpp>

namespace torch::jit {
struct Graph;
}

/// Faults of OpenVINO (2026.4 unless another version is named), and changes of models that avoid the faults.
namespace cachet::deploy {

/// Replaces `narrow` of a computed length by `slice`. OpenVINO's simplification of `narrow` loses the computed length.
void replace_computed_narrows(torch::jit::Graph& graph);

/// Replaces slices that begin at 0 before GatherElements by splits, which give the same part. OpenVINO drops such
/// slices, even if slice and gather have different dimensions, and then rejects the shapes.
void replace_slices_before_gathers(const std::shared_ptr<ov::Model>& model);

/// Replaces boolean masks of attention by masks of 0 and −∞. OpenVINO before 2026 adds boolean masks to the scores as
/// numbers. The new masks give the same results in each version (tested: 2024.6, 2025.2, 2026.1 and 2026.4).
void replace_boolean_attention_masks(const std::shared_ptr<ov::Model>& model);

/// The oldest tested version of OpenVINO. Its f32 scores differ from 2026.4's by at most 5e-7 (docs/deploying.md).
inline constexpr const char* kOldestOpenVino = "2024.6";

}  // namespace cachet::deploy
