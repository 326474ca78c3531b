#include "cachet/models/vision/vision_transformer_options.h"

#include <array>
#include <string>

#include "cachet/models/model_keys.h"

namespace cachet::models {
namespace {

constexpr std::array<config::Choice<Pooling>, 2> kPoolings{{{"token", Pooling::token}, {"mean", Pooling::mean}}};
std::string number(int64_t n) { return std::to_string(n); }

void check_combination(const config::View& table, const VisionTransformerOptions& o) {
  if (o.embed_dim % o.num_heads != 0)
    table.problem("num_heads", "must divide embed_dim (" + number(o.embed_dim) + "), got " + number(o.num_heads));
  if (o.image.height % o.patch_size != 0 || o.image.width % o.patch_size != 0)
    table.problem("patch_size", "must divide the height and width of the image (" + number(o.image.height) + " x " +
                                    number(o.image.width) + "), got " + number(o.patch_size));
  if (o.pooling == Pooling::token && !o.class_token)
    table.problem("pooling", "'token' needs class_token = true; without a class token, use 'mean'");
  if (o.distilled && (!o.class_token || o.pooling == Pooling::mean))
    table.problem("distilled", "needs a class token and pooling = \"token\"");
  check_plug_ins(table, o.plug_ins, o.embed_dim, o.num_heads);
}

}  // namespace

VisionTransformerOptions read_vision_transformer_options(const config::View& table, VisionTransformerOptions o) {
  read_image_shape(table, o.image);
  o.patch_size = table.integer("patch_size", o.patch_size, {1, 1 << 14});
  o.classes = read_classes(table, o.classes);
  read_dropout(table, o.dropout, o.stochastic_depth);
  o.embed_dim = table.integer("embed_dim", o.embed_dim, {1, 1 << 16});
  o.depth = table.integer("depth", o.depth, {1, 1000});
  o.num_heads = table.integer("num_heads", o.num_heads, {1, 1024});
  o.mlp_ratio = table.real("mlp_ratio", o.mlp_ratio, {0.01, 64.0});
  check_mlp_ratio(table, "mlp_ratio", o.mlp_ratio, o.embed_dim);
  o.class_token = table.boolean("class_token", o.class_token);
  o.distilled = table.boolean("distilled", o.distilled);
  o.pooling = table.choice("pooling", o.pooling, kPoolings);
  o.position_std = table.real("position_std", o.position_std, {0.0, 10.0, /*least_excluded=*/true});
  o.plug_ins = nn::read_plug_ins(table);
  check_combination(table, o);
  return o;
}

}  // namespace cachet::models
