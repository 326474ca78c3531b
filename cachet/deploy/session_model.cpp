#include "cachet/deploy/session_model.h"

#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "cachet/deploy/classifier_inputs.h"

namespace cachet::deploy {
namespace {

at::Tensor finite_scores(runtime::Session& session, std::vector<at::Tensor> inputs) {
  at::Tensor scores = classify(session, std::move(inputs));
  // ops::all_finite() takes as long as a small model.
  const std::span values(scores.const_data_ptr<float>(), static_cast<size_t>(scores.numel()));
  if (!std::ranges::all_of(values, [](float value) { return std::isfinite(value); })) throw ExportNotFinite();
  return scores;
}

class SessionImageClassifier : public models::ImageClassifier {
 public:
  SessionImageClassifier(std::unique_ptr<runtime::Session> session, const models::ImageShape& image, int64_t classes)
      : session_(std::move(session)), image_(image), classes_(classes) {}

  torch::Tensor forward(const torch::Tensor& images) override { return finite_scores(*session_, {images}); }
  models::ImageShape image_shape() const override { return image_; }
  int64_t classes() const override { return classes_; }

 private:
  std::unique_ptr<runtime::Session> session_;
  models::ImageShape image_;
  int64_t classes_;
};

class SessionSequenceClassifier : public models::SequenceClassifier {
 public:
  SessionSequenceClassifier(std::unique_ptr<runtime::Session> session, const models::SequenceShape& sequence,
                            int64_t classes, int64_t fixed_length)
      : session_(std::move(session)), sequence_(sequence), classes_(classes), fixed_length_(fixed_length) {}

  torch::Tensor forward(const models::Sequences& first, const models::Sequences& second) override {
    std::vector<at::Tensor> inputs;
    add(inputs, first);
    if (sequence_.pairs) add(inputs, second);
    return finite_scores(*session_, std::move(inputs));
  }
  models::SequenceShape sequence_shape() const override { return sequence_; }
  int64_t classes() const override { return classes_; }

 private:
  void add(std::vector<at::Tensor>& inputs, const models::Sequences& sequences) const {
    at::Tensor ids = sequences.ids;
    at::Tensor padding = sequences.padding.defined() ? sequences.padding : at::zeros(ids.sizes(), at::kBool);
    if (fixed_length_ > ids.size(1)) {
      const std::vector<int64_t> behind{0, fixed_length_ - ids.size(1)};
      ids = at::constant_pad_nd(ids, behind, 0);
      padding = at::constant_pad_nd(padding, behind, true);
    }
    inputs.push_back(ids);
    inputs.push_back(padding);
  }

  std::unique_ptr<runtime::Session> session_;
  models::SequenceShape sequence_;
  int64_t classes_, fixed_length_;
};

}  // namespace

ExportNotFinite::ExportNotFinite()
    : NotFinite(
          "the exported model gives scores that are NaN or infinite. Its input has such numbers, or some numbers are "
          "too large for the precision of the export") {}

std::shared_ptr<models::ImageClassifier> session_model(std::unique_ptr<runtime::Session> session,
                                                       const models::ImageShape& image, int64_t classes) {
  return std::make_shared<SessionImageClassifier>(std::move(session), image, classes);
}

std::shared_ptr<models::SequenceClassifier> session_model(std::unique_ptr<runtime::Session> session,
                                                          const models::SequenceShape& sequence, int64_t classes,
                                                          int64_t fixed_length) {
  return std::make_shared<SessionSequenceClassifier>(std::move(session), sequence, classes, fixed_length);
}

}  // namespace cachet::deploy
