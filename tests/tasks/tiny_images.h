#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "cachet/data/random.h"
#include "cachet/tasks/image_classification/image_classification.h"
#include "cachet/tasks/recipe.h"
#include "cachet/train/machine/process_setup.h"
#include "cachet/train/runs/run_folder.h"
#include "cachet/train/trainer.h"

namespace cachet::test {

inline constexpr int64_t kTinyTraining = 96, kTinyTest = 33, kTinySide = 8, kTinyClasses = 4;

inline void write_big_endian(std::ofstream& file, uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) file.put(static_cast<char>(value >> shift));
}

/// One split of noise in four classes, by which columns of every patch are brighter, as IDX files.
inline void write_tiny_split(const std::filesystem::path& folder, const std::string& prefix, int64_t count) {
  data::CounterRandom random(11, data::RandomStream::subset, 0, static_cast<uint64_t>(count));
  std::ofstream images(folder / (prefix + "-images-idx3-ubyte"), std::ios::binary);
  std::ofstream labels(folder / (prefix + "-labels-idx1-ubyte"), std::ios::binary);
  for (const uint32_t value : {0x803U, static_cast<uint32_t>(count), 8U, 8U}) write_big_endian(images, value);
  for (const uint32_t value : {0x801U, static_cast<uint32_t>(count)}) write_big_endian(labels, value);
  for (int64_t i = 0; i < count; ++i) {
    const int64_t label = i % kTinyClasses;
    labels.put(static_cast<char>(label));
    for (int64_t y = 0; y < kTinySide; ++y)
      for (int64_t x = 0; x < kTinySide; ++x)
        images.put(static_cast<char>(random.below(100) + (x % 4 == label ? 120 : 0)));
  }
}

inline void write_tiny_images(const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  write_tiny_split(folder, "train", kTinyTraining);
  write_tiny_split(folder, "t10k", kTinyTest);
}

/// A cached vision transformer with all that draws random numbers or keeps state; 12 steps an epoch.
inline std::string tiny_recipe(const std::filesystem::path& images) {
  return "[data]\nroot = \"" + images.string() + R"("
kind = "idx"
classes = 4
workers = 0
[data.mixing]
mixup = 0.2
probability = 0.3
label_smoothing = 0.05
[model]
name = "vit_tiny_patch16_224"
image_size = 8
patch_size = 4
embed_dim = 16
depth = 2
num_heads = 2
dropout = 0.05
stochastic_depth = 0.1
[model.cache]
kind = "grc"
[model.norm]
kind = "un"
warmup = 4
[train]
epochs = 6
batch_size = 8
threads = 1
log_every = "4 steps"
clip_norm = 1.0
[optimizer]
lr = 0.005
[schedule]
kind = "constant"
)";
}

inline config::Document tiny_document(const std::filesystem::path& images,
                                      const std::vector<std::string>& settings = {}) {
  config::Document document = config::Document::from_text(tiny_recipe(images), "tiny.toml");
  for (const std::string& setting : settings) document.set(setting);
  return document;
}

inline const tasks::ImageClassificationPlan& image_plan(const tasks::RecipePlan& plan) {
  return dynamic_cast<const tasks::ImageClassificationPlan&>(*plan.task);
}

/// The task as one of images.
inline std::unique_ptr<tasks::ImageClassification> as_images(std::unique_ptr<tasks::Task> task) {
  auto& images = dynamic_cast<tasks::ImageClassification&>(*task);
  task.release();
  return std::unique_ptr<tasks::ImageClassification>(&images);
}

/// Makes the run folder, or resumes it, and trains a Task in it.
template <class Task = tasks::ImageClassification>
train::Outcome train_tiny(const std::filesystem::path& images, const std::filesystem::path& run,
                          const std::vector<std::string>& settings = {}) {
  config::Document document = tiny_document(images, settings);
  const tasks::RecipePlan plan = tasks::read_recipe(document);
  train::prepare_process(plan.training.train);
  Task task(image_plan(plan), plan.training.train);
  train::RunFolder folder =
      std::filesystem::exists(run)
          ? train::RunFolder::resume(run, document, {"cachet", "train", "--resume"})
          : train::RunFolder::create(run, {"tiny", tiny_recipe(images)}, document, {"cachet", "train"});
  return train::Trainer(task, plan.training, folder, nullptr).run();
}

}  // namespace cachet::test
