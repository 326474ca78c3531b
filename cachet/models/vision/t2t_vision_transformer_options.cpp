#include "cachet/models/vision/t2t_vision_transformer_options.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "cachet/models/model_keys.h"

namespace cachet::models {
namespace {

constexpr std::array<config::Choice<TokenAttention>, 2> kTokenAttentions{
    {{"performer", TokenAttention::performer}, {"transformer", TokenAttention::transformer}}};

/// The channels of the norms in the tokens-to-token module, and where they are.
std::array<std::pair<int64_t, std::string_view>, 3> token_norms_of(const T2tVisionTransformerOptions& o) {
  const int64_t side = 2 * o.split_stride - 1;
  return {{{o.image.channels * side * side, " of the first split"},
           {o.token_dim, " of token_dim"},
           {9 * o.token_dim, " of the second split"}}};
}

}  // namespace

T2tVisionTransformerOptions read_t2t_vision_transformer_options(const config::View& table,
                                                                T2tVisionTransformerOptions o) {
  read_image_shape(table, o.image);
  o.classes = read_classes(table, o.classes);
  read_dropout(table, o.dropout, o.stochastic_depth);
  o.token_attention = table.choice("token_attention", o.token_attention, kTokenAttentions);
  o.token_dim = table.integer("token_dim", o.token_dim, {2, 1 << 12});
  if (o.token_attention == TokenAttention::performer)
    o.token_dropout = table.real("token_dropout", o.token_dropout, {0.0, 0.99});
  o.split_stride = table.integer("split_stride", o.split_stride, {1, 64});
  o.embed_dim = table.integer("embed_dim", o.embed_dim, {1, 1 << 16});
  o.depth = table.integer("depth", o.depth, {1, 1000});
  o.num_heads = table.integer("num_heads", o.num_heads, {1, 1024});
  o.mlp_ratio = table.real("mlp_ratio", o.mlp_ratio, {0.01, 64.0});
  check_mlp_ratio(table, "mlp_ratio", o.mlp_ratio, o.embed_dim);
  o.plug_ins = nn::read_plug_ins(table, o.plug_ins.attention);
  // The first split is the widest: 2 * split_stride - 1 pixels, with split_stride / 2 of padding on each side.
  const int64_t least = 2 * o.split_stride - 1 - 2 * (o.split_stride / 2);
  if (std::min(o.image.height, o.image.width) < least)
    table.problem("split_stride", "needs images of at least " + std::to_string(least) +
                                      " pixels a side (data.resize.image_size), got " +
                                      std::to_string(std::min(o.image.height, o.image.width)));
  if (o.embed_dim % o.num_heads != 0)
    table.problem("num_heads",
                  "must divide embed_dim (" + std::to_string(o.embed_dim) + "), got " + std::to_string(o.num_heads));
  else
    check_plug_ins(table, o.plug_ins, o.embed_dim, o.num_heads);
  for (const auto& [channels, where] : token_norms_of(o)) check_norm(table, o.plug_ins.norm, channels, where);
  return o;
}

}  // namespace cachet::models
