#include "cachet/analysis/cost/benchmark.h"

#include <ATen/Parallel.h>
#include <ATen/autocast_mode.h>
#include <ATen/ops/_fused_adamw.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <c10/util/Exception.h>

#include <chrono>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "cachet/analysis/cost/live_memory.h"
#include "cachet/nn/norm/norm.h"

namespace cachet::analysis {
namespace {

constexpr int64_t kWarmupCalls = 2;
constexpr double kWarmupShare = 0.1;

class ThreadCount {
 public:
  explicit ThreadCount(int threads) : before_(at::get_num_threads()) {
    if (threads > 0) at::set_num_threads(threads);
  }
  ~ThreadCount() { at::set_num_threads(before_); }
  ThreadCount(const ThreadCount&) = delete;
  ThreadCount& operator=(const ThreadCount&) = delete;

 private:
  int before_;
};

class Autocast {
 public:
  explicit Autocast(c10::DeviceType device)
      : device_(device),
        enabled_(at::autocast::is_autocast_enabled(device)),
        dtype_(at::autocast::get_autocast_dtype(device)) {
    at::autocast::set_autocast_dtype(device, at::kBFloat16);
    at::autocast::set_autocast_enabled(device, true);
    at::autocast::increment_nesting();
  }
  ~Autocast() {
    if (at::autocast::decrement_nesting() == 0) at::autocast::clear_cache();
    at::autocast::set_autocast_enabled(device_, enabled_);
    at::autocast::set_autocast_dtype(device_, dtype_);
  }
  Autocast(const Autocast&) = delete;
  Autocast& operator=(const Autocast&) = delete;

 private:
  c10::DeviceType device_;
  bool enabled_;
  at::ScalarType dtype_;
};

// The step that a trainer takes: one fused update of all parameters.
class AdamWStep {
 public:
  explicit AdamWStep(const torch::nn::Module& model) {
    for (const auto& parameter : model.parameters()) {
      parameters_.push_back(parameter);
      mean_.push_back(at::zeros_like(parameter, parameter.options().requires_grad(false)));
      square_.push_back(at::zeros_like(mean_.back()));
      steps_.push_back(at::zeros({}, mean_.back().options().dtype(at::kFloat)));
    }
  }
  void operator()() {
    at::NoGradGuard no_grad;
    std::vector<at::Tensor> used, gradients, mean, square, steps;
    for (size_t i = 0; i < parameters_.size(); ++i) {
      if (!parameters_[i].grad().defined()) continue;  // nothing depended on it
      used.push_back(parameters_[i]);
      gradients.push_back(parameters_[i].grad());
      mean.push_back(mean_[i]);
      square.push_back(square_[i]);
      steps.push_back(steps_[i].add_(1));
      parameters_[i].mutable_grad().reset();
    }
    at::_fused_adamw_(used, gradients, mean, square, {}, steps, /*lr=*/1e-6, 0.9, 0.999, /*weight_decay=*/0.05, 1e-8,
                      /*amsgrad=*/false, /*maximize=*/false);
  }

 private:
  std::vector<at::Tensor> parameters_, mean_, square_, steps_;
};

/// A GPU works asynchronously: a call has finished when the GPU has.
void wait_for(c10::Device device) {
  if (!device.is_cpu() && !device.is_meta())
    c10::impl::getDeviceGuardImpl(device.type())->synchronizeDevice(device.index());
}

// Of parameters and buffers, those that modules share once.
int64_t weight_bytes(const torch::nn::Module& model) {
  int64_t bytes = 0;
  std::unordered_set<const void*> counted;
  for (const auto& tensors : {model.parameters(), model.buffers()})
    for (const at::Tensor& tensor : tensors)
      if (counted.insert(tensor.unsafeGetTensorImpl()).second) bytes += static_cast<int64_t>(tensor.nbytes());
  return bytes;
}

void check(const BenchmarkOptions& o) {
  if (o.batch < 1) throw std::invalid_argument("benchmark: the batch must be at least 1");
  if (o.threads < 0) throw std::invalid_argument("benchmark: threads must not be negative");
  if (!(o.seconds > 0) || o.least_repetitions < 1)
    throw std::invalid_argument(
        "benchmark: seconds must be above 0, and the least number of repetitions must be at least 1");
}

}  // namespace

std::vector<double> time_calls(const std::function<void()>& step, double seconds, int64_t least) {
  using Clock = std::chrono::steady_clock;
  const auto since = [](Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
  };
  const auto warmup = Clock::now();
  for (int64_t i = 0; i < kWarmupCalls || since(warmup) < kWarmupShare * seconds; ++i) step();

  std::vector<double> milliseconds;
  const auto begin = Clock::now();
  while (static_cast<int64_t>(milliseconds.size()) < least || since(begin) < seconds) {
    const auto start = Clock::now();
    step();
    milliseconds.push_back(1e3 * since(start));
  }
  return milliseconds;
}

std::function<void()> trial_step(models::Model& model, const BenchmarkOptions& o) {
  const bool training = o.mode == BenchmarkMode::training, narrow = o.precision == BenchmarkPrecision::bfloat16;
  model.train(training);
  if (!training && narrow) model.to(at::kBFloat16);
  // A model that another engine runs has no parameters, and lives on the CPU.
  const std::vector<at::Tensor> parameters = model.parameters();
  const at::TensorOptions place =
      parameters.empty() ? at::TensorOptions(at::kFloat) : parameters.front().options().requires_grad(false);
  nn::settle_warmups(model, 0);  // as in the middle of a run
  const models::Trial trial = model.trial(o.batch, place);
  if (!training)
    return [trial, place] {
      const at::NoGradGuard no_grad;
      trial.forward();
      wait_for(place.device());
    };
  return [trial, place, narrow, update = std::make_shared<AdamWStep>(model)] {
    at::Tensor loss;
    {
      std::optional<Autocast> autocast;
      if (narrow) autocast.emplace(place.device().type());
      loss = trial.loss();
    }
    loss.backward();
    (*update)();
    wait_for(place.device());
  };
}

BenchmarkResult benchmark(models::Model& model, const BenchmarkOptions& o) {
  check(o);
  const ThreadCount threads(o.threads);
  const LiveMemory memory;
  const auto times = time_calls(trial_step(model, o), o.seconds, o.least_repetitions);
  BenchmarkResult result;
  result.milliseconds = quartiles(times);
  result.samples_per_second = 1e3 * static_cast<double>(o.batch) / result.milliseconds.median;
  result.activation_bytes = memory.peak_bytes();
  result.weight_bytes = weight_bytes(model);
  result.repetitions = static_cast<int64_t>(times.size());
  return result;
}

bool is_out_of_memory() {
  try {
    throw;
  } catch (const c10::OutOfMemoryError&) {
    return true;
  } catch (const c10::Error& error) {
    // The allocator for CPUs throws no class of its own. An error of the allocator for GPUs can lose its class on its
    // way.
    const std::string_view message = error.what_without_backtrace();
    return message.find("can't allocate memory") != std::string_view::npos ||
           message.find("CUDA out of memory") != std::string_view::npos;
  } catch (const std::bad_alloc&) {
    return true;
  } catch (...) {
    return false;
  }
}

}  // namespace cachet::analysis
