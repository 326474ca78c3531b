#include "cachet/io/tensors/names/name_source.h"

#include <algorithm>
#include <array>
#include <string>

#include "cachet/io/tensors/names/published_constants.h"
#include "cachet/io/tensors/names/published_names.h"

namespace cachet::io {
namespace {

constexpr std::array<std::pair<std::string_view, NameSource>, 9> kWords{{{"cachet", NameSource::cachet},
                                                                         {"timm", NameSource::timm},
                                                                         {"pvt", NameSource::pvt},
                                                                         {"swin", NameSource::swin},
                                                                         {"t2t", NameSource::t2t},
                                                                         {"grc", NameSource::grc},
                                                                         {"mmdetection", NameSource::mmdetection},
                                                                         {"transformer_xl", NameSource::transformer_xl},
                                                                         {"fairseq", NameSource::fairseq}}};

// Parts of a detector: its backbone, and what is next to it.
constexpr std::string_view kBackbone = "backbone.", kNeck = "neck.";

bool any_has(const TensorMap& tensors, std::string_view part) {
  return std::ranges::any_of(tensors, [part](const auto& item) { return item.first.find(part) != std::string::npos; });
}
bool any_begins(const TensorMap& tensors, std::string_view part) {
  return std::ranges::any_of(tensors, [part](const auto& item) { return item.first.starts_with(part); });
}

/// What decides which tables a source's names need.
struct NameTraits {
  bool pyramid = false, spatial_reduction = false, token_performer = false;
  std::optional<std::pair<int64_t, int64_t>> windows;  // of unified normalization
};

// The published code has them in Swin and T2T-ViT.
bool may_have_unified_norms(NameSource source) { return source == NameSource::swin || source == NameSource::t2t; }

NameTraits traits_of_theirs(NameSource source, const TensorMap& theirs) {
  NameTraits traits;
  traits.pyramid = any_begins(theirs, "patch_embed1.");
  traits.spatial_reduction = any_has(theirs, "attn_self_func.sr.");
  traits.token_performer = any_has(theirs, ".kqv.");
  if (!may_have_unified_norms(source)) return traits;
  for (const auto& [name, tensor] : theirs) {
    constexpr std::string_view kRing = ".buffer_x2";
    if (tensor.dim() != 2 || tensor.size(0) == 0 || !name.ends_with(kRing)) continue;
    const auto other = theirs.find(name.substr(0, name.size() - kRing.size()) + ".buffer_gz");
    if (other == theirs.end() || other->second.dim() != 2 || other->second.size(0) == 0) continue;
    traits.windows.emplace(tensor.size(0), other->second.size(0));
  }
  return traits;
}

NameTraits traits_of_ours(NameSource source, const TensorMap& ours, const ExportFacts& facts) {
  NameTraits traits;
  traits.pyramid = any_begins(ours, "stages.");
  traits.spatial_reduction = any_has(ours, "self_attention.sr.");
  traits.token_performer = any_has(ours, ".kqv.");
  if (may_have_unified_norms(source)) traits.windows = facts.unified_norm_windows;
  return traits;
}

/// The tables from theirs to ours, in the order of their use.
std::vector<NameMap> tables(NameSource source, const NameTraits& traits) {
  std::vector<NameMap> maps;
  if (source == NameSource::pvt || (source == NameSource::grc && traits.pyramid)) maps.push_back(published_pvt());
  if (source == NameSource::grc)
    maps.push_back(traits.spatial_reduction ? published_grc_spatial_reduction() : published_grc());
  if (source == NameSource::swin) maps.push_back(published_swin());
  if (source == NameSource::t2t && traits.token_performer) maps.push_back(published_t2t_performer());
  if (source == NameSource::transformer_xl) maps.push_back(published_transformer_xl());
  if (source == NameSource::fairseq) maps.push_back(published_fairseq_translation());
  if (traits.windows)
    for (NameMap& map : published_unified_norm(traits.windows->first, traits.windows->second))
      maps.push_back(std::move(map));
  return maps;
}

bool is_detector(const TensorMap& tensors) { return any_begins(tensors, kBackbone) && any_begins(tensors, kNeck); }

/// The tensors of a detector's backbone, under its own names.
TensorMap backbone_of(const TensorMap& detector) {
  TensorMap inner;
  for (const auto& [name, tensor] : detector)
    if (name.starts_with(kBackbone)) inner.emplace(name.substr(kBackbone.size()), tensor);
  return inner;
}

/// The detector with another backbone; what is next to it has the names that it was published with.
TensorMap with_backbone(const TensorMap& detector, const TensorMap& inner) {
  TensorMap all;
  for (const auto& [name, tensor] : detector)
    if (!name.starts_with(kBackbone)) all.emplace(name, tensor);
  for (const auto& [name, tensor] : inner) all.emplace(std::string(kBackbone) + name, tensor);
  return all;
}

/// Whose names the backbone of a published detector has, of which some tensors may be missing (gradients of some).
NameSource backbone_source_of_theirs(const TensorMap& inner) {
  const NameSource known = recognize_names(inner);
  if (known != NameSource::cachet && known != NameSource::timm) return known;
  return any_begins(inner, "layers.") ? NameSource::swin : NameSource::pvt;
}

/// Whose names it gets, for one of ours.
NameSource backbone_source_of_ours(const TensorMap& inner) {
  if (any_has(inner, ".self_attention.")) return NameSource::grc;
  return any_begins(inner, "layers.") ? NameSource::swin : NameSource::pvt;
}

}  // namespace

std::string_view to_string(NameSource source) {
  return std::ranges::find(kWords, source, &std::pair<std::string_view, NameSource>::second)->first;
}

const std::vector<std::string_view>& name_source_words() {
  static const std::vector<std::string_view> words = [] {
    std::vector<std::string_view> all;
    for (const auto& [each, source] : kWords) all.push_back(each);
    return all;
  }();
  return words;
}

std::optional<NameSource> name_source(std::string_view word) {
  const auto found = std::ranges::find(kWords, word, &std::pair<std::string_view, NameSource>::first);
  return found == kWords.end() ? std::nullopt : std::optional(found->second);
}

NameSource recognize_names(const TensorMap& tensors) {
  if (is_detector(tensors)) {
    const NameSource inner = recognize_names(backbone_of(tensors));
    return inner == NameSource::cachet || inner == NameSource::timm ? NameSource::cachet : NameSource::mmdetection;
  }
  // A file has a shared table under any of its names: safetensors keeps one of them.
  if (any_begins(tensors, "word_emb.emb_layers.") || any_begins(tensors, "crit.out_layers."))
    return NameSource::transformer_xl;
  for (const char* table : {"encoder.embed_tokens.", "decoder.embed_tokens.", "decoder.output_projection."})
    if (any_begins(tensors, table)) return NameSource::fairseq;
  for (const char* table : {"embedding.table_", "output.table_", "encoder_blocks."})
    if (any_begins(tensors, table)) return NameSource::cachet;
  if (any_has(tensors, "attn_self_func.")) return NameSource::grc;
  if (any_begins(tensors, "patch_embed1.")) return NameSource::pvt;
  if (any_has(tensors, ".self_attention.")) return NameSource::cachet;
  if (any_begins(tensors, "tokens_to_token."))
    return tensors.contains("pos_embed") ? NameSource::t2t : NameSource::cachet;
  if (any_begins(tensors, "stages.") && any_has(tensors, ".pos_embed")) return NameSource::cachet;
  const bool original_swin = any_has(tensors, "relative_position_index") ||
                             any_begins(tensors, "layers.0.downsample.") || tensors.contains("head.weight");
  if (any_has(tensors, "relative_position_bias_table") && original_swin) return NameSource::swin;
  return NameSource::timm;
}

TensorMap to_our_names(NameSource source, const TensorMap& theirs) {
  if (source == NameSource::mmdetection) {
    const TensorMap inner = backbone_of(theirs);
    return with_backbone(theirs, to_our_names(backbone_source_of_theirs(inner), inner));
  }
  TensorMap tensors = theirs;
  const NameTraits traits = traits_of_theirs(source, theirs);
  if (traits.windows) add_unrecorded_counters(tensors);
  for (const NameMap& map : tables(source, traits)) tensors = map.apply(tensors).tensors;
  return tensors;
}

TensorMap to_their_names(NameSource source, const TensorMap& ours, const ExportFacts& facts) {
  if (source == NameSource::mmdetection) {
    const TensorMap inner = backbone_of(ours);
    TensorMap published = to_their_names(backbone_source_of_ours(inner), inner, facts);
    // Which a detector, whose images are of any size, makes anew for each.
    std::erase_if(published, [](const auto& item) { return item.first.ends_with("attn_mask"); });
    return with_backbone(ours, published);
  }
  TensorMap tensors = ours;
  const std::vector<NameMap> maps = tables(source, traits_of_ours(source, ours, facts));
  for (auto map = maps.rbegin(); map != maps.rend(); ++map) tensors = map->inverted().apply(tensors).tensors;
  std::erase_if(tensors, [](const auto& item) { return item.first.ends_with(kUnrecordedCounters); });
  if (source == NameSource::swin) tensors.merge(swin_constants(tensors, facts.image_height, facts.image_width));
  if (source == NameSource::transformer_xl) tensors.merge(transformer_xl_constants(tensors));
  if (source == NameSource::fairseq) tensors.merge(fairseq_constants());
  return tensors;
}

}  // namespace cachet::io
