#include "cachet/analysis/plug_ins/similarity.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/linalg_norm.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros.h>

#include <vector>

namespace cachet::analysis {
namespace {

at::Tensor flattened(const at::Tensor& x) {
  TORCH_CHECK(x.dim() >= 1 && x.numel() > 0, "cka: a representation must be (examples, ...) and not empty, got ",
              x.sizes());
  return x.detach().to(at::kCPU, at::kDouble).reshape({x.size(0), -1});
}

// Gram matrices of layers, diagonals zeroed: (layers, examples²); their row sums (layers, examples); their sums
// (layers).
struct Grams {
  at::Tensor entries, row_sums, sums;
};

Grams grams_of(std::span<const at::Tensor> layers, int64_t examples) {
  std::vector<at::Tensor> all;
  for (const at::Tensor& layer : layers) {
    const at::Tensor x = flattened(layer);
    TORCH_CHECK(x.size(0) == examples, "cka: all layers of a batch must have the same number of examples, got ",
                examples, " and ", x.size(0));
    at::Tensor gram = at::matmul(x, x.t());
    gram.fill_diagonal_(0);
    all.push_back(gram);
  }
  const at::Tensor stacked = at::stack(all);
  const at::Tensor row_sums = stacked.sum(2);
  return {stacked.reshape({stacked.size(0), -1}), row_sums, row_sums.sum(1)};
}

// HSIC₁ of every layer of one with every layer of the other.
at::Tensor hsic(const Grams& a, const Grams& b, double n) {
  const at::Tensor products = at::matmul(a.entries, b.entries.t());
  const at::Tensor sums = a.sums.unsqueeze(1) * b.sums.unsqueeze(0) / ((n - 1) * (n - 2));
  const at::Tensor paths = at::matmul(a.row_sums, b.row_sums.t()) * (2 / (n - 2));
  return (products + sums - paths) / (n * (n - 3));
}

// HSIC₁ of every layer with itself.
at::Tensor own_hsic(const Grams& a, double n) {
  const at::Tensor products = a.entries.square().sum(1), paths = a.row_sums.square().sum(1) * (2 / (n - 2));
  return (products + a.sums.square() / ((n - 1) * (n - 2)) - paths) / (n * (n - 3));
}

}  // namespace

double linear_cka(const at::Tensor& x, const at::Tensor& y) {
  const at::NoGradGuard no_grad;
  const auto centred = [](const at::Tensor& t) { return t - t.mean(0, /*keepdim=*/true); };
  const at::Tensor a = centred(flattened(x)), b = centred(flattened(y));
  TORCH_CHECK(a.size(0) == b.size(0) && a.size(0) >= 2,
              "cka: both representations must have the same number of examples, at least two; got ", a.size(0), " and ",
              b.size(0));
  const auto norm = [](const at::Tensor& t) { return at::linalg_norm(t).item<double>(); };
  const double cross = norm(at::matmul(b.t(), a));
  return cross * cross / (norm(at::matmul(a.t(), a)) * norm(at::matmul(b.t(), b)));
}

MinibatchCka::MinibatchCka(int64_t rows, int64_t columns)
    : both_(at::zeros({rows, columns}, at::kDouble)),
      of_rows_(at::zeros({rows}, at::kDouble)),
      of_columns_(at::zeros({columns}, at::kDouble)) {}

void MinibatchCka::add(std::span<const at::Tensor> rows, std::span<const at::Tensor> columns) {
  const at::NoGradGuard no_grad;
  TORCH_CHECK(static_cast<int64_t>(rows.size()) == of_rows_.numel() &&
                  static_cast<int64_t>(columns.size()) == of_columns_.numel() && !rows.empty() && !columns.empty(),
              "cka: expected ", of_rows_.numel(), " and ", of_columns_.numel(), " layers, got ", rows.size(), " and ",
              columns.size());
  const int64_t examples = rows.front().size(0);
  TORCH_CHECK(examples > 3, "cka: a batch must have more than three examples, got ", examples);
  TORCH_CHECK(batches_ == 0 || examples == examples_,
              "cka: every batch must have as many examples as the first batch, ", examples_, ", got ", examples,
              "; leave the last batch out if it is smaller");
  const auto n = static_cast<double>(examples);
  const Grams a = grams_of(rows, examples), b = grams_of(columns, examples);
  both_ += hsic(a, b, n);
  of_rows_ += own_hsic(a, n);
  of_columns_ += own_hsic(b, n);
  examples_ = examples;
  ++batches_;
}

at::Tensor MinibatchCka::similarity() const {
  TORCH_CHECK(batches_ > 0, "cka: no batch has been added");
  return both_ / (of_rows_.unsqueeze(1) * of_columns_.unsqueeze(0)).sqrt();
}

}  // namespace cachet::analysis
