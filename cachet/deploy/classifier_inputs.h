#pragma once

#include <vector>

#include "cachet/models/model.h"
#include "cachet/runtime/export_manifest.h"

namespace cachet::deploy {

/// Returns the inputs of a classifier: "images", or for sequences "ids" and "padding", and for pairs also "second_ids"
/// and "second_padding". The batch size and the length of sequences are not fixed. Each input of token ids states the
/// model's limits (longest sequence, vocabulary). If the model is not a classifier, throws c10::Error.
std::vector<runtime::ExportedInput> inputs_of(const models::Model& model);

/// Returns synthetic tensors for inputs_of(): normally distributed numbers, and uniformly distributed ids. `lengths`:
/// one length for sequences, or two for pairs; empty for the longest length that the model accepts. If a synthetic
/// sequence has two or more tokens, its last token is marked as padding.
std::vector<at::Tensor> sample_inputs(const models::Model& model, int64_t batch,
                                      const std::vector<int64_t>& lengths = {});

/// Returns a classifier's scores (N, classes) for the tensors of inputs_of(). Throws c10::Error if the number of
/// tensors is not the number of the model's inputs.
at::Tensor classify(models::Model& model, const std::vector<at::Tensor>& inputs);

/// Returns a session's scores (N, classes). Floating-point inputs are passed to the session as float32.
at::Tensor classify(runtime::Session& session, std::vector<at::Tensor> inputs);

/// Returns the element type with which a session receives a tensor: floating point of any width becomes float32.
runtime::Element element_of(const at::Tensor& tensor);
at::ScalarType dtype_of(runtime::Element element);

}  // namespace cachet::deploy
