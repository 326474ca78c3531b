// Readers of files that Cachet itself wrote: each is as strict as one of foreign files, and refuses newer schemas.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>

#include "cachet/io/digests/sha256.h"
#include "cachet/io/json/json_fields.h"
#include "cachet/io/json/sealed_json.h"
#include "cachet/io/tensors/safetensors/safetensors.h"
#include "cachet/train/checkpoints/evaluation_mark.h"
#include "cachet/train/checkpoints/manifest.h"
#include "cachet/train/runs/evaluation_details.h"
#include "cachet/train/runs/run_status.h"
#include "cachet/train/runs/seed_folder.h"
#include "tests/support/bytes.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/thrown_message.h"
#include "tests/train/toy_run.h"

namespace cachet::train {
namespace {

namespace fs = std::filesystem;
using OwnJson = nlohmann::ordered_json;

/// A file of a run, and what reads it.
struct OwnFile {
  std::string name;
  fs::path path;
  std::function<bool()> is_read;           // whether its reader takes the existing file; NewerSchema passes through
  bool sealed = false;                     // whether it has a digest of itself
  bool null_is_nan = false;                // whether a number may be null
  std::vector<std::string> lenient = {};   // pointers below which a fault costs that part alone
  std::vector<std::string> nullable = {};  // pointers to what may be null
  bool newer_is_none = false;              // whether one of a newer schema is passed over: a page lacks a part
};

/// Whether a call throws no io::Error and no DamagedCheckpoint.
bool succeeds(const std::function<void()>& call) {
  try {
    call();
    return true;
  } catch (const io::NewerSchema&) {
    throw;
  } catch (const std::runtime_error&) {
    return false;
  }
}

bool may_replace(const OwnFile& file, const OwnJson& value, const OwnJson& other) {
  if (value.is_null()) return other.is_number();
  if (file.null_is_nan && value.is_number() && other.is_null()) return true;
  if (value.is_number_float()) return other.is_number();
  return value.is_number() && other.is_number_integer() && other.get<int64_t>() >= 0;
}

class OwnFiles : public ::testing::Test {
 protected:
  OwnFiles() {
    test::ToyHooks hooks;
    hooks.details = R"({"seen":1})";
    test::train_toy(run(), hooks, {"train.limit=\"4 steps\""});
    config::Document document = config::Document::from_text(test::kToyRecipe, "toy.toml");
    test::read_toy(document);
    SeedFolder::create(folder_ / "seeds", {"toy", test::kToyRecipe}, document, {}, {3, 4});
  }

  fs::path run() const { return folder_ / "run"; }
  fs::path checkpoint() const { return run() / "checkpoints" / "step-00000004"; }

  std::vector<OwnFile> files() {
    const auto opens_checkpoint = [this] { return succeeds([&] { read_manifest(checkpoint()); }); };
    const auto reads_state = [this] {
      return succeeds([&] { train_state_from_json(test::read_bytes(checkpoint() / "state.json")); });
    };
    return {
        {.name = "run.json",
         .path = run() / "run.json",
         .is_read = [this] { return succeeds([&] { RunFolder::open(run()); }); },
         .lenient = {"/description"}},
        {.name = "status.json",
         .path = run() / "status.json",
         .is_read = [this] { return read_status(run() / "status.json").has_value(); }},
        {.name = "evaluation.json",
         .path = run() / "evaluation.json",
         .is_read = [this] { return read_evaluation_details(run() / "evaluation.json", 4).has_value(); },
         .lenient = {"/details"},
         .newer_is_none = true},
        {.name = "metrics.jsonl",
         .path = line(),
         .is_read = [this] { return read_events(line()).size() == 1; },
         .null_is_nan = true},
        {.name = "seeds.json",
         .path = folder_ / "seeds" / "seeds.json",
         .is_read = [this] { return succeeds([&] { SeedFolder::open(folder_ / "seeds"); }); }},
        {.name = "state.json", .path = checkpoint() / "state.json", .is_read = reads_state},
        {.name = "manifest.json", .path = checkpoint() / kManifestName, .is_read = opens_checkpoint, .sealed = true},
        {.name = "evaluated.json",
         .path = checkpoint() / kEvaluationMarkName,
         .is_read = [this] { return succeeds([&] { read_evaluation_mark(checkpoint()); }); },
         .sealed = true,
         .nullable = {"/best"}},
    };
  }

  void put(const OwnFile& file, OwnJson json) const {
    if (file.sealed) json.erase("digest");
    test::write_bytes(file.path, file.sealed ? io::sealed_json(json.dump()) : json.dump() + "\n");
  }

 private:
  /// A file of the last event alone.
  fs::path line() const {
    const fs::path path = folder_ / "line.jsonl";
    if (!fs::exists(path)) test::write_bytes(path, to_json_line(read_events(run() / "metrics.jsonl").back()));
    return path;
  }

  test::TemporaryDirectory folder_;
};

TEST_F(OwnFiles, RefuseEachValueOfAnotherType) {
  const std::vector<OwnJson> others{
      1.5, -1, 0, 1e300, "x", "", nullptr, true, OwnJson::array(), OwnJson::array({1}), OwnJson::object({{"a", 1}})};
  for (const OwnFile& file : files()) {
    const std::string good = test::read_bytes(file.path);
    const OwnJson json = OwnJson::parse(good);
    ASSERT_TRUE(file.is_read()) << file.name;
    int values = 0;
    std::vector<std::pair<OwnJson::json_pointer, OwnJson>> places;
    const std::function<void(const OwnJson&, const OwnJson::json_pointer&)> visit = [&](const OwnJson& value,
                                                                                        const auto& place) {
      if (!place.empty()) places.emplace_back(place, value);
      if (value.is_object())
        for (const auto& [key, part] : value.items()) visit(part, place / key);
      if (value.is_array())
        for (size_t i = 0; i < value.size(); ++i) visit(value[i], place / i);
    };
    visit(json, OwnJson::json_pointer());
    for (const auto& [place, value] : places) {
      const std::string where = place.to_string();
      const bool is_lenient =
          std::ranges::any_of(file.lenient, [&](const auto& part) { return where.starts_with(part); });
      if (is_lenient || where == "/digest" || where == "/schema") continue;
      ++values;
      for (const OwnJson& other : others) {
        if (other.type() == value.type() || may_replace(file, value, other)) continue;
        if (other.is_null() && std::ranges::find(file.nullable, where) != file.nullable.end()) continue;
        OwnJson changed = json;
        changed[place] = other;
        put(file, changed);
        EXPECT_FALSE(file.is_read()) << file.name << ": " << where << " is " << other << " instead of " << value;
      }
    }
    EXPECT_GT(values, 0) << file.name;
    test::write_bytes(file.path, good);
    EXPECT_TRUE(file.is_read()) << file.name;
  }
}

TEST_F(OwnFiles, OfANewerSchemaAreRefusedInOneSentence) {
  for (const OwnFile& file : files()) {
    const std::string good = test::read_bytes(file.path);
    OwnJson json = OwnJson::parse(good);
    json["schema"] = 77;
    json["novelty"] = {{"more", 1}};
    put(file, json);
    if (file.newer_is_none) {
      EXPECT_FALSE(file.is_read()) << file.name;
    } else {
      const std::string said = test::thrown_message<io::NewerSchema>([&] { file.is_read(); });
      EXPECT_TRUE(said.ends_with(
          file.path.filename().string() +
          ": its schema is 77, but this version of Cachet reads only schemas up to 1; use a newer version of Cachet"))
          << said;
    }
    json["schema"] = 1;
    put(file, json);
    if (file.name != "manifest.json") {  // the mark names its digest
      EXPECT_TRUE(file.is_read()) << file.name << ": fields are only ever added";
    }
    for (const OwnJson& schema : {OwnJson(0), OwnJson(-1), OwnJson(1.0), OwnJson("1"), OwnJson(nullptr)}) {
      json["schema"] = schema;
      put(file, json);
      EXPECT_FALSE(file.is_read()) << file.name << " with schema " << schema;
    }
    test::write_bytes(file.path, good);
  }
}

TEST_F(OwnFiles, AResumeDoesNotPassOverACheckpointOfANewerCachet) {
  const std::string good = test::read_bytes(checkpoint() / kManifestName);
  test::write_bytes(checkpoint() / kManifestName, io::sealed_json(R"({"schema":2,"files":[]})"));
  const std::string said = test::thrown_message<io::NewerSchema>([&] { test::train_toy(run()); });
  EXPECT_NE(said.find("manifest.json: its schema is 2"), std::string::npos) << said;
  EXPECT_NE(said.find("use a newer version of Cachet"), std::string::npos) << said;
  test::write_bytes(checkpoint() / kManifestName, good);
  EXPECT_EQ(test::train_toy(run()).ending, StopReason::finished);
}

/// Writes what `change` makes of a checkpoint's state.json, as if it had been saved so.
void change_state(const fs::path& folder, const std::function<void(OwnJson&)>& change) {
  OwnJson json = OwnJson::parse(test::read_bytes(folder / "state.json"));
  change(json);
  const std::string text = json.dump(2) + "\n";
  Manifest manifest = read_manifest(folder);
  manifest.files["state.json"] = {text.size(), io::sha256_hex(text)};
  test::write_bytes(folder / "state.json", text);
  test::write_bytes(folder / kManifestName, to_json(manifest));
}

TEST_F(OwnFiles, AStepThatIsNoWholeNumberIsRefusedByName) {
  change_state(checkpoint(), [](OwnJson& state) { state["step"] = 1.5; });
  const std::string said = test::thrown_message<DamagedCheckpoint>([&] { test::train_toy(run()); });
  EXPECT_NE(said.find("state.json: damaged: 'step' is 1.5, not a whole number from 0 to 9007199254740992"),
            std::string::npos)
      << said;
}

TEST_F(OwnFiles, ThreadsBeyondWhatARecipeMayHaveAreRefused) {
  change_state(checkpoint(), [](OwnJson& state) { state["threads"] = 100000; });
  const std::string said = test::thrown_message<DamagedCheckpoint>([&] { test::train_toy(run()); });
  EXPECT_NE(said.find("'threads' is 100000, not a whole number from 0 to 1024"), std::string::npos) << said;
}

TEST_F(OwnFiles, AStateOfAnotherStepThanItsManifestIsRefused) {
  change_state(checkpoint(), [](OwnJson& state) { state["step"] = 3; });
  EXPECT_NE(test::thrown_message<DamagedCheckpoint>([&] { read_checkpoint(checkpoint()); }).find("step 3"),
            std::string::npos);
}

/// Puts a tensor file into a checkpoint as if it had been saved so.
void replace_tensors(const fs::path& folder, const std::string& name, const io::TensorMap& tensors) {
  const std::vector<std::byte> bytes = io::serialize_safetensors(tensors);
  Manifest manifest = read_manifest(folder);
  manifest.files[name] = {bytes.size(), io::sha256_hex(bytes)};
  test::write_bytes(folder / name, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  test::write_bytes(folder / kManifestName, to_json(manifest));
}

TEST_F(OwnFiles, TensorsThatAreMissingAreNotMadeAnew) {
  const std::string state = test::read_bytes(checkpoint() / "state.json");
  io::TensorMap optimizer = read_checkpoint(checkpoint()).optimizer;
  for (const char* parameter : {"filter.exp_avg", "filter.exp_avg_sq", "filter.step"}) optimizer.erase(parameter);
  for (const io::TensorMap& tensors : {optimizer, io::TensorMap()}) {
    replace_tensors(checkpoint(), "optimizer.safetensors", tensors);
    EXPECT_NE(test::thrown_message<DamagedCheckpoint>([&] { test::train_toy(run()); })
                  .find("optimizer.safetensors: has " + std::to_string(tensors.size()) +
                        " tensors, but the number of tensors in the manifest is 9"),
              std::string::npos);
  }
  change_state(checkpoint(), [](OwnJson& state) { state["tensors"] = OwnJson::object(); });
  EXPECT_NE(test::thrown_message<DamagedCheckpoint>([&] { test::train_toy(run()); }).find("'tensors' names no file"),
            std::string::npos);
  // As 0.1.0 wrote it.
  change_state(checkpoint(), [](OwnJson& state) { state.erase("tensors"); });
  EXPECT_NE(
      test::thrown_message<std::runtime_error>([&] { test::train_toy(run()); }).find("optimizer.safetensors is empty"),
      std::string::npos);
}

TEST(Sgd, WithoutMomentumKeepsNoStateAndResumes) {
  const test::TemporaryDirectory folder;
  const std::vector<std::string> sgd{"optimizer.kind=sgd", "optimizer.momentum=0.0"};
  test::ToyHooks stopped;
  stopped.before_forward = [](int64_t epoch, int64_t) {
    if (epoch == 1) throw std::runtime_error("the power is gone");
  };
  test::train_toy(folder / "whole", {}, sgd);
  EXPECT_THROW(test::train_toy(folder / "half", stopped, sgd), std::runtime_error);
  EXPECT_TRUE(test::last_checkpoint(folder / "half").optimizer.empty());
  test::train_toy(folder / "half", {}, sgd);
  test::expect_same_runs(folder / "half", folder / "whole");
}

TEST_F(OwnFiles, AStatusThatIsDamagedIsNotTakenForTheEndOfARun) {
  const RunFolder folder = RunFolder::open(run());
  test::write_bytes(run() / "status.json", "{\"schema\":1,\"state\":\"runn");
  EXPECT_NE(test::thrown_message<io::Error>([&] { current_status(folder); }).find("status.json: damaged"),
            std::string::npos);
  fs::remove(run() / "status.json");
  EXPECT_FALSE(current_status(folder));
}

}  // namespace
}  // namespace cachet::train
