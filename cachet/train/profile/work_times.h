#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cachet/train/profile/kernel_family.h"

namespace cachet::train {

/// One call of an operator, or one kernel on a device.
struct Activity {
  std::string name;
  int64_t begin = 0, end = 0;  // nanoseconds of any clock
  int64_t timeline = 0;        // thread of a call, or stream of a kernel
};

/// The two kinds of activities that a profile can have.
enum class ActivityKind {
  operators,  // calls on the CPU; a call may contain other calls of its timeline
  kernels,    // kernels and copies on a CUDA device
};

/// The time of one family, or of all activities with one name.
struct WorkTime {
  std::string name;  // empty for a family
  KernelFamily family = KernelFamily::other;
  double seconds = 0;
  double calls = 0;  // calls of operators, or launches of kernels
};

struct WorkTimes {
  double busy_seconds = 0;         // time in which at least one activity ran
  std::vector<WorkTime> families;  // families with activities, longest first; their seconds sum to busy_seconds
  std::vector<WorkTime> names;     // the same by name
};

/// Divides the time from `begin` to `end` among activities. At each moment, the time of a timeline belongs to its
/// activity that began last, so the time of an operator does not include operators that it calls. If several timelines
/// have an activity at one moment, each of them gets an equal part. So the times sum to the busy time.
///
/// All kernels that begin between `begin` and `end` are counted. An operator is counted unless an operator of the same
/// family called it.
WorkTimes work_times(const std::vector<Activity>& activities, ActivityKind kind, int64_t begin, int64_t end);

}  // namespace cachet::train
