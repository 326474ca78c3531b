#pragma once

/// Inference: models in evaluation (train::InferenceScope), saved runs, decoders of translations and texts, folding and
/// freezing of models, and sessions of exported models. Link cachet::cachet. A program that only runs exported models
/// does not need LibTorch: it links cachet::runtime and includes only cachet/runtime/exported_classifier.h.

#include "cachet/deploy/equality.h"
#include "cachet/deploy/rewrite.h"
#include "cachet/deploy/torch_session.h"
#include "cachet/models/language/beam_search.h"
#include "cachet/models/language/greedy_decoding.h"
#include "cachet/models/language/sampled_decoding.h"
#include "cachet/models/language/token_generator.h"
#include "cachet/runtime/exported_classifier.h"
#include "cachet/runtime/open_session.h"
#include "cachet/tasks/saved_run.h"
#include "cachet/train/inference/inference_scope.h"
