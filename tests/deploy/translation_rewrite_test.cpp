// Translation models × norm × cache, small and random: a rewritten model computes what it did.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "cachet/deploy/rewrite.h"
#include "cachet/models/language/beam_search.h"
#include "cachet/models/language/translation_model.h"
#include "tests/deploy/trained_model.h"
#include "tests/support/score_difference.h"

namespace cachet::deploy {
namespace {

using test::Settings;

Settings translation_settings(const std::string& shared) {
  return {"embed_dim=16",       "encoder_depth=2",      "decoder_depth=2",
          "encoder_heads=2",    "decoder_heads=2",      "encoder_mlp_dim=16",
          "decoder_mlp_dim=24", "source_vocabulary=30", "target_vocabulary=30",
          "source_length=12",   "target_length=10",     "share_embeddings=" + shared,
          "dropout=0"};
}

std::vector<std::vector<int64_t>> translations_of(models::TranslationModel& model, const at::Tensor& ids) {
  std::vector<std::vector<int64_t>> tokens;
  for (const auto& each : models::beam_search(model, {ids, {}}, {3})) tokens.push_back(each[0].tokens);
  return tokens;
}

TEST(RewriteOfATranslationModel, KeepsWhatItComputesAndTranslates) {
  const at::NoGradGuard no_grad;
  for (const std::string shared : {"none", "all"})
    for (const std::string& norm : test::norm_kinds())
      for (Settings plug_ins : test::cache_settings(/*has_grid=*/false)) {
        plug_ins.push_back("norm.kind=" + norm);
        SCOPED_TRACE(shared + " " + test::text_of(plug_ins));
        const auto model = trained({"transformer_translation_small", translation_settings(shared), false}, plug_ins);
        auto& translation = dynamic_cast<models::TranslationModel&>(*model);
        const models::Trial trial = model->trial(4, at::kDouble);
        const at::Tensor expected = trial.forward(), ids = at::randint(4, 30, {5, 7}, at::kLong);
        const auto translated = translations_of(translation, ids);
        const RewriteReport report = rewrite(*model, {.count_work = true});
        const test::ScoreDifference difference = test::score_difference(expected, trial.forward(), 1e-9);
        EXPECT_TRUE(difference.holds(1e-9)) << difference.largest;
        EXPECT_EQ(translations_of(translation, ids), translated);
        const bool offline = norm == "batch" || norm == "un" || norm == "mabn" || norm == "none";
        for (const RewrittenPart& place : report.parts) {
          const bool tied = shared == "all" && place.path == "decoder_norm" && norm != "none";
          EXPECT_EQ(place.gone, (offline || place.kind != RewrittenPart::Kind::norm) && !tied)
              << place.path << ": " << place.reason;
          if (tied) {
            EXPECT_EQ(place.reason, "the output layer shares its weights with the embeddings");
          }
        }
        for (const auto& parameter : model->named_parameters())
          EXPECT_EQ(parameter.key().find("gate"), std::string::npos) << parameter.key();
      }
}

}  // namespace
}  // namespace cachet::deploy
