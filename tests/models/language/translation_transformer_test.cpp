#include "cachet/models/language/translation_transformer.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "cachet/config/document.h"
#include "cachet/config/problem.h"
#include "cachet/io/tensors/state_dict.h"
#include "cachet/models/registry.h"
#include "cachet/nn/base/initialization.h"
#include "tests/models/language/small_translation.h"
#include "tests/support/all_norms.h"
#include "tests/support/attention_functions.h"
#include "tests/support/clone_check.h"
#include "tests/support/refused.h"

namespace cachet {
namespace {

using models::SentencePairs;
using models::Sequences;
using models::TranslationTransformer;
using models::TranslationTransformerOptions;
using test::drawn_pairs;
using test::expect_refused;
using test::made_translation_model;
using test::small_translation_options;

// Every attention function in every position where it may stand.
std::vector<std::pair<std::string, TranslationTransformerOptions>> translation_attentions() {
  std::vector<std::pair<std::string, TranslationTransformerOptions>> all;
  for (const auto& [name, function] : test::attention_functions()) {
    TranslationTransformerOptions o = small_translation_options();
    o.plug_ins.attention.function = function;
    if (nn::why_not_causal(function).empty()) o.decoder_attention.function = function;
    if (nn::why_not_across(function).empty()) o.cross_attention.function = function;
    all.emplace_back(name, o);
  }
  TranslationTransformerOptions cached = small_translation_options();
  nn::GatedRecurrentCacheOptions grc;
  grc.length = 5;
  cached.plug_ins.cache = grc;
  all.emplace_back("grc", cached);
  nn::FifoCacheOptions fifo;
  fifo.length = 5;
  cached.plug_ins.cache = fifo;
  all.emplace_back("fifo", cached);
  return all;
}

template <class Check>
void for_all_attentions_and_norms(const Check& check) {
  for (const auto& [attention, options] : translation_attentions())
    for (const auto& [norm, norm_options] : test::causal_norms())
      for (const auto place : {nn::NormPlace::before, nn::NormPlace::after}) {
        TranslationTransformerOptions o = options;
        o.norm_place = place;
        o.plug_ins.norm = norm_options;
        SCOPED_TRACE(attention + ", " + norm + (place == nn::NormPlace::before ? ", pre-norm" : ", post-norm"));
        const auto model = made_translation_model(o);
        // Statistics and caches that training moved, over padding of both sides.
        for (int64_t step = 0; step < 2; ++step) model->losses(drawn_pairs(), {0.1});
        model->eval();
        check(*model, attention);
      }
}

TEST(TranslationTransformer, NoTargetTokenSeesItsFuture) {
  const at::NoGradGuard no_grad;
  for_all_attentions_and_norms([](TranslationTransformer& model, const std::string&) {
    const SentencePairs pairs = drawn_pairs();
    const models::EncodedSentences encoded = model.encode(pairs.source);
    const at::Tensor before = model.decode({pairs.target.ids, {}}, encoded);
    for (const int64_t changed : {1, 4}) {
      at::Tensor other = pairs.target.ids.clone();
      other.select(1, changed).add_(1).remainder_(20);
      const at::Tensor after = model.decode({other, {}}, encoded);
      EXPECT_TRUE(at::equal(before.narrow(1, 0, changed), after.narrow(1, 0, changed)));
      EXPECT_FALSE(at::equal(before.select(1, changed), after.select(1, changed)));
    }
  });
}

// Blocks and chunks count positions: a longer batch cuts others. All else must not know of the padding.
TEST(TranslationTransformer, PaddingChangesNothing) {
  const at::NoGradGuard no_grad;
  for_all_attentions_and_norms([](TranslationTransformer& model, const std::string& attention) {
    if (attention == "bigbird" || attention.starts_with("reformer")) return;
    const SentencePairs pairs = drawn_pairs();
    const at::Tensor whole = model.losses(pairs, {0.1}).loss;
    const auto alone = [](const Sequences& sentences, int64_t i) {
      const at::Tensor kept = sentences.padding[i].bitwise_not().nonzero().squeeze(1);
      return Sequences{sentences.ids[i].index_select(0, kept).unsqueeze(0), {}};
    };
    for (int64_t i = 0; i < pairs.targets.size(0); ++i) {
      const Sequences target = alone(pairs.target, i);
      const int64_t length = target.ids.size(1);
      const at::Tensor targets = pairs.targets[i].narrow(0, 0, length).unsqueeze(0);
      const at::Tensor loss = model.losses({alone(pairs.source, i), target, targets}, {0.1}).loss;
      EXPECT_TRUE(at::allclose(whole[i].narrow(0, 0, length), loss[0], 1e-9, 1e-10)) << i;
      EXPECT_EQ(whole[i].slice(0, length).abs().sum().item<double>(), 0) << i;
    }
    Sequences noisy = pairs.source;
    noisy.ids = at::where(noisy.padding, at::randint(20, noisy.ids.sizes(), at::kLong), noisy.ids);
    EXPECT_TRUE(at::equal(model.encode(noisy).tokens, model.encode(pairs.source).tokens));
  });
}

TEST(TranslationTransformer, DecodesTokenByTokenWhatItDecodesAtOnce) {
  const at::NoGradGuard no_grad;
  for_all_attentions_and_norms([](TranslationTransformer& model, const std::string&) {
    const SentencePairs pairs = drawn_pairs();
    const models::EncodedSentences encoded = model.encode(pairs.source);
    const at::Tensor expected = model.scores(model.decode({pairs.target.ids, {}}, encoded)).log_softmax(-1);
    models::TranslationSession session = model.make_session(encoded);
    at::Tensor rows = at::arange(3, at::kLong);
    for (int64_t i = 0; i < expected.size(1); ++i) {
      const at::Tensor ids = pairs.target.ids.select(1, i).index_select(0, rows);
      const at::Tensor next = model.next_token(ids, session);
      EXPECT_TRUE(at::allclose(next, expected.select(1, i).index_select(0, rows), 1e-9, 1e-10)) << i;
      if (i == 1) {  // batch rows are copied, are swapped and leave
        const at::Tensor moved = at::tensor({2, 2, 0, 1}, at::kLong);
        model.reorder(session, moved, /*same_sentences=*/false);
        rows = rows.index_select(0, moved);
      }
      if (i == 3) {  // the two of one sentence are swapped
        const at::Tensor moved = at::tensor({1, 0, 2, 3}, at::kLong);
        model.reorder(session, moved, /*same_sentences=*/true);
        rows = rows.index_select(0, moved);
      }
    }
  });
}

TEST(TranslationTransformer, EveryParameterGetsAGradient) {
  for (const auto& [attention, options] : translation_attentions()) {
    if (attention == "fifo") continue;  // whose tokens are constants
    const auto model = made_translation_model(options);
    // A cache begins as zeros, from which no reset gate learns.
    model->losses(drawn_pairs(), {0.1});
    model->losses(drawn_pairs(), {0.1}).loss.sum().backward();
    for (const auto& parameter : model->named_parameters()) {
      ASSERT_TRUE(parameter.value().grad().defined()) << attention << " " << parameter.key();
      EXPECT_GT(parameter.value().grad().abs().sum().item<double>(), 0) << attention << " " << parameter.key();
    }
  }
}

TEST(TranslationTransformer, DropoutsAreEachOfTheirOwn) {
  const auto differs = [](const auto& change) {
    TranslationTransformerOptions o = small_translation_options();
    change(o);
    const auto model = made_translation_model(o);
    const SentencePairs pairs = drawn_pairs();
    const bool trained = !at::equal(model->losses(pairs, {}).loss, model->losses(pairs, {}).loss);
    model->eval();
    EXPECT_TRUE(at::equal(model->losses(pairs, {}).loss, model->losses(pairs, {}).loss));
    return trained;
  };
  EXPECT_FALSE(differs([](auto&) {}));
  EXPECT_TRUE(differs([](auto& o) { o.dropout = 0.5; }));
  EXPECT_TRUE(differs([](auto& o) { o.activation_dropout = 0.5; }));
  EXPECT_TRUE(differs([](auto& o) { o.plug_ins.attention.function = nn::SoftmaxOptions{0.5}; }));
  EXPECT_TRUE(differs([](auto& o) { o.decoder_attention.function = nn::SoftmaxOptions{0.5}; }));
  EXPECT_TRUE(differs([](auto& o) { o.cross_attention.function = nn::SoftmaxOptions{0.5}; }));
}

TEST(TranslationTransformer, TablesAreSharedAsTheOptionsSay) {
  const auto tables = [](models::SharedEmbeddings shared) {
    TranslationTransformerOptions o = small_translation_options();
    o.shared = shared;
    const auto copy = std::dynamic_pointer_cast<TranslationTransformer>(made_translation_model(o)->clone());
    const auto p = copy->named_parameters();
    return std::pair(p["source_embed.weight"].is_same(p["target_embed.weight"]),
                     p["target_embed.weight"].is_same(p["output.weight"]));
  };
  EXPECT_EQ(tables(models::SharedEmbeddings::none), std::pair(false, false));
  EXPECT_EQ(tables(models::SharedEmbeddings::target), std::pair(false, true));
  EXPECT_EQ(tables(models::SharedEmbeddings::all), std::pair(true, true));
}

TEST(TranslationTransformer, ACopyFoldsItsNormsIntoItsOwnParts) {
  const at::NoGradGuard no_grad;
  TranslationTransformerOptions o = small_translation_options();
  o.shared = models::SharedEmbeddings::none;
  o.plug_ins.norm = nn::BatchNormOptions{};
  const auto model = made_translation_model(o);
  for (int64_t step = 0; step < 3; ++step) model->losses(drawn_pairs(), {});
  model->eval();
  const auto copy = std::dynamic_pointer_cast<TranslationTransformer>(model->clone());
  const SentencePairs pairs = drawn_pairs();
  const at::Tensor expected = model->losses(pairs, {}).loss;
  for (const nn::FoldedNorm& folded : copy->fold_norms()) EXPECT_EQ(folded.outcome, nn::FoldedNorm::Outcome::gone);
  EXPECT_TRUE(at::allclose(copy->losses(pairs, {}).loss, expected, 1e-9, 1e-10));
  EXPECT_TRUE(at::equal(model->losses(pairs, {}).loss, expected));
}

TEST(TranslationTransformer, ShowsWhatItsLastLayerLooksAt) {
  const at::NoGradGuard no_grad;
  for (const auto& [attention, options] : translation_attentions()) {
    const auto model = made_translation_model(options);
    model->eval();
    const SentencePairs pairs = drawn_pairs();
    const at::Tensor seen = model->cross_attention(pairs);
    ASSERT_EQ(seen.sizes(), at::IntArrayRef({3, 7, 6})) << attention;
    EXPECT_TRUE(at::allclose(seen.sum(2), at::ones({3, 7}, at::kDouble), 1e-4, 1e-4)) << attention;
    EXPECT_LT(seen.masked_select(pairs.source.padding.unsqueeze(1)).abs().max().item<double>(), 1e-12) << attention;
  }
}

// By the sums of the layers: fairseq's own counts for these vocabularies.
TEST(TranslationTransformer, NamedModelsHaveTheirNumberOfParameters) {
  const auto count = [](const std::string& name, const std::vector<std::string>& settings) {
    config::Document document;
    document.set("model.name=" + name);
    for (const std::string& setting : settings) document.set("model." + setting);
    const auto plan = models::read_translation_model(document.root().table("model"));
    document.finish();
    const nn::WithoutInitialization no_values;
    int64_t all = 0;
    for (const auto& parameter : io::distinct_parameters(*plan.build())) all += parameter.tensor.numel();
    return all;
  };
  const auto layers = [](int64_t d, int64_t ffn) {
    const int64_t attention = 4 * (d * d + d), half = 2 * d * ffn + d + ffn, norm = 2 * d;
    return 6 * (attention + half + 2 * norm) + 6 * (2 * attention + half + 3 * norm) + 2 * norm;
  };
  const std::vector<std::string> joint{"source_vocabulary=37000", "target_vocabulary=37000"};
  EXPECT_EQ(count("transformer_iwslt_de_en", {"source_vocabulary=10152", "target_vocabulary=10152"}),
            layers(512, 1024) + 10152 * 512);
  EXPECT_EQ(count("transformer_wmt_base", joint), layers(512, 2048) + 37000 * 512);
  EXPECT_EQ(count("transformer_wmt_big", joint), layers(1024, 4096) + 37000 * 1024);
  EXPECT_EQ(
      count("transformer_iwslt_de_en", {"source_vocabulary=9000", "target_vocabulary=7000", "share_embeddings=none"}),
      layers(512, 1024) + (9000 + 2 * 7000) * 512);
}

TEST(TranslationTransformer, RecipesAreRefusedByName) {
  const auto problem_of = [](const std::string& toml) -> std::string {
    auto document = config::Document::from_text("[model]\nname = \"transformer_iwslt_de_en\"\n" + toml, "r.toml");
    try {
      models::read_translation_model(document.root().table("model"));
      document.finish();
    } catch (const config::Error& error) {
      return error.what();
    }
    return "accepted";
  };
  EXPECT_EQ(problem_of("decoder_attention.kind = \"kernel\"\ncross_attention.kind = \"performer\"\n"
                       "attention.kind = \"reformer\"\ncache.kind = \"grc\"\nnorm.kind = \"un\""),
            "accepted");
  const std::vector<std::pair<std::string, std::string>> cases{
      {"decoder_attention.kind = \"bigbird\"", "decoder_attention.kind: has no causal form"},
      {"decoder_attention.kind = \"reformer\"", "has no causal form"},
      {"decoder_attention.kind = \"performer\"", "features = \"relu\""},
      {"cross_attention.kind = \"local\"", "cross_attention.kind: chooses keys by the positions"},
      {"encoder_heads = 7", "encoder_heads: must divide embed_dim (512), got 7"},
      {"decoder_heads = 7", "decoder_heads: must divide embed_dim (512), got 7"},
      {"embed_dim = 511\nencoder_heads = 1\ndecoder_heads = 1", "must be even"},
      {"source_vocabulary = 8000", "'all' needs one vocabulary for both languages"},
      {"target_vocabulary = 3\nshare_embeddings = \"target\"", "must be above 3, which is the end token, got 3"},
      {"cache.kind = \"grc\"\ncache.positional_convolution = true", "needs tokens on a grid"},
      {"cache.kind = \"grc\"\ncache.scope = \"lane\"", "only for models that read texts in segments"},
      {"cache.kind = \"grc\"\ncache.ratio = 0.003", "gives a memory of 1 channels"},
      {"decoder_attention = {kind = \"kernel\", form = \"aoglu\", gate_rank = 129}",
       "decoder_attention.gate_rank: must not be above the number of channels of a head, but 129 is more than the 128 "
       "channels of a head"},
      {"share_embeddings = \"al\"", "al"},
  };
  for (const auto& [toml, text] : cases) EXPECT_NE(problem_of(toml).find(text), std::string::npos) << problem_of(toml);
}

TEST(TranslationTransformer, CallsAreRefusedByName) {
  const auto model = made_translation_model(small_translation_options());
  const SentencePairs pairs = drawn_pairs();
  expect_refused([&] { model->encode({at::zeros({2, 9}, at::kLong), {}}); }, "the source must be int64");
  expect_refused([&] { model->encode({at::zeros({2, 0}, at::kLong), {}}); }, "with L from 1 to 8");
  expect_refused([&] { model->encode({at::zeros({2, 3}), {}}); }, "the source must be int64");
  expect_refused(
      [&] {
        model->decode({at::zeros({3, 9}, at::kLong), {}}, model->encode(pairs.source));
      },
      "the target must be");
  expect_refused(
      [&] {
        model->losses({pairs.source, pairs.target, pairs.targets.narrow(1, 0, 3)}, {});
      },
      "targets must have the shape");
  expect_refused([&] { model->losses(pairs, {1.0}); }, "label smoothing");
  expect_refused([&] { model->make_session(model->encode(pairs.source)); }, "call eval() first");
  expect_refused([&] { model->cross_attention(pairs); }, "call eval() first");
  expect_refused([&] { model->set_tokens({0, 2, 20}); }, "token 20");
  expect_refused([&] { model->set_tokens({1, 2, 3}); }, "the padding token must stay 0");
  for (const int64_t known : {-1, 3, 21}) {
    expect_refused([&] { model->set_tokens({0, 2, 3, known}); }, "target vocabulary, got " + std::to_string(known));
  }
  model->set_tokens({0, 3, 3});
  EXPECT_EQ(model->translation_shape().tokens.begin, 3);
  model->eval();
  const at::NoGradGuard no_grad;
  auto session = model->make_session(model->encode(pairs.source));
  expect_refused([&] { model->next_token(at::zeros({2}, at::kLong), session); }, "one for each batch row");
  expect_refused([&] { model->reorder(session, at::zeros({2}, at::kLong), true); }, "if the sentences stay the same");
  for (int64_t i = 0; i < 8; ++i) model->next_token(at::zeros({3}, at::kLong), session);
  expect_refused([&] { model->next_token(at::zeros({3}, at::kLong), session); }, "at most 8 tokens");
  const auto make = [](const auto& change) {
    TranslationTransformerOptions o = small_translation_options();
    change(o);
    return [o] { TranslationTransformer{o}; };
  };
  expect_refused(make([](auto& o) { o.text.tokens.end = 20; }), "token 20");
  expect_refused(make([](auto& o) { o.text.source_vocabulary = 21; }), "both vocabularies must have the same size");
  expect_refused(make([](auto& o) { o.decoder.depth = 0; }), "depth");
  expect_refused(make([](auto& o) { o.decoder_attention.function = nn::LshOptions{}; }), "decoder_attention has no");
  expect_refused(make([](auto& o) { o.cross_attention.function = nn::BigBirdOptions{}; }), "cross_attention chooses");
}

}  // namespace
}  // namespace cachet
