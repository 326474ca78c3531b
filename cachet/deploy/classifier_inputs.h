#pragma once

#include <vector>

#include "cachet/models/model.h"
#include "cachet/runtime/export_manifest.h"

namespace cachet::deploy {

/// Returns the inputs of a classifier: "images"; for sequences "ids", "padding" and, for pairs, "second_ids",
/// "second_padding". Batch and length are free; ids have the limits of the model. Throws c10::Error for other models.
std::vector<runtime::ExportedInput> inputs_of(const models::Model& model);

/// Returns synthetic tensors of these names: numbers from a normal distribution, ids from a uniform one. `lengths`: one
/// for sequences, two for pairs; empty: the longest length that the model accepts. The last token of a sequence of
/// several is padding.
std::vector<at::Tensor> sample_inputs(const models::Model& model, int64_t batch,
                                      const std::vector<int64_t>& lengths = {});

/// Returns the scores (N, classes) of a classifier for the tensors that inputs_of() names. Throws c10::Error for
/// another number of tensors.
at::Tensor classify(models::Model& model, const std::vector<at::Tensor>& inputs);

/// Returns the same for a session, whose floating-point inputs are float32.
at::Tensor classify(runtime::Session& session, std::vector<at::Tensor> inputs);

/// Returns the element type for passing a tensor to a session: floating point of any width becomes float32.
runtime::Element element_of(const at::Tensor& tensor);
at::ScalarType dtype_of(runtime::Element element);

}  // namespace cachet::deploy
