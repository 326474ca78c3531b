#include "cachet/tasks/classification/classification_evaluation.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace cachet::tasks {
namespace {

using EvaluationText = nlohmann::ordered_json;

/// Of 40 samples in three classes.
ClassificationEvaluation three_classes() {
  ClassificationEvaluation evaluation;
  evaluation.classes = 3;
  evaluation.samples = 40;
  evaluation.confusion = {9, 1, 0, 0, 12, 3, 2, 0, 13};
  evaluation.right = {{0, 0, 0, 0.91234567890123}, {39, 2, 2, 1}};
  evaluation.wrong = {{17, 1, 2, 1.0 / 3}};
  return evaluation;
}

void expect_same_samples(const std::vector<ClassifiedSample>& samples, const std::vector<ClassifiedSample>& others) {
  ASSERT_EQ(samples.size(), others.size());
  for (size_t i = 0; i < samples.size(); ++i) {
    EXPECT_EQ(samples[i].index, others[i].index);
    EXPECT_EQ(samples[i].label, others[i].label);
    EXPECT_EQ(samples[i].predicted, others[i].predicted);
    EXPECT_EQ(samples[i].probability, others[i].probability);
  }
}

void expect_round_trip(const ClassificationEvaluation& evaluation) {
  const auto read = evaluation_from_json(to_json(evaluation));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->classes, evaluation.classes);
  EXPECT_EQ(read->samples, evaluation.samples);
  EXPECT_EQ(read->confusion, evaluation.confusion);
  expect_same_samples(read->right, evaluation.right);
  expect_same_samples(read->wrong, evaluation.wrong);
  EXPECT_TRUE(fits(*read, evaluation.classes, evaluation.samples));
}

/// What is left of a hostile text when it is read for a task of three classes and 40 samples.
bool is_taken(const std::string& text) {
  const auto evaluation = evaluation_from_json(text);
  return evaluation && fits(*evaluation, 3, 40);
}

TEST(ClassificationEvaluation, IsReadAsItWasWritten) {
  expect_round_trip(three_classes());
  ClassificationEvaluation none_right = three_classes();
  none_right.right.clear();
  expect_round_trip(none_right);
  ClassificationEvaluation empty;
  empty.classes = 3;
  empty.confusion.assign(9, 0);
  expect_round_trip(empty);
}

TEST(ClassificationEvaluation, IsReadWithoutAMatrixOfManyClasses) {
  ClassificationEvaluation many = three_classes();
  many.classes = kMaxConfusedClasses + 1;
  many.confusion.clear();
  many.wrong = {{17, 1, kMaxConfusedClasses, 0.5}};
  expect_round_trip(many);
}

TEST(ClassificationEvaluation, KeepsTheCountsThatAreNotZeroAlone) {
  ClassificationEvaluation most = three_classes();
  most.classes = kMaxConfusedClasses;
  most.confusion.assign(static_cast<size_t>(most.classes * most.classes), 0);
  most.confusion.back() = 40;
  EXPECT_LT(to_json(most).size(), 500U);
  expect_round_trip(most);
}

TEST(ClassificationEvaluation, OfOtherDataDoesNotFit) {
  EXPECT_TRUE(fits(three_classes(), 3, 40));
  EXPECT_FALSE(fits(three_classes(), 2, 40));
  EXPECT_FALSE(fits(three_classes(), 4, 40));
  EXPECT_FALSE(fits(three_classes(), 3, 39)) << "its sample 39 is the fortieth";
  ClassificationEvaluation small = three_classes();
  small.right.clear();
  small.wrong.clear();
  EXPECT_FALSE(fits(small, 3, 39)) << "it counted more samples than there are";
}

TEST(ClassificationEvaluation, HostileTextsAreNotTaken) {
  ASSERT_TRUE(is_taken(to_json(three_classes())));
  for (const char* text : {"", "{", "[]", "null", "7", "\"text\"", "{}", R"({"classes": 3})",
                           R"({"classes": 3, "samples": 40, "right": [], "wrong": []})"})
    EXPECT_FALSE(is_taken(text)) << text;

  struct Hostile {
    const char *place, *value;
  };
  for (const auto& [place, value] : std::vector<Hostile>{{"/classes", "-3"},
                                                         {"/classes", "0"},
                                                         {"/classes", "4"},
                                                         {"/classes", "2001"},
                                                         {"/classes", "9223372036854775807"},
                                                         {"/classes", "\"3\""},
                                                         {"/classes", "[3]"},
                                                         {"/classes", "3.5"},
                                                         {"/classes", "1e300"},
                                                         {"/samples", "-1"},
                                                         {"/samples", "41"},
                                                         {"/samples", "9223372036854775807"},
                                                         {"/samples", "null"},
                                                         {"/confusion", "7"},
                                                         {"/confusion", "\"text\""},
                                                         {"/confusion", "[7]"},
                                                         {"/confusion", "[[]]"},
                                                         {"/confusion", "[[0, 0]]"},
                                                         {"/confusion", "[[0, 0, null]]"},
                                                         {"/confusion", "[[3, 0, 1]]"},
                                                         {"/confusion", "[[0, 3, 1]]"},
                                                         {"/confusion", "[[-1, 0, 1]]"},
                                                         {"/confusion", "[[0, -1, 1]]"},
                                                         {"/confusion", "[[0, 0, -1]]"},
                                                         {"/confusion", "[[0, 0, 1.5]]"},
                                                         {"/confusion", "[[0, 0, 18446744073709551615]]"},
                                                         {"/confusion", "{\"first\": [0, 0, 1]}"},
                                                         {"/confusion", "[[0, 0, 41]]"},
                                                         {"/confusion", "[[0, 0, 20], [1, 1, 21]]"},
                                                         {"/confusion", "[[0, 0, 9223372036854775807], [1, 1, 2]]"},
                                                         {"/right", "7"},
                                                         {"/right", "[[]]"},
                                                         {"/right", "[[0, 0, 0, \"sure\"]]"},
                                                         {"/right/0/0", "-1"},
                                                         {"/right/0/0", "40"},
                                                         {"/right/0/1", "3"},
                                                         {"/right/0/1", "-1"},
                                                         {"/right/0/2", "3"},
                                                         {"/wrong/0/0", "40"},
                                                         {"/wrong/0/1", "-1"},
                                                         {"/wrong/0/2", "3"},
                                                         {"/wrong/0/2", "-9223372036854775808"},
                                                         {"/wrong", "null"}}) {
    EvaluationText json = EvaluationText::parse(to_json(three_classes()));
    json[EvaluationText::json_pointer(place)] = EvaluationText::parse(value);
    EXPECT_FALSE(is_taken(json.dump())) << place << " = " << value;
  }
}

}  // namespace
}  // namespace cachet::tasks
