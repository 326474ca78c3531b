// Unified normalization's threshold for outliers (Eq. 18–19), and what its averages do to a gradient (Corollary 3.2).

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "cachet/nn/norm/unified_norm.h"

namespace cachet {
namespace {

using ThresholdState = ops::UnifiedNormState;

// Eq. 16–19 of one channel in plain float64 numbers: what depends on the channel alone. The published form counts one
// step less of the warm-up, waits for one step more of a window, and scales its gradient by r after 1,000 steps, which
// these tests do not reach.
class ChannelByThePaper {
 public:
  explicit ChannelByThePaper(const ops::UnifiedNormSettings& settings) : s_(settings) {}

  struct Step {
    std::vector<double> y, dx;
    double dweight = 0, dbias = 0;
    bool filtered = false;
  };

  // Of the values x of the channel's tokens with dy from above; where a token is padding, it counts in no statistic.
  Step step(const std::vector<double>& x, const std::vector<double>& dy, const std::vector<bool>& padding,
            double weight, double bias) {
    Step result;
    ++t_;
    double own = 0, tokens = 0;
    for (size_t i = 0; i < x.size(); ++i)
      if (!padding[i]) own += x[i] * x[i], ++tokens;
    own /= tokens;
    const auto window = static_cast<size_t>(s_.forward_window);
    std::vector<double> now(forward_.end() - static_cast<long>(std::min(forward_.size(), window - 1)), forward_.end());
    now.push_back(own);
    const bool warming = s_.official ? t_ < s_.warmup : t_ <= s_.warmup;
    if (s_.filter_outliers && !warming && forward_.size() >= window) {
      const std::vector<double> before(forward_.end() - static_cast<long>(window), forward_.end());
      result.filtered = mean(now) - geometric(now) > threshold(before);
    }
    const bool full = s_.official ? t_ > s_.forward_window : t_ >= s_.forward_window;
    const double used = result.filtered || warming || !full ? own : geometric(now);
    forward_.push_back(result.filtered ? running_ : own);
    running_ = s_.forward_momentum * running_ + (1 - s_.forward_momentum) * used;

    const double scale = 1 / std::sqrt(used + s_.eps);
    double gz = 0, valid = 0;
    for (size_t i = 0; i < x.size(); ++i) {
      const double z = x[i] * scale;
      result.y.push_back(weight * z + bias);
      result.dweight += dy[i] * z;
      result.dbias += dy[i];
      if (!padding[i] || s_.official) gz += weight * dy[i] * z, ++valid;
    }
    gz /= valid;
    backward_.push_back(result.filtered ? psi_ : gz);
    const bool psi_full = s_.official ? t_ > s_.backward_window : t_ >= s_.backward_window;
    const auto last = std::min(backward_.size(), static_cast<size_t>(s_.backward_window));
    const bool psi_on_batch = result.filtered || warming || !psi_full;
    const double average = psi_on_batch ? gz : mean({backward_.end() - static_cast<long>(last), backward_.end()});
    psi_ = s_.backward_momentum * psi_ + (1 - s_.backward_momentum) * average;
    const double psi = result.filtered ? gz : psi_;
    for (size_t i = 0; i < x.size(); ++i) result.dx.push_back(scale * (weight * dy[i] - psi * x[i] * scale));
    return result;
  }

  double running() const { return running_; }
  double psi() const { return psi_; }

  static double mean(const std::vector<double>& values) {
    double sum = 0;
    for (const double value : values) sum += value;
    return sum / static_cast<double>(values.size());
  }
  static double geometric(const std::vector<double>& values) {
    double logs = 0;
    for (const double value : values) logs += std::log(value);
    return std::exp(logs / static_cast<double>(values.size()));
  }
  // M·V(√Ω) with the population variance.
  static double threshold(const std::vector<double>& values) {
    std::vector<double> roots;
    for (const double value : values) roots.push_back(std::sqrt(value));
    double squares = 0;
    for (const double root : roots) squares += (root - mean(roots)) * (root - mean(roots));
    return squares;
  }

 private:
  ops::UnifiedNormSettings s_;
  int64_t t_ = 0;
  double running_ = 1, psi_ = 0;
  std::vector<double> forward_, backward_;  // what each step recorded, the newest last
};

constexpr int64_t kThresholdChannels = 6;

std::vector<double> channel_of(const at::Tensor& tokens, int64_t channel) {
  const at::Tensor flat = tokens.reshape({-1, kThresholdChannels}).select(1, channel).contiguous();
  return {flat.const_data_ptr<double>(), flat.const_data_ptr<double>() + flat.numel()};
}

void expect_channel(const at::Tensor& ours, int64_t channel, const std::vector<double>& expected,
                    const std::string& what) {
  const std::vector<double> values = channel_of(ours, channel);
  for (size_t i = 0; i < expected.size(); ++i)
    EXPECT_NEAR(values[i], expected[i], 1e-10 * (1 + std::abs(expected[i]))) << what << ", token " << i;
}

// Runs a layer with a threshold for each channel and a channel by the paper for each of its channels; in one step, one
// channel has an outlier.
void expect_each_channel_by_the_paper(const ops::UnifiedNormSettings& settings, bool padded) {
  at::manual_seed(5);
  auto norm = std::make_shared<nn::UnifiedNorm>(kThresholdChannels, settings);
  norm->to(at::kDouble);
  {
    const at::NoGradGuard no_grad;
    norm->weight.uniform_(0.5, 2);
    norm->bias.normal_();
  }
  std::vector<ChannelByThePaper> channels(kThresholdChannels, ChannelByThePaper(settings));
  at::Tensor padding = at::zeros({2, 7}, at::kBool);
  padding[1].narrow(0, 3, 4).fill_(padded);
  std::vector<bool> padding_values;
  for (int64_t i = 0; i < padding.numel(); ++i) padding_values.push_back(padding.flatten()[i].item<bool>());

  double filtered = 0;
  for (int step = 0; step < 40; ++step) {
    if (step == 23) {  // a resume: the state of a layer in a new one
      const auto resumed = std::make_shared<nn::UnifiedNorm>(kThresholdChannels, settings);
      resumed->to(at::kDouble);
      const at::NoGradGuard no_grad;
      resumed->weight.copy_(norm->weight);
      resumed->bias.copy_(norm->bias);
      resumed->statistics.copy_(norm->statistics);
      resumed->counters.copy_(norm->counters);
      norm = resumed;
    }
    const std::string when = "step " + std::to_string(step);
    norm->zero_grad();
    at::Tensor values = at::randn({2, 7, kThresholdChannels}, at::kDouble);
    if (step == 30) values.select(2, 4) *= 50;
    const at::Tensor x = values.clone().requires_grad_(), dy = at::randn_like(values);
    const at::Tensor y = norm->forward(x, padded ? padding : at::Tensor());
    (y * dy).sum().backward();
    double now = 0;
    for (int64_t c = 0; c < kThresholdChannels; ++c) {
      const std::string what = when + ", channel " + std::to_string(c);
      const auto expected =
          channels[static_cast<size_t>(c)].step(channel_of(values, c), channel_of(dy, c), padding_values,
                                                norm->weight[c].item<double>(), norm->bias[c].item<double>());
      expect_channel(y.detach(), c, expected.y, what + ", y");
      expect_channel(x.grad(), c, expected.dx, what + ", dx");
      EXPECT_NEAR(norm->weight.grad()[c].item<double>(), expected.dweight, 1e-10) << what;
      EXPECT_NEAR(norm->bias.grad()[c].item<double>(), expected.dbias, 1e-10) << what;
      EXPECT_NEAR(norm->statistics[ThresholdState::kRunning][c].item<double>(),
                  channels[static_cast<size_t>(c)].running(), 1e-10)
          << what;
      EXPECT_NEAR(norm->statistics[ThresholdState::kGradientMean][c].item<double>(),
                  channels[static_cast<size_t>(c)].psi(), 1e-10)
          << what;
      now += expected.filtered;
      if (step == 30 && c == 4) {
        EXPECT_TRUE(expected.filtered);
      }
    }
    EXPECT_EQ(norm->counters[ThresholdState::kLastFiltered].item<int64_t>(), now) << when;
    filtered += now;
  }
  EXPECT_GE(filtered, 1);
  EXPECT_DOUBLE_EQ(norm->steps_filtered(), filtered / kThresholdChannels);
  if (settings.forward_window <= settings.warmup) {
    EXPECT_DOUBLE_EQ(norm->steps_on_window(),
                     40 - static_cast<double>(settings.warmup) + settings.official - norm->steps_filtered());
  }
  norm->eval();
  const at::Tensor seen = at::randn({3, kThresholdChannels}, at::kDouble);
  EXPECT_TRUE(at::allclose(norm->forward(seen),
                           seen * norm->weight * at::rsqrt(norm->statistics[0] + settings.eps) + norm->bias, 1e-12,
                           1e-12));
}

TEST(UnifiedNormThreshold, OfEachChannelIsThePapers) {
  for (const bool official : {false, true})
    for (const bool padded : {false, true})
      for (const auto& [window, backward_window, warmup] :
           std::vector<std::array<int64_t, 3>>{{4, 4, 6}, {2, 5, 0}, {8, 3, 2}, {4, 1, 10}}) {
        SCOPED_TRACE((official ? "official, M " : "paper's, M ") + std::to_string(window) + (padded ? ", padded" : ""));
        ops::UnifiedNormSettings settings;
        settings.official = official;
        settings.forward_window = window;
        settings.backward_window = backward_window;
        settings.warmup = warmup;
        settings.forward_momentum = 0.8;
        settings.threshold = ops::OutlierThreshold::channel;
        expect_each_channel_by_the_paper(settings, padded);
      }
}

TEST(UnifiedNormThreshold, OfEachChannelIsNotThatOfTheLayer) {
  // One channel with an outlier: with the pooled threshold all channels drop their averages, with their own only one
  // does.
  for (const auto threshold : {ops::OutlierThreshold::pooled, ops::OutlierThreshold::channel}) {
    ops::UnifiedNormSettings settings;
    settings.warmup = 4;
    settings.threshold = threshold;
    nn::UnifiedNorm norm(kThresholdChannels, settings);
    norm.to(at::kDouble);
    const auto step = [&](const at::Tensor& roots) { norm.forward(roots.view({1, -1})); };
    for (int i = 0; i < 8; ++i) step(at::ones({kThresholdChannels}, at::kDouble) * (i % 2 == 0 ? 1 : 1.1));
    at::Tensor last = at::ones({kThresholdChannels}, at::kDouble);
    last[2] = 100;
    step(last);
    EXPECT_EQ(norm.counters[ThresholdState::kLastFiltered].item<int64_t>(), 1) << "a layer, or a channel";
    const at::Tensor running = norm.statistics[ThresholdState::kForwardRing + 9 % 4];
    EXPECT_EQ(running.eq(1).sum().item<int64_t>(),
              threshold == ops::OutlierThreshold::channel ? kThresholdChannels - 1 : 0)
        << "the other channels record their own statistic, which is 1";
  }
}

// --- Eq. 18 ----------------------------------------------------------------------------------------------------------

at::Tensor uneven_windows(int64_t steps, int64_t channels, double spread) {
  return (at::randn({steps, channels}, at::kDouble) * spread).exp();
}

TEST(UnifiedNormThreshold, OfAChannelBoundsItsMeans) {
  // E(Ω) − Π(Ω) ≤ M·V(√Ω), V the population variance; nearly equal if one statistic is much larger than the others.
  at::manual_seed(11);
  double nearest = 0;
  for (const int64_t steps : {2, 3, 4, 8, 16})
    for (const double spread : {1e-3, 0.1, 1.0, 5.0}) {
      const at::Tensor windows = uneven_windows(steps, 500, spread).t().contiguous();
      for (int64_t i = 0; i < windows.size(0); ++i) {
        const double* values = windows[i].const_data_ptr<double>();
        const std::vector<double> window(values, values + steps);
        const double apart = ChannelByThePaper::mean(window) - ChannelByThePaper::geometric(window);
        const double bound = ChannelByThePaper::threshold(window);
        EXPECT_LE(apart, bound * (1 + 1e-9) + 1e-14) << "M " << steps << ", spread " << spread;
        nearest = std::max(nearest, apart / bound);
      }
    }
  EXPECT_GT(nearest, 0.9) << "a smaller factor than M would not do";
}

TEST(UnifiedNormThreshold, OfAChannelFiltersNothingThatRepeats) {
  // If statistics repeat after M steps, Ω_t has the numbers of Ω_{t−1}, whose bound then holds for Ω_t. The pooled
  // threshold is not such a bound: it filters some of these steps.
  at::manual_seed(12);
  std::map<ops::OutlierThreshold, double> filtered;
  for (const auto threshold : {ops::OutlierThreshold::pooled, ops::OutlierThreshold::channel})
    for (const int64_t window : {2, 3, 4, 8})
      for (const double spread : {1e-3, 0.1, 1.0, 3.0}) {
        ops::UnifiedNormSettings settings;
        settings.warmup = window;
        settings.forward_window = window;
        settings.threshold = threshold;
        nn::UnifiedNorm norm(64, settings);
        norm.to(at::kDouble);
        at::Tensor roots = uneven_windows(window, 64, spread);
        roots.select(1, 7) *= 100;  // one channel larger than the others
        for (int64_t step = 0; step < 4 * window; ++step) norm.forward(roots[step % window].view({1, -1}));
        filtered[threshold] += norm.steps_filtered();
      }
  EXPECT_EQ(filtered[ops::OutlierThreshold::channel], 0);
  EXPECT_GT(filtered[ops::OutlierThreshold::pooled], 0);
}

// --- Corollary 3.2 ---------------------------------------------------------------------------------------------------

TEST(UnifiedNormThreshold, WithoutTheFilterTheEstimatedGradientIsMTimesTooLargeAtAnOutlier) {
  // The operator takes ∂σ̂²/∂σ²_t for 1. The chain rule through the geometric mean gives σ̂²/(M·σ²_t) (Eq. 26), which is
  // less than 1/M if σ²_t is larger than the statistics before it: Π(Ω_t) < σ²_t, for which nothing else is needed.
  at::manual_seed(13);
  for (const int64_t window : {2, 4, 8}) {
    ops::UnifiedNormSettings settings;
    settings.warmup = 0;
    settings.forward_window = window;
    settings.backward_window = 1;
    settings.backward_momentum = 0;  // ψ is the step's own estimate
    settings.filter_outliers = false;
    const auto state = ops::initial_unified_norm_state(kThresholdChannels, settings, at::kDouble);
    for (int step = 0; step < 30; ++step) {
      const double size = step >= 20 ? std::pow(10.0, step - 19) : 1;  // then each step is larger than those before
      const at::Tensor values = at::randn({9, kThresholdChannels}, at::kDouble) * size;
      const at::Tensor dy = at::randn_like(values), x = values.clone().requires_grad_();
      std::vector<at::Tensor> before;  // of the window's earlier steps, constants
      for (int64_t i = 1; i < window; ++i)
        before.push_back(state.statistics[ThresholdState::kForwardRing + (step + 1 - i + window) % window].clone());
      const auto [y, used, on_own] = ops::unified_norm(x, {}, {}, {}, state, settings);
      (y * dy).sum().backward();
      if (step + 1 < window) continue;

      const at::Tensor true_x = values.clone().requires_grad_();
      const at::Tensor own = true_x.square().mean(0);
      at::Tensor logs = own.log();
      for (const at::Tensor& each : before) logs = logs + each.log();
      const at::Tensor geometric = (logs / static_cast<double>(window)).exp();
      EXPECT_TRUE(at::allclose(geometric.detach(), used, 1e-12, 1e-12));
      (true_x * at::rsqrt(geometric + settings.eps) * dy).sum().backward();

      const at::Tensor direct = dy * at::rsqrt(used + settings.eps);  // what does not go through σ²_t
      const at::Tensor ratio = (true_x.grad() - direct) / (x.grad() - direct);
      const at::Tensor derived = used / (own.detach() * static_cast<double>(window));
      EXPECT_TRUE(at::allclose(ratio, derived.expand_as(ratio), 1e-6, 1e-9)) << "M " << window << ", step " << step;
      const at::Tensor outlier = (own.detach() > at::stack(before).amax(0)).expand_as(ratio);
      EXPECT_TRUE((ratio < 1.0 / static_cast<double>(window)).logical_or(outlier.logical_not()).all().item<bool>());
      if (step >= 20) {
        EXPECT_TRUE(outlier.all().item<bool>());
      }
    }
  }
}

}  // namespace
}  // namespace cachet
