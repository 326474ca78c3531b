#include "cachet/train/profile/step_profile.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "cachet/io/error.h"
#include "cachet/io/files/atomic_file.h"
#include "cachet/io/files/read_file.h"
#include "cachet/io/json/json_fields.h"

namespace cachet::train {
namespace {

using ProfileJson = nlohmann::ordered_json;

constexpr int64_t kProfileSchema = 1;
constexpr uint64_t kMaxProfileBytes = 1 << 20;
constexpr const char *kOperators = "operators", *kKernels = "kernels", *kComputed = "computed", *kMeasured = "measured";

std::vector<WorkTime> of_one_step(std::vector<WorkTime> times, int64_t steps) {
  for (WorkTime& time : times) {
    time.seconds /= static_cast<double>(steps);
    time.calls /= static_cast<double>(steps);
  }
  return times;
}

ProfileJson json_of(const WorkTime& time, const StepProfile& profile) {
  ProfileJson json;
  if (!time.name.empty()) json["name"] = time.name;
  json["family"] = to_string(time.family);
  json["milliseconds"] = 1e3 * time.seconds;
  json["fraction"] = profile.seconds > 0 ? time.seconds / profile.seconds : 0;
  json[profile.kind == ActivityKind::kernels ? "launches" : "calls"] = time.calls;
  return json;
}

WorkTime time_from(const io::JsonFields& json, ActivityKind kind) {
  WorkTime time;
  if (json.has("name")) time.name = json.text("name");
  const auto family = kernel_family_named(json.text("family"));
  if (!family) json.fail("'family' is " + io::in_quotes(json.text("family")) + ", which is not a family");
  time.family = *family;
  time.seconds = 1e-3 * json.number("milliseconds");
  time.calls = json.number(kind == ActivityKind::kernels ? "launches" : "calls");
  return time;
}

ProfileJson json_of(const MemoryUse& memory) {
  const auto kind = [](int64_t bytes, const char* source) { return ProfileJson{{"bytes", bytes}, {"source", source}}; };
  ProfileJson json{{"weights", kind(memory.weights, kComputed)},
                   {"states", kind(memory.states, kComputed)},
                   {"gradients", kind(memory.gradients, kComputed)},
                   {"optimizer", kind(memory.optimizer, kComputed)},
                   {"activations", kind(memory.activations, kMeasured)}};
  if (memory.batches_ahead) json["batches_ahead"] = kind(*memory.batches_ahead, kComputed);
  json["total"] = kind(memory.total(), memory.is_peak_measured ? kMeasured : kComputed);
  return json;
}

MemoryUse memory_from(const io::JsonFields& json) {
  const auto bytes = [&](const char* kind) { return json.object(kind).count("bytes"); };
  MemoryUse memory{bytes("weights"),
                   bytes("states"),
                   bytes("gradients"),
                   bytes("optimizer"),
                   bytes("activations"),
                   std::nullopt,
                   false};
  if (json.has("batches_ahead")) memory.batches_ahead = bytes("batches_ahead");
  memory.is_peak_measured = json.object("total").text("source") == kMeasured;
  return memory;
}

ProfileJson json_of(const StepProfile& profile) {
  const bool kernels = profile.kind == ActivityKind::kernels;
  const auto why = why_busy_is_unknown(profile);
  ProfileJson json{{"device", profile.device},
                   {"recorded", kernels ? kKernels : kOperators},
                   {"first_step", profile.first_step},
                   {"steps", profile.steps},
                   {"samples", profile.samples},
                   {"milliseconds", 1e3 * profile.seconds},
                   {"milliseconds_without_profiler", nullptr},
                   {"device_busy", why ? ProfileJson() : ProfileJson(profile.busy_fraction())}};
  if (profile.seconds_without_profiler) json["milliseconds_without_profiler"] = 1e3 * *profile.seconds_without_profiler;
  if (why) json["why_device_busy_is_unknown"] = *why;
  if (kernels)
    json["graph_launches"] = profile.graph_launches;
  else
    json["in_operators"] = profile.busy_fraction();
  json["busy_milliseconds"] = 1e3 * profile.busy_seconds;
  for (const char* list : {"families", "names"}) json[list] = ProfileJson::array();
  for (const WorkTime& time : profile.families) json["families"].push_back(json_of(time, profile));
  for (const WorkTime& time : profile.names) json["names"].push_back(json_of(time, profile));
  json["memory"] = json_of(profile.memory);
  return json;
}

StepProfile profile_from(const io::JsonFields& json) {
  json.schema(kProfileSchema);
  StepProfile profile;
  profile.device = json.text("device");
  profile.kind = json.text("recorded") == kKernels ? ActivityKind::kernels : ActivityKind::operators;
  profile.first_step = json.count("first_step");
  profile.steps = json.count("steps");
  profile.samples = json.number("samples");
  profile.seconds = 1e-3 * json.number("milliseconds");
  if (!json.is_null("milliseconds_without_profiler"))
    profile.seconds_without_profiler = 1e-3 * json.number("milliseconds_without_profiler");
  profile.busy_seconds = 1e-3 * json.number("busy_milliseconds");
  if (profile.kind == ActivityKind::kernels) profile.graph_launches = json.number("graph_launches");
  for (const io::JsonFields& time : json.objects("families")) profile.families.push_back(time_from(time, profile.kind));
  for (const io::JsonFields& time : json.objects("names")) profile.names.push_back(time_from(time, profile.kind));
  profile.memory = memory_from(json.object("memory"));
  return profile;
}

}  // namespace

StepProfile step_profile(const ProfileRecording& recording, const ProfiledSteps& steps, const MemoryUse& memory) {
  const WorkTimes times = work_times(recording.activities, recording.kind, recording.begin, recording.end);
  const auto count = static_cast<double>(steps.count);
  StepProfile profile;
  profile.device = steps.device.str();
  profile.kind = recording.kind;
  profile.first_step = steps.first;
  profile.steps = steps.count;
  profile.samples = static_cast<double>(steps.samples) / count;
  profile.seconds = 1e-9 * static_cast<double>(recording.end - recording.begin) / count;
  profile.busy_seconds = times.busy_seconds / count;
  profile.graph_launches = static_cast<double>(recording.graph_launches) / count;
  profile.families = of_one_step(times.families, steps.count);
  profile.names = of_one_step(times.names, steps.count);
  if (profile.names.size() > kShownNames) profile.names.resize(kShownNames);
  profile.memory = memory;
  return profile;
}

std::optional<std::string> why_busy_is_unknown(const StepProfile& profile) {
  if (profile.kind == ActivityKind::operators) return "the steps ran on the CPU, which has no such counter";
  if (profile.families.empty())
    return "LibTorch's profiler recorded no kernels; allow access to the GPU's counters, or use a driver that supports "
           "CUPTI";
  return std::nullopt;
}

std::string to_json(const StepProfile& profile) {
  return json_of(profile).dump(-1, ' ', false, ProfileJson::error_handler_t::replace);
}

void write_profile(const std::filesystem::path& file, const StepProfile& profile, io::FileSystem& file_system) {
  ProfileJson json{{"schema", kProfileSchema}};
  json.update(json_of(profile));
  io::write_file_atomically(file, json.dump(2, ' ', false, ProfileJson::error_handler_t::replace) + "\n", file_system);
}

std::optional<StepProfile> read_profile(const std::filesystem::path& file) {
  std::error_code unreadable;
  if (!std::filesystem::exists(file, unreadable)) return std::nullopt;
  try {
    return profile_from(io::JsonFields(io::read_text_file(file, kMaxProfileBytes), file.string()));
  } catch (const io::Error&) {
    return std::nullopt;
  }
}

}  // namespace cachet::train
