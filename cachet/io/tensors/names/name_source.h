#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "cachet/io/tensors/tensor_map.h"

namespace cachet::io {

/// The program whose names a model's weights have.
enum class NameSource {
  cachet,          // ours
  timm,            // also DeiT's: ours follow them
  pvt,             // whai362/PVT, v1 and v2
  swin,            // microsoft/Swin-Transformer
  t2t,             // yitu-opensource/T2T-ViT, hikvision-research/Unified-Normalization
  grc,             // annosubmission/GRC-Cache: its cached layers, in PVT's names where the model is a PVT
  mmdetection,     // detectors of open-mmlab/mmdetection and what builds on it: below `backbone.` one of those above
  transformer_xl,  // kimiyoung/transformer-xl, the PyTorch half; booydar/LM-RMT's memory tokens
  fairseq,         // translation models of facebookresearch/fairseq
};

std::string_view to_string(NameSource source);  // "pvt"
[[deprecated("to_string")]] inline std::string_view word(NameSource source) { return to_string(source); }
const std::vector<std::string_view>& name_source_words();
std::optional<NameSource> name_source(std::string_view word);

/// The source of these names. If nothing distinguishes the sources, it is timm.
NameSource recognize_names(const TensorMap& tensors);

/// Facts other than its weights that the names and tensors of an exported model depend on.
struct ExportFacts {
  int64_t image_height = 224, image_width = 224;
  std::optional<std::pair<int64_t, int64_t>> unified_norm_windows;  // forward, backward, where its norms are unified
};

/// Weights under a source's names, and under ours. What no rule knows keeps its name: T2T's frozen `pos_embed`, which
/// ours computes, does. Tables that an author's code computes and saves all the same are left out: Swin's indices and
/// masks, Transformer-XL's frequencies, fairseq's positions and versions. Throws io::Error for names that clash and
/// parts that do not fit.
TensorMap to_our_names(NameSource source, const TensorMap& theirs);

/// The inverse, these tables included (of a detector Swin's masks are not): to_our_names() of it gives the same tensors
/// back. What modules share must be there under each of its names.
TensorMap to_their_names(NameSource source, const TensorMap& ours, const ExportFacts& facts);

}  // namespace cachet::io
