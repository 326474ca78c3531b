#pragma once

#include <cstddef>
#include <filesystem>

namespace cachet::app {

/// Which points of a sweep this process trains, so that another that goes on with the same sweep takes others. The
/// kernel lets go of them when the process dies.
class SweepClaims {
 public:
  /// `file` is made where it is missing. Throws std::runtime_error.
  explicit SweepClaims(const std::filesystem::path& file);
  ~SweepClaims();
  SweepClaims(const SweepClaims&) = delete;
  SweepClaims& operator=(const SweepClaims&) = delete;

  /// Whether no other process has the point; it is this one's from then on.
  bool take(size_t point);
  void give_back(size_t point);

 private:
  int file_;
};

}  // namespace cachet::app
