#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "cachet/tasks/recipe.h"
#include "cachet/train/runs/earlier_values.h"
#include "cachet/train/runs/run_folder.h"
#include "cachet/train/trainer.h"
#include "tests/support/temporary_directory.h"

namespace cachet::test {

/// Trains a small recipe, with settings over it as --set has them, in a folder of the test's own.
class TinyRunTest : public ::testing::Test {
 protected:
  virtual std::string recipe() const = 0;

  config::Document document(const std::vector<std::string>& settings = {}) const {
    config::Document document = config::Document::from_text(recipe(), "tiny.toml");
    for (const std::string& setting : settings) document.set(setting);
    return document;
  }
  tasks::RecipePlan plan(const std::vector<std::string>& settings = {}) const {
    config::Document read = document(settings);
    return tasks::read_recipe(read);
  }
  /// Makes the run's folder, or resumes it.
  train::Outcome trained(const std::filesystem::path& run, const std::vector<std::string>& settings = {}) const {
    config::Document read = document(settings);
    const bool resumes = std::filesystem::exists(run);
    if (resumes) train::set_earlier_options(read, train::RunFolder::open(run).values());
    const tasks::RecipePlan made = tasks::read_recipe(read);
    const auto task = made.build();
    train::RunFolder folder = resumes ? train::RunFolder::resume(run, read, {"cachet", "train", "--resume"})
                                      : train::RunFolder::create(run, {"tiny", recipe()}, read, {"cachet", "train"});
    return train::Trainer(*task, made.training, folder, nullptr).run();
  }

  TemporaryDirectory folder_;
};

}  // namespace cachet::test
