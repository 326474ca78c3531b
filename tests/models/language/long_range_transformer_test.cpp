#include "cachet/models/language/long_range_transformer.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "cachet/models/registry.h"
#include "tests/support/refused.h"

namespace cachet {
namespace {

using models::LongRangeOptions;
using models::LongRangeTransformer;
using models::SequencePooling;
using models::Sequences;

LongRangeOptions tiny_long_range() {
  LongRangeOptions o;
  o.sequence = {11, 9, false};
  o.classes = 3;
  o.embed_dim = 8;
  o.depth = 2;
  o.num_heads = 2;
  o.mlp_dim = 12;
  o.dropout = 0;
  return o;
}

Sequences random_sequences(int64_t batch, int64_t length) {
  return {at::randint(1, 11, {batch, length}, at::kLong), {}};
}

// `sequences` with `more` padded positions after them, which hold anything.
Sequences padded_by(const Sequences& sequences, int64_t more) {
  const int64_t batch = sequences.ids.size(0), length = sequences.ids.size(1);
  const at::Tensor padding = at::zeros({batch, length + more}, at::kBool);
  padding.slice(1, length).fill_(true);
  return {at::cat({sequences.ids, at::randint(0, 11, {batch, more}, at::kLong)}, 1), padding};
}

TEST(LongRangeTransformer, PaddingChangesNothing) {
  for (const auto pooling : {SequencePooling::class_token, SequencePooling::first_token, SequencePooling::mean})
    for (const bool cached : {false, true}) {
      LongRangeOptions o = tiny_long_range();
      o.pooling = pooling;
      if (cached) o.plug_ins.cache = nn::GatedRecurrentCacheOptions{};
      LongRangeTransformer model(o);
      model.train();
      model.forward(random_sequences(4, 9), {});  // fills the cache
      model.eval();
      const Sequences sequences = random_sequences(2, 5);
      const at::Tensor alone = model.forward(sequences, {});
      EXPECT_TRUE(at::allclose(model.forward(padded_by(sequences, 4), {}), alone, 1e-5, 1e-5))
          << static_cast<int>(pooling) << cached;
    }
}

TEST(LongRangeTransformer, TakesAnyLengthUpToItsOwn) {
  LongRangeTransformer model(tiny_long_range());
  for (const int64_t length : {1, 4, 9})
    EXPECT_EQ(model.forward(random_sequences(2, length), {}).sizes(), at::IntArrayRef({2, 3}));
  EXPECT_EQ(model.forward(random_sequences(0, 4), {}).sizes(), at::IntArrayRef({0, 3})) << "an empty batch";
  test::expect_refused([&] { model.forward(random_sequences(2, 10), {}); }, "L from 1 to 9");
  test::expect_refused([&] { model.forward(random_sequences(2, 0), {}); }, "L from 1 to 9");
  test::expect_refused([&] { model.forward(random_sequences(2, 4), random_sequences(2, 4)); },
                       "long_range_transformer: the model needs single sequences");
}

TEST(LongRangeTransformer, PairsMeetInTheHeadAlone) {
  for (const auto features : {models::PairFeatures::joined, models::PairFeatures::compared}) {
    LongRangeOptions o = tiny_long_range();
    o.sequence.pairs = true;
    o.pair_features = features;
    o.head_layers = 3;
    LongRangeTransformer model(o);
    model.eval();
    const int64_t parts = features == models::PairFeatures::joined ? 2 : 4;
    EXPECT_EQ(model.named_parameters()["head.fc1.weight"].sizes(), at::IntArrayRef({12, parts * 8}));
    EXPECT_EQ(model.named_parameters()["head.fc2.weight"].sizes(), at::IntArrayRef({6, 12}));
    const Sequences first = random_sequences(2, 7), second = random_sequences(2, 4);
    EXPECT_EQ(model.forward(first, second).sizes(), at::IntArrayRef({2, 3}));
    EXPECT_FALSE(at::allclose(model.forward(first, second), model.forward(second, first))) << "an order";
    test::expect_refused([&] { model.forward(first, {}); }, "needs pairs");
  }
}

TEST(LongRangeTransformer, PositionsMatterAndAreLearnedWhereAsked) {
  LongRangeOptions o = tiny_long_range();
  o.pooling = SequencePooling::mean;
  LongRangeTransformer fixed(o);
  EXPECT_FALSE(fixed.named_parameters().contains("pos_embed"));
  const Sequences sequences = random_sequences(1, 6);
  const Sequences turned{sequences.ids.flip(1), {}};
  EXPECT_FALSE(at::allclose(fixed.forward(sequences, {}), fixed.forward(turned, {})));
  o.positions = models::Positions::learned;
  EXPECT_TRUE(LongRangeTransformer(o).named_parameters().contains("pos_embed"));
}

TEST(LongRangeTransformer, EveryParameterLearns) {
  for (const bool pairs : {false, true}) {
    LongRangeOptions o = tiny_long_range();
    o.sequence.pairs = pairs;
    o.plug_ins.cache = nn::GatedRecurrentCacheOptions{};
    LongRangeTransformer model(o);
    const auto scores = [&] {
      return model.forward(random_sequences(3, 8), pairs ? random_sequences(3, 5) : Sequences{});
    };
    scores();  // the reset gates multiply what is in the cache, at first zeros
    scores().square().sum().backward();
    for (const auto& item : model.named_parameters()) {
      ASSERT_TRUE(item.value().grad().defined()) << item.key();
      EXPECT_GT(item.value().grad().abs().sum().item<double>(), 0) << item.key();
    }
  }
}

TEST(LongRangeTransformer, NamesWhatARecipeCannotHave) {
  const auto refused = [](const std::string& toml, const std::string& text) {
    auto document = config::Document::from_text("[model]\n" + toml + "\n", "r.toml");
    try {
      models::read_sequence_classifier(document.root().table("model"));
      document.finish();
      ADD_FAILURE() << "accepted: " << toml;
    } catch (const config::Error& error) {
      EXPECT_NE(std::string(error.what()).find(text), std::string::npos) << error.what();
    }
  };
  refused("name = \"lra_txt\"", "did you mean 'lra_text'");
  refused("name = \"pvt_tiny\"",
          "'pvt_tiny' is not a sequence classifier, but the task needs one; the kind of this model: image classifier");
  refused("name = \"lra_text\"\nnum_heads = 5", "must divide embed_dim (256), got 5");
  refused("name = \"lra_text\"\npooling = \"clas_token\"", "class_token");
  refused("name = \"lra_text\"\n[model.cache]\nkind = \"grc\"\nvariant = \"official\"", "positional_convolution");
  refused("name = \"lra_text\"\n[model.cache]\nkind = \"grc\"\npool = 2",
          "pool: needs tokens on a grid, which sequences do not have; set it to 1");
}

// Encoder, embedding and head of the arena's configurations, counted by hand from their layers.
TEST(LongRangeTransformer, HasTheArenasSizes) {
  // `attended`: channels of all heads.
  const auto encoder = [](int64_t dim, int64_t mlp, int64_t depth, int64_t attended) {
    return depth * (4 * dim * attended + (dim * mlp + mlp) + (mlp * dim + dim) + 4 * dim) + 2 * dim;
  };
  const auto count = [](const char* name) {
    config::Document document;
    int64_t parameters = 0;
    for (const auto& each : models::read_model(name, document.root()).build()->parameters()) parameters += each.numel();
    return parameters;
  };
  EXPECT_EQ(count("lra_text"), 257 * 256 + 256 + encoder(256, 1024, 4, 256) + (256 * 1024 + 1024) + (1024 * 2 + 2));
  EXPECT_EQ(count("lra_listops"), 17 * 512 + 512 + encoder(512, 1024, 4, 512) + (512 * 1024 + 1024) + (1024 * 10 + 10));
  EXPECT_EQ(count("lra_matching"),
            257 * 128 + encoder(128, 512, 4, 128) + (256 * 512 + 512) + (512 * 256 + 256) + (256 * 2 + 2));
  EXPECT_EQ(count("lra_image"), 256 * 128 + 128 + encoder(128, 128, 1, 64) + (128 * 128 + 128) + (128 * 10 + 10));
}

}  // namespace
}  // namespace cachet
