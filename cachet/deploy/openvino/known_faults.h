#pragma once

#include <memory>
#include <openvino/core/model.hpp>

namespace torch::jit {
struct Graph;
}

/// Faults of OpenVINO (2026.4 unless another version is named), and changes of models that avoid the faults.
namespace cachet::deploy {

/// Replaces `narrow` of a computed length by `slice`, because OpenVINO loses this length when it simplifies `narrow`.
void replace_computed_narrows(torch::jit::Graph& graph);

/// If the data input of a GatherElements is a Slice from index 0, replaces the Slice by a split with the same result.
/// OpenVINO drops such a Slice, even if Slice and GatherElements have different axes, and then rejects the shapes.
void replace_slices_before_gathers(const std::shared_ptr<ov::Model>& model);

/// Replaces boolean masks of attention by masks of 0 and −∞. OpenVINO before 2026 adds boolean masks to the scores as
/// numbers. Masks of 0 and −∞ give equal results in all tested versions of OpenVINO (2024.6, 2025.2, 2026.1, 2026.4).
void replace_boolean_attention_masks(const std::shared_ptr<ov::Model>& model);

/// Oldest tested version of OpenVINO. f32 scores of 2024.6 and 2026.4 differ by at most 5e-7 (docs/deploying.md).
inline constexpr const char* kOldestOpenVino = "2024.6";

}  // namespace cachet::deploy
