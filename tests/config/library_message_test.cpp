#include "cachet/config/library_message.h"

#include <gtest/gtest.h>

namespace cachet::config {
namespace {

TEST(LibraryMessage, LosesWhatOnlyDevelopersCanUse) {
  EXPECT_EQ(plain_message("[enforce fail at /pytorch/third_party/gloo/gloo/transport/tcp/device.cc:83] ifa != nullptr. "
                          "Unable to find address for: eth7"),
            "Unable to find address for: eth7");
  EXPECT_EQ(plain_message("[/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:534] Connection closed by peer "
                          "[127.0.0.1]:4711"),
            "Connection closed by peer [127.0.0.1]:4711");
  EXPECT_EQ(plain_message("Gloo connectFullMesh failed with [/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:553] "
                          "Connection closed by peer [127.0.0.1]:4711. This is typically caused by a remote worker "
                          "crashing. GLHF!\nException raised from logAndThrow at a.cpp:68"),
            "Connection closed by peer [127.0.0.1]:4711");
  EXPECT_EQ(plain_message("Connect timeout [127.0.0.1]:4711\nException raised from wait at a.cpp:68 (most recent call "
                          "first):\nframe #0: x"),
            "Connect timeout [127.0.0.1]:4711");
  EXPECT_EQ(plain_message("bpe_model_trainer.h(73) [(r) <= (limits[0])] The text is too long\nframe #0: x"),
            "The text is too long");
  EXPECT_EQ(plain_message("[enforce fail at a.cc:1] x[i] == b[0]. "), "a check inside a library failed");
  EXPECT_EQ(plain_message("trainer.cc(12) [ok] "), "a check inside a library failed");
}

TEST(LibraryMessage, LeavesOtherTextsAsTheyAre) {
  for (const char* text : {"", "recipe.toml:3: unknown key [model]\nsee docs", "[model] is no table", "a.cc is a file",
                           "run (2) [old] has no checkpoint", "[a.txt:x] y"})
    EXPECT_EQ(plain_message(text), text);
}

}  // namespace
}  // namespace cachet::config
