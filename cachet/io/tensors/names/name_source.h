#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "cachet/io/tensors/tensor_map.h"

namespace cachet::io {

/// The code base from which the names of a model's weights come.
enum class NameSource {
  cachet,          // our own names
  timm,            // timm and DeiT; our names follow these names
  pvt,             // whai362/PVT, v1 and v2
  swin,            // microsoft/Swin-Transformer
  t2t,             // yitu-opensource/T2T-ViT, hikvision-research/Unified-Normalization
  grc,             // cached layers of annosubmission/GRC-Cache; the other parts of a PVT have the names of `pvt`
  mmdetection,     // detectors of open-mmlab/mmdetection and derivatives; below `backbone.`, names of a source above
  transformer_xl,  // PyTorch code of kimiyoung/transformer-xl; memory tokens of booydar/LM-RMT
  fairseq,         // translation models of facebookresearch/fairseq
};

std::string_view to_string(NameSource source);  // such as "pvt"
[[deprecated("to_string")]] inline std::string_view word(NameSource source) { return to_string(source); }
const std::vector<std::string_view>& name_source_words();
std::optional<NameSource> name_source(std::string_view word);

/// Returns the code base from which the names of `tensors` come, or timm if the names do not distinguish the code
/// bases.
NameSource recognize_names(const TensorMap& tensors);

/// Facts about a model, other than its weights, that determine the names and tensors of an export.
struct ExportFacts {
  int64_t image_height = 224, image_width = 224;
  std::optional<std::pair<int64_t, int64_t>> unified_norm_windows;  // forward and backward; empty without unified norms
};

/// Converts weights from the names of `source` to Cachet's names. A tensor that no rule matches retains its name, such
/// as T2T's frozen `pos_embed`, which Cachet's model computes. Leaves out tables that the code of `source` saves
/// although it can compute them: Swin's indices and masks, Transformer-XL's frequencies, fairseq's positions and
/// versions. If two weights would get the same name, or if parts of a weight do not fit together, throws io::Error.
TensorMap to_our_names(NameSource source, const TensorMap& theirs);

/// Converts weights to the names of `source`: the inverse of to_our_names(). Adds the tables that to_our_names() leaves
/// out, except Swin's masks in a detector. A tensor that modules share must be present under each of its names.
TensorMap to_their_names(NameSource source, const TensorMap& ours, const ExportFacts& facts);

}  // namespace cachet::io
