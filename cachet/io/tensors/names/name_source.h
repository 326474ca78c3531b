#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "cachet/io/tensors/tensor_map.h"

namespace cachet::io {

/// The code base whose names the weights of a model have.
enum class NameSource {
  cachet,          // our own names
  timm,            // also DeiT's names; our names follow them
  pvt,             // whai362/PVT, v1 and v2
  swin,            // microsoft/Swin-Transformer
  t2t,             // yitu-opensource/T2T-ViT, hikvision-research/Unified-Normalization
  grc,             // cached layers of annosubmission/GRC-Cache; a PVT has PVT's names otherwise
  mmdetection,     // detectors of open-mmlab/mmdetection and derivatives; below `backbone.`, names of a source above
  transformer_xl,  // kimiyoung/transformer-xl, the PyTorch half; booydar/LM-RMT's memory tokens
  fairseq,         // translation models of facebookresearch/fairseq
};

std::string_view to_string(NameSource source);  // "pvt"
[[deprecated("to_string")]] inline std::string_view word(NameSource source) { return to_string(source); }
const std::vector<std::string_view>& name_source_words();
std::optional<NameSource> name_source(std::string_view word);

/// Returns the source of these names, or timm if nothing distinguishes the sources.
NameSource recognize_names(const TensorMap& tensors);

/// Facts about a model, other than its weights, that determine the names and tensors of an export.
struct ExportFacts {
  int64_t image_height = 224, image_width = 224;
  std::optional<std::pair<int64_t, int64_t>> unified_norm_windows;  // forward and backward; empty without unified norms
};

/// Converts weights from a source's names to ours. A tensor that no rule knows retains its name, such as T2T's frozen
/// `pos_embed`, which our model computes. Tables that an author's code both computes and saves are left out: Swin's
/// indices and masks, Transformer-XL's frequencies, fairseq's positions and versions. Throws io::Error for names that
/// clash and parts that do not fit.
TensorMap to_our_names(NameSource source, const TensorMap& theirs);

/// The inverse of to_our_names(): applying both returns the same tensors. Adds the tables that to_our_names() leaves
/// out, except Swin's masks for a detector. A tensor that modules share must be present under each of its names.
TensorMap to_their_names(NameSource source, const TensorMap& ours, const ExportFacts& facts);

}  // namespace cachet::io
