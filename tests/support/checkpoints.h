#pragma once

#include <gtest/gtest.h>

#include <filesystem>

#include "cachet/train/checkpoints/checkpoint_store.h"

namespace cachet::test {

/// The checkpoint that a run would continue from.
inline train::Checkpoint last_checkpoint(const std::filesystem::path& run) {
  return train::read_checkpoint(*train::CheckpointStore(run / "checkpoints", "", 1).last());
}

/// A checkpoint whose evaluation found it to be the best one.
inline train::Checkpoint the_best(train::Checkpoint checkpoint) {
  checkpoint.state.evaluated = true;
  checkpoint.state.best = 1;
  checkpoint.state.best_step = checkpoint.state.step;
  return checkpoint;
}

inline void expect_same_tensors(const io::TensorMap& left, const io::TensorMap& right) {
  ASSERT_EQ(left.size(), right.size());
  for (const auto& [name, tensor] : left) {
    ASSERT_TRUE(right.contains(name)) << name;
    EXPECT_TRUE(tensor.equal(right.at(name))) << name;
  }
}

}  // namespace cachet::test
