#pragma once

#include <c10/util/Exception.h>
#include <gtest/gtest.h>

#include <string>

namespace cachet::test {

/// Runs something that must be refused, with a message that has this text in it.
template <class Action>
void expect_refused(const Action& action, const std::string& text) {
  try {
    action();
    FAIL() << "accepted, though it should say: " << text;
  } catch (const c10::Error& error) {
    EXPECT_NE(std::string(error.what_without_backtrace()).find(text), std::string::npos)
        << error.what_without_backtrace();
  }
}

}  // namespace cachet::test
