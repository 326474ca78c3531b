// Chooses how OpenMP's threads wait before OpenMP is loaded: of programs alone, not of libraries.
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "app/machine/openmp_waiting.h"

#ifdef __GLIBC__
namespace cachet::app {
namespace {

// Turns of a loop with a pause in it, which takes 40 to 140 cycles. The long spin outlasts what one thread does alone
// between two operators, so that on an idle machine nobody sleeps; as OpenMP comes it is fifteen times as long. The
// short one leaves the core to a process that waits for it.
char kLongSpin[] = "GOMP_SPINCOUNT=20000";
char kShortSpin[] = "GOMP_SPINCOUNT=200";

constexpr int kMaxProbes = 16;
constexpr long kProbeNanoseconds = 24'000'000;  // some turns of the scheduler

bool sets(const char* entry, const char* variable) {
  const size_t length = std::strlen(variable);
  return std::strncmp(entry, variable, length) == 0 && entry[length] == '=';
}

/// Whether the command computes for a while. Others do not wait for the probe.
bool computes(char** argv) {
  if (argv[0] == nullptr || argv[1] == nullptr) return false;
  for (const char* command :
       {"train", "sweep", "eval", "predict", "generate", "translate", "analyze", "export", "bench", "demo"})
    if (std::strcmp(argv[1], command) == 0) return true;
  return false;
}

long nanoseconds_now() {
  timespec now{};
  syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1'000'000'000 + now.tv_nsec;
}

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

/// How many processes and threads have or want a core now, on the whole machine: the fourth field of /proc/loadavg,
/// "0.20 0.18 0.12 3/215 4711". A great number where that cannot be read.
int runnable() {
  constexpr int kUnknown = 1 << 20;
  char text[128];
  const auto file = static_cast<int>(syscall(SYS_openat, AT_FDCWD, "/proc/loadavg", O_RDONLY | O_CLOEXEC));
  if (file < 0) return kUnknown;
  const auto length = static_cast<long>(syscall(SYS_read, file, text, sizeof text - 1));
  syscall(SYS_close, file);
  if (length <= 0) return kUnknown;
  text[length] = '\0';
  const char* slash = std::strchr(text, '/');
  if (slash == nullptr) return kUnknown;
  int count = 0, scale = 1;
  for (const char* digit = slash; digit > text && digit[-1] >= '0' && digit[-1] <= '9'; scale *= 10)
    count += (*--digit - '0') * scale;
  return count;
}

/// What the machine has left for a process on each of our cores.
struct Room {
  double missing_cores = 0;  // that these would have to do without: 0 on an idle machine
  int others = 0;            // processes that want a core next to them
};

Room look_for_room(int cores) {
  pid_t children[kMaxProbes];
  double lasted[kMaxProbes];
  const long end = nanoseconds_now() + kProbeNanoseconds;
  int started = 0;
  for (; started < cores; ++started) {
    const long begun = nanoseconds_now();
    const auto child = static_cast<pid_t>(syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, nullptr));
    if (child < 0) break;
    if (child == 0) {
      while (nanoseconds_now() < end) {
      }
      syscall(SYS_exit_group, 0);
    }
    children[started] = child;
    lasted[started] = 1e-9 * static_cast<double>(end - begun);
  }
  Room room;
  int looks[3];  // the middle one counts: processes move, and some look in for a moment
  for (int& look : looks) {
    look = runnable();
    const timespec pause{0, kProbeNanoseconds / 4};
    syscall(SYS_nanosleep, &pause, nullptr);
  }
  std::sort(looks, looks + 3);
  room.others = looks[1];
  room.others -= started + 1;  // and this process, which looks
  for (int i = 0; i < started; ++i) {
    rusage usage{};
    if (syscall(SYS_wait4, children[i], nullptr, 0, &usage) != children[i]) continue;
    room.missing_cores += 1 - (seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime)) / lasted[i];
  }
  return room;
}

/// Short where others keep some cores busy and not all: threads that have a core would spin for those that have none.
/// Where all cores are shared, threads take turns together, and a long spin costs little.
char* choice() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return kLongSpin;
  const int cores = CPU_COUNT(&allowed) < kMaxProbes ? CPU_COUNT(&allowed) : kMaxProbes;
  if (cores < 2) return kLongSpin;
  const Room room = look_for_room(cores);
  const bool some_are_busy = room.missing_cores > 0.25 && room.others >= 1 && room.others < cores;
  return some_are_busy ? kShortSpin : kLongSpin;
}

/// Starts the program again with the choice in its environment, which OpenMP reads when it is loaded. The choice is
/// then there, so it starts again only once. Where that fails the program continues as it is.
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
  extended[count] = computes(argv) ? choice() : kLongSpin;
  extended[count + 1] = nullptr;
  execve(program, argv, extended);
}

[[gnu::used, gnu::section(".preinit_array")]] void (*const before_all_constructors)(int, char**,
                                                                                    char**) = start_with_choice;

}  // namespace
}  // namespace cachet::app
#endif
