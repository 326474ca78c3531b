#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/full.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>

#include "cachet/io/error.h"
#include "cachet/train/checkpoints/checkpoint_store.h"
#include "tests/support/checkpoints.h"
#include "tests/support/power_cut.h"
#include "tests/support/recording_file_system.h"
#include "tests/support/temporary_directory.h"

namespace cachet::train {
namespace {

namespace fs = std::filesystem;
using test::RecordingFileSystem;
using test::TemporaryDirectory;

constexpr int64_t kFaultOld = 10, kFaultNew = 20;

Checkpoint fault_checkpoint(int64_t step) {
  Checkpoint checkpoint;
  checkpoint.model = {{"weight", at::full({8, 8}, step)}};
  checkpoint.optimizer = {{"weight.exp_avg", at::arange(64).to(at::kFloat) + step}};
  checkpoint.random = {{"cpu", at::full({16}, step).to(at::kByte)}};
  checkpoint.state.step = step;
  return checkpoint;
}

/// A run with two checkpoints, of which the next save removes one.
void prepare_saves(const fs::path& folder) {
  CheckpointStore store(folder, "run", 1);
  store.save(test::the_best(fault_checkpoint(5)));
  store.save(test::the_best(fault_checkpoint(kFaultOld)));
}

/// Saves into the folder, and then adds that it is the best one; true if that went well, in all its parts.
bool save_new(const fs::path& folder, RecordingFileSystem& file_system, std::string* message = nullptr) {
  try {
    CheckpointStore store(folder, "run", 1, file_system);
    Checkpoint checkpoint = test::the_best(fault_checkpoint(kFaultOld));
    checkpoint.state.step = kFaultNew;
    checkpoint.state.evaluated = false;
    checkpoint.model = fault_checkpoint(kFaultNew).model;
    checkpoint.optimizer = fault_checkpoint(kFaultNew).optimizer;
    const auto saved = store.save(checkpoint);
    const auto marked = store.mark(saved.folder, evaluation_mark_of(test::the_best(fault_checkpoint(kFaultNew)).state));
    for (const std::vector<std::string>& reasons : {saved.not_removed, marked.not_removed}) {
      for (const std::string& reason : reasons) {
        EXPECT_TRUE(fs::exists(saved.folder)) << "it is there, and what is old could not be removed";
        if (message != nullptr) *message += reason;
      }
    }
    return saved.not_removed.empty() && marked.not_removed.empty();
  } catch (const io::Error& error) {
    if (message != nullptr) *message = error.what();
  } catch (const RecordingFileSystem::Died&) {
  }
  return false;
}

/// The step that a resume finds, all tensors checked; the pointers name it afterwards and nothing half done is left.
int64_t resumed_step(const fs::path& folder) {
  CheckpointStore store(folder, "run", 1);
  const auto found = store.resume();
  if (!found) return -1;
  EXPECT_TRUE(store.refused().empty()) << store.refused().front();
  const int64_t step = found->checkpoint.state.step;
  EXPECT_TRUE(found->checkpoint.model.at("weight").equal(at::full({8, 8}, step)));
  EXPECT_TRUE(found->checkpoint.optimizer.at("weight.exp_avg").equal(at::arange(64).to(at::kFloat) + step));
  EXPECT_EQ(store.last(), found->folder);
  const bool marked = found->checkpoint.state.evaluated;
  EXPECT_EQ(marked || step == kFaultNew, true) << "the earlier checkpoint was evaluated";
  EXPECT_EQ(store.best(), folder / checkpoint_name(step == kFaultNew && marked ? kFaultNew : kFaultOld));
  EXPECT_EQ(found->checkpoint.state.best_step, step_of_checkpoint(*store.best()));
  for (const auto& entry : fs::directory_iterator(found->folder))
    EXPECT_FALSE(entry.path().filename().string().starts_with(".")) << entry.path();
  for (const auto& entry : fs::directory_iterator(folder)) {
    EXPECT_FALSE(entry.path().filename().string().starts_with(".")) << entry.path();
  }
  return step;
}

size_t calls_of_a_save() {
  const TemporaryDirectory folder;
  prepare_saves(folder.path());
  RecordingFileSystem file_system;
  EXPECT_TRUE(save_new(folder.path(), file_system));
  return file_system.calls().size();
}

TEST(CheckpointFaults, EveryCallThatFailsIsReportedAndLeavesAWholeCheckpoint) {
  const size_t calls = calls_of_a_save();
  ASSERT_GT(calls, 40U);
  bool not_removed = false;
  for (const int error : {EIO, ENOSPC, EDQUOT}) {
    for (size_t index = 0; index < calls; ++index) {
      const TemporaryDirectory folder;
      prepare_saves(folder.path());
      RecordingFileSystem file_system;
      file_system.fail_at(index, error);
      std::string message;
      EXPECT_FALSE(save_new(folder.path(), file_system, &message)) << "call " << index << " failed unnoticed";
      SCOPED_TRACE("call " + std::to_string(index) + ": " + message);
      const bool not_saved = message.find("could not be saved") != std::string::npos;
      not_removed |= !not_saved;
      EXPECT_NE(message.find(not_saved ? (folder / "step-00000020").string() : "step-0000"), std::string::npos);
      const bool of_folder = message.find("the result of the evaluation") != std::string::npos &&
                             message.find("the folder") != std::string::npos;  // names no bytes
      EXPECT_EQ(message.find(" bytes") != std::string::npos, not_saved && !of_folder);
      EXPECT_NE(message.find(std::strerror(error)), std::string::npos);
      const int64_t step = resumed_step(folder.path());
      EXPECT_TRUE(step == kFaultOld || step == kFaultNew) << step;
    }
  }
  EXPECT_TRUE(not_removed) << "an older checkpoint";
}

TEST(CheckpointFaults, AProcessThatDiesAtAnyCallLeavesAWholeCheckpoint) {
  const size_t calls = calls_of_a_save();
  bool saw_old = false, saw_new = false;
  for (size_t index = 0; index + 1 < calls; ++index) {
    const TemporaryDirectory folder;
    prepare_saves(folder.path());
    RecordingFileSystem file_system;
    file_system.die_after(index);
    EXPECT_FALSE(save_new(folder.path(), file_system));
    const int64_t step = resumed_step(folder.path());
    saw_old |= step == kFaultOld;
    saw_new |= step == kFaultNew;
    EXPECT_TRUE(step == kFaultOld || step == kFaultNew) << "call " << index << ": step " << step;
  }
  EXPECT_TRUE(saw_old && saw_new);
}

TEST(CheckpointFaults, APowerCutAtAnyCallLeavesAWholeCheckpoint) {
  const TemporaryDirectory folder;
  fs::create_directory(folder / "disk");
  prepare_saves(folder / "disk");
  test::PowerCutDisk disk(folder / "disk");
  RecordingFileSystem file_system;
  ASSERT_TRUE(save_new(folder / "disk", file_system));
  bool saw_old = false, saw_new = false;
  int64_t newest = kFaultOld;
  for (const auto& call : file_system.calls()) {
    disk.apply(call);
    for (uint32_t seed = 0; seed < 8; ++seed) {
      const fs::path state = folder / "state";
      disk.materialise(state, seed);
      CheckpointStore store(state, "run", 1);
      const auto found = store.resume();
      ASSERT_TRUE(found);
      const int64_t step = found->checkpoint.state.step;
      EXPECT_TRUE(step == kFaultOld || step == kFaultNew) << step;
      saw_old |= step == kFaultOld;
      saw_new |= step == kFaultNew;
      if (seed == 0) {
        EXPECT_GE(step, newest) << "what was on the disk once is lost";
        newest = step;
      }
      fs::remove_all(state);
    }
  }
  EXPECT_TRUE(saw_old && saw_new);
  EXPECT_EQ(newest, kFaultNew) << "a save is on the disk when it returns";
}

TEST(CheckpointFaults, AFullDiskIsNoticedBeforeAnythingIsWritten) {
  class FullDisk : public io::FileSystem {
   public:
    int free_bytes(const fs::path&, uint64_t* bytes) override {
      *bytes = 1000;
      return 0;
    }
    int mkdir(const fs::path&, mode_t) override {
      ADD_FAILURE() << "something was written";
      return -1;
    }
  } file_system;
  const TemporaryDirectory folder;
  CheckpointStore store(folder.path(), "run", 1, file_system);
  try {
    store.save(fault_checkpoint(1));
    FAIL() << "nothing was thrown";
  } catch (const io::Error& error) {
    EXPECT_NE(std::string(error.what()).find("1000 bytes"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace cachet::train
