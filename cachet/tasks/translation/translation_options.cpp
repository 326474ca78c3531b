#include "cachet/tasks/translation/translation_options.h"

#include <stdexcept>

namespace cachet::tasks {

void check_translation(const TranslationOptions& options) {
  models::check_beam(options.beam);
  if (options.sampling) models::check_sampling(*options.sampling);
  if (options.max_tokens < 1) throw std::invalid_argument("max_tokens: must be at least 1");
  if (options.lines < 1) throw std::invalid_argument("lines: must be at least 1");
}

}  // namespace cachet::tasks
