#include "cachet/runtime/openvino/openvino_session.h"

#include <gtest/gtest.h>

#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/support/temporary_directory.h"

namespace cachet::runtime {
namespace {

// Adds two constants, 1 and 2, to the columns of its input, whose number of columns is free, as it is in a model that
// adds positions. An input of three columns is an error that OpenVINO finds when it runs.
constexpr const char* kAddition = R"(<?xml version="1.0"?>
<net name="addition" version="11"><layers>
<layer id="0" name="x" type="Parameter" version="opset1"><data shape="?,?" element_type="f32"/>
 <output><port id="0" precision="FP32" names="x"><dim>-1</dim><dim>-1</dim></port></output></layer>
<layer id="1" name="c" type="Const" version="opset1"><data element_type="f32" shape="1, 2" offset="0" size="8"/>
 <output><port id="0" precision="FP32"><dim>1</dim><dim>2</dim></port></output></layer>
<layer id="2" name="sum" type="Add" version="opset1"><data auto_broadcast="numpy"/>
 <input><port id="0" precision="FP32"><dim>-1</dim><dim>-1</dim></port><port id="1" precision="FP32"><dim>1</dim><dim>2</dim></port></input>
 <output><port id="2" precision="FP32" names="scores"><dim>-1</dim><dim>2</dim></port></output></layer>
<layer id="3" name="result" type="Result" version="opset1">
 <input><port id="0" precision="FP32"><dim>-1</dim><dim>2</dim></port></input></layer>
</layers><edges>
<edge from-layer="0" from-port="0" to-layer="2" to-port="0"/><edge from-layer="1" from-port="0" to-layer="2" to-port="1"/>
<edge from-layer="2" from-port="2" to-layer="3" to-port="0"/></edges></net>
)";

// With one thread OpenVINO reports no error of a call, and its output still holds the answer of the call before.
TEST(OpenVinoSession, GivesNoAnswerOfAnEarlierCall) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "OpenVINO loads a library in a way (RTLD_DEEPBIND) that sanitizers refuse";
#endif
  const test::TemporaryDirectory folder;
  std::ofstream(folder / "model.xml") << kAddition;
  const std::vector<float> constants{1, 2};
  std::ofstream(folder / "model.bin", std::ios::binary).write(reinterpret_cast<const char*>(constants.data()), 8);
  for (const int threads : {1, 2, 8}) {
    SCOPED_TRACE(threads);
    const auto session = open_openvino(folder / "model.xml", {Precision::float32, threads});
    const auto answer = [&](std::vector<float> values, int64_t columns) {
      const Input input{Element::float32, {static_cast<int64_t>(values.size()) / columns, columns}, values.data()};
      return session->run({&input, 1}).values;
    };
    EXPECT_EQ(answer({10, 20, 30, 40}, 2), (std::vector<float>{11, 22, 31, 42}));
    EXPECT_THROW(answer({1, 2, 3, 4, 5, 6}, 3), std::runtime_error);
    EXPECT_EQ(answer({5, 6}, 2), (std::vector<float>{6, 8}));
    EXPECT_THROW(answer({1, 2, 3}, 3), std::runtime_error);
    EXPECT_EQ(answer({1, 1, 2, 2, 3, 3}, 2), (std::vector<float>{2, 3, 3, 4, 4, 5}));
  }
}

}  // namespace
}  // namespace cachet::runtime
