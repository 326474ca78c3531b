#include "cachet/hub/remote_name.h"

#include <gtest/gtest.h>

#include "cachet/io/error.h"

namespace cachet::hub {
namespace {

constexpr const char* kEndpoint = "https://huggingface.co";

void expect_name(const char* text, const HubName& expected) {
  const auto name = hub_name(text, kEndpoint);
  ASSERT_TRUE(name) << text;
  EXPECT_EQ(name->repository, expected.repository) << text;
  EXPECT_EQ(name->revision, expected.revision) << text;
  EXPECT_EQ(name->file, expected.file) << text;
}

TEST(RemoteName, HasRepositoryRevisionAndFile) {
  expect_name("hf:timm/vit_tiny.augreg_in21k", {"timm/vit_tiny.augreg_in21k", "main", ""});
  expect_name("hf://timm/vit", {"timm/vit", "main", ""});
  expect_name("hf:timm/vit@v1.0", {"timm/vit", "v1.0", ""});
  expect_name("hf:timm/vit@refs%2Fpr%2F1/a/b.bin", {"timm/vit", "refs/pr/1", "a/b.bin"});
  expect_name("hf:timm/vit/model.safetensors", {"timm/vit", "main", "model.safetensors"});
  EXPECT_EQ((HubName{"timm/vit", "v1", "a.bin"}.text()), "hf:timm/vit@v1/a.bin");
}

TEST(RemoteName, CanBeAnAddressOfTheHub) {
  expect_name("https://huggingface.co/timm/vit", {"timm/vit", "main", ""});
  expect_name("https://huggingface.co/timm/vit/tree/v1", {"timm/vit", "v1", ""});
  expect_name("https://huggingface.co/timm/vit/resolve/main/a%20b.bin?download=true", {"timm/vit", "main", "a b.bin"});
  expect_name("https://huggingface.co/timm/vit/blob/v1/a.bin", {"timm/vit", "v1", "a.bin"});
  for (const char* other : {"https://huggingface.co.example.org/timm/vit", "https://example.org/timm/vit",
                            "https://huggingface.co/api/models/timm/vit"})
    EXPECT_FALSE(hub_name(other, kEndpoint)) << other;
}

TEST(RemoteName, IsRefusedIfItCouldLeaveTheCache) {
  for (const char* text : {"hf:", "hf:vit", "hf:/vit", "hf:timm/", "hf:timm/..", "hf:../vit", "hf:ti mm/vit",
                           "hf:a--b/c", "hf:timm/vit@", "hf:timm/vit@../x", "hf:timm/vit@%2Fx", "hf:timm/vit/../x",
                           "hf:timm/vit//x", "hf:timm/vit/a\\b", "hf:timm/.vit", "hf:timm/vit-"})
    EXPECT_THROW(hub_name(text, kEndpoint), io::Error) << text;
  for (const char* name : {"", "/a", "a/", "a//b", "a/./b", "a/../b", "..", "a\nb"})
    EXPECT_FALSE(is_file_below(name)) << name;
  EXPECT_TRUE(is_file_below("a/.b/c..d"));
}

TEST(RemoteName, IsNoPath) {
  EXPECT_TRUE(is_remote("hf:timm/vit"));
  EXPECT_TRUE(is_remote("https://example.org/x.pth"));
  EXPECT_FALSE(is_remote("hf/timm.pth"));
  EXPECT_TRUE(is_commit(std::string(40, 'a')));
  EXPECT_FALSE(is_commit(std::string(40, 'g')));
  EXPECT_FALSE(is_commit(std::string(39, 'a')));
}

}  // namespace
}  // namespace cachet::hub
