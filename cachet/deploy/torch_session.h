#pragma once

#include <memory>

#include "cachet/models/model.h"
#include "cachet/runtime/session.h"

namespace cachet::deploy {

/// Runs a classifier on LibTorch: no gradients, its weights in the precision that is asked for, those of its linear
/// layers laid out once as oneDNN reads them. Inputs are what make_portable() names. The session keeps the model; its
/// parameters are changed. Throws c10::Error for a model in training mode.
std::unique_ptr<runtime::Session> make_torch_session(std::shared_ptr<models::Model> model,
                                                     const runtime::SessionOptions& options);

}  // namespace cachet::deploy
