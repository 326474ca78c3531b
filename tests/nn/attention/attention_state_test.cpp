#include "cachet/nn/attention/attention_state.h"

#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>
#include <gtest/gtest.h>

#include "cachet/nn/attention/cached_attention.h"
#include "cachet/nn/attention/functions/kernel_attention.h"
#include "cachet/nn/attention/multi_head_attention.h"
#include "tests/support/refused.h"

namespace cachet {
namespace {

using test::expect_refused;

at::Tensor rows_of(std::vector<int64_t> rows) { return at::tensor(rows, at::kLong); }

TEST(AttentionState, ReordersWhatBelongsToLanesAndLeavesWhatIsShared) {
  nn::AttentionState state(3);
  state.declare("own", nn::StateOwner::batch_rows);
  state.declare("shared", nn::StateOwner::shared);
  state.declare("empty", nn::StateOwner::batch_rows);
  const at::Tensor own = at::randn({3, 2}), shared = at::randn({1, 2});
  state.set("own", own);
  state.set("shared", shared);
  state.part("inner").declare("own", nn::StateOwner::batch_rows);
  state.part("inner").set("own", own);

  state.reorder(rows_of({2}));
  EXPECT_EQ(state.batch_rows(), 1);
  EXPECT_TRUE(at::equal(state.get("own"), own.slice(0, 2, 3)));
  state.reorder(rows_of({0, 0, 0, 0}));  // one batch row becomes several
  EXPECT_TRUE(at::equal(state.get("own"), own.slice(0, 2, 3).expand({4, 2})));
  EXPECT_TRUE(at::equal(state.part("inner").get("own"), own.slice(0, 2, 3).expand({4, 2})));
  EXPECT_TRUE(at::equal(state.get("shared"), shared)) << "the lanes share it";
  EXPECT_FALSE(state.get("empty").defined());
}

TEST(AttentionState, LanesThatStayAreNotCopiedWhereNobodyHoldsThem) {
  const at::NoGradGuard no_grad;
  nn::AttentionState state(4);
  state.declare_growing("keys", at::zeros({4, 0, 2}), 1);
  state.append("keys", at::arange(8).view({4, 1, 2}).to(at::kFloat));
  const void* memory = state.get("keys").const_data_ptr();
  state.reorder(at::tensor({int64_t{0}, int64_t{3}, int64_t{2}}));
  state.reorder(at::tensor({int64_t{2}, int64_t{1}}));
  EXPECT_EQ(state.get("keys").const_data_ptr(), memory);
  state.append("keys", at::full({2, 1, 2}, 9.0));
  EXPECT_EQ(state.get("keys").const_data_ptr(), memory) << "there is room";
  EXPECT_TRUE(
      at::equal(state.get("keys"), at::tensor({4., 5., 9., 9., 6., 7., 9., 9.}).view({2, 2, 2}).to(at::kFloat)));
}

TEST(AttentionState, FillsWhatGrowsAndNothingElse) {
  nn::AttentionState state(2);
  state.declare("own", nn::StateOwner::batch_rows);
  state.declare_growing("keys", at::zeros({2, 0, 3}), 1);
  state.part("inner").declare_growing("values", at::zeros({2, 3, 0}), 2);
  const at::Tensor held = at::randn({2, 2, 3});
  state.append("keys", held);
  state.fill(5);
  EXPECT_TRUE(at::equal(state.get("keys"), at::cat({held, at::zeros({2, 3, 3})}, 1)));
  EXPECT_EQ(state.part("inner").get("values").sizes(), (std::vector<int64_t>{2, 3, 5}));
  EXPECT_FALSE(state.get("own").defined());
  EXPECT_EQ(state.past(), 5);
  state.fill(4);
  EXPECT_EQ(state.past(), 5) << "it is longer already";
  state.keep_last(6);
  state.fill(9);
  EXPECT_EQ(state.past(), 6) << "as many as it keeps";
  state.append("keys", at::ones({2, 1, 3}));
  EXPECT_EQ(state.past(), 6);
}

TEST(AttentionState, GroupsOfLanesKeepWhatTheyShareOnce) {
  nn::AttentionState state(3);
  state.declare("own", nn::StateOwner::either);
  const at::Tensor own = at::randn({3, 2});
  state.set("own", own);
  const auto holds = [&](const std::vector<int64_t>& rows) {
    return at::equal(state.get("own"), own.index_select(0, rows_of(rows)));
  };
  state.reorder(rows_of({0, 0, 1, 1, 2, 2}));
  EXPECT_TRUE(state.get("own").is_same(own)) << "nothing moved";
  state.reorder(rows_of({1, 0, 2, 2, 5, 4}));  // within the groups
  EXPECT_TRUE(state.get("own").is_same(own));
  state.reorder(rows_of({0, 1, 5, 4}));  // a group leaves
  EXPECT_EQ(state.batch_rows(), 4);
  EXPECT_TRUE(holds({0, 2}));
  state.reorder(rows_of({0, 1, 2}));  // groups of two batch rows and of one: a batch row each
  EXPECT_TRUE(holds({0, 0, 2}));
  state.reorder(rows_of({2, 2, 0, 1}));  // the former first two are apart, though they hold the same
  EXPECT_TRUE(holds({2, 2, 0, 0}));
  state.reorder(rows_of({0}));
  EXPECT_TRUE(holds({2}));
  state.replicate(4);
  EXPECT_EQ(state.batch_rows(), 4);
  EXPECT_TRUE(holds({2})) << "one for all";
  state.set("own", at::randn({2, 2}));
  expect_refused([&] { state.set("own", at::randn({3, 2})); }, "its first dimension must divide 4");
  nn::AttentionState again(1);
  again.declare("own", nn::StateOwner::either);
  again.load(state.named_tensors());
  EXPECT_EQ(again.batch_rows(), 4);
  EXPECT_TRUE(at::equal(again.get("own"), state.get("own")));
}

TEST(AttentionState, ReplicasOfALaneFollowEachOther) {
  nn::AttentionState state(2);
  state.declare("own", at::tensor({1.0, 2.0}).view({2, 1}));
  state.replicate(3);
  EXPECT_EQ(state.batch_rows(), 6);
  EXPECT_TRUE(at::equal(state.get("own").view(-1), at::tensor({1.0, 1.0, 1.0, 2.0, 2.0, 2.0})));
}

TEST(AttentionState, WithoutGradientsAppendingCopiesNothingThatIsThere) {
  const at::NoGradGuard no_grad;
  const at::Tensor tokens = at::randn({2, 100, 3});
  nn::AttentionState reserved(2), growing(2);
  for (auto* state : {&reserved, &growing}) state->declare_growing("tokens", at::zeros({2, 0, 3}), 1);
  reserved.reserve(100);
  const void* place = nullptr;
  int64_t moves = 0;
  const void* before = nullptr;
  for (int64_t i = 0; i < 100; ++i) {
    const at::Tensor more = tokens.narrow(1, i, 1);
    const at::Tensor first_to_last = reserved.append("tokens", more);
    if (i == 0) place = first_to_last.data_ptr();
    EXPECT_EQ(first_to_last.data_ptr(), place);
    const at::Tensor all = growing.append("tokens", more);
    moves += all.data_ptr() != before;
    before = all.data_ptr();
    EXPECT_TRUE(at::equal(all, tokens.narrow(1, 0, i + 1)));
  }
  EXPECT_TRUE(at::equal(reserved.get("tokens"), tokens));
  EXPECT_EQ(moves, 4) << "room for 16, 32, 64 and 128";
}

TEST(AttentionState, WhatWasReturnedBeforeStaysAsItWas) {
  nn::AttentionState state(1);
  state.declare_growing("tokens", at::zeros({1, 0, 2}), 1);
  const at::Tensor first = at::randn({1, 3, 2}), weight = at::randn({1, 3, 2}).requires_grad_();
  const at::Tensor seen = state.append("tokens", first * weight);  // with a graph
  const at::Tensor loss = seen.square().sum();
  {
    const at::NoGradGuard no_grad;
    state.append("tokens", at::ones({1, 1, 2}));
    state.append("tokens", at::ones({1, 1, 2}));
  }
  EXPECT_EQ(state.append("tokens", at::ones({1, 1, 2})).size(1), 6);
  loss.backward();
  EXPECT_TRUE(at::allclose(weight.grad(), 2 * first.square() * weight));
}

TEST(AttentionState, ABufferOfInferenceModeServesLaterCalls) {
  nn::AttentionState state(1);
  state.declare_growing("tokens", at::zeros({1, 0, 2}), 1);
  {
    const c10::InferenceMode inference;
    state.append("tokens", at::ones({1, 1, 2}));
  }
  const at::NoGradGuard no_grad;
  EXPECT_TRUE(at::equal(state.append("tokens", at::ones({1, 1, 2})), at::ones({1, 2, 2})));
}

TEST(AttentionState, AReorderedStateKeepsItsRoomAndACloneGoesOnByItself) {
  const at::NoGradGuard no_grad;
  nn::AttentionState state(1);
  state.declare_growing("tokens", at::zeros({1, 0, 1}), 1);
  state.reserve(8);
  state.append("tokens", at::ones({1, 2, 1}));
  state.replicate(2);
  const void* place = state.get("tokens").data_ptr();
  const auto copy = state.clone();
  const at::Tensor own = state.append("tokens", at::full({2, 1, 1}, 2.0)).clone();
  EXPECT_EQ(state.get("tokens").data_ptr(), place);
  copy->append("tokens", at::full({2, 1, 1}, 3.0));
  EXPECT_TRUE(at::equal(state.get("tokens"), own));
  EXPECT_EQ(copy->get("tokens")[1][2].item<double>(), 3.0);
}

// Layers of every kind of state, with what tokens they take.
std::vector<std::pair<std::string, std::shared_ptr<nn::Attention>>> layers_with_streams() {
  nn::AttentionOptions kernel;
  kernel.function = nn::KernelOptions{};
  nn::GatedRecurrentCacheOptions batch_row, carried;
  batch_row.scope = nn::CacheScope::batch_row;
  carried.gradient = nn::CacheGradient::carry;
  nn::FifoCacheOptions fifo;
  fifo.scope = nn::CacheScope::batch_row;
  const auto cached = [](const nn::CacheOptions& cache) { return nn::make_self_attention({8, 2, 4, {}, cache}); };
  return {{"softmax", std::make_shared<nn::MultiHeadAttention>(nn::MultiHeadOptions{8, 2})},
          {"kernel", std::make_shared<nn::MultiHeadAttention>(nn::MultiHeadOptions{8, 2, kernel})},
          {"grc, recomputed", cached(nn::GatedRecurrentCacheOptions{})},
          {"grc, lanes", cached(batch_row)},
          {"grc, carried", cached(carried)},
          {"fifo, lanes", cached(fifo)}};
}

TEST(AttentionState, GoesOnFromWhatItSaved) {
  for (const auto& [name, layer] : layers_with_streams()) {
    layer->to(at::kDouble);
    const at::Tensor first = at::randn({2, 4, 8}, at::kDouble), second = at::randn({2, 4, 8}, at::kDouble);
    nn::AttentionArgs args;
    args.causal = true;
    const auto state = layer->make_state(2, nn::SessionUse::decoding);
    args.state = state.get();
    layer->forward(first, first, args);
    std::map<std::string, at::Tensor> saved;
    for (const auto& [path, tensor] : state->named_tensors()) saved[path] = tensor.detach().clone();
    EXPECT_GT(saved.size(), 1u) << name << " remembers nothing";

    std::map<std::string, at::Tensor> model;  // what the layer itself has stored
    for (const auto& buffer : layer->named_buffers()) model[buffer.key()] = buffer.value().clone();
    const at::Tensor expected = layer->forward(second, second, args);
    {
      const at::NoGradGuard no_grad;
      for (const auto& buffer : layer->named_buffers()) buffer.value().copy_(model[buffer.key()]);
    }
    const auto restored = layer->make_state(1, nn::SessionUse::decoding);
    restored->load(saved);
    EXPECT_EQ(restored->batch_rows(), 2);
    args.state = restored.get();
    EXPECT_TRUE(at::allclose(layer->forward(second, second, args), expected, 1e-12, 1e-14)) << name;
  }
}

TEST(AttentionState, LanesOfEveryLayerCanBeReplicated) {
  for (const auto& [name, layer] : layers_with_streams()) {
    layer->to(at::kDouble);
    layer->eval();
    const at::NoGradGuard no_grad;
    const at::Tensor first = at::randn({1, 4, 8}, at::kDouble), second = at::randn({3, 4, 8}, at::kDouble);
    nn::AttentionArgs args;
    args.causal = true;
    const auto one = layer->make_state(1, nn::SessionUse::decoding),
               three = layer->make_state(3, nn::SessionUse::decoding);
    args.state = one.get();
    layer->forward(first, first, args);
    one->replicate(3);
    const at::Tensor y = layer->forward(second, second, args);
    args.state = three.get();
    const at::Tensor prefix = first.expand({3, 4, 8}).contiguous();
    layer->forward(prefix, prefix, args);
    EXPECT_TRUE(at::allclose(y, layer->forward(second, second, args), 1e-12, 1e-14)) << name;
  }
}

TEST(AttentionState, NamesWhatItRefuses) {
  expect_refused([] { nn::AttentionState none(0); }, "at least one batch row, got 0");
  nn::AttentionState state(2);
  state.declare("own", nn::StateOwner::batch_rows);
  state.declare("shared", nn::StateOwner::shared);
  state.declare_growing("tokens", at::zeros({2, 0, 1}), 1);
  expect_refused([&] { state.set("other", at::ones({2})); }, "no slot 'other'");
  expect_refused([&] { state.set("own", at::ones({3})); },
                 "'own' has an entry for each batch row, so its first dimension must be 2");
  expect_refused([&] { state.set("shared", at::ones({2})); },
                 "'shared' has one entry for all batch rows, so its first dimension must be 1");
  expect_refused([&] { state.reorder(at::zeros({0}, at::kLong)); }, "with at least one");
  auto saved = state.named_tensors();
  saved["someone's"] = at::ones({2});
  expect_refused([&] { state.load(saved); }, "1 of the saved tensors have no slot in this state");
  saved.erase("someone's");
  saved.erase("tokens");
  expect_refused([&] { state.load(saved); }, "has no 'tokens'");
  saved.erase("lanes");
  expect_refused([&] { state.load(saved); }, "must have the number of its batch rows");
}

}  // namespace
}  // namespace cachet
