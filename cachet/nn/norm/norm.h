#pragma once

#include <torch/nn/module.h>

#include <memory>
#include <optional>

#include "cachet/nn/base/observer.h"
#include "cachet/nn/base/state_module.h"
#include "cachet/nn/base/synced_module.h"
#include "cachet/nn/layers/affine.h"
#include "cachet/nn/plug_in.h"

namespace cachet::nn {

struct SplitNorm;

/// The training steps over which a norm averages its statistics, and those over which it averages the gradient's.
struct NormWindow {
  int64_t forward = 0, backward = 0;
};

/// How a norm with a window has used it.
struct NormWindowUse {
  int64_t steps = 0;        // training steps so far
  double on_window = 0;     // of them, normalised with the window's mean
  double filtered = 0;      // of them, dropped by the outlier filter
  bool by_channel = false;  // each channel is filtered by itself: the last two are means over channels
};

/// A normalisation over the channels of tokens. Own weight and bias, where a form has them, are called so.
class Norm : public StateModule, public Observable, public SyncedModule, public PlugIn {
 public:
  using StateModule::StateModule;
  /// x (…, C), token_mask (…) bool, true = padding, undefined = none. Returns the shape and dtype of x; values at
  /// padded positions are not defined. Without tokens, the state does not change. BatchNorm needs two tokens to train,
  /// and does not change its state if there are fewer without padding.
  virtual torch::Tensor forward(const torch::Tensor& x, const torch::Tensor& token_mask = {}) = 0;
  /// The affine map that evaluation applies; none for norms that look at their input.
  virtual std::optional<Affine> inference_affine() const { return std::nullopt; }
  /// The computation of evaluation in two parts: a part without weights that looks at the input, and the affine map
  /// after it, which can be folded into the next layer. For an offline norm, the first part is NoNorm.
  virtual SplitNorm split() const;
  /// The statistic of training's batches that evaluation uses, (C); undefined for norms that keep none.
  virtual torch::Tensor running_statistic() const { return {}; }
  /// None for norms without a window.
  virtual std::optional<NormWindow> window() const { return std::nullopt; }
  /// The same of its use; reads the counters from the device.
  virtual std::optional<NormWindowUse> window_use() const { return std::nullopt; }
  /// Starts the warm-up of a window again, for fine-tuning. Statistics stay.
  virtual void restart_warmup() {}
  /// Makes the warm-up a count, if the options give it as a fraction of the updates that a state of the norm gets in a
  /// run. It does not change later. Returns the count; nothing if there is no such fraction.
  virtual std::optional<int64_t> settle_warmup(int64_t /*updates*/) { return std::nullopt; }

 protected:
  /// Throws c10::Error, opening with `name`, unless x has this many channels.
  static void check_channels(const char* name, const torch::Tensor& x, int64_t channels);
  /// Throws std::logic_error if a norm is trained whose warm-up is a fraction that is not settled.
  static void check_warmup(double percent);
};

/// settle_warmup() of all norms of a model. Returns the largest count; nothing if no norm has a fraction.
std::optional<int64_t> settle_warmups(torch::nn::Module& model, int64_t updates);

/// affine.apply(core->forward(x)) is what the norm gives in evaluation.
struct SplitNorm {
  std::shared_ptr<Norm> core;
  Affine affine;
};

}  // namespace cachet::nn
