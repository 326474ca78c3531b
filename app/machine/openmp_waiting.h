#pragma once

#include <string>

namespace cachet::app {

/// The variables that set how OpenMP's threads wait. If the user has set one of them, the command makes no choice of
/// its own (start/openmp_choice.cpp).
inline constexpr const char* kOpenMpWaitingVariables[] = {"OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "KMP_BLOCKTIME"};

/// Returns the settings of how OpenMP's threads wait in this program, for bug reports: "GOMP_SPINCOUNT=20000".
///
/// By default, GNU OpenMP lets a thread that has finished its part spin for a few milliseconds at every barrier. If
/// another process occupies cores, spinning threads take the time that unfinished threads need, and a training step
/// takes many times as long. At its start, the command therefore checks for free cores. If only some are free, it sets
/// short spins, unless the user has set how to wait (OMP_WAIT_POLICY, GOMP_SPINCOUNT, KMP_BLOCKTIME).
std::string openmp_waiting();

}  // namespace cachet::app
