#pragma once

#include <memory>
#include <openvino/core/model.hpp>

namespace torch::jit {
struct Graph;
}

/// Faults of OpenVINO (2026.4 if no version is given), and ways of writing models that avoid them.
namespace cachet::deploy {

/// Replaces `narrow` of a computed length by `slice`. When OpenVINO simplifies `narrow`, it loses such a dimension.
void replace_computed_narrows(torch::jit::Graph& graph);

/// Replaces slices that begin at 0 before GatherElements by splits that give the same part. OpenVINO drops such a
/// slice, also if it cuts another dimension than the gather does, and then refuses the shapes.
void replace_slices_before_gathers(const std::shared_ptr<ov::Model>& model);

/// Replaces boolean masks of attention by masks of 0 and −∞. OpenVINO before 2026 adds boolean masks to the scores as
/// numbers. The masks give the same answers in each version (tried: 2024.6, 2025.2, 2026.1 and 2026.4).
void replace_boolean_attention_masks(const std::shared_ptr<ov::Model>& model);

/// The oldest OpenVINO that was tried. Its answers are those of 2026.4 (docs/deploying.md).
inline constexpr const char* kOldestOpenVino = "2024.6";

}  // namespace cachet::deploy
