#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace cachet::train {

/// What a bug report needs: nothing of it names the machine or its user.
struct Environment {
  std::string cachet_version;
  std::string commit;  // of the source this was built from; "unknown" outside a checkout
  std::string compiler, build_flags;
  std::string torch_version;
  std::string processor;       // its model: "AMD EPYC 9B14"; "unknown" where the system does not tell
  std::string cpu_capability;  // instruction set that LibTorch's kernels use: "AVX512"
  int threads = 0;
  int hardware_threads = 0;
  int64_t memory_bytes = 0;  // of the machine; 0 where the system does not tell
};

Environment environment();

/// A key of environment.json and its value.
struct EnvironmentEntry {
  std::string key;
  std::variant<std::string, int64_t> value;

  std::string text() const;  // for people: bytes as "23.5 GiB"
};
/// In the order in which they are shown.
std::vector<EnvironmentEntry> entries(const Environment& environment);

std::string to_json(const Environment& environment);  // one object, with a schema number
std::string to_text(const Environment& environment);  // one line
std::string cachet_version();
std::string torch_version();

}  // namespace cachet::train
