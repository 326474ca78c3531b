#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cachet/config/view.h"
#include "cachet/models/vision/image_shape.h"
#include "cachet/nn/cache/cache_options.h"
#include "cachet/nn/transformer_block.h"

namespace cachet::models {

// Readers and checks of `[model]` keys that several backbones have.

/// The values of `norm_place`.
inline constexpr std::array<config::Choice<nn::NormPlace>, 2> kNormPlaces{
    {{"before", nn::NormPlace::before}, {"after", nn::NormPlace::after}}};

/// Reads `channels` and `image_size`: one number or [height, width].
void read_image_shape(const config::View& table, ImageShape& image);

/// Reads the key `classes`, the number of classes of a model that scores classes.
int64_t read_classes(const config::View& table, int64_t classes);

/// Reads `dropout` and `stochastic_depth`.
void read_dropout(const config::View& table, double& dropout, double& stochastic_depth);

/// Records a problem if plug-ins do not fit a layer of width `embed_dim`: a norm that does not fit, a cache whose
/// channels and heads do not match, or an attention function that needs more channels than a head has. `where` names
/// the layer (" of stage 2") or is empty.
void check_plug_ins(const config::View& table, const nn::PlugIns& plug_ins, int64_t embed_dim, int64_t num_heads,
                    std::string_view where = "");

/// Records a problem if the attention function of table `key` does not fit the channels of its heads.
void check_attention(const config::View& table, std::string_view key, const nn::AttentionOptions& attention,
                     int64_t channels, int64_t num_heads, std::string_view where = "");

/// If the norm does not fit layers with `channels` channels, records a problem.
void check_norm(const config::View& table, const nn::NormOptions& norm, int64_t channels, std::string_view where = "");

/// Records a problem if a norm reads later tokens. Call check_causal_norm() for models that write text token by token.
void check_causal_norm(const config::View& table, const nn::NormOptions& norm);

/// If `norm` before the mean over tokens makes a classifier give the same output for every input, adds a note for the
/// user. `channels`: the width of the last layer.
void note_norm_before_mean(const config::View& table, const nn::NormOptions& norm, int64_t channels);

/// Records a problem with `key` if `ratio` · `embed_dim`, the hidden width of an MLP, is less than one channel.
void check_mlp_ratio(const config::View& table, std::string_view key, double ratio, int64_t embed_dim,
                     std::string_view where = "");

/// For a model whose tokens are not on a grid, records problems with a cache for images and with recipe keys that need
/// a grid. `tokens` is the noun for the model's inputs in messages ("text", "sentences").
void check_cache_without_grid(const config::View& table, const nn::CacheOptions& cache, std::string_view tokens);

/// If stages pool their caches (`pools`) and the cache is concatenated, records a problem with the key cache_pools: a
/// concatenated cache cannot pool.
void check_stage_pools(const config::View& table, const nn::CacheOptions& cache, bool pools);

/// Adds a note for the user: in stage `stage`, counted from 1, pooling and spatial reduction leave memory attention
/// only one key. `pool`: the value of the recipe key `key`.
void note_single_key(const config::View& table, std::string_view key, size_t stage, int64_t pool, int64_t reduction);

/// Reads a list under `key`, one number for each stage. `stages` has the default numbers. If the list's length differs
/// from the number of stages, records a problem.
template <class Stage, class Number>
void read_per_stage(const config::View& table, std::string_view key, std::vector<Stage>& stages, Number Stage::*member,
                    config::Range<Number> range) {
  std::vector<Number> values;
  for (const Stage& stage : stages) values.push_back(stage.*member);
  if constexpr (std::is_same_v<Number, double>)
    values = table.reals(key, values, range);
  else
    values = table.integers(key, values, range);
  if (values.size() != stages.size()) {
    table.problem(key, "must have " + std::to_string(stages.size()) + " numbers, one for each stage, got " +
                           std::to_string(values.size()));
    return;
  }
  for (size_t i = 0; i < stages.size(); ++i) stages[i].*member = values[i];
}

}  // namespace cachet::models
