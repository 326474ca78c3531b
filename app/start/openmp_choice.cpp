// Chooses how OpenMP's threads wait before OpenMP is loaded: of programs alone, not of libraries.
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

#include "app/openmp_waiting.h"

#ifdef __GLIBC__
namespace cachet::app {
namespace {

// Long enough for threads that finish together, a few microseconds; short beside a turn of the scheduler.
char chosen[] = "GOMP_SPINCOUNT=1000";

bool sets(const char* entry, const char* variable) {
  const size_t length = std::strlen(variable);
  return std::strncmp(entry, variable, length) == 0 && entry[length] == '=';
}

/// Starts the program again with the choice in its environment, which OpenMP reads when it is loaded. The choice is
/// then there, so it starts again only once. Where that fails the program goes on as it is.
///
/// It runs before the constructors of all libraries (LibTorch's take a tenth of a second) and the C library's own: it
/// may make system calls, but neither allocate nor read `environ`.
void start_with_choice(int /*argc*/, char** argv, char** environment) {
  size_t count = 0;
  for (; environment[count] != nullptr; ++count)
    for (const char* variable : kOpenMpWaitingVariables)
      if (sets(environment[count], variable)) return;
  char program[4096];
  const ssize_t length = readlink("/proc/self/exe", program, sizeof(program) - 1);
  if (length <= 0) return;
  program[length] = '\0';
  void* memory = mmap(nullptr, (count + 2) * sizeof(char*), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return;
  auto** extended = static_cast<char**>(memory);
  std::memcpy(extended, environment, count * sizeof(char*));
  extended[count] = chosen;
  extended[count + 1] = nullptr;
  execve(program, argv, extended);
}

[[gnu::used, gnu::section(".preinit_array")]] void (*const before_all_constructors)(int, char**,
                                                                                    char**) = start_with_choice;

}  // namespace
}  // namespace cachet::app
#endif
