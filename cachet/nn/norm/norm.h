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

/// The window of a norm: the numbers of training steps over which it averages forward and gradient statistics.
struct NormWindow {
  int64_t forward = 0, backward = 0;
};

/// Numbers of training steps of a norm: all steps, the steps that used its window, and the steps that were filtered.
struct NormWindowUse {
  int64_t steps = 0;        // number of training steps until now
  double on_window = 0;     // number of steps that normalised with the window's mean
  double filtered = 0;      // number of steps that the outlier filter dropped
  bool by_channel = false;  // each channel has its own filter; on_window and filtered are then means over channels
};

/// A normalisation over the channels of tokens. If the norm has affine parameters, their names are `weight` and `bias`.
class Norm : public StateModule, public Observable, public SyncedModule, public PlugIn {
 public:
  using StateModule::StateModule;
  /// x (…, C), token_mask (…) bool, true = padding, undefined = no padding. Returns the shape and dtype of x; values at
  /// padded positions are undefined. If x has no tokens, the state of the norm does not change. BatchNorm needs two
  /// tokens to train; if fewer than two tokens are valid, its state does not change.
  virtual torch::Tensor forward(const torch::Tensor& x, const torch::Tensor& token_mask = {}) = 0;
  /// Returns the affine map that the norm applies in evaluation, or std::nullopt for norms that compute statistics in
  /// evaluation.
  virtual std::optional<Affine> inference_affine() const { return std::nullopt; }
  /// Splits the norm, as evaluation computes it, into a core without weights and a subsequent affine map, which can be
  /// folded into the next layer. The core of an offline norm is the identity NoNorm.
  virtual SplitNorm split() const;
  /// Returns the running statistic (C), which training updates and evaluation uses. Returns an undefined tensor for
  /// norms without a running statistic.
  virtual torch::Tensor running_statistic() const { return {}; }
  /// Returns the window of steps over which the norm averages its statistics, or std::nullopt for norms without a
  /// window.
  virtual std::optional<NormWindow> window() const { return std::nullopt; }
  /// Returns how often training steps used the norm's window, as counted on the device, or std::nullopt for norms
  /// without a window.
  virtual std::optional<NormWindowUse> window_use() const { return std::nullopt; }
  /// Restarts the warm-up of the norm's window of statistics, for fine-tuning. The statistics do not change.
  virtual void restart_warmup() {}
  /// If the options set the warm-up as a fraction, converts it to a number of updates. `updates`: number of updates of
  /// the norm's state in the run. Further calls of settle_warmup() have no effect. Returns the length of the warm-up in
  /// updates, or std::nullopt if the options already set it as a number of updates.
  virtual std::optional<int64_t> settle_warmup(int64_t /*updates*/) { return std::nullopt; }

 protected:
  /// Throws c10::Error unless x has the given number of channels. The message begins with `name`.
  static void check_channels(const char* name, const torch::Tensor& x, int64_t channels);
  /// If settle_warmup() has not converted the warm-up from a fraction to a number before training, throws
  /// std::logic_error.
  static void check_warmup(double percent);
};

/// Calls settle_warmup() of all norms of a model. Returns the longest warm-up (in updates) that settle_warmup()
/// returned, or std::nullopt if no norm has a fraction as its warm-up.
std::optional<int64_t> settle_warmups(torch::nn::Module& model, int64_t updates);

/// The core of a norm, and the affine map after it. In evaluation, the norm returns affine.apply(core->forward(x)).
struct SplitNorm {
  std::shared_ptr<Norm> core;
  Affine affine;
};

}  // namespace cachet::nn
