#include "cachet/analysis/plug_ins/similarity.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/oracle.h"

namespace cachet::analysis {
namespace {

std::vector<at::Tensor> layers_of(const test::Oracle& oracle, const std::string& model, int64_t from, int64_t count) {
  std::vector<at::Tensor> layers;
  for (int64_t i = 0; oracle.has(model + std::to_string(i)); ++i)
    layers.push_back(oracle[model + std::to_string(i)].narrow(0, from, count));
  return layers;
}

// All batches of `batch` examples; what is left over is passed by.
at::Tensor similarity_of(const test::Oracle& oracle, const std::string& rows, const std::string& columns,
                         int64_t batch) {
  const int64_t examples = oracle.integer("examples");
  MinibatchCka cka(static_cast<int64_t>(layers_of(oracle, rows, 0, 1).size()),
                   static_cast<int64_t>(layers_of(oracle, columns, 0, 1).size()));
  for (int64_t from = 0; from + batch <= examples; from += batch)
    cka.add(layers_of(oracle, rows, from, batch), layers_of(oracle, columns, from, batch));
  return cka.similarity();
}

TEST(Similarity, IsTheOracles) {
  const test::Oracle oracle = test::load_oracle("analysis_cka");
  test::Comparison same("analysis_cka");
  const int64_t examples = oracle.integer("examples"), batch = oracle.integer("batch");
  for (const char* other : {"b", "a"}) {
    const std::string suffix = std::string(other) == "a" ? "_within_a" : "";
    const auto rows = layers_of(oracle, "a", 0, examples), columns = layers_of(oracle, other, 0, examples);
    const at::Tensor exact = at::zeros_like(oracle["exact" + suffix]);
    for (size_t i = 0; i < rows.size(); ++i)
      for (size_t j = 0; j < columns.size(); ++j)
        exact[static_cast<int64_t>(i)][static_cast<int64_t>(j)] = linear_cka(rows[i], columns[j]);
    same.close(exact, oracle["exact" + suffix], "exact" + suffix);
    same.close(similarity_of(oracle, "a", other, examples), oracle["unbiased" + suffix], "unbiased" + suffix);
    same.close(similarity_of(oracle, "a", other, batch), oracle["minibatch" + suffix], "minibatch" + suffix);
  }
}

TEST(Similarity, DoesNotSeeRotationsAndScales) {
  const at::Tensor x = at::randn({30, 8}, at::kDouble);
  const at::Tensor rotation = std::get<0>(at::linalg_qr(at::randn({8, 8}, at::kDouble)));
  EXPECT_NEAR(linear_cka(x, 3 * at::matmul(x, rotation) + 5), 1, 1e-12);
  EXPECT_LT(linear_cka(x, at::randn({30, 8}, at::kDouble)), 0.9);
  MinibatchCka cka(1, 1);
  cka.add(std::vector{x}, std::vector{at::matmul(x, rotation)});
  EXPECT_NEAR(cka.similarity().item<double>(), 1, 1e-12);
}

TEST(Similarity, RefusesBatchesThatDoNotFit) {
  MinibatchCka cka(1, 2);
  const at::Tensor eight = at::randn({8, 3}), four = at::randn({4, 3}), three = at::randn({3, 3});
  using Layers = std::vector<at::Tensor>;
  EXPECT_THROW(cka.similarity(), c10::Error);
  EXPECT_THROW(cka.add(Layers{eight}, Layers{eight}), c10::Error);
  EXPECT_THROW(cka.add(Layers{eight}, Layers{eight, four}), c10::Error);
  EXPECT_THROW(cka.add(Layers{three}, Layers{three, three}), c10::Error);
  cka.add(Layers{eight}, Layers{eight, eight});
  EXPECT_THROW(cka.add(Layers{four}, Layers{four, four}), c10::Error);
  EXPECT_EQ(cka.batches(), 1);
  EXPECT_THROW(linear_cka(eight, four), c10::Error);
}

}  // namespace
}  // namespace cachet::analysis
