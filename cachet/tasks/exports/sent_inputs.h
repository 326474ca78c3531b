#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <filesystem>
#include <vector>

#include "cachet/models/model.h"

namespace cachet::tasks {

/// The input tensors of a classifier, in the order of deploy::inputs_of().
using ClassifierInputs = std::vector<at::Tensor>;

/// Splits a batch into batches of one sample. Removes the padding of sequences; a sequence of only padding becomes one
/// token.
std::vector<ClassifierInputs> split_batch(const ClassifierInputs& batch);

/// Joins several samples into one batch. Pads sequences to the longest.
ClassifierInputs join_samples(const std::vector<ClassifierInputs>& samples);

/// Makes samples of noise, equal for models with equal input sizes. Sequences have lengths from 1 to the maximum.
std::vector<ClassifierInputs> synthetic_samples(const models::Model& model, int64_t count);

/// Makes inputs like those of users from the samples (at least one): the first samples, each as a batch of its own;
/// batches of 2, 3 and 7 samples; and, for sequences, single sequences of lengths from 1 to the model's maximum.
std::vector<ClassifierInputs> sent_inputs(const models::Model& model, const std::vector<ClassifierInputs>& samples);

/// Writes PNG files into a folder: images of noise (of one pixel, of odd sizes, smaller and larger than the model's,
/// grey and in colour) and images of one colour (red, green, blue, black and white). Throws io::Error if writing fails.
std::vector<std::filesystem::path> write_odd_images(const std::filesystem::path& folder, int64_t height, int64_t width);

}  // namespace cachet::tasks
