// Language models × norm × cache, small and random: a rewritten model predicts what it did, and writes it where no
// cache was frozen.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "cachet/analysis/cost/model_summary.h"
#include "cachet/deploy/rewrite.h"
#include "cachet/models/language/token_generator.h"
#include "tests/deploy/trained_model.h"
#include "tests/support/score_difference.h"

namespace cachet::deploy {
namespace {

using test::Settings;

/// The predictions for three segments that follow each other, and what is written after them.
struct Foretold {
  at::Tensor scores;
  std::vector<int64_t> written;
};

Foretold foretold_by(models::LanguageModel& model, const at::Tensor& ids) {
  const at::NoGradGuard no_grad;
  const int64_t segment = model.language_shape().target_length;
  models::LanguageSession stream = model.make_session(ids.size(0), model.segments());
  std::vector<at::Tensor> scores;
  for (int64_t first = 0; first < ids.size(1); first += segment)
    scores.push_back(model.next_token(ids.narrow(1, first, segment), stream));
  Foretold found{at::cat(scores), {}};
  models::SamplingOptions surest;
  surest.top_k = 1;
  models::TokenGenerator generator(model, model.segments(), surest, /*seed=*/0);
  const at::Tensor prompt = ids[0].contiguous();
  generator.read({prompt.const_data_ptr<int64_t>(), static_cast<size_t>(prompt.numel())});
  for (int64_t i = 0; i < 8; ++i) found.written.push_back(generator.next());
  return found;
}

TEST(RewriteOfALanguageModel, KeepsWhatItForetellsAndWrites) {
  for (const test::SmallModel& small : test::small_text_models()) {
    if (small.name.find("translation") != std::string::npos) continue;
    for (const std::string& norm : test::norm_kinds())
      for (Settings plug_ins : test::cache_settings(/*has_grid=*/false)) {
        plug_ins.push_back("norm.kind=" + norm);
        if (plug_ins.front() == "cache.kind=grc") plug_ins.push_back("cache.inference=frozen");
        SCOPED_TRACE(small.name + " " + test::text_of(plug_ins));
        const auto model = trained(small, plug_ins);
        auto& language = dynamic_cast<models::LanguageModel&>(*model);
        const at::Tensor ids = at::randint(20, {3, 15}, at::kLong);
        const Foretold expected = foretold_by(language, ids);
        const int64_t parameters = analysis::summarize(*model).parameters;
        const RewriteReport report = rewrite(*model, {.count_work = true});
        const Foretold actual = foretold_by(language, ids);
        EXPECT_EQ(report.before.parameters, parameters) << "tables that input and output share count once";
        const test::ScoreDifference difference = test::score_difference(expected.scores, actual.scores, 1e-9);
        EXPECT_TRUE(difference.holds(1e-9)) << difference.largest;
        EXPECT_EQ(actual.written, expected.written);
        for (const RewrittenPart& place : report.parts)
          EXPECT_TRUE(place.gone || !place.reason.empty() || !place.left.empty()) << place.path;
      }
  }
}

// A memory of earlier inputs is not a cache: it stays, and what reads it too.
TEST(RewriteOfALanguageModel, LeavesAMemoryOfTokensAsItIs) {
  for (const Settings& memory : {Settings{"memory_length=4"}, Settings{"memory_tokens=2"},
                                 Settings{"memory_tokens=2", "memory_tokens_recurrent=true"}})
    for (const char* norm : {"norm.kind=layer", "norm.kind=un"}) {
      Settings settings{"embed_dim=16", "depth=2",       "num_heads=2",     "mlp_dim=16",
                        "dropout=0",    "vocabulary=20", "target_length=5", "norm_place=before"};
      if (memory.front() != "memory_length=4") settings.push_back("memory_length=0");
      settings.insert(settings.end(), memory.begin(), memory.end());
      SCOPED_TRACE(test::text_of(settings) + norm);
      const auto model = trained({"transformer_xl_small", settings, false}, {norm});
      auto& language = dynamic_cast<models::LanguageModel&>(*model);
      const at::Tensor ids = at::randint(20, {3, 15}, at::kLong);
      const Foretold expected = foretold_by(language, ids);
      rewrite(*model);
      const Foretold actual = foretold_by(language, ids);
      const test::ScoreDifference difference = test::score_difference(expected.scores, actual.scores, 1e-9);
      EXPECT_TRUE(difference.holds(1e-9)) << difference.largest;
      EXPECT_EQ(actual.written, expected.written);
    }
}

}  // namespace
}  // namespace cachet::deploy
