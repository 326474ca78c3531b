#include "cachet/tasks/exports/export_problem.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "cachet/deploy/cannot_convert.h"
#include "cachet/deploy/session_model.h"
#include "cachet/io/error.h"
#include "cachet/runtime/engine_error.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/thrown_message.h"
#include "tests/tasks/tiny_images.h"

namespace cachet::tasks {
namespace {

using runtime::EngineKind, runtime::Precision;

template <class Error>
std::string told(const SavedRun& saved, const Error& error, EngineKind engine, Precision precision) {
  return test::thrown_message<std::runtime_error>([&] {
    try {
      throw error;
    } catch (...) {
      throw_export_problem(saved, engine, precision);
    }
  });
}

TEST(ExportProblem, SaysWhichModelAnEngineCannotTakeAndWhatToDo) {
  const test::TemporaryDirectory folder;
  test::write_tiny_images(folder / "images");
  test::train_tiny(folder / "images", folder / "run",
                   {"train.limit=1 steps", "model.attention.kind=bigbird", "model.attention.block_size=1"});
  const SavedRun saved = open_saved_run(folder / "run");
  const std::string of_model = saved.plan.model().name + " (attention.kind = \"bigbird\", ";

  const deploy::CannotConvert unknown("OpenVINO reports: No conversion rule found for operations: aten::renorm");
  std::string text = told(saved, unknown, EngineKind::openvino, Precision::float32);
  EXPECT_TRUE(text.starts_with(of_model)) << text;
  EXPECT_NE(
      text.find("cannot be exported for OpenVINO; use --engine torch, which supports every model\nOpenVINO reports: "
                "No conversion rule found for operations: aten::renorm"),
      std::string::npos)
      << text;
  text = told(saved, unknown, EngineKind::onnx, Precision::float32);
  EXPECT_NE(text.find("cannot be exported for ONNX; use --engine torch"), std::string::npos) << text;

  const runtime::EngineError fails("/tmp/.out.tmp-1-0/model.xml", "OpenVINO cannot run it: no memory");
  text = told(saved, fails, EngineKind::openvino, Precision::bfloat16);
  EXPECT_NE(text.find("cannot be run, so it was not saved; use --precision f32 or --engine torch"), std::string::npos)
      << text;
  EXPECT_TRUE(text.ends_with("\nOpenVINO cannot run it: no memory")) << text;
  EXPECT_EQ(text.find("tmp"), std::string::npos) << "a temporary folder helps nobody: " << text;

  text = told(saved, deploy::ExportNotFinite(), EngineKind::torch, Precision::bfloat16);
  EXPECT_NE(text.find("use --precision f32\nthe numbers of the model are too large for bf16 on LibTorch"),
            std::string::npos)
      << text;
  EXPECT_EQ(told(saved, io::Error("a file: is damaged"), EngineKind::onnx, Precision::float32), "a file: is damaged");
}

}  // namespace
}  // namespace cachet::tasks
