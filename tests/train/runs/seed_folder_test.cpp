#include "cachet/train/runs/seed_folder.h"

#include <gtest/gtest.h>

#include <fstream>

#include "cachet/train/runs/run_status.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/thrown_message.h"
#include "tests/train/toy_run.h"

namespace cachet::train {
namespace {

namespace fs = std::filesystem;
using Seeds = std::vector<uint64_t>;

config::Document seeded_document(const std::vector<std::string>& settings = {}) {
  config::Document document = config::Document::from_text(test::kToyRecipe, "toy.toml");
  for (const std::string& setting : settings) document.set(setting);
  test::read_toy(document);
  return document;
}

TEST(SeedsFromText, AreACountOrAList) {
  EXPECT_EQ(seeds_from_text("3", 0), (Seeds{0, 1, 2}));
  EXPECT_EQ(seeds_from_text("2", 10), (Seeds{10, 11}));
  EXPECT_EQ(seeds_from_text("7,0,9223372036854775807", 3), (Seeds{7, 0, 9223372036854775807U}));
  EXPECT_EQ(seeds_from_text("1000", 0)->size(), 1000U);
  for (const char* wrong : {"", "0", "-1", "1001", "two", "1,", ",1", "1,,2", "1, 2", "3,3", "1.5", "0-4", "5 ",
                            "1,9223372036854775808", "99999999999999999999"})
    EXPECT_FALSE(seeds_from_text(wrong, 0)) << wrong;
  EXPECT_FALSE(seeds_from_text("5", 9223372036854775806U)) << "they would pass the greatest seed";
}

TEST(SeedFolder, IsMadeAndGoneOnWith) {
  const test::TemporaryDirectory folder;
  {
    const auto made = SeedFolder::create(folder / "s", {"toy", "text"}, seeded_document(), {"a"}, {7, 1});
    EXPECT_EQ(made.run(7), folder / "s" / "seed-7");
    EXPECT_FALSE(made.has_begun(7));
    EXPECT_EQ(fs::read_symlink(folder / "latest"), "s");
    EXPECT_EQ(SeedFolder::resume(folder / "s", seeded_document(), {}).seeds(), (Seeds{7, 1}))
        << "others may have it too";
    const io::FolderLock lock = made.lock();
    EXPECT_TRUE(io::FolderLock::is_taken(folder / "s"));
  }
  EXPECT_TRUE(SeedFolder::is_at(folder / "s"));
  EXPECT_TRUE(SeedFolder::is_at(folder / "latest"));
  EXPECT_FALSE(SeedFolder::is_at(folder.path()));
  EXPECT_EQ(SeedFolder::resume(folder / "s", seeded_document(), {"b"}, {1, 5}).seeds(), (Seeds{7, 1, 5}));
  const auto opened = SeedFolder::open(folder / "s");
  EXPECT_EQ(opened.seeds(), (Seeds{7, 1, 5}));
  EXPECT_EQ(opened.written_recipe().name, "toy");
  EXPECT_EQ(opened.written_recipe().text, "text");
}

TEST(SeedFolder, FollowsTheRulesOfRuns) {
  const test::TemporaryDirectory folder;
  SeedFolder::create(folder / "s", {"toy", ""}, seeded_document(), {}, {7});
  EXPECT_THROW(SeedFolder::create(folder / "s", {}, seeded_document(), {}, {7}), std::runtime_error);
  EXPECT_NE(test::thrown_message<std::runtime_error>([&] {
              SeedFolder::resume(folder / "s", seeded_document({"optimizer.lr=1"}), {});
            }).find("optimizer.lr"),
            std::string::npos);
  EXPECT_EQ(SeedFolder::resume(folder / "s", seeded_document({"train.epochs=9"}), {}).shared().changes().size(), 1U);
}

TEST(SeedFolder, RefusesADamagedOne) {
  const test::TemporaryDirectory folder;
  SeedFolder::create(folder / "s", {"toy", ""}, seeded_document(), {}, {7});
  for (const char* text : {"{", "{}", "{\"seeds\":[]}", "{\"seeds\":[\"a\"]}", "[]"}) {
    std::ofstream(folder / "s" / "seeds.json") << text;
    EXPECT_NE(test::thrown_message<std::runtime_error>([&] { SeedFolder::open(folder / "s"); }).find("seeds.json"),
              std::string::npos)
        << text;
  }
}

TEST(SeedFolder, HasNoCheckpointOfItsOwn) {
  const test::TemporaryDirectory folder;
  SeedFolder::create(folder / "s", {"toy", ""}, seeded_document(), {}, {7});
  EXPECT_NE(test::thrown_message<std::runtime_error>([&] { find_checkpoint(folder / "s"); }).find("seed-7"),
            std::string::npos);
}

TEST(RunStatus, IsWrittenAtEveryEnding) {
  const test::TemporaryDirectory folder;
  test::train_toy(folder / "run");
  const auto status = read_status(folder / "run" / "status.json");
  ASSERT_TRUE(status);
  EXPECT_TRUE(is_complete(*status));
  EXPECT_EQ(to_text(*status), "finished");
  EXPECT_EQ(std::pair(status->step, status->total_steps), std::pair(int64_t{12}, int64_t{12}));
  test::ToyHooks fails;
  std::optional<Status> meanwhile;
  fails.before_forward = [&](int64_t epoch, int64_t) {
    if (epoch == 0) return;
    meanwhile = read_status(folder / "failed" / "status.json");
    throw std::runtime_error("on fire");
  };
  EXPECT_THROW(test::train_toy(folder / "failed", fails), std::runtime_error);
  ASSERT_TRUE(meanwhile);
  EXPECT_EQ(to_text(*meanwhile), "running at step 4 of 12") << "as of the last evaluation";
  const auto failed = read_status(folder / "failed" / "status.json");
  ASSERT_TRUE(failed);
  EXPECT_FALSE(is_complete(*failed));
  EXPECT_EQ(to_text(*failed), "failed at step 4 of 12");
  EXPECT_EQ(failed->message, "on fire");
}

TEST(RunStatus, TellsARunThatIsTrainedFromOneThatWasKilled) {
  const test::TemporaryDirectory folder;
  config::Document document = config::Document::from_text(test::kToyRecipe, "toy.toml");
  test::read_toy(document);
  Status status;
  status.step = 3;
  status.total_steps = 9;
  {
    const RunFolder run = RunFolder::create(folder / "run", {"toy", test::kToyRecipe}, document, {});
    EXPECT_FALSE(current_status(run)) << "it has said nothing yet";
    std::ofstream(run.status()) << to_json(status);
    EXPECT_TRUE(is_being_trained(run.path()));
    EXPECT_EQ(to_text(*current_status(run)), "running at step 3 of 9");
  }
  const RunFolder run = RunFolder::open(folder / "run");
  EXPECT_FALSE(is_being_trained(run.path()));
  EXPECT_EQ(to_text(*current_status(run)), "killed at step 3 of 9");
  EXPECT_FALSE(is_complete(*current_status(run)));
  EXPECT_TRUE(read_status(run.status())->running) << "looking changes nothing";
  EXPECT_NO_THROW(RunFolder::resume(run.path(), document, {}));
  EXPECT_TRUE(is_being_trained(folder / "absent")) << "nobody knows";
}

TEST(RunStatus, KeepsEveryEndingAndRefusesDamage) {
  const test::TemporaryDirectory folder;
  const fs::path file = folder / "status.json";
  for (const StopReason ending : {StopReason::finished, StopReason::early_stop, StopReason::out_of_time,
                                  StopReason::interrupted, StopReason::not_finite, StopReason::failed}) {
    Status status;
    status.running = false;
    status.ending = ending;
    status.message = "m\xFF";
    status.step = 3;
    std::ofstream(file) << to_json(status);
    const auto read = read_status(file);
    ASSERT_TRUE(read);
    EXPECT_EQ(state_word(*read), to_string(ending));
    EXPECT_EQ(read->step, 3);
  }
  for (const char* text : {"", "{", "{}", "[]", "{\"state\":\"bored\"}"}) {
    std::ofstream(file) << text;
    EXPECT_FALSE(read_status(file)) << text;
  }
  EXPECT_FALSE(read_status(folder / "absent"));
}

}  // namespace
}  // namespace cachet::train
