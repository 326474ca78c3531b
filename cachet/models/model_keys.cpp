#include "cachet/models/model_keys.h"

namespace cachet::models {
namespace {

constexpr int64_t kMaxPixels = 1 << 14;

/// Whether a cache's channels and heads go together.
bool check_cache_width(const config::View& table, const nn::CachedLayerOptions& options, int64_t embed_dim,
                       int64_t num_heads, std::string_view where) {
  const int64_t width = nn::cache_dim(options.ratio, embed_dim);
  const config::View cache_table = table.table("cache");
  const std::string memory = "gives a memory of " + std::to_string(width) + " channels";
  if (width == 0 || width % num_heads != 0) {
    cache_table.problem("ratio", memory + " (ratio of embed_dim " + std::to_string(embed_dim) + std::string(where) +
                                     "), which must be a positive multiple of the " + std::to_string(num_heads) +
                                     " heads");
    return false;
  }
  if (options.positional_convolution && embed_dim % width != 0)
    cache_table.problem("ratio", memory + ", which must divide embed_dim " + std::to_string(embed_dim) +
                                     std::string(where) +
                                     " for the positional convolution; choose 1/n, or positional_convolution = false");
  return true;
}

/// Whether the mean of a sample's tokens after the norm is its bias, whatever the sample is.
bool fixes_mean_of_tokens(const nn::NormOptions& norm, int64_t channels) {
  if (const auto* group = std::get_if<nn::GroupNormOptions>(&norm)) return group->groups == channels;
  return std::holds_alternative<nn::InstanceNormOptions>(norm);
}

}  // namespace

void read_image_shape(const config::View& table, ImageShape& image) {
  image.channels = table.integer("channels", image.channels, {1, 1024});
  const std::vector<int64_t> size = table.integers("image_size", {image.height, image.width}, {1, kMaxPixels});
  if (size.empty() || size.size() > 2) {
    table.problem("image_size", "must be one number, or two: [height, width]");
    return;
  }
  image.height = size.front();
  image.width = size.back();
}

int64_t read_classes(const config::View& table, int64_t classes) {
  return table.integer("classes", classes, {1, 1'000'000});
}

void read_dropout(const config::View& table, double& dropout, double& stochastic_depth) {
  dropout = table.real("dropout", dropout, {0.0, 0.99});
  stochastic_depth = table.real("stochastic_depth", stochastic_depth, {0.0, 0.99});
}

void check_plug_ins(const config::View& table, const nn::PlugIns& plug_ins, int64_t embed_dim, int64_t num_heads,
                    std::string_view where) {
  check_norm(table, plug_ins.norm, embed_dim, where);
  check_attention(table, "attention", plug_ins.attention, embed_dim, num_heads, where);
  const std::optional<nn::CachedLayerOptions> cache = nn::cached_layer_options(plug_ins.cache);
  if (!cache || !check_cache_width(table, *cache, embed_dim, num_heads, where)) return;
  check_attention(table, "attention", plug_ins.attention, nn::cache_dim(cache->ratio, embed_dim), num_heads,
                  std::string(" of the memory") + std::string(where));
}

void check_attention(const config::View& table, std::string_view key, const nn::AttentionOptions& attention,
                     int64_t channels, int64_t num_heads, std::string_view where) {
  const int64_t of_head = attention.head_dim > 0 ? attention.head_dim : channels / num_heads;
  if (const auto misfit = nn::chosen_attention_function(attention.function).misfit(of_head))
    table.table(key).problem(misfit->key, misfit->text + std::string(where));
}

void check_norm(const config::View& table, const nn::NormOptions& norm, int64_t channels, std::string_view where) {
  if (const auto misfit = nn::chosen_norm(norm).misfit(channels))
    table.table("norm").problem(misfit->key, misfit->text + std::string(where));
}

void check_causal_norm(const config::View& table, const nn::NormOptions& norm) {
  if (const std::string why = nn::why_norm_not_causal(norm); !why.empty()) table.table("norm").problem("kind", why);
}

void note_norm_before_mean(const config::View& table, const nn::NormOptions& norm, int64_t channels) {
  if (fixes_mean_of_tokens(norm, channels))
    table.table("norm").note("kind",
                             "the model averages its tokens after this norm, and that average is the norm's bias for "
                             "every input. All inputs get the same prediction; choose another norm");
}

void check_mlp_ratio(const config::View& table, std::string_view key, double ratio, int64_t embed_dim,
                     std::string_view where) {
  if (static_cast<double>(embed_dim) * ratio >= 1) return;
  table.problem(key, "leaves the MLP of embed_dim " + std::to_string(embed_dim) + std::string(where) +
                         " without channels; choose a larger number");
}

void check_cache_without_grid(const config::View& table, const nn::CacheOptions& cache, std::string_view tokens) {
  const config::View cache_table = table.table("cache");
  const std::string missing = "needs tokens on a grid, which " + std::string(tokens) +
                              (tokens == "text" ? " does" : " do") + " not have; set it to ";
  if (nn::is_concatenated(cache)) cache_table.problem("kind", nn::kConcatenatedIsForImages);
  const auto layer = nn::cached_layer_options(cache);
  if (layer && layer->positional_convolution) cache_table.problem("positional_convolution", missing + "false");
  if (layer && layer->pool.value_or(1) > 1) cache_table.problem("pool", missing + "1");
}

void check_stage_pools(const config::View& table, const nn::CacheOptions& cache, bool pools) {
  if (pools && nn::is_concatenated(cache))
    table.problem(
        "cache_pools",
        "must be left out or 1: a concatenated cache has one entry for each key of the layer, and does not pool");
}

void note_single_key(const config::View& table, std::string_view key, size_t stage, int64_t pool, int64_t reduction) {
  const std::string reduced = reduction > 1 ? " and the spatial reduction by " + std::to_string(reduction) : "";
  table.note(key, "the pooling by " + std::to_string(pool) + reduced + (reduction > 1 ? " leave" : " leaves") +
                      " the memory attention of stage " + std::to_string(stage) +
                      " only one key, so its output does not depend on the query");
}

}  // namespace cachet::models
