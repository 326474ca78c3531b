// A norm, a cache and an attention function of your own. Recipes name them as they name the library's, and each
// subcommand works with them: train, resume, eval, analyze, summary.
#include <cachet/command_line.h>
#include <cachet/layers.h>

#include "cosine_attention.h"
#include "ema_cache.h"
#include "scale_norm.h"

int main(int argc, char** argv) {
  cachet::nn::register_norm(ScaleNormOptions::kKind);
  cachet::nn::register_cache(EmaCacheOptions::kKind);
  cachet::nn::register_attention(CosineOptions::kKind);
  return cachet::run_command_line(argc, argv);
}
