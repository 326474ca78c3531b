#include "cachet/train/data_parallel/part_states.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/rand.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "cachet/train/machine/process_setup.h"
#include "cachet/train/step/live_run.h"
#include "tests/support/played_processes.h"
#include "tests/support/thrown_message.h"
#include "tests/train/parts_task.h"

namespace cachet::train {
namespace {

using test::PartsModel;
using test::PartsTask;

// What is left of another order of additions in float64: a dozen numbers of the size of one.
constexpr double kPartsRounding = 1e-12;

Options parts_options(StateRule state, int64_t rank, int64_t processes, int64_t parts, int64_t step_samples = 8) {
  Options options;
  options.optimizer.kind = OptimizerOptions::Kind::sgd;
  options.optimizer.learning_rate = 0.05;
  options.optimizer.momentum = 0;
  options.optimizer.weight_decay = 0;
  options.schedule.kind = ScheduleOptions::Kind::constant;
  options.train.epochs = 3;
  options.train.state = state;
  options.train.accumulate = parts;
  options.train.batch_size = step_samples / parts;
  options.train.shard = {rank, processes, parts};
  options.train.device.kind = DeviceChoice::Kind::cpu;
  return options;
}

at::Tensor bits(const at::Tensor& tensor) { return tensor.reshape({-1}).view(at::kByte).clone(); }

TEST(PartStates, LieOutsideTheModelWhoseBuffersKeepTheirAddresses) {
  PartsModel model;
  const void* address = model.memory.const_data_ptr();
  PartStates parts(model, parts_options(StateRule::separate, 0, 1, 3).train);
  ASSERT_EQ(parts.own(), 3);
  for (int step = 0; step < 2; ++step) {
    for (int64_t part = 0; part < 3; ++part) {
      parts.begin(part);
      model.forward(at::ones({1, 3}, at::kDouble) * static_cast<double>(part + 1));
      parts.end(part);
    }
    parts.end_step(nullptr);
    EXPECT_EQ(model.passes.item<int64_t>(), step + 1) << "each part counts its own passes";
  }
  EXPECT_EQ(model.memory.const_data_ptr(), address);
  EXPECT_EQ(model.memory[0].item<double>(), 1.5) << "the model has part 0's";
  const io::TensorMap states = parts.states();
  ASSERT_EQ(states.size(), 4U) << "part 0's is the model's";
  EXPECT_EQ(states.at("part.1/memory")[0].item<double>(), 3);
  EXPECT_EQ(states.at("part.2/memory")[0].item<double>(), 4.5);
  EXPECT_EQ(states.at("part.2/passes").item<int64_t>(), 2);
}

TEST(PartStates, OfTheFirstAlonePart0IsKept) {
  PartsModel model;
  PartStates parts(model, parts_options(StateRule::first, 0, 1, 3).train);
  for (int step = 0; step < 2; ++step) {
    const double before = model.memory[0].item<double>();
    for (int64_t part = 0; part < 3; ++part) {
      parts.begin(part);
      EXPECT_EQ(model.memory[0].item<double>(), before) << "all begin with what part 0 left";
      model.forward(at::ones({1, 3}, at::kDouble) * static_cast<double>(part + 1));
      parts.end(part);
    }
    parts.end_step(nullptr);
    EXPECT_EQ(model.passes.item<int64_t>(), step + 1);
    EXPECT_EQ(model.memory[0].item<double>(), 0.5 * before + 1);
  }
  EXPECT_TRUE(parts.states().empty());
}

TEST(PartStates, TakeAsManyBytesAsIsSaid) {
  const PartsModel model;
  constexpr int64_t kState = 3 * 8 + 8;
  const auto bytes = [&](StateRule state, int64_t processes, int64_t parts) {
    const PartStateBytes found = part_state_bytes(model, parts_options(state, 0, processes, parts).train);
    return std::pair(found.in_memory / kState, found.in_checkpoint / kState);
  };
  EXPECT_EQ(bytes(StateRule::shared, 1, 1), std::pair(0L, 0L));
  EXPECT_EQ(bytes(StateRule::shared, 2, 1), std::pair(0L, 0L));
  EXPECT_EQ(bytes(StateRule::separate, 1, 3), std::pair(3L, 2L));
  EXPECT_EQ(bytes(StateRule::separate, 2, 2), std::pair(2L, 3L)) << "of each process; a checkpoint has those of all";
  EXPECT_EQ(bytes(StateRule::separate, 2, 1), std::pair(0L, 1L)) << "the model has the only one";
  EXPECT_EQ(bytes(StateRule::first, 1, 3), std::pair(2L, 0L)) << "part 0's, and the one that all begin with";
  EXPECT_EQ(bytes(StateRule::first, 1, 8), std::pair(2L, 0L)) << "however many parts there are";
  EXPECT_EQ(bytes(StateRule::first, 2, 1), std::pair(0L, 0L));
}

// What is asked of the disk before the first step is what the first checkpoint takes.
TEST(PartStates, AreInTheSpaceThatACheckpointNeeds) {
  for (const StateRule state : {StateRule::shared, StateRule::separate, StateRule::first})
    for (const double decay : {0.0, 0.9}) {
      Options options = parts_options(state, 0, 1, state == StateRule::shared ? 1 : 4);
      options.optimizer.kind = OptimizerOptions::Kind::adamw;
      options.train.ema_decay = decay;
      options.train.ema_renew_states = 0;
      PartsTask task(options.train);
      LiveRun live(task, options);
      const int64_t expected = live.expected_checkpoint_bytes();
      live.advance();
      const Checkpoint checkpoint = live.capture();
      int64_t saved = 0;
      for (const io::TensorMap* tensors : {&checkpoint.model, &checkpoint.ema, &checkpoint.parts})
        for (const auto& [name, tensor] : *tensors) saved += static_cast<int64_t>(tensor.nbytes());
      constexpr int64_t kMoments = 2 * 6 * 8;  // of the weight
      EXPECT_EQ(expected, saved + kMoments) << static_cast<int>(state) << ", " << decay;
      EXPECT_EQ(checkpoint.parts.empty(), state != StateRule::separate);
    }
}

/// Counts its passes in a buffer, and knows on the host whether there were any.
class FlaggedPart : public torch::nn::Module, public ops::HostFlag {
 public:
  FlaggedPart() { passes = register_buffer("passes", at::zeros({}, at::kLong)); }
  bool host_flag() const override {
    if (!flag_) ++reads_;
    return flag_.value_or(passes.item<int64_t>() > 0);
  }
  void set_host_flag(bool flag) override { flag_ = flag; }
  /// The flag is to be the buffer's.
  void pass() {
    EXPECT_EQ(host_flag(), passes.item<int64_t>() > 0);
    passes.add_(1);
    flag_ = true;
  }
  int64_t reads() const { return reads_; }

  at::Tensor passes;

 private:
  std::optional<bool> flag_ = false;
  mutable int64_t reads_ = 0;
};

struct FlaggedModel : torch::nn::Module {
  FlaggedModel() { part = register_module("part", std::make_shared<FlaggedPart>()); }
  std::shared_ptr<FlaggedPart> part;
};

// A part that has had no pass yet must not take another part's word for it.
TEST(PartStates, WhatAModuleKnowsOfItsBuffersGoesWithThem) {
  for (const StateRule state : {StateRule::separate, StateRule::first}) {
    FlaggedModel model;
    PartStates parts(model, parts_options(state, 0, 1, 3).train);
    for (int64_t step = 0; step < 3; ++step) {
      for (int64_t part = 0; part < 3; ++part) {
        parts.begin(part);
        if (part < 2 || step > 1) model.part->pass();
        parts.end(part);
      }
      parts.end_step(nullptr);
    }
    EXPECT_EQ(model.part->reads(), 0) << "nothing is read from a device";
  }
}

TEST(PartStates, DrawAsTheProcessesOfARunDo) {
  PartsModel model;
  at::manual_seed(11);
  const at::Tensor before = random_state(model).at("cpu");
  std::array<std::vector<at::Tensor>, 3> expected;  // of process r
  for (int64_t rank = 0; rank < 3; ++rank) {
    if (rank > 0) seed_draws(11, rank);
    if (rank == 0) at::manual_seed(11);
    for (int step = 0; step < 2; ++step) expected[static_cast<size_t>(rank)].push_back(at::rand({4}));
  }
  at::manual_seed(11);
  TrainOptions options = parts_options(StateRule::first, 0, 1, 3).train;
  options.seed = 11;
  PartStates parts(model, options);
  EXPECT_TRUE(random_state(model).at("cpu").equal(before)) << "it draws nothing itself";
  io::TensorMap saved;
  const auto step = [&](size_t number) {
    for (int64_t part = 0; part < 3; ++part) {
      parts.begin(part);
      EXPECT_TRUE(at::rand({4}).equal(expected[static_cast<size_t>(part)][number])) << part << ", step " << number;
      parts.end(part);
    }
    parts.end_step(nullptr);
  };
  step(0);
  saved = parts.generators();
  EXPECT_EQ(saved.size(), 3U);
  step(1);
  EXPECT_TRUE(parts.load({}, saved));
  step(1);
}

TEST(PartStates, RefuseStatesThatAreNotTheirs) {
  PartsModel model;
  PartStates parts(model, parts_options(StateRule::separate, 0, 1, 2).train);
  const io::TensorMap generators = parts.generators(), states = parts.states();
  io::TensorMap lacks = states, other = states;
  lacks.erase("part.1/passes");
  other.at("part.1/memory") = at::zeros({4}, at::kDouble);
  EXPECT_NE(test::thrown_message<std::runtime_error>([&] { parts.load(lacks, generators); }).find("passes of part 1"),
            std::string::npos);
  EXPECT_NE(test::thrown_message<std::runtime_error>([&] { parts.load(other, generators); }).find("memory of part 1"),
            std::string::npos);
  EXPECT_TRUE(parts.load(states, generators));
}

// Zeros with a sign, numbers that are NaN, counters: what process 0 has, bit by bit.
TEST(PartStates, TheFirstsReachesAllProcessesBitByBit) {
  std::array<std::unique_ptr<PartsModel>, 2> models;
  for (auto& model : models) model = std::make_unique<PartsModel>();
  models[0]->memory.copy_(at::tensor({-0.0, std::nan(""), 1e-310}, at::kDouble));
  models[0]->passes.fill_((int64_t{1} << 53) + 1);
  test::play_well(2, [&](const std::shared_ptr<processes::ProcessGroup>& own) {
    PartsModel& model = *models[static_cast<size_t>(own->rank())];
    PartStates parts(model, parts_options(StateRule::first, own->rank(), 2, 1).train);
    parts.begin(0);
    parts.end(0);
    parts.end_step(own.get());
  });
  EXPECT_TRUE(bits(models[0]->memory).equal(bits(models[1]->memory)));
  EXPECT_TRUE(std::signbit(models[1]->memory[0].item<double>()));
  EXPECT_EQ(models[1]->passes.item<int64_t>(), (int64_t{1} << 53) + 1);
}

/// What a run leaves: weights, and the state of each part by its number.
struct LeftByParts {
  at::Tensor weight;
  std::map<int64_t, at::Tensor> memories, passes;
  double loss = 0;
};

/// Trains all steps in processes that threads play, from a checkpoint if there is one, and may leave one.
LeftByParts trained_parts(StateRule state, int64_t processes, int64_t parts, int64_t steps, double dropout = 0,
                          const Checkpoint* from = nullptr, Checkpoint* to = nullptr) {
  LeftByParts left;
  std::vector<std::unique_ptr<PartsTask>> tasks;
  for (int64_t rank = 0; rank < processes; ++rank)
    tasks.push_back(std::make_unique<PartsTask>(parts_options(state, rank, processes, parts).train, dropout));
  const auto train = [&](int64_t rank, const std::shared_ptr<processes::ProcessGroup>& own) {
    PartsTask& task = *tasks[static_cast<size_t>(rank)];
    LiveRun live(task, parts_options(state, rank, processes, parts), own);
    if (from != nullptr) live.restore(*from);
    StepSummary result;
    for (int64_t step = 0; step < steps; ++step) result = live.advance();
    Checkpoint checkpoint;
    if (rank == 0) {
      checkpoint = live.capture();
    } else {
      live.send_state();
      return;
    }
    left.weight = task.parts_model().weight.detach().clone();
    left.loss = means(result.sums).find("loss").value();
    left.memories[0] = checkpoint.model.at("memory").clone();
    left.passes[0] = checkpoint.model.at("passes").clone();
    for (int64_t part = 1; state == StateRule::separate && part < processes * parts; ++part) {
      const std::string prefix = "part." + std::to_string(part) + "/";
      left.memories[part] = checkpoint.parts.at(prefix + "memory").clone();
      left.passes[part] = checkpoint.parts.at(prefix + "passes").clone();
    }
    if (to != nullptr) *to = checkpoint;
  };
  if (processes == 1)
    train(0, nullptr);
  else
    test::play_well(processes, [&](const std::shared_ptr<processes::ProcessGroup>& own) { train(own->rank(), own); });
  return left;
}

void expect_near(const LeftByParts& one, const LeftByParts& other, double bound, const std::string& what) {
  const auto apart = [](const at::Tensor& a, const at::Tensor& b) {
    return (a.to(at::kDouble) - b.to(at::kDouble)).abs().max().item<double>();
  };
  EXPECT_LE(apart(one.weight, other.weight), bound) << what;
  EXPECT_NEAR(one.loss, other.loss, bound) << what;
  ASSERT_EQ(one.memories.size(), other.memories.size()) << what;
  for (const auto& [part, memory] : one.memories) {
    EXPECT_LE(apart(memory, other.memories.at(part)), bound) << what << ", part " << part;
    EXPECT_TRUE(one.passes.at(part).equal(other.passes.at(part))) << what << ", part " << part;
  }
}

/// The definition, written out: parts one after the other, each with a memory of its own or with part 0's.
LeftByParts twin(StateRule state, int64_t parts, int64_t steps) {
  const Options options = parts_options(state, 0, 1, 1);
  PartsTask task(options.train);
  const double rate = options.optimizer.learning_rate;
  at::Tensor weight = task.parts_model().weight.detach().clone();
  std::vector<at::Tensor> memories(static_cast<size_t>(parts), at::zeros({3}, at::kDouble));
  std::vector<int64_t> passes(static_cast<size_t>(parts), 0);
  LeftByParts left;
  for (int64_t step = 0; step < steps; ++step) {
    const int64_t per_epoch = task.order->batches();
    const std::vector<int64_t> whole = task.order->epoch(step / per_epoch).place(step % per_epoch).indices();
    at::Tensor gradient = at::zeros({2, 3}, at::kDouble);
    double loss = 0;
    const at::Tensor begun = memories[0].clone();
    for (int64_t part = 0; part < parts; ++part) {
      std::vector<int64_t> own;
      for (auto i = static_cast<size_t>(part); i < whole.size(); i += static_cast<size_t>(parts))
        own.push_back(whole[i]);
      if (own.empty()) continue;
      at::Tensor& memory = memories[static_cast<size_t>(part)];
      const at::Tensor held = state == StateRule::first ? begun : memory;
      const at::Tensor indices = at::tensor(own, at::kLong), rows = task.rows.index_select(0, indices);
      const at::Tensor inputs = rows - held;
      const at::Tensor errors = inputs.matmul(weight.t()) - task.targets.index_select(0, indices);
      gradient = gradient + 2 * errors.t().matmul(inputs);
      loss += errors.square().sum().item<double>();
      memory = 0.5 * held + rows.mean(0);
      ++passes[static_cast<size_t>(part)];
    }
    weight = weight - rate * gradient / static_cast<double>(whole.size());
    left.loss = loss / static_cast<double>(whole.size());
  }
  left.weight = weight;
  for (int64_t part = 0; part < (state == StateRule::first ? 1 : parts); ++part) {
    left.memories[part] = memories[static_cast<size_t>(part)];
    left.passes[part] = at::full({}, passes[static_cast<size_t>(part)], at::kLong);
  }
  return left;
}

// The rate is constant, and a step is gradient descent. 8 rows, 8 rows and 1 row make an epoch.
TEST(PartStates, ARunIsThatOfItsDefinition) {
  for (const StateRule state : {StateRule::separate, StateRule::first})
    for (const int64_t parts : {1, 2, 4}) {
      const LeftByParts left = trained_parts(state, 1, parts, 7);
      const LeftByParts expected = twin(state, parts, 7);
      expect_near(left, expected, kPartsRounding, std::to_string(parts) + " parts");
      if (state == StateRule::first || parts < 4) continue;
      EXPECT_EQ(left.passes.at(3).item<int64_t>(), 5) << "a part without samples keeps its state";
    }
}

TEST(PartStates, NDependsOnNoSpread) {
  for (const StateRule state : {StateRule::separate, StateRule::first}) {
    const LeftByParts one = trained_parts(state, 1, 4, 8);
    expect_near(one, trained_parts(state, 2, 2, 8), kPartsRounding, "two processes");
    expect_near(one, trained_parts(state, 4, 1, 8), kPartsRounding, "four processes");
    const LeftByParts two = trained_parts(state, 1, 2, 8), apart = trained_parts(state, 2, 1, 8);
    expect_near(two, apart, 0, "two parts, bit by bit");
  }
}

TEST(PartStates, AResumeMaySpreadThemOtherwise) {
  for (const StateRule state : {StateRule::separate, StateRule::first}) {
    const LeftByParts whole = trained_parts(state, 1, 4, 8);
    Checkpoint half;
    trained_parts(state, 2, 2, 4, 0, nullptr, &half);  // in the middle of an epoch
    EXPECT_EQ(half.state.parts, 4);
    EXPECT_EQ(half.state.batch, 2);
    for (const int64_t processes : {1, 2, 4})
      expect_near(whole, trained_parts(state, processes, 4 / processes, 4, 0, &half), kPartsRounding,
                  std::to_string(processes) + " processes");
  }
}

TEST(PartStates, AResumedRunDrawsAsItWouldHave) {
  for (const StateRule state : {StateRule::separate, StateRule::first}) {
    at::manual_seed(1);
    const LeftByParts whole = trained_parts(state, 1, 2, 8, 0.5);
    Checkpoint half;
    trained_parts(state, 1, 2, 4, 0.5, nullptr, &half);
    at::manual_seed(77);
    expect_near(whole, trained_parts(state, 1, 2, 4, 0.5, &half), 0, "bit by bit");
  }
}

TEST(PartStates, AnotherNumberOfPartsIsRefused) {
  Checkpoint checkpoint, shared;
  trained_parts(StateRule::separate, 1, 4, 2, 0, nullptr, &checkpoint);
  trained_parts(StateRule::shared, 1, 1, 2, 0, nullptr, &shared);
  const auto refusal = [&](const Checkpoint& from, StateRule state, int64_t parts) {
    return test::thrown_message<std::runtime_error>([&] { trained_parts(state, 1, parts, 1, 0, &from); });
  };
  const std::string other = refusal(checkpoint, StateRule::separate, 2);
  EXPECT_NE(other.find("4 parts in a step (1 process x train.accumulate 4)"), std::string::npos) << other;
  EXPECT_NE(other.find("--set train.accumulate=4"), std::string::npos) << other;
  EXPECT_NE(refusal(checkpoint, StateRule::shared, 1).find("one state for all"), std::string::npos);
  EXPECT_NE(refusal(shared, StateRule::first, 2).find("one state for all"), std::string::npos);
}

TEST(PartStates, OtherStatesInAnotherProcessAreNoDisagreement) {
  Checkpoint checkpoint;
  trained_parts(StateRule::separate, 2, 1, 3, 0, nullptr, &checkpoint);
  EXPECT_FALSE(checkpoint.parts.at("part.1/memory").equal(checkpoint.model.at("memory")));
  trained_parts(StateRule::first, 2, 1, 3, 0, nullptr, &checkpoint);
  EXPECT_TRUE(checkpoint.parts.empty());
}

}  // namespace
}  // namespace cachet::train
