#pragma once

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "cachet/models/language/language_model.h"

/// What holds for every language model of 20 tokens, whatever it remembers and however it attends.
namespace cachet::test {

inline at::Tensor drawn_ids(int64_t batch_rows, int64_t length) {
  return at::randint(20, {batch_rows, length}, at::kLong);
}

/// A changed token changes its own loss and none before it, after two segments of training and one of evaluation.
inline void expect_no_token_sees_its_future(models::LanguageModel& model, const models::SegmentOptions& segments,
                                            const std::string& form) {
  const at::NoGradGuard no_grad;
  models::LanguageSession training = model.make_session(2, segments);
  for (int64_t step = 0; step < 2; ++step) model.negative_log_likelihood(drawn_ids(2, 5), drawn_ids(2, 5), training);
  model.eval();
  models::LanguageSession session = model.make_session(2, segments);
  model.read(drawn_ids(2, 5), session);
  const at::Tensor ids = drawn_ids(2, 5), targets = drawn_ids(2, 5);
  for (const int64_t changed : {1, 3, 4}) {
    at::Tensor other = ids.clone();
    other.select(1, changed).add_(1).remainder_(20);
    models::LanguageSession first{session.segments, session.state->clone()},
        second{session.segments, session.state->clone()};
    const at::Tensor before = model.negative_log_likelihood(ids, targets, first);
    const at::Tensor after = model.negative_log_likelihood(other, targets, second);
    EXPECT_TRUE(at::equal(before.narrow(1, 0, changed), after.narrow(1, 0, changed))) << form;
    EXPECT_FALSE(at::equal(before.select(1, changed), after.select(1, changed))) << form;
  }
}

/// A copy of the model continues from the state that a stream saved, with the same bits.
inline void expect_stream_goes_on(models::LanguageModel& model, const models::SegmentOptions& segments,
                                  const std::string& form) {
  models::LanguageSession session = model.make_session(3, segments);
  for (int64_t step = 0; step < 3; ++step) model.negative_log_likelihood(drawn_ids(3, 5), drawn_ids(3, 5), session);
  session.state->detach();
  const auto copy = std::dynamic_pointer_cast<models::LanguageModel>(model.clone());
  models::LanguageSession again = copy->make_session(3, segments);
  again.state->load(session.state->named_tensors());
  for (const int64_t length : {5, 3}) {
    const at::Tensor ids = drawn_ids(3, length), targets = drawn_ids(3, length);
    const at::Tensor expected = model.negative_log_likelihood(ids, targets, session);
    EXPECT_TRUE(at::equal(copy->negative_log_likelihood(ids, targets, again), expected)) << form;
  }
}

/// What a model writes on with when only the surest token is taken, from the whole text each time.
inline std::vector<int64_t> surest_by_hand(models::LanguageModel& model, const models::SegmentOptions& segments,
                                           std::vector<int64_t> text, int64_t count) {
  const size_t given = text.size();
  const int64_t segment = model.language_shape().target_length;
  for (int64_t i = 0; i < count; ++i) {
    models::LanguageSession session = model.make_session(1, segments);
    const auto all = at::tensor(text, at::kLong).unsqueeze(0);
    int64_t first = 0;
    const bool moves = model.remembers_segments();
    while (moves && all.size(1) - first > segment) {
      model.read(all.narrow(1, first, segment), session);
      first += segment;
    }
    if (!moves && segments.memory_length == 0 && !segments.whole_past)
      first = std::max<int64_t>(0, all.size(1) - segment);
    text.push_back(model.next_token(all.narrow(1, first, all.size(1) - first), session).argmax(1).item<int64_t>());
  }
  return {text.begin() + static_cast<int64_t>(given), text.end()};
}

}  // namespace cachet::test
