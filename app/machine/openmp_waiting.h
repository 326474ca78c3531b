#pragma once

#include <string>

namespace cachet::app {

/// The settings of how OpenMP's threads wait. The command's own choice (start/openmp_choice.cpp) gives way to any of
/// them.
inline constexpr const char* kOpenMpWaitingVariables[] = {"OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "KMP_BLOCKTIME"};

/// How OpenMP's threads wait for each other in this program, for bug reports: "GOMP_SPINCOUNT=20000".
///
/// As it comes, GNU's OpenMP lets a thread that has finished its part spin for a few milliseconds at every barrier.
/// Where another process has taken the core of its partner, it burns what the partner waits for, and a training step
/// takes many times as long. The command therefore looks at its start whether cores are free, and spins shortly where
/// some are and some are not, unless the user has set how to wait (OMP_WAIT_POLICY, GOMP_SPINCOUNT, KMP_BLOCKTIME).
std::string openmp_waiting();

}  // namespace cachet::app
