#pragma once

#include <vector>

#include "cachet/models/model.h"
#include "cachet/runtime/export_manifest.h"

namespace cachet::deploy {

/// What a classifier takes: "images"; of sequences "ids", "padding" and, of pairs, "second_ids", "second_padding".
/// Batch and length are free; ids have the limits of the model. Throws c10::Error for other models.
std::vector<runtime::ExportedInput> inputs_of(const models::Model& model);

/// Synthetic tensors of these names: numbers from a normal distribution, ids from a uniform one. `lengths` of
/// sequences,
/// of pairs two; empty: the longest that the model takes. The last token of a sequence of several is padding.
std::vector<at::Tensor> sample_inputs(const models::Model& model, int64_t batch,
                                      const std::vector<int64_t>& lengths = {});

/// The scores (N, classes) of a classifier for the tensors that inputs_of() names. Throws c10::Error for another number
/// of them.
at::Tensor classify(models::Model& model, const std::vector<at::Tensor>& inputs);

/// The same of a session, whose floating-point inputs are float32.
at::Tensor classify(runtime::Session& session, std::vector<at::Tensor> inputs);

/// Of what numbers a session takes a tensor: floating point of any width as float32.
runtime::Element element_of(const at::Tensor& tensor);
at::ScalarType dtype_of(runtime::Element element);

}  // namespace cachet::deploy
