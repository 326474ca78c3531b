#include "cachet/data/vision/class_names.h"

#include <gtest/gtest.h>

#include "cachet/io/error.h"

namespace cachet::data {
namespace {

TEST(ClassNames, AreOneALine) {
  const std::vector<std::string> expected{"ankle boot", "Käfer"};
  EXPECT_EQ(parse_class_names("ankle boot\nKäfer", 2, "x"), expected);
  EXPECT_EQ(parse_class_names("ankle boot\r\nKäfer\r\n\n\n", 2, "x"), expected);
}

TEST(ClassNames, RefuseWhatIsNoListOfNames) {
  struct Case {
    std::string text;
    std::string message;
  };
  const Case cases[] = {
      {"", "x: 0 class names (one for each line), but there are 2 classes"},
      {"a", "x: 1 class name"},
      {"a\nb\nc", "x: 3 class names"},
      {"\nb", "x:1: a class name must have 1 to 100"},
      {"a\nb\tc", "x:2: a class name must have 1 to 100"},
      {"a\n\x7f", "x:2: a class name must have 1 to 100"},
      {std::string("a\n\0", 3), "x:2: a class name must have 1 to 100"},
      {"a\n" + std::string(101, 'b'), "x:2: a class name must have 1 to 100"},
  };
  for (const auto& [text, message] : cases) {
    try {
      parse_class_names(text, 2, "x");
      ADD_FAILURE() << "accepted: " << text;
    } catch (const io::Error& error) {
      EXPECT_EQ(std::string(error.what()).substr(0, message.size()), message);
    }
  }
}

TEST(ClassNames, OfKnownSets) {
  EXPECT_EQ(cifar10_class_names().size(), 10u);
  EXPECT_EQ(fashion_mnist_class_names().size(), 10u);
  EXPECT_EQ(numbered_class_names(3), (std::vector<std::string>{"0", "1", "2"}));
}

}  // namespace
}  // namespace cachet::data
