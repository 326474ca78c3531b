#include "cachet/train/inference/replayed_inference.h"

#include <ATen/autocast_mode.h>

#include <utility>

namespace cachet::train {
namespace {

/// More combinations of input shapes than this, or larger ones, run directly. The keys and values of decoding are
/// large.
constexpr size_t kMaxInferenceLayouts = 64;
constexpr int64_t kMaxInferenceBytes = int64_t{2} << 30;

/// During the object's lifetime, autocast casts weights anew in each product. A cast weight that autocast stores would
/// be read by a replay after the weight itself has changed.
class WithoutStoredCasts {
 public:
  WithoutStoredCasts() : stored_before_(at::autocast::is_autocast_cache_enabled()) {
    at::autocast::set_autocast_cache_enabled(false);
  }
  WithoutStoredCasts(const WithoutStoredCasts&) = delete;
  WithoutStoredCasts& operator=(const WithoutStoredCasts&) = delete;
  ~WithoutStoredCasts() { at::autocast::set_autocast_cache_enabled(stored_before_); }

 private:
  bool stored_before_;
};

}  // namespace

ReplayedInference::ReplayedInference(const torch::nn::Module& model, std::shared_ptr<StepExecutor> executor) {
  if (executor) replayed_.emplace(model, std::move(executor), FixedTensors(kMaxInferenceLayouts, kMaxInferenceBytes));
}

std::vector<at::Tensor> ReplayedInference::run(const std::string& key, const std::vector<at::Tensor*>& inputs,
                                               const Pass& pass) {
  if (!replayed_) return pass();
  return replayed_->run("inference " + key + ";", inputs, [&] {
    const WithoutStoredCasts casts;
    return pass();
  });
}

}  // namespace cachet::train
