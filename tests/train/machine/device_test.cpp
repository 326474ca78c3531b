#include "cachet/train/machine/device.h"

#include <ATen/ops/dropout.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "cachet/train/machine/process_setup.h"
#include "cachet/train/step/host_copy.h"
#include "cachet/train/step/live_run.h"
#include "tests/support/meta_run.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/thrown_message.h"
#include "tests/train/toy_run.h"

namespace cachet::train {
namespace {

using Kind = DeviceChoice::Kind;

TEST(DeviceChoice, IsReadFromItsWord) {
  EXPECT_EQ(parse_device("auto"), (DeviceChoice{Kind::automatic}));
  EXPECT_EQ(parse_device("cpu"), (DeviceChoice{Kind::cpu}));
  EXPECT_EQ(parse_device("cuda"), (DeviceChoice{Kind::cuda, 0}));
  EXPECT_EQ(parse_device("cuda:12"), (DeviceChoice{Kind::cuda, 12}));
  for (const char* word : {"", "CPU", "cuda:", "cuda:-1", "cuda:1x", "cuda:1000", "cuda1", "gpu", "cpu:0"})
    EXPECT_EQ(parse_device(word), std::nullopt) << word;
}

TEST(DeviceChoice, IsAKeyOfTheRecipe) {
  const auto read = [](const std::string& line) {
    config::Document document = config::Document::from_text("[train]\n" + line, "r.toml");
    const Options options = read_options(document.root());
    document.finish();
    return options.train.device;
  };
  EXPECT_EQ(read(""), DeviceChoice{});
  EXPECT_EQ(read("device = \"cuda:1\""), (DeviceChoice{Kind::cuda, 1}));
  const std::string message = test::thrown_message<config::Error>([&] { read("device = \"gpu\""); });
  EXPECT_NE(message.find("train.device"), std::string::npos) << message;
  EXPECT_NE(message.find("cuda:1"), std::string::npos) << message;
}

TEST(DeviceChoice, IsReadFromTheValuesOfARecipe) {
  EXPECT_EQ(device_of(RecipeValues{}), DeviceChoice{});
  EXPECT_EQ(device_of(RecipeValues{{"train.device", "\"cuda:1\""}}), (DeviceChoice{Kind::cuda, 1}));
  EXPECT_EQ(device_of(RecipeValues{{"train.device", "\"cpu\""}}), (DeviceChoice{Kind::cpu}));
  for (const char* odd : {"", "\"", "5", "\"gpu\""})
    EXPECT_EQ(device_of(RecipeValues{{"train.device", odd}}), DeviceChoice{});
}

TEST(Device, IsTheOneThatIsMeantAmongThoseThatThereAre) {
  const c10::Device cpu(c10::kCPU), first(c10::kCUDA, 0), second(c10::kCUDA, 1);
  EXPECT_EQ(find_device({}, {cpu}), cpu);
  EXPECT_EQ(find_device({}, {cpu, first, second}), first);
  EXPECT_EQ(find_device({Kind::cpu}, {cpu, first}), cpu);
  EXPECT_EQ(find_device({Kind::cuda}, {cpu, first, second}), first);
  EXPECT_EQ(find_device({Kind::cuda, 1}, {cpu, first, second}), second);
  const std::string message = test::thrown_message<std::runtime_error>([&] {
    find_device({Kind::cuda, 2}, {cpu, first});
  });
  EXPECT_NE(message.find("no device cuda:2 on this machine; the available devices are cpu, cuda:0"), std::string::npos)
      << message;
  EXPECT_THROW(find_device({Kind::cuda}, {cpu}), std::runtime_error);
  EXPECT_EQ(available_devices().front(), cpu);
  EXPECT_EQ(device_peak_bytes(cpu), std::nullopt);
}

TEST(Device, IsAGpuOfEachProcessOrNone) {
  const c10::Device cpu(c10::kCPU), first(c10::kCUDA, 0), second(c10::kCUDA, 1);
  const DeviceChoice third{Kind::cuda, 2};
  EXPECT_EQ(choice_of_process({}, 1, {cpu}), DeviceChoice{});
  EXPECT_EQ(choice_of_process({}, 0, {cpu, first, second}), (DeviceChoice{Kind::cuda, 0}));
  EXPECT_EQ(choice_of_process({}, 1, {cpu, first, second}), (DeviceChoice{Kind::cuda, 1}));
  EXPECT_EQ(choice_of_process({Kind::cuda}, 1, {cpu, first, second}), (DeviceChoice{Kind::cuda, 1}));
  EXPECT_EQ(choice_of_process({Kind::cpu}, 1, {cpu, first}), (DeviceChoice{Kind::cpu}));
  EXPECT_EQ(choice_of_process(third, 1, {cpu, first}), third);
  const std::string message = test::thrown_message<std::runtime_error>([&] { choice_of_process({}, 1, {cpu, first}); });
  EXPECT_NE(message.find("the number of GPUs of this machine is 1; start at most that many processes"),
            std::string::npos)
      << message;
}

TEST(Device, OfARunMayChangeOnAResume) {
  const test::TemporaryDirectory folder;
  test::train_toy(folder / "run", {}, {"train.limit=\"2 steps\""});
  EXPECT_EQ(test::train_toy(folder / "run", {}, {"train.limit=\"4 steps\"", "train.device=cpu"}).step, 4);
  const std::vector<std::string> absent{"train.limit=\"6 steps\"", "train.device=cuda:9"};
  const std::string message =
      test::thrown_message<std::runtime_error>([&] { test::train_toy(folder / "run", {}, absent); });
  EXPECT_NE(message.find("there is no device cuda:9 on this machine"), std::string::npos) << message;
}

TEST(Device, BatchesAreMovedWhereTheyAreNot) {
  at::Tensor ids = at::ones({2}), none;
  const at::Tensor before = ids;
  move_to(c10::kCPU, {&ids, &none});
  EXPECT_TRUE(ids.is_same(before));
  move_to(c10::kMeta, {&ids, &none});
  EXPECT_TRUE(ids.is_meta());
  EXPECT_FALSE(none.defined());
}

TEST(RandomState, IsKeptByRoleAndRank) {
  const test::ToyModel model;
  const io::TensorMap first = random_state(model);
  ASSERT_EQ(first.size(), 1U);
  ASSERT_TRUE(first.contains("cpu"));
  const at::Tensor drawn = at::randn({4});
  io::TensorMap both = random_state(model, /*rank=*/1);
  ASSERT_TRUE(both.contains("cpu.1"));
  const at::Tensor drawn_later = at::randn({4});
  both.merge(io::TensorMap(first));
  EXPECT_TRUE(set_random_state(model, both));
  EXPECT_TRUE(at::randn({4}).equal(drawn));
  EXPECT_TRUE(set_random_state(model, both, /*rank=*/1));
  EXPECT_TRUE(at::randn({4}).equal(drawn_later));
  EXPECT_THROW(set_random_state(model, both, /*rank=*/2), std::runtime_error);
}

TEST(RandomState, OfAnotherDeviceIsNotGoneOnWith) {
  const test::ToyModel model;
  for (const char* name : {"device", "cuda:0"}) {
    io::TensorMap state = random_state(model);
    state.emplace(name, at::zeros({16}, at::kByte));
    const at::Tensor drawn = at::randn({4});
    EXPECT_FALSE(set_random_state(model, state)) << name;
    EXPECT_TRUE(at::randn({4}).equal(drawn)) << "the CPU's own goes on all the same";
  }
}

TEST(RandomState, ARunThatLeftCudaSaysThatItIsAnother) {
  const test::TemporaryDirectory folder;
  test::train_toy(folder / "run", {}, {"train.limit=\"2 steps\""});
  Checkpoint checkpoint = test::last_checkpoint(folder / "run");
  checkpoint.random.emplace("cuda:0", at::zeros({16}, at::kByte));
  test::ToyTask task;
  config::Document document = config::Document::from_text(test::kToyRecipe, "toy.toml");
  LiveRun live(task, test::read_toy(document));
  const std::vector<std::string> notes = live.restore(checkpoint);
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_NE(notes[0].find("its results will not be bit-identical"), std::string::npos);
  checkpoint.random.erase("cuda:0");
  EXPECT_TRUE(live.restore(checkpoint).empty());
}

enum class MoveFault { none, forgets, reads_value, reads_tensor, uploads };

/// A layer with dropout and a table that is added to its result, which may be forgotten when the model moves; it may
/// also ask for values of what it computes.
struct MovableModel : torch::nn::Module {
  explicit MovableModel(MoveFault fault) : fault(fault) {
    weight = register_parameter("weight", at::randn({2, 3}));
    table = at::randn({2});
    if (fault != MoveFault::forgets) register_buffer("table", table);
  }
  at::Tensor forward(const at::Tensor& rows) {
    if (fault == MoveFault::reads_value) rows.sum().item<double>();
    if (fault == MoveFault::reads_tensor) rows.cpu();
    if (fault == MoveFault::uploads) at::ones({3}).to(rows.device());
    return at::dropout(at::linear(rows, weight), 0.1, is_training()) + table;
  }
  MoveFault fault;
  at::Tensor weight, table;
};

struct MovableTask : TrainingTask {
  explicit MovableTask(MoveFault fault) : movable(std::make_shared<MovableModel>(fault)) {}

  torch::nn::Module& model() override { return *movable; }
  int64_t batches_per_epoch() const override { return 1; }
  int64_t evaluation_size() const override { return 0; }
  RunDescription describe() override { return {}; }
  at::Tensor batch() const {
    at::Tensor rows = at::ones({4, 3});
    move_to(device_of(*movable), {&rows});
    return rows;
  }
  Metrics evaluate(const EvaluationProgress&) override {
    return {{"loss", copy_to_host({movable->forward(batch()).square().sum()}).at(0)}};
  }
  struct Stream : TrainingBatches {
    explicit Stream(MovableTask& owner) : task(owner) {}
    bool fetch() override { return true; }
    void prepare() override { rows = task.batch(); }
    ForwardResult forward() override {
      const at::Tensor result = task.movable->forward(rows);
      return {.loss = result.square().sum(),
              .weight = 4,
              .penalty = task.movable->weight.square().sum(),
              .samples = 4,
              .metrics = {{"positive", (result > 0).sum(), 8}}};
    }
    MovableTask& task;
    at::Tensor rows;
  };
  std::unique_ptr<TrainingBatches> training_batches(int64_t, int64_t) override {
    return std::make_unique<Stream>(*this);
  }

  std::shared_ptr<MovableModel> movable;
};

TEST(MetaRun, FindsTensorsThatAreLeftOnTheCpu) {
  for (const auto kind : {OptimizerOptions::Kind::adamw, OptimizerOptions::Kind::sgd}) {
    Options options;
    options.optimizer.kind = kind;
    options.train.clip_norm = 1;
    MovableTask whole(MoveFault::none), forgetful(MoveFault::forgets);
    EXPECT_EQ(test::left_on_the_cpu(whole, options), std::set<std::string>{});
    const std::set<std::string> found = test::left_on_the_cpu(forgetful, options);
    EXPECT_TRUE(found.contains("aten::add")) << found.size();
  }
}

TEST(MetaRun, FindsValuesThatTheHostWaitsFor) {
  MovableTask value(MoveFault::reads_value), tensor(MoveFault::reads_tensor);
  const std::set<std::string> of_value = test::left_on_the_cpu(value, {}),
                              of_tensor = test::left_on_the_cpu(tensor, {});
  ASSERT_EQ(of_value.size(), 1U);
  EXPECT_NE(of_value.begin()->find("aten::_local_scalar_dense"), std::string::npos) << *of_value.begin();
  EXPECT_EQ(of_tensor, (std::set<std::string>{"forward() read a tensor of the device",
                                              "the training step read a tensor of the device",
                                              "the evaluation read more than a tensor a batch"}));
}

TEST(MetaRun, FindsUploadsOfTheForwardPass) {
  MovableTask uploads(MoveFault::uploads);
  EXPECT_EQ(test::left_on_the_cpu(uploads, {}), std::set<std::string>{"forward() uploaded a tensor"});
}

}  // namespace
}  // namespace cachet::train
