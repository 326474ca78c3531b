#include "cachet/tasks/exports/export_comparison.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <functional>

#include "cachet/io/digests/sha256.h"
#include "cachet/io/files/atomic_file.h"
#include "cachet/io/files/read_file.h"
#include "cachet/io/tensors/safetensors/safetensors.h"
#include "cachet/runtime/export_manifest.h"
#include "tests/tasks/tiny_run.h"

namespace cachet::tasks {
namespace {

constexpr int64_t kMaxLength = 16;
const ExportOptions kTorch{runtime::EngineKind::torch, runtime::Precision::float32};
const ExportProgress kSilent = [](ExportPart, int64_t, int64_t) {};

/// Sequences of four tokens, for a model that takes sixteen.
class ExportComparison : public test::TinyRunTest {
 protected:
  ExportComparison() {
    for (const char* split : {"train", "val", "test"}) {
      std::ofstream out(folder_ / ("basic_" + std::string(split) + ".tsv"));
      out << "Source\tTarget\n";
      for (int i = 0; i < 40; ++i)
        out << "( ( ( [MIN " << i % 10 << " ) " << i * 7 % 10 << " ) ] )\t" << std::min(i % 10, i * 7 % 10) << '\n';
    }
    trained(run_);
  }

  std::string recipe() const override {
    return R"([task]
kind = "sequence_classification"
[data]
kind = "listops"
max_length = 16
workers = 0
root = ")" +
           folder_.path().string() + R"("
[model]
name = "lra_listops"
embed_dim = 16
depth = 1
num_heads = 2
mlp_dim = 24
positions = "learned"
[train]
epochs = 1
batch_size = 8
threads = 1
)";
  }

  /// Changes the weights of a folder that export_model() wrote, as if it had been written so.
  void change_weights(const std::filesystem::path& folder, const std::function<void(io::TensorMap&)>& change) const {
    const std::filesystem::path file = folder / std::string(runtime::model_file(runtime::EngineKind::torch));
    io::TensorMap weights = io::read_safetensors(file).tensors;
    change(weights);
    io::write_safetensors(file, weights, {});
    runtime::ExportManifest manifest = runtime::read_export_manifest(folder);
    manifest.files.at(file.filename().string()) = io::sha256_hex(io::read_file(file, 1 << 24));
    io::write_file_atomically(folder / runtime::kExportManifest, to_json(manifest));
  }

  std::filesystem::path run_ = folder_ / "run", exported_ = folder_ / "exported";
  ExportSource source_{run_, {}};
};

TEST_F(ExportComparison, FindsAnswersThatOnlyOtherLengthsShow) {
  export_model(source_, kTorch, exported_, kSilent);
  EXPECT_TRUE(compare_export(source_, kTorch, exported_, kSilent).broken_bounds().empty());
  // No evaluation sample is as long.
  change_weights(exported_, [&](io::TensorMap& weights) {
    weights.at("pos_embed").narrow(1, kMaxLength / 2, kMaxLength / 2).add_(at::randn({16}));
  });
  const ExportCheck check = compare_export(source_, kTorch, exported_, kSilent);
  EXPECT_TRUE(check.equality.holds(check.tolerance.answers)) << to_text(check);
  EXPECT_GT(check.sent.difference, 0.01);
  EXPECT_FALSE(check.holds()) << to_text(check);
  EXPECT_EQ(check.broken_bounds().at(0), "a log-probability may differ by at most 0.001");
}

}  // namespace
}  // namespace cachet::tasks
