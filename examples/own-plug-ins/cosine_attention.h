#pragma once

#include <ATen/TensorOperators.h>
#include <ATen/ops/full.h>
#include <ATen/ops/rsqrt.h>
#include <cachet/layers.h>

#include <cmath>

/// softmax(τ·cos(q, k))·v, with a trained temperature τ for each head.
struct CosineOptions {
  double temperature = 10.0;  // before training

  static const cachet::nn::AttentionFunctionKind<CosineOptions> kKind;
};

class CosineAttention : public cachet::nn::Cloneable<CosineAttention, cachet::nn::AttentionFunction> {
 public:
  CosineAttention(const CosineOptions& options, int64_t num_heads) : Cloneable("CosineAttention") {
    log_temperature_ =
        register_parameter("log_temperature", at::full({num_heads, 1, 1}, std::log(options.temperature)));
  }

 protected:
  // softmax_attention has padding, causal masks and biases, and divides scores by √d.
  torch::Tensor attend(const torch::Tensor& q, const torch::Tensor& k, const torch::Tensor& v,
                       const cachet::nn::AttentionArgs& args) override {
    const torch::Tensor scale = log_temperature_.exp() * std::sqrt(static_cast<double>(q.size(3)));
    return cachet::nn::softmax_attention((unit(q) * scale).to(q.scalar_type()), unit(k).to(k.scalar_type()), v, args);
  }

 private:
  static torch::Tensor unit(const torch::Tensor& x) {
    const torch::Tensor wide = x.to(c10::promoteTypes(x.scalar_type(), at::kFloat));
    return wide * at::rsqrt(wide.square().sum(-1, /*keepdim=*/true) + 1e-6);
  }

  cachet::nn::RegisteredTensor log_temperature_;
};

inline constinit const cachet::nn::AttentionFunctionKind<CosineOptions> CosineOptions::kKind{
    .name = "cosine",
    .read =
        [](const cachet::config::View& table) {
          return CosineOptions{table.real("temperature", CosineOptions{}.temperature, {0.01, 100.0})};
        },
    .make = [](const CosineOptions& o, int64_t num_heads, int64_t) -> std::shared_ptr<cachet::nn::AttentionFunction> {
      return std::make_shared<CosineAttention>(o, num_heads);
    },
    .traits = {.takes_bias = true},
    .exports = cachet::nn::Export::traced};
