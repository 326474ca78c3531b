#include "cachet/analysis/cost/benchmark.h"

#include <ATen/Parallel.h>
#include <ATen/ops/empty.h>
#include <gtest/gtest.h>

#include <new>
#include <stdexcept>
#include <string>

#include "cachet/config/document.h"
#include "cachet/io/tensors/state_dict.h"
#include "cachet/models/registry.h"
#include "cachet/models/vision/vision_transformer.h"

namespace cachet::analysis {
namespace {

models::VisionTransformer small_model() {
  models::VisionTransformerOptions o;
  o.image = {1, 16, 16};
  o.patch_size = 4;
  o.embed_dim = 32;
  o.depth = 2;
  o.num_heads = 2;
  o.classes = 10;
  o.plug_ins.cache = nn::GatedRecurrentCacheOptions{};
  return models::VisionTransformer(o);
}

int64_t parameter_bytes(const torch::nn::Module& model) {
  int64_t bytes = 0;
  for (const auto& parameter : model.parameters()) bytes += static_cast<int64_t>(parameter.nbytes());
  return bytes;
}

BenchmarkResult measure(BenchmarkMode mode, BenchmarkPrecision precision, int64_t batch) {
  auto model = small_model();
  return benchmark(model, {mode, precision, batch, /*threads=*/1, /*seconds=*/0.02, /*least_repetitions=*/3});
}

TEST(Benchmark, EveryModeAndPrecisionIsMeasured) {
  for (const auto mode : {BenchmarkMode::inference, BenchmarkMode::training}) {
    for (const auto precision : {BenchmarkPrecision::float32, BenchmarkPrecision::bfloat16}) {
      const auto result = measure(mode, precision, 2);
      EXPECT_GE(result.repetitions, 3);
      EXPECT_GT(result.milliseconds.lower, 0);
      EXPECT_LE(result.milliseconds.lower, result.milliseconds.median);
      EXPECT_LE(result.milliseconds.median, result.milliseconds.upper);
      EXPECT_DOUBLE_EQ(result.samples_per_second, 2e3 / result.milliseconds.median);
      EXPECT_GT(result.activation_bytes, 0);
      const bool narrow = mode == BenchmarkMode::inference && precision == BenchmarkPrecision::bfloat16;
      auto model = small_model();
      int64_t buffers = 0;  // states stay in float32
      for (const auto& buffer : model.buffers()) buffers += static_cast<int64_t>(buffer.nbytes());
      EXPECT_EQ(result.weight_bytes, parameter_bytes(model) / (narrow ? 2 : 1) + buffers);
    }
  }
}

// A language model whose input and output share their table.
TEST(Benchmark, TablesThatAreSharedWeighOnce) {
  const auto weights = [](const char* tied) {
    config::Document document;
    for (const std::string& setting :
         {std::string("model.vocabulary=1000"), std::string("model.depth=1"), std::string("model.tie_tables=") + tied})
      document.set(setting);
    const auto model = models::read_model("transformer_xl_small", document.root().table("model")).build();
    int64_t bytes = 0;
    for (const auto& [name, tensor] : io::state_dict(*model)) bytes += static_cast<int64_t>(tensor.nbytes());
    const BenchmarkResult result =
        benchmark(*model, {BenchmarkMode::inference, BenchmarkPrecision::float32, 1, 1, 0.01, 1});
    EXPECT_EQ(result.weight_bytes, bytes) << tied;
    return result.weight_bytes;
  };
  EXPECT_LT(weights("true"), weights("false"));
}

TEST(Benchmark, MemoryGrowsWithTheBatchAndHoldsTheOptimizer) {
  const auto infer = [](int64_t batch) {
    return measure(BenchmarkMode::inference, BenchmarkPrecision::float32, batch).activation_bytes;
  };
  EXPECT_GT(infer(16), 4 * infer(1));
  // Gradients and AdamW's two moments; in inference nothing of the kind.
  const int64_t weights = parameter_bytes(small_model());
  EXPECT_GT(measure(BenchmarkMode::training, BenchmarkPrecision::float32, 1).activation_bytes, 3 * weights);
  EXPECT_LT(infer(1), weights);
}

TEST(Benchmark, BFloat16TakesLessMemoryToInfer) {
  EXPECT_LT(measure(BenchmarkMode::inference, BenchmarkPrecision::bfloat16, 8).activation_bytes,
            measure(BenchmarkMode::inference, BenchmarkPrecision::float32, 8).activation_bytes);
}

TEST(Benchmark, GivesTheThreadCountBack) {
  const int before = at::get_num_threads();
  measure(BenchmarkMode::inference, BenchmarkPrecision::float32, 1);
  EXPECT_EQ(at::get_num_threads(), before);
}

TEST(Benchmark, TrainingChangesWeightsAndInferenceDoesNot) {
  for (const auto mode : {BenchmarkMode::inference, BenchmarkMode::training}) {
    auto model = small_model();
    const at::Tensor before = model.named_parameters()["head.weight"].detach().clone();
    benchmark(model, {mode, BenchmarkPrecision::float32, 2, 1, 0.01, 3});
    EXPECT_EQ(before.equal(model.named_parameters()["head.weight"]), mode == BenchmarkMode::inference);
  }
}

TEST(Benchmark, NonsenseIsRefused) {
  auto model = small_model();
  EXPECT_THROW(benchmark(model, {.batch = 0}), std::invalid_argument);
  EXPECT_THROW(benchmark(model, {.threads = -1}), std::invalid_argument);
  EXPECT_THROW(benchmark(model, {.seconds = 0}), std::invalid_argument);
}

template <class Call>
bool runs_out_of_memory(Call call) {
  try {
    call();
  } catch (...) {
    return is_out_of_memory();
  }
  return false;
}

TEST(Benchmark, ShortMemoryIsTold) {
  EXPECT_TRUE(runs_out_of_memory([] { at::empty({int64_t{1} << 60}, at::kByte); }));  // what the CPU's allocator throws
  EXPECT_TRUE(runs_out_of_memory([] { throw std::bad_alloc(); }));
  EXPECT_FALSE(runs_out_of_memory([] { throw std::runtime_error("disk"); }));
  EXPECT_FALSE(runs_out_of_memory([] { TORCH_CHECK(false, "another shape"); }));
}

}  // namespace
}  // namespace cachet::analysis
