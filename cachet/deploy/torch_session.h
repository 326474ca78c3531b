#pragma once

#include <memory>

#include "cachet/models/model.h"
#include "cachet/runtime/session.h"

namespace cachet::deploy {

/// Makes a session that runs a classifier on LibTorch, without gradients. Weights have the requested precision, and the
/// weights of linear layers are converted once to oneDNN's layout. Inputs are as in make_portable(). The session owns
/// the model and changes its parameters. Throws c10::Error for a model in training mode.
std::unique_ptr<runtime::Session> make_torch_session(std::shared_ptr<models::Model> model,
                                                     const runtime::SessionOptions& options);

}  // namespace cachet::deploy
