#include "cachet/report/page/markup.h"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

#include "tests/report/well_formed.h"

namespace cachet::report {
namespace {

TEST(MarkupTest, ElementsAndEscapes) {
  Markup svg;
  svg.open("svg", {{"width", 10.0}, {"label", "a\"b"}})
      .element("text", {}, "1 < 2 & 3")
      .empty("line", {{"x", 0.125}})
      .close();
  EXPECT_EQ(svg.str(), "<svg width=\"10\" label=\"a&quot;b\"><text>1 &lt; 2 &amp; 3</text><line x=\"0.12\"/></svg>");
}

TEST(MarkupTest, CoordinatesAreShortAndFinite) {
  EXPECT_EQ(coordinate(12), "12");
  EXPECT_EQ(coordinate(-0.001), "0");
  EXPECT_EQ(coordinate(1.5), "1.5");
  EXPECT_EQ(coordinate(NAN), "0");
  EXPECT_EQ(coordinate(INFINITY), "0");
  EXPECT_EQ(coordinate(100), "100");
}

TEST(MarkupTest, WhatStandsBetweenBackticksIsCode) {
  const auto drawn = [](const char* text) { return Markup().paragraph("note", text).str(); };
  EXPECT_EQ(drawn("a (`b = \"c\"`) and `d`"),
            "<p class=\"note\">a (<code>b = &quot;c&quot;</code>) and <code>d</code></p>");
  EXPECT_EQ(drawn("one ` alone"), "<p class=\"note\">one ` alone</p>");
  EXPECT_EQ(drawn("`a` and ` alone"), "<p class=\"note\"><code>a</code> and ` alone</p>");
  EXPECT_EQ(drawn(""), "<p class=\"note\"></p>");
}

TEST(MarkupTest, UnbalancedElementsAreErrors) {
  Markup svg;
  EXPECT_THROW(svg.close(), std::logic_error);
  svg.open("g");
  EXPECT_THROW(svg.str(), std::logic_error);
}

TEST(MarkupTest, ForbiddenCharactersAreReplaced) {
  EXPECT_EQ(escaped(std::string_view("a\0b\x1b", 4)), "a\uFFFDb\uFFFD");
  EXPECT_EQ(escaped("\xC3"), "\uFFFD");
  EXPECT_EQ(escaped("line\n\ttab"), "line\n\ttab");
}

// The checker that the other tests rely on must see what is wrong.
TEST(WellFormedTest, FindsErrors) {
  EXPECT_EQ(test::markup_error("<a b=\"1 > 0\"><c/>x &amp; y</a>"), "");
  for (const char* wrong : {"<a>", "<a></b>", "</a>", "<a>x & y</a>", "<a b=\"&\"/>", "<a", "text", "<a><b></a></b>"}) {
    EXPECT_NE(test::markup_error(wrong), "") << wrong;
  }
}

}  // namespace
}  // namespace cachet::report
