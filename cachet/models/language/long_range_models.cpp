#include "cachet/models/language/long_range_transformer.h"
#include "cachet/models/registered_model.h"

namespace cachet::models {
namespace {

struct Width {
  int64_t embed_dim, depth, num_heads, mlp_dim;
};

LongRangeOptions arena(const SequenceShape& sequence, int64_t classes, const Width& width) {
  LongRangeOptions o;
  o.sequence = sequence;
  o.classes = classes;
  o.embed_dim = width.embed_dim;
  o.depth = width.depth;
  o.num_heads = width.num_heads;
  o.mlp_dim = width.mlp_dim;
  return o;
}

// The official dual encoder has no class token: it reads the first one of the text, and its head has a layer more.
LongRangeOptions dual(LongRangeOptions o) {
  o.pooling = SequencePooling::first_token;
  o.head_layers = 3;
  return o;
}

LongRangeOptions small() {
  LongRangeOptions o = arena({257, 4000, false}, 2, {64, 2, 2, 128});
  o.positions = Positions::learned;
  o.pooling = SequencePooling::mean;
  o.pair_features = PairFeatures::compared;
  o.plug_ins.attention.qkv_bias = o.plug_ins.attention.projection_bias = true;
  return o;
}

// Attends in half its width.
LongRangeOptions image() {
  LongRangeOptions o = arena({256, 1024, false}, 10, {128, 1, 8, 128});
  o.plug_ins.attention.head_dim = 8;
  return o;
}

RegisteredModel lra(const char* name, const LongRangeOptions& options) {
  return {.name = name, .sequence_classifier = [=](const config::View& table, const SequenceDefaults& defaults) {
            LongRangeOptions own = options;
            if (defaults.sequence) own.sequence = *defaults.sequence;
            if (defaults.classes) own.classes = *defaults.classes;
            own = read_long_range_options(table, own);
            return SequenceClassifierPlan{name, own.sequence, own.classes,
                                          [own] { return std::make_shared<LongRangeTransformer>(own); }};
          }};
}

}  // namespace

// One encoder a task, as the JAX configurations have them; lra_small is the common PyTorch port's, for any task. A
// recipe's data determine vocabulary, length, classes and whether samples are pairs.
std::vector<RegisteredModel> long_range_models() {
  return {lra("lra_image", image()), lra("lra_listops", arena({17, 2000, false}, 10, {512, 4, 8, 1024})),
          lra("lra_matching", dual(arena({257, 4000, true}, 2, {128, 4, 4, 512}))), lra("lra_small", small()),
          lra("lra_text", arena({257, 1000, false}, 2, {256, 4, 4, 1024}))};
}

}  // namespace cachet::models
