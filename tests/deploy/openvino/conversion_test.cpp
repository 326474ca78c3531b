// Every backbone × cache, small: what OpenVINO computes is what the model computes, for any batch.
#include "cachet/deploy/openvino/conversion.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <openvino/runtime/core.hpp>

#include "cachet/deploy/equality.h"
#include "cachet/deploy/portable_model.h"
#include "cachet/deploy/rewrite.h"
#include "cachet/models/language/sequence_classifier.h"
#include "cachet/models/vision/image_classifier.h"
#include "cachet/runtime/openvino/openvino_session.h"
#include "tests/deploy/trained_model.h"

namespace cachet::deploy {
namespace {

using testing::Settings;
using testing::small_models;
using testing::SmallModel;
using testing::text_of;

class Conversion : public ::testing::TestWithParam<SmallModel> {};

std::vector<Settings> exported_caches(bool has_grid) {
  std::vector<Settings> all{{}, {"cache.kind=grc"}, {"cache.kind=grc", "cache.inference=per_sample"}};
  if (has_grid) all.push_back({"cache.kind=grc", "cache.positional_convolution=true", "cache.ratio=0.5"});
  return all;
}

TEST_P(Conversion, ComputesWhatTheModelDoes) {
  const at::NoGradGuard no_grad;
  for (const std::string norm : {"layer", "un"})
    for (Settings plug_ins : exported_caches(GetParam().has_grid)) {
      plug_ins.push_back("norm.kind=" + norm);
      SCOPED_TRACE(text_of(plug_ins));
      const auto model = trained(GetParam(), plug_ins, at::kFloat);
      rewrite(*model);
      try {
        const PortableModel portable = make_portable(model);
        for (const auto& note : portable.notes)
          std::cout << GetParam().name << " " << text_of(plug_ins) << note << "\n";
        const auto converted = convert_to_openvino(portable);
        ov::Core core;
        auto request = core.compile_model(converted, "CPU", ov::hint::inference_precision(ov::element::f32))
                           .create_infer_request();
        auto* images = dynamic_cast<models::ImageClassifier*>(model.get());
        auto* sequences = dynamic_cast<models::SequenceClassifier*>(model.get());
        for (const int64_t batch : {1, 3, 4}) {
          std::vector<at::Tensor> inputs;
          at::Tensor expected;
          if (images) {
            const auto image = images->image_shape();
            inputs = {at::randn({batch, image.channels, image.height, image.width})};
            expected = images->forward(inputs[0]);
          } else {
            const auto shape = sequences->sequence_shape();
            for (int i = 0; i < (shape.pairs ? 2 : 1); ++i) {
              const int64_t length = portable.inputs[0].shape[1] < 0 ? 20 + i : shape.max_length;
              inputs.push_back(at::randint(shape.vocabulary, {batch, length}, at::kLong));
              inputs.push_back((at::arange(length) >= length - 3).expand({batch, length}).contiguous());
            }
            expected = sequences->forward({inputs[0], inputs[1]},
                                          shape.pairs ? models::Sequences{inputs[2], inputs[3]} : models::Sequences{});
          }
          for (size_t i = 0; i < inputs.size(); ++i)
            request.set_input_tensor(i, ov::Tensor(element_type(inputs[i].scalar_type()),
                                                   ov::Shape(inputs[i].sizes().begin(), inputs[i].sizes().end()),
                                                   inputs[i].mutable_data_ptr()));
          request.infer();
          const auto out = request.get_output_tensor();
          const at::Tensor scores = at::from_blob(const_cast<void*>(out.data()), {batch, portable.classes}).clone();
          const Equality equality = equality_of(expected, scores, {1e-4});
          EXPECT_TRUE(equality.holds({1e-4})) << batch << ": " << to_text(equality);
        }
      } catch (const std::exception& error) {
        ADD_FAILURE() << std::string(error.what()).substr(0, 1500);
      }
    }
}

INSTANTIATE_TEST_SUITE_P(Models, Conversion, ::testing::ValuesIn(small_models()),
                         [](const auto& info) { return info.param.name + "_" + std::to_string(info.index); });

}  // namespace
}  // namespace cachet::deploy
