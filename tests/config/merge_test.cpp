#include "cachet/config/merge.h"

#include <gtest/gtest.h>

#include "cachet/config/set_option.h"
#include "cachet/config/toml_parser.h"

namespace cachet::config {
namespace {

Node merged_texts(const std::string& below, const std::string& above) {
  Node root = parse_toml(below, "below");
  merge_over(root, parse_toml(above, "above"));
  return root;
}

TEST(Merge, LaysTablesOverEachOtherKeyByKey) {
  const Node root = merged_texts("[m.c]\nratio = 0.5\nlength = 3\n[t]\nx = 1", "[m]\nname = 'v'\n[m.c]\n\nlength = 4");
  EXPECT_EQ(find(root, "m.c.ratio")->origin.text(), "below:2");
  EXPECT_EQ(find(root, "m.c.length")->origin.text(), "above:5");
  EXPECT_EQ(std::get<int64_t>(find(root, "m.c.length")->value), 4);
  EXPECT_EQ(find(root, "m.name")->origin.text(), "above:2");
  EXPECT_EQ(find(root, "t.x")->origin.text(), "below:5");
}

TEST(Merge, ReplacesListsAndOtherTypesWhole) {
  const Node root = merged_texts("list = [1, 2, 3]\nt = {a = 1}\nv = 1", "list = [9]\nt = 5\nv = {a = 1}");
  EXPECT_EQ(std::get<List>(find(root, "list")->value).size(), 1u);
  EXPECT_EQ(std::get<int64_t>(find(root, "t")->value), 5);
  EXPECT_EQ(std::get<int64_t>(find(root, "v.a")->value), 1);
}

TEST(Merge, LeavesTheKeysOfAReplacedKindBehind) {
  const Node root = merged_texts("[c]\nkind = 'grc'\nratio = 0.5\nlength = 3\ngate.bias = 1",
                                 "[c]\nkind = 'fifo'\nlength = 4\ndepth = 2");
  EXPECT_TRUE(find(root, "c.ratio")->left_behind);
  EXPECT_TRUE(find(root, "c.gate")->left_behind);
  EXPECT_TRUE(find(root, "c.gate.bias")->left_behind);
  EXPECT_FALSE(find(root, "c.length")->left_behind);
  EXPECT_FALSE(find(root, "c.depth")->left_behind);
  EXPECT_FALSE(find(root, "c.kind")->left_behind);
}

TEST(Merge, LeavesTheKeysOfAReplacedModelBehind) {
  const Node root =
      merged_texts("[model]\nname = 'pvt'\nembed_dims = [1, 2]\nneck.out = 3\n[model.cache]\nkind = 'grc'",
                   "[model]\nname = 'swin'\nembed_dim = 4");
  EXPECT_TRUE(find(root, "model.embed_dims")->left_behind);
  EXPECT_TRUE(find(root, "model.neck.out")->left_behind);
  EXPECT_FALSE(find(root, "model.embed_dim")->left_behind);
  EXPECT_FALSE(find(root, "model.name")->left_behind);
}

TEST(Merge, LeavesNothingBehindWhereTheKindStays) {
  const Node same = merged_texts("[c]\nkind = 'grc'\nratio = 0.5", "[c]\nkind = 'grc'");
  EXPECT_FALSE(find(same, "c.ratio")->left_behind);
  const Node unnamed = merged_texts("[c]\nratio = 0.5", "[c]\nkind = 'grc'");
  EXPECT_FALSE(find(unnamed, "c.ratio")->left_behind);
}

TEST(Merge, NeverLeavesAnOptionOfTheCommandLineBehind) {
  Node root = parse_toml("[c]\nkind = 'grc'\nlength = 1", "below");
  merge_over(root, parse_assignment("c.ratio=0.5"));
  merge_over(root, parse_assignment("c.kind=none"));
  EXPECT_FALSE(find(root, "c.ratio")->left_behind);
  EXPECT_TRUE(find(root, "c.length")->left_behind);
}

}  // namespace
}  // namespace cachet::config
