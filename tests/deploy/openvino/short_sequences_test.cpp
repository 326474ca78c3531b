// Models of very short sequences: what is written for an engine answers as the model does, for all its lengths.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "cachet/deploy/classifier_inputs.h"
#include "cachet/deploy/equality.h"
#include "cachet/deploy/model_writers.h"
#include "cachet/deploy/rewrite.h"
#include "cachet/deploy/session_model.h"
#include "cachet/runtime/openvino/openvino_session.h"
#include "tests/deploy/trained_model.h"
#include "tests/support/temporary_directory.h"

namespace cachet::deploy {
namespace {

using runtime::EngineKind;
using test::Settings;
using test::small_models;
using test::SmallModel;
using test::text_of;

/// Blocks, chunks and windows that are longer than the sequences, as long, and shorter.
const std::vector<Settings>& plug_ins() {
  static const std::vector<Settings> all{
      {"norm.kind=layer"},
      {"norm.kind=un", "cache.kind=grc"},
      {"norm.kind=batch", "cache.kind=fifo"},
      {"attention.kind=elu", "cache.kind=grc"},
      {"attention.kind=kernel"},
      {"attention.kind=performer"},
      {"attention.kind=local"},
      {"attention.kind=local", "attention.window=0"},
      {"attention.kind=local", "attention.window=1", "cache.kind=grc"},
      {"attention.kind=reformer"},
      {"attention.kind=reformer", "attention.chunk_size=1", "attention.buckets=2"},
      {"attention.kind=reformer", "attention.chunk_size=2", "attention.buckets=2", "cache.kind=fifo"},
      {"attention.kind=bigbird"},
      {"attention.kind=bigbird", "attention.block_size=1"},
      {"attention.kind=bigbird", "attention.block_size=1", "attention.window=1", "attention.random_blocks=0"},
      {"attention.kind=bigbird", "attention.block_size=2", "attention.random_blocks=1", "cache.kind=grc"},
  };
  return all;
}

class ShortSequences : public ::testing::TestWithParam<SmallModel> {};

/// A session for what was written, as a model that fills sequences up if their length is fixed.
std::shared_ptr<models::SequenceClassifier> opened(const std::filesystem::path& file, const PortableModel& portable,
                                                   const models::SequenceShape& shape) {
  return session_model(runtime::open_openvino(file, {.threads = 2}), shape, portable.classes,
                       std::max<int64_t>(portable.inputs.front().shape[1], 0));
}

TEST_P(ShortSequences, AreAnsweredAsTheModelDoes) {
  const at::NoGradGuard no_grad;
  for (const Settings& settings : plug_ins()) {
    SCOPED_TRACE(text_of(settings));
    const auto model = trained(GetParam(), settings, at::kFloat);
    const models::SequenceShape shape = dynamic_cast<const models::SequenceClassifier&>(*model).sequence_shape();
    const int64_t longest = shape.max_length;
    rewrite(*model);
    const PortableModel portable = make_portable(model);
    const test::TemporaryDirectory folder;
    write_for_openvino(portable, folder.path(), {}, {});
    write_for_onnx(portable, folder.path(), {});
    for (const EngineKind engine : {EngineKind::openvino, EngineKind::onnx}) {
      const auto session = opened(folder.path() / runtime::model_file(engine), portable, shape);
      for (int64_t length = 1; length <= longest; ++length) {
        for (const int64_t batch : {1, 4}) {
          const std::vector<at::Tensor> inputs = sample_inputs(*model, batch, {length, longest - length + 1});
          const Equality equality = equality_of(classify(*model, inputs), classify(*session, inputs), {1e-4});
          EXPECT_TRUE(equality.holds({1e-4}))
              << to_string(engine) << ", " << batch << " of " << length << ": " << to_text(equality);
        }
      }
    }
  }
}

SmallModel with_longest(SmallModel model, int64_t longest) {
  model.settings.push_back("max_length=" + std::to_string(longest));
  return model;
}

std::vector<SmallModel> short_models() {
  const SmallModel &single = small_models()[small_models().size() - 2], &pairs = small_models().back();
  std::vector<SmallModel> all{with_longest(pairs, 1), with_longest(pairs, 2)};
  for (const int64_t longest : {1, 2, 3, 4, 5}) all.push_back(with_longest(single, longest));
  return all;
}

INSTANTIATE_TEST_SUITE_P(Models, ShortSequences, ::testing::ValuesIn(short_models()),
                         [](const auto& info) { return info.param.name + "_" + std::to_string(info.index); });

}  // namespace
}  // namespace cachet::deploy
