#include "cachet/train/profile/work_times.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace cachet::train {
namespace {

struct Edge {
  int64_t time;
  bool begins;
  int64_t end;   // of the activity
  size_t index;  // of the activity
};

/// In order of time; ends come before beginnings, and a caller begins before the operators that it calls.
bool comes_before(const Edge& a, const Edge& b) {
  return std::tuple(a.time, a.begins, -a.end, a.index) < std::tuple(b.time, b.begins, -b.end, b.index);
}

std::vector<Edge> edges_of(const std::vector<Activity>& activities, int64_t begin, int64_t end) {
  std::vector<Edge> edges;
  for (size_t i = 0; i < activities.size(); ++i) {
    const int64_t from = std::max(begin, activities[i].begin), to = std::min(end, activities[i].end);
    if (from > to || activities[i].begin >= end) continue;
    edges.push_back({from, true, to, i});
    if (from < to) edges.push_back({to, false, to, i});
  }
  std::ranges::sort(edges, comes_before);
  return edges;
}

std::vector<WorkTime> longest_first(std::vector<WorkTime> times) {
  std::ranges::stable_sort(times, [](const WorkTime& a, const WorkTime& b) { return a.seconds > b.seconds; });
  return times;
}

}  // namespace

WorkTimes work_times(const std::vector<Activity>& activities, ActivityKind kind, int64_t begin, int64_t end) {
  constexpr double kNanosecond = 1e-9;
  std::map<std::string, WorkTime> by_name;
  std::vector<WorkTime*> time_of(activities.size());
  for (size_t i = 0; i < activities.size(); ++i) {
    const std::string& name = activities[i].name;
    const auto [found, is_new] = by_name.try_emplace(name);
    if (is_new)
      found->second = {name, kind == ActivityKind::kernels ? family_of_cuda_kernel(name) : family_of_operator(name)};
    time_of[i] = &found->second;
  }

  WorkTimes result;
  std::map<int64_t, std::vector<size_t>> running;  // by timeline: activities in the order in which they began
  int64_t before = begin;
  for (const Edge& edge : edges_of(activities, begin, end)) {
    const double seconds = kNanosecond * static_cast<double>(edge.time - before);
    before = edge.time;
    if (!running.empty()) result.busy_seconds += seconds;
    for (const auto& [timeline, calls] : running)
      time_of[calls.back()]->seconds += seconds / static_cast<double>(running.size());

    const Activity& activity = activities[edge.index];
    if (!edge.begins) {
      std::vector<size_t>& calls = running[activity.timeline];
      std::erase(calls, edge.index);
      if (calls.empty()) running.erase(activity.timeline);
      continue;
    }
    const auto callers = running.find(activity.timeline);
    const bool is_part = kind == ActivityKind::operators && callers != running.end() &&
                         time_of[callers->second.back()]->family == time_of[edge.index]->family;
    if (!is_part && activity.begin >= begin) time_of[edge.index]->calls += 1;
    if (edge.end > edge.time) running[activity.timeline].push_back(edge.index);
  }

  std::map<KernelFamily, WorkTime> by_family;
  for (auto& [name, time] : by_name) {
    if (time.seconds == 0 && time.calls == 0) continue;
    WorkTime& sum = by_family[time.family];
    sum.family = time.family;
    sum.seconds += time.seconds;
    sum.calls += time.calls;
    result.names.push_back(time);
  }
  for (const auto& [family, time] : by_family) result.families.push_back(time);
  result.families = longest_first(std::move(result.families));
  result.names = longest_first(std::move(result.names));
  return result;
}

}  // namespace cachet::train
