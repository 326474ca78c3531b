#include "cachet/nn/base/synced_module.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <array>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "cachet/nn/attention/cached_attention.h"
#include "cachet/nn/norm/norm_options.h"
#include "tests/support/gradient_check.h"

namespace cachet {
namespace {

// Two processes, played by threads that wait for each other at each sum.
class TwoThreads {
 public:
  class Replica : public ops::BatchReducer {
   public:
    Replica(TwoThreads& both, size_t rank) : both_(both), rank_(rank) {}
    void all_reduce(at::Tensor& sums) override { both_.add(rank_, sums); }

   private:
    TwoThreads& both_;
    size_t rank_;
  };

  std::shared_ptr<ops::BatchReducer> replica(size_t rank) { return std::make_shared<Replica>(*this, rank); }

 private:
  void add(size_t rank, at::Tensor& sums) {
    const at::NoGradGuard no_grad;
    std::unique_lock lock(mutex_);
    given_[rank] = sums;
    const int64_t round = round_;
    if (++arrived_ == 2) {
      total_ = given_[0] + given_[1];  // in the order of the ranks
      arrived_ = 0;
      ++round_;
      all_here_.notify_all();
    } else {
      all_here_.wait(lock, [&] { return round_ != round; });
    }
    sums.copy_(total_);
  }

  std::mutex mutex_;
  std::condition_variable all_here_;
  std::array<at::Tensor, 2> given_;
  at::Tensor total_;
  int64_t arrived_ = 0, round_ = 0;
};

// The same sums in float64, in another order.
constexpr double kSameSums = 1e-12;

using RunLayer = std::function<at::Tensor(torch::nn::Module& module, const at::Tensor& x, const at::Tensor& padding)>;

struct Outcome {
  at::Tensor output, input_gradient;
  std::map<std::string, at::Tensor> gradients, state;
};

// Some steps of training on x (steps, B, T, C).
Outcome train(torch::nn::Module& module, const RunLayer& run, const at::Tensor& x, const at::Tensor& padding,
              const at::Tensor& weight) {
  Outcome outcome;
  for (int64_t step = 0; step < x.size(0); ++step) {
    const at::Tensor input = x[step].clone().requires_grad_();
    const at::Tensor y = run(module, input, padding);
    const at::Tensor kept = padding.defined() ? weight.masked_fill(padding.unsqueeze(2), 0) : weight;
    (y * kept).sum().backward();
    outcome.output = y.detach();
    outcome.input_gradient = input.grad();
  }
  for (const auto& parameter : module.named_parameters())
    if (parameter.value().grad().defined()) outcome.gradients[parameter.key()] = parameter.value().grad();
  for (const auto& buffer : module.named_buffers()) outcome.state[buffer.key()] = buffer.value();
  return outcome;
}

void expect_halves_equal_the_whole(const std::string& name,
                                   const std::function<std::shared_ptr<torch::nn::Module>()>& make, const RunLayer& run,
                                   bool padded, int64_t first_part = 2) {
  constexpr int64_t kSteps = 5, kBatch = 6;  // the halves are not equal
  const auto same = [&] {
    at::manual_seed(11);
    auto module = make();
    module->to(at::kDouble);
    return module;
  };
  const at::Tensor x = at::randn({kSteps, kBatch, 4, 8}, at::kDouble) * 2 + 1;
  const at::Tensor weight = at::randn({kBatch, 4, 8}, at::kDouble);
  const at::Tensor padding = padded ? at::rand({kBatch, 4}).lt(0.4) : at::Tensor();
  const auto module = same();
  const Outcome whole = train(*module, run, x, padding, weight);

  TwoThreads both;
  std::array<std::shared_ptr<torch::nn::Module>, 2> modules{same(), same()};
  std::array<Outcome, 2> parts;
  std::vector<std::thread> threads;
  for (size_t rank = 0; rank < 2; ++rank) {
    nn::use_batch_reducer(*modules[rank], both.replica(rank));
    threads.emplace_back([&, rank] {
      const int64_t first = rank == 0 ? 0 : first_part, count = rank == 0 ? first_part : kBatch - first_part;
      parts[rank] = train(*modules[rank], run, x.narrow(1, first, count),
                          padded ? padding.narrow(0, first, count) : padding, weight.narrow(0, first, count));
    });
  }
  for (auto& thread : threads) thread.join();

  const auto close = [&](const at::Tensor& actual, const at::Tensor& expected, const std::string& what) {
    EXPECT_TRUE(at::allclose(actual.to(at::kDouble), expected.to(at::kDouble), kSameSums, kSameSums))
        << name << ": " << what << " differs by " << (actual - expected).abs().max().item<double>();
  };
  const auto valid = [&](const at::Tensor& t) { return padded ? t.masked_fill(padding.unsqueeze(2), 0) : t; };
  close(valid(at::cat({parts[0].output, parts[1].output})), valid(whole.output), "output");
  close(valid(at::cat({parts[0].input_gradient, parts[1].input_gradient})), valid(whole.input_gradient), "dx");
  for (const auto& [key, expected] : whole.gradients)
    close(parts[0].gradients.at(key) + parts[1].gradients.at(key), expected, "gradient of " + key);
  for (const auto& [key, expected] : whole.state)
    for (size_t rank = 0; rank < 2; ++rank) close(parts[rank].state.at(key), expected, key);
}

TEST(BatchReducer, NormsOfTwoHalvesAreThatOfTheWholeBatch) {
  nn::UnifiedNormOptions paper, official;
  paper.settings.warmup = 2;
  paper.settings.forward_window = paper.settings.backward_window = 2;
  official = paper;
  official.variant = nn::UnifiedNormVariant::official;
  nn::MovingAverageBatchNormOptions mabn;
  mabn.window = 2;
  mabn.warmup = 2;
  nn::PowerNormOptions pn, plain;
  pn.settings.warmup = plain.settings.warmup = 2;
  plain.group_scaling = false;
  const std::vector<std::pair<std::string, nn::NormOptions>> norms{{"un", paper},  {"un official", official},
                                                                   {"mabn", mabn}, {"pn", pn},
                                                                   {"pn*", plain}, {"batch", nn::BatchNormOptions{}}};
  const RunLayer run = [](torch::nn::Module& norm, const at::Tensor& x, const at::Tensor& padding) {
    return dynamic_cast<nn::Norm&>(norm).forward(x, padding);
  };
  for (const auto& [name, options] : norms)
    for (const bool padded : {false, true})
      expect_halves_equal_the_whole(
          name + (padded ? ", padded" : ""), [&, options = options] { return nn::make_norm(options, 8); }, run, padded);
}

TEST(BatchReducer, CachesOfTwoHalvesAreThatOfTheWholeBatch) {
  using Grc = nn::GatedRecurrentCacheOptions;
  Grc per_sample, detached;
  per_sample.attend = nn::CacheAttend::per_sample;
  const RunLayer run = [](torch::nn::Module& layer, const at::Tensor& x, const at::Tensor& padding) {
    const auto layout = nn::AttentionArgs::self({std::nullopt, 0, padding});
    return dynamic_cast<nn::Attention&>(layer).forward(x, x, layout);
  };
  const std::vector<std::pair<std::string, nn::CacheOptions>> caches{
      {"grc", Grc{}},
      {"grc per sample", per_sample},
      {"grc official",
       [] {
         Grc options = Grc::of(nn::GatedRecurrentCacheVariant::official);
         options.positional_convolution = false;
         options.attend = nn::CacheAttend::mean;
         return options;
       }()},
      {"fifo", nn::FifoCacheOptions{}},
      {"concatenated", nn::ConcatenatedCacheOptions{}}};
  for (const auto& [name, cache] : caches)
    for (const bool padded : {false, true})
      for (const int64_t first_part : {2, 0})  // a process that has no sample takes part in the sums
        expect_halves_equal_the_whole(
            name + (padded ? ", padded" : "") + ", first " + std::to_string(first_part),
            [&, cache = cache] {
              return nn::make_self_attention({8, 2, 4, {}, cache});
            },
            run, padded, first_part);
}

TEST(BatchReducer, OneProcessAmongOneIsOneAlone) {
  struct Alone : ops::BatchReducer {
    void all_reduce(at::Tensor&) override {}
  };
  const auto norm = nn::make_norm(nn::UnifiedNormOptions{}, 8), other = nn::make_norm(nn::UnifiedNormOptions{}, 8);
  nn::use_batch_reducer(*other, std::make_shared<Alone>());
  const at::Tensor x = at::randn({3, 4, 8}), a = x.clone().requires_grad_(), b = x.clone().requires_grad_();
  const at::Tensor y = norm->forward(a), z = other->forward(b);
  EXPECT_TRUE(at::equal(y, z));
  y.pow(3).sum().backward();
  z.pow(3).sum().backward();
  EXPECT_TRUE(at::equal(a.grad(), b.grad()));
  EXPECT_TRUE(at::equal(norm->named_buffers()["statistics"], other->named_buffers()["statistics"]));
}

}  // namespace
}  // namespace cachet
