// Each name of before that has an alias until version 0.2. The table of CHANGELOG.md has the new names.
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>
#include <cachet/cachet.h>

#include <concepts>
#include <iostream>
#include <string_view>

namespace {

using namespace cachet;

// Types.
static_assert(std::same_as<nn::AttentionLayout, nn::AttentionArgs>);
static_assert(std::same_as<nn::OwnTensor, nn::RegisteredTensor>);
static_assert(std::same_as<nn::Part<nn::Linear>, nn::Submodule<nn::Linear>>);
static_assert(std::same_as<nn::Latest<int>, nn::Memoized<int>>);
static_assert(std::same_as<nn::Replicated, nn::SyncedModule>);
static_assert(std::same_as<nn::StreamUse, nn::SessionUse>);
static_assert(std::same_as<nn::Streams, nn::Sessions>);
static_assert(std::same_as<nn::Absorb, nn::FoldAffine>);
static_assert(std::same_as<nn::Listener::Hear, nn::Listener::Callback>);
static_assert(std::same_as<nn::Observable::Heard, nn::Observable::Subscription>);
static_assert(std::same_as<ops::Replicas, ops::BatchReducer>);
static_assert(std::same_as<ops::Renewable, ops::Recalibrated>);
static_assert(std::same_as<models::Ability, models::Capability>);
static_assert(std::same_as<models::TextStream, models::LanguageSession>);
static_assert(std::same_as<models::TranslationStream, models::TranslationSession>);
static_assert(std::same_as<models::DecodingLanes, models::DecodingRows>);
static_assert(std::same_as<processes::Processes, processes::ProcessGroup>);
static_assert(std::same_as<train::Task, train::TrainingTask>);
static_assert(std::same_as<train::TrainingStream, train::TrainingBatches>);
static_assert(std::same_as<train::StepResult, train::ForwardResult>);
static_assert(std::same_as<train::Ending, train::StopReason>);
static_assert(std::same_as<train::Span, train::Duration>);
static_assert(std::same_as<tasks::AnswersGivenSamples, tasks::Predictor>);
static_assert(std::same_as<tasks::KeptFiles, tasks::SavedFiles>);

// Constants and enumerators.
static_assert(nn::kMostCacheLength == nn::kMaxCacheLength);
static_assert(io::kMostNameBytes == io::kMaxNameBytes && io::kMostImagePixels == io::kMaxImagePixels);
static_assert(deploy::kLeastLikely == deploy::kMinLikely && train::kMostThreads == train::kMaxThreads);
static_assert(nn::CacheScope::lane == nn::CacheScope::batch_row && nn::Streams::lanes == nn::Sessions::batch_rows);
static_assert(nn::StateOwner::lanes == nn::StateOwner::batch_rows);
static_assert(tasks::Splits::made_up == tasks::Splits::synthetic);

// Functions that derived classes call.
class Observed : public nn::Observable, public nn::SyncedModule {
 public:
  void look(const at::Tensor& value) const { tell(nn::Signal::self_output, value); }
  bool is_alone() const { return replicas() == nullptr; }
};

// Functions that a program calls, compiled alone.
[[maybe_unused]] void call(models::LanguageModel& language, models::TranslationModel& translation,
                           const models::EncodedSentences& sentences, nn::Attention& attention, ops::Replicas& replicas,
                           const config::View& view) {
  at::Tensor sums = at::ones({1});
  replicas.add(sums);
  const nn::Affine map{at::ones({4}), at::ones({4})};
  attention.absorb(map);
  attention.absorb_into_query(map);
  attention.absorb_behind(map);
  nn::use_replicas(attention, nullptr);
  static_cast<void>(language.make_stream(1, language.segments()).state->lanes());
  static_cast<void>(translation.make_stream(sentences).lanes());
  static_cast<void>(train::read_span(view, "warmup", {}));
  static_cast<void>(train::read_spans(view, "milestones", {}));
}

}  // namespace

int main() {
  const Observed observed;
  observed.look(at::ones({1}));
  nn::Linear linear(4, 4);
  const nn::Affine twice{at::full({4}, 2), at::zeros({4})};
  linear.absorb(twice);
  linear.absorb_behind(twice);
  nn::absorb_affine("old_names", twice, linear.weight, linear.bias);
  nn::absorb_affine_behind("old_names", twice, linear.weight, linear.bias);
  nn::AttentionState state(3);
  if (state.lanes() != 3 || !observed.is_alone()) return 1;
  if (models::word(models::Capability::feature_pyramid) != "feature_pyramid") return 1;
  if (io::word(io::NameSource::pvt) != "pvt" || report::word(report::Better::lower) != "lower") return 1;
  if (std::string_view(deploy::word(deploy::RewrittenPlace::Kind::norm)) != "norm") return 1;
  std::cout << "names of before\n";
}
