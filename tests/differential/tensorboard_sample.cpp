// Writes one record of each kind to standard output, for tensorboard_differential.py.
#include <iostream>
#include <limits>
#include <string>

#include "cachet/io/tensorboard/tensorboard_records.h"

int main() {
  using namespace cachet::io;
  constexpr double infinity = std::numeric_limits<double>::infinity();
  std::cout << tensorboard_version(1000.5) << tensorboard_session_start(1000.5, 0)
            << tensorboard_scalars(1001.25, 1,
                                   {{"training/loss", 0.1, "training/Loss", "lower is better"}, {"lr", 1e-30}})
            << tensorboard_scalars(1002.25, int64_t{1} << 40, {{"training/loss", -infinity}})
            << tensorboard_text(1003, 2, "recipe", "```toml\n[train]  # ü\n```\n");
}
