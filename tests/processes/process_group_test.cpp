#include "cachet/processes/process_group.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <array>
#include <atomic>
#include <mutex>
#include <string>
#include <thread>
#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <torch/csrc/distributed/c10d/HashStore.hpp>
#include <vector>

#include "cachet/processes/gloo_backend.h"
#include "tests/support/played_processes.h"
#include "tests/support/thrown_message.h"

namespace cachet::processes {
namespace {

using Own = std::shared_ptr<ProcessGroup>;

std::string message_of(const std::exception_ptr& error) {
  try {
    if (error) std::rethrow_exception(error);
  } catch (const std::exception& thrown) {
    return thrown.what();
  }
  return "";
}

TEST(ProcessGroup, AddUpToTheSameBits) {
  for (const at::ScalarType type : {at::kFloat, at::kDouble, at::kLong}) {
    const at::Tensor given = (at::rand({3, 1001, 2}, at::kDouble) * 100).to(type);
    std::array<at::Tensor, 3> sums;
    test::play_well(3, [&](const Own& own) {
      at::Tensor sum = given[own->rank()].clone().t();  // not contiguous
      own->all_reduce(sum);
      sums[static_cast<size_t>(own->rank())] = sum;
    });
    EXPECT_TRUE(at::allclose(sums[0].to(at::kDouble), given.to(at::kDouble).sum(0).t(), 1e-6));
    for (const at::Tensor& sum : sums) EXPECT_TRUE(sum.equal(sums[0])) << type;
  }
}

TEST(ProcessGroup, NothingToAddIsNoCall) {
  test::play_well(2, [&](const Own& own) {
    at::Tensor none = at::empty({0});
    if (own->leads()) own->all_reduce(none);
  });
}

TEST(ProcessGroup, TheLeaderIsHeardByAll) {
  const std::string text = "a\0b, and \xf0\x9f\x99\x82" + std::string(100'000, 'x');
  test::play_well(3, [&](const Own& own) {
    EXPECT_EQ(own->broadcast(int64_t{own->leads() ? 42 : 0}), 42);
    EXPECT_EQ(own->broadcast(own->leads() ? text : std::string("not this")), text);
    EXPECT_EQ(own->broadcast(std::string()), "");
  });
}

TEST(ProcessGroup, TheLeaderGathersWhatEachHas) {
  test::play_well(3, [&](const Own& own) {
    const auto of = [](int64_t rank) { return std::string(static_cast<size_t>(rank * 1000), static_cast<char>(rank)); };
    const std::vector<std::string> all = own->gather(of(own->rank()));
    if (own->leads())
      EXPECT_EQ(all, (std::vector<std::string>{of(0), of(1), of(2)}));
    else
      EXPECT_TRUE(all.empty());
    const std::vector<std::string> none = own->gather("");
    EXPECT_EQ(none.size(), own->leads() ? 3U : 0U);
  });
}

TEST(ProcessGroup, TextsAreExchangedBeforeTheyConnect) {
  // An interface that is not there: Gloo could not connect them.
  setenv("GLOO_SOCKET_IFNAME", "none-such", 1);
  test::play_well(
      3,
      [&](const Own& own) {
        const std::vector<std::string> all = own->gather(std::string("of\0", 3) + std::to_string(own->rank()));
        EXPECT_EQ(own->leads() ? all[2] : std::string("of\0", 3) + "2", std::string("of\0", 3) + "2");
        EXPECT_EQ(own->broadcast(own->leads() ? std::string("go") : ""), "go");
        EXPECT_EQ(own->broadcast(std::string()), "");
      },
      test::Played::met);
  unsetenv("GLOO_SOCKET_IFNAME");
}

TEST(ProcessGroup, AFailureBeforeTheyConnectIsTold) {
  for (const int64_t failing : {0, 1}) {
    const auto errors = test::play_processes(
        3,
        [&](const Own& own) {
          if (own->rank() == failing) return own->tell_failure("there is no such data");
          if (own->leads())
            own->gather("");
          else
            own->broadcast(std::string());
        },
        {}, test::Played::met);
    const std::string expected = "process " + std::to_string(failing) + " failed: there is no such data";
    for (int64_t rank = 0; rank < 3; ++rank) {
      if (rank == failing) continue;
      EXPECT_EQ(message_of(errors[static_cast<size_t>(rank)]), expected) << rank;
    }
  }
}

TEST(ProcessGroup, AWaitBeforeTheyConnectIsReported) {
  using namespace std::chrono_literals;
  std::mutex mutex;
  std::vector<std::string> lines;
  const auto report = [&](const std::string& line) {
    const std::lock_guard lock(mutex);
    lines.push_back(line);
  };
  const auto errors = test::play_processes(
      2,
      [&](const Own& own) {
        if (own->rank() == 1) return std::this_thread::sleep_for(2500ms);
        own->gather("");
      },
      {.waiting = {.report = report, .report_every = 1s}, .sum = 2s}, test::Played::met);
  EXPECT_EQ(lines, std::vector<std::string>{"waiting for process 1 (1 s)"});
  EXPECT_EQ(message_of(errors[0]), "process 1 did not answer in time (gathering the data of all processes)");
}

TEST(ProcessGroup, OneThatIsGoneIsFound) {
  const auto errors = test::play_processes(3, [&](const Own& own) {
    if (own->rank() == 1) return;
    at::Tensor sum = at::ones({10});
    own->all_reduce(sum);
  });
  for (const size_t rank : {0, 2}) {
    EXPECT_THROW(std::rethrow_exception(errors[rank]), ProcessLost);
    EXPECT_NE(message_of(errors[rank]).find("ended (all-reducing sums)"), std::string::npos)
        << message_of(errors[rank]);
  }
}

TEST(ProcessGroup, OneThatFailsSaysWhy) {
  const auto errors = test::play_processes(2, [&](const Own& own) {
    if (own->rank() == 1) {
      own->tell_failure("no space left in the larder");
      return;
    }
    own->broadcast(int64_t{1});  // what is on its way may still arrive
    for (int i = 0; i < 100; ++i) {
      at::Tensor sum = at::ones({10});
      own->all_reduce(sum);
    }
  });
  EXPECT_EQ(message_of(errors[0]), "process 1 failed: no space left in the larder");
}

TEST(ProcessGroup, WhoStartedThemKnowsHowTheyEnded) {
  const auto errors = test::play_processes(2, [&](const Own& own) {
    if (own->rank() == 1) return;
    own->ask_about_lost([] { return std::optional<std::string>("process 1 was ended by signal 9"); });
    at::Tensor sum = at::ones({10});
    own->all_reduce(sum);
  });
  EXPECT_EQ(message_of(errors[0]), "process 1 was ended by signal 9");
}

TEST(ProcessGroup, OneThatDoesNotAnswerIsLate) {
  using namespace std::chrono_literals;
  const auto errors = test::play_processes(2,
                                           [&](const Own& own) {
                                             if (own->rank() == 1) return std::this_thread::sleep_for(3s);
                                             at::Tensor sum = at::ones({10});
                                             own->all_reduce(sum);
                                           },
                                           {.join = 60s, .sum = 1s});
  EXPECT_EQ(message_of(errors[0]), "process 1 did not answer in time (all-reducing sums)");
}

TEST(ProcessGroup, TheFirstThatWaitsNamesTheStraggler) {
  using namespace std::chrono_literals;
  for (const int64_t straggler : {0, 1, 2}) {
    std::array<std::vector<std::string>, 3> said;
    test::play_well(3, [&](const Own& own) {
      own->name_stragglers([&](const std::string& line) { said[static_cast<size_t>(own->rank())].push_back(line); },
                           1500ms);
      if (own->rank() == straggler) std::this_thread::sleep_for(2500ms);
      at::Tensor sum = at::ones({10});
      own->all_reduce(sum);
      EXPECT_EQ(sum[0].item<float>(), 3);
      own->gather("part");
    });
    const size_t first = straggler == 0 ? 1 : 0;
    for (size_t rank = 0; rank < said.size(); ++rank) EXPECT_EQ(said[rank].size(), rank == first ? 1U : 0U) << rank;
    if (said[first].empty()) continue;
    EXPECT_EQ(said[first][0], "the other processes have waited 1 s for process " + std::to_string(straggler));
  }
}

TEST(ProcessGroup, SeveralStragglersAreNamedTogether) {
  using namespace std::chrono_literals;
  std::vector<std::string> said;
  test::play_well(4, [&](const Own& own) {
    if (own->leads()) own->name_stragglers([&](const std::string& line) { said.push_back(line); }, 1500ms);
    if (!own->leads()) std::this_thread::sleep_for(2500ms);
    at::Tensor sum = at::ones({10});
    own->all_reduce(sum);
  });
  EXPECT_EQ(said, std::vector<std::string>{"the other processes have waited 1 s for processes 1, 2 and 3"});
}

TEST(ProcessGroup, TheLeaderNamesThoseThatDoNotListen) {
  using namespace std::chrono_literals;
  for (const int64_t straggler : {1, 2}) {
    std::array<std::vector<std::string>, 3> said;
    test::play_well(3, [&](const Own& own) {
      own->name_stragglers([&](const std::string& line) { said[static_cast<size_t>(own->rank())].push_back(line); },
                           1500ms);
      if (own->rank() == straggler) std::this_thread::sleep_for(2500ms);
      EXPECT_EQ(own->broadcast(int64_t{own->leads() ? 7 : 3}), 7);
    });
    EXPECT_EQ(said[0],
              std::vector<std::string>{"the other processes have waited 1 s for process " + std::to_string(straggler)});
    EXPECT_TRUE(said[1].empty() && said[2].empty());
  }
}

/// Takes one sign of process 1 and loses the later ones, as if the process were held up after the first one.
class LosingStore : public c10d::HashStore {
 public:
  void set(const std::string& key, const std::vector<uint8_t>& data) override {
    if (key == "waits/1" && given_++ > 0) return;
    c10d::HashStore::set(key, data);
  }

 private:
  std::atomic<int> given_ = 0;
};

TEST(ProcessGroup, OneThatIsHeldUpWhileItWaitsIsNamed) {
  using namespace std::chrono_literals;
  constexpr int64_t kSize = 3;
  const auto store = c10::make_intrusive<LosingStore>();
  std::vector<std::string> said;
  std::vector<std::thread> threads;
  for (int64_t rank = 0; rank < kSize; ++rank) {
    threads.emplace_back([&, rank] {
      ProcessGroup own(store, rank, kSize,
                       [&] { return gloo_backend(store, {.rank = rank, .size = kSize, .host = "127.0.0.1"}, {}); });
      own.connect();
      if (own.leads()) own.name_stragglers([&](const std::string& line) { said.push_back(line); }, 5000ms);
      if (rank == 2) std::this_thread::sleep_for(6500ms);
      own.broadcast(int64_t{1});
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(said, std::vector<std::string>{"the other processes have waited 5 s for processes 1 and 2"});
}

TEST(ProcessGroup, AWaitForTheLeaderAtItsWorkIsNoStraggling) {
  using namespace std::chrono_literals;
  std::vector<std::string> said;
  test::play_well(2, [&](const Own& own) {
    own->name_stragglers([&](const std::string& line) { said.push_back(line); }, 500ms);
    if (own->leads()) std::this_thread::sleep_for(1500ms);
    own->broadcast(int64_t{1});
  });
  EXPECT_TRUE(said.empty());
}

}  // namespace
}  // namespace cachet::processes
