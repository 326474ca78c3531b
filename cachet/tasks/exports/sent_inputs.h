#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <filesystem>
#include <vector>

#include "cachet/models/model.h"

namespace cachet::tasks {

/// The tensors that a classifier takes, in the order of deploy::inputs_of().
using ClassifierInputs = std::vector<at::Tensor>;

/// The samples of a batch, each as a batch of one. Sequences end where their padding begins; a sequence of padding
/// alone keeps one token.
std::vector<ClassifierInputs> split_batch(const ClassifierInputs& batch);

/// One batch of several samples. Sequences are padded to the longest.
ClassifierInputs join_samples(const std::vector<ClassifierInputs>& samples);

/// Samples drawn from noise, the same for every model of these sizes. Sequences have lengths from 1 to the maximum.
std::vector<ClassifierInputs> synthetic_samples(const models::Model& model, int64_t count);

/// Inputs that users send, made of at least one sample: the first samples alone, batches of 2, 3 and 7 samples, and, of
/// sequences, single ones of lengths from 1 to the model's maximum.
std::vector<ClassifierInputs> sent_inputs(const models::Model& model, const std::vector<ClassifierInputs>& samples);

/// PNG files in a folder. Of noise: images of one pixel, of odd sizes, smaller and larger than the model's, grey and in
/// colour. Of one colour: red, green, blue, black and white. Throws io::Error if a file cannot be written.
std::vector<std::filesystem::path> write_odd_images(const std::filesystem::path& folder, int64_t height, int64_t width);

}  // namespace cachet::tasks
