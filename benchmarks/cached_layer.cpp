#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/autocast_mode.h>
#include <torch/csrc/autograd/autograd.h>

#include "benchmarks/pairs.h"
#include "cachet/nn/attention/cached_attention.h"
#include "cachet/nn/attention/multi_head_attention.h"
#include "cachet/ops/linear.h"

namespace cachet::benchmarks {
namespace {

constexpr int64_t kBatch = 8, kTokens = 197, kDim = 384, kHeads = 6, kWidth = 192;

struct AutocastBF16 {
  explicit AutocastBF16(bool on) : on_(on) {
    if (!on) return;
    at::autocast::set_autocast_enabled(at::kCPU, true);
    at::autocast::set_autocast_dtype(at::kCPU, at::kBFloat16);
    at::autocast::increment_nesting();
  }
  ~AutocastBF16() {
    if (!on_) return;
    if (at::autocast::decrement_nesting() == 0) at::autocast::clear_cache();
    at::autocast::set_autocast_enabled(at::kCPU, false);
  }
  bool on_;
};

std::shared_ptr<nn::Attention> layer(std::optional<nn::GatedRecurrentCacheOptions> cache) {
  nn::CacheOptions options = nn::NoCacheOptions{};
  if (cache) options = *cache;
  return nn::make_self_attention({}, options, kDim, kHeads, kTokens, {nn::Grid{14, 14}, 1, {}});
}

// The products and the attention that a cache adds, and nothing else.
struct AddedProducts {
  at::Tensor x, cache, wx, wc, wr, wq, wkv, wp;
  bool frozen;
  AddedProducts(at::ScalarType t, bool grad, bool frozen) : frozen(frozen) {
    const auto make = [&](at::IntArrayRef s) { return (at::randn(s) * 0.05).to(t).requires_grad_(grad); };
    x = make({kBatch, kTokens, kWidth});
    cache = make({1, kTokens, kWidth});
    wx = make({3 * kWidth, kWidth});
    wc = make({2 * kWidth, kWidth});
    wr = make({kWidth, kWidth});
    wq = make({kWidth, kWidth});
    wkv = make({2 * kWidth, kWidth});
    wp = make({kWidth, kWidth});
  }
  std::vector<at::Tensor> forward() const {
    const auto heads = [](const at::Tensor& t) { return t.view({t.size(0), kTokens, kHeads, -1}).transpose(1, 2); };
    std::vector<at::Tensor> outs;
    if (!frozen) {
      outs.push_back(ops::linear(x, wx));
      outs.push_back(ops::linear(cache, wc));
      outs.push_back(ops::linear(x, wr));
    }
    const at::Tensor q = ops::linear(x, wq), kv = ops::linear(frozen ? cache : x, wkv);
    at::Tensor k = kv.narrow(2, 0, kWidth), v = kv.narrow(2, kWidth, kWidth);
    const auto hk = heads(k.expand({kBatch, -1, -1}).reshape({kBatch, kTokens, kWidth})),
               hv = heads(v.expand({kBatch, -1, -1}).reshape({kBatch, kTokens, kWidth}));
    const at::Tensor o = at::scaled_dot_product_attention(heads(q), hk, hv);
    outs.push_back(ops::linear(o.transpose(1, 2).reshape({kBatch, kTokens, kWidth}), wp));
    return outs;
  }
};

double median(const std::function<void()>& f, int n = 30) {
  for (int i = 0; i < 3; ++i) f();
  std::vector<double> t;
  for (int i = 0; i < n; ++i) t.push_back(milliseconds_of(f));
  return analysis::quartiles(t).median;
}

void report(const char* name, bool bf16, bool train, nn::GatedRecurrentCacheOptions options) {
  auto plain = layer({}), cached = layer(options);
  const auto t = bf16 ? at::kBFloat16 : at::kFloat;
  if (!train) {
    plain->eval();
    cached->eval();
    if (bf16) {
      plain->to(t);
      cached->to(t);
    }
  }
  const at::Tensor x = (at::randn({kBatch, kTokens, kDim})).to(!train ? t : at::kFloat).requires_grad_(train);
  const auto layout = nn::AttentionLayout::self({nn::Grid{14, 14}, 1, {}});
  const at::Tensor dy = at::randn({kBatch, kTokens, kDim}).to(t);
  const AddedProducts added(t, train, !train && options.inference == nn::CacheInference::frozen);
  const auto step = [&](nn::Attention& l) {
    return [&, train, bf16] {
      if (!train) {
        at::NoGradGuard g;
        l.forward(x, x, layout);
        return;
      }
      at::Tensor y;
      {
        AutocastBF16 a(bf16);
        y = l.forward(x, x, layout);
      }
      auto ps = l.parameters();
      ps.push_back(x);
      torch::autograd::grad({y}, ps, {dy.to(y.scalar_type())}, {}, false, true);
    };
  };
  const auto products = [&] {
    if (!train) {
      at::NoGradGuard g;
      added.forward();
      return;
    }
    auto outs = added.forward();
    std::vector<at::Tensor> gs;
    for (auto& o : outs) gs.push_back(o.detach());
    torch::autograd::grad(outs, {added.x, added.wx, added.wc, added.wr, added.wq, added.wkv, added.wp}, gs, {}, false,
                          true);
  };
  std::vector<double> ratio, p, c, a;
  for (int i = 0; i < 3; ++i) {
    step (*plain)();
    step (*cached)();
    products();
  }
  for (int i = 0; i < 31; ++i) {
    p.push_back(milliseconds_of(step(*plain)));
    c.push_back(milliseconds_of(step(*cached)));
    a.push_back(milliseconds_of(products));
    ratio.push_back((c.back() - p.back()) / a.back());
  }
  const auto q = analysis::quartiles(ratio);
  std::cout << std::fixed << std::setprecision(2) << name << (bf16 ? " bf16" : " fp32") << (train ? " train" : " infer")
            << ": plain " << analysis::quartiles(p).median << " cached " << analysis::quartiles(c).median
            << " added products " << analysis::quartiles(a).median << " ratio " << q.lower << ' ' << q.median << ' '
            << q.upper << std::endl;
}

}  // namespace
}  // namespace cachet::benchmarks

int main() {
  using namespace cachet;
  using namespace cachet::benchmarks;
  at::set_num_threads(2);
  nn::GatedRecurrentCacheOptions paper, per_sample;
  per_sample.inference = nn::CacheInference::per_sample;
  const auto official = nn::GatedRecurrentCacheOptions::of(nn::GatedRecurrentCacheVariant::official);
  for (bool bf16 : {false, true}) {
    report("paper frozen", bf16, false, paper);
    report("paper per_sample", bf16, false, per_sample);
    report("official", bf16, false, official);
    report("paper", bf16, true, paper);
    report("official", bf16, true, official);
  }
}
