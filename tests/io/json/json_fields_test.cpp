#include "cachet/io/json/json_fields.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "tests/support/thrown_message.h"

namespace cachet::io {
namespace {

std::string refusal(const std::string& text, const std::function<void(const JsonFields&)>& ask) {
  return test::thrown_message<Error>([&] { ask(JsonFields(text, "a.json")); });
}

TEST(JsonFields, GivesWhatAnObjectHolds) {
  const JsonFields fields(
      R"({"schema":1,"name":"a\"b","on":true,"count":9007199254740992,"least":-3,"most":18446744073709551615,)"
      R"("rate":0.1,"none":null,"part":{"words":["x","y"],"texts":{"k":"v"}},"rows":[{"i":0},{"i":1}],)"
      R"("values":[1.5,null,2],"seeds":[0,7]})",
      "a.json");
  EXPECT_EQ(fields.schema(1), 1);
  EXPECT_EQ(fields.text("name"), "a\"b");
  EXPECT_TRUE(fields.flag("on"));
  EXPECT_EQ(fields.count("count"), int64_t{1} << 53);
  EXPECT_EQ(fields.integer("least", -3, 0), -3);
  EXPECT_EQ(fields.unsigned_integer("most"), std::numeric_limits<uint64_t>::max());
  EXPECT_EQ(fields.number("rate"), 0.1);
  EXPECT_EQ(fields.number("count"), 9007199254740992.0) << "a whole number is a number";
  EXPECT_TRUE(fields.has("none") && fields.is_null("none"));
  EXPECT_TRUE(std::isnan(fields.number_or_nan("none")));
  EXPECT_FALSE(fields.has("other") || fields.is_null("other"));
  EXPECT_EQ(fields.object("part").texts("words"), (std::vector<std::string>{"x", "y"}));
  EXPECT_EQ(fields.object("part").text_map("texts"), (std::map<std::string, std::string>{{"k", "v"}}));
  EXPECT_EQ(fields.objects("rows").at(1).count("i"), 1);
  EXPECT_TRUE(std::isnan(fields.numbers_or_nan("values").at(1)));
  EXPECT_EQ(fields.unsigned_integers("seeds", 7), (std::vector<uint64_t>{0, 7}));
  EXPECT_EQ(fields.json("rows"), R"([{"i":0},{"i":1}])");
  EXPECT_EQ(fields.text("other", "missing"), "missing");
  EXPECT_EQ(fields.count("other", 4), 4);
  EXPECT_TRUE(fields.flag("other", true));
}

TEST(JsonFields, RefusesEachValueOfAnotherTypeOrOutOfItsRange) {
  const auto count = [](const JsonFields& fields) { fields.count("n"); };
  for (const char* value :
       {"1.5", "1.0", "1e2", "-1", "9007199254740993", "99999999999999999999", "\"1\"", "true", "null", "[1]", "{}"}) {
    EXPECT_NE(refusal("{\"n\":" + std::string(value) + "}", count).find("a.json: damaged: 'n' is "), std::string::npos)
        << value;
  }
  EXPECT_EQ(refusal(R"({"n":1.5})", count),
            "a.json: damaged: 'n' is 1.5, not a whole number from 0 to 9007199254740992");
  EXPECT_EQ(refusal("{}", count), "a.json: damaged: it has no 'n'");
  EXPECT_EQ(refusal(R"({"n":9})", [](const JsonFields& f) { f.integer("n", -2, 8); }),
            "a.json: damaged: 'n' is 9, not a whole number from -2 to 8");
  EXPECT_EQ(refusal(R"({"n":[1]})", [](const JsonFields& f) { f.text("n", "missing"); }),
            "a.json: damaged: 'n' is a list, not a text")
      << "what is there is not taken for missing";
  EXPECT_NE(refusal(R"({"n":0})", [](const JsonFields& f) { f.flag("n"); }).find("damaged: \'n"), std::string::npos);
  EXPECT_NE(refusal(R"({"n":"1"})", [](const JsonFields& f) { f.number("n"); }).find("damaged: \'n"),
            std::string::npos);
  EXPECT_NE(refusal(R"({"n":null})", [](const JsonFields& f) { f.number("n"); }).find("damaged: \'n"),
            std::string::npos);
  EXPECT_NE(refusal(R"({"n":true})", [](const JsonFields& f) { f.number_or_nan("n"); }).find("damaged: \'n"),
            std::string::npos);
  EXPECT_NE(refusal(R"({"n":-1})", [](const JsonFields& f) { f.unsigned_integer("n"); }).find("damaged: \'n"),
            std::string::npos);
  EXPECT_NE(refusal(R"({"n":[8]})", [](const JsonFields& f) { f.unsigned_integers("n", 7); }).find("damaged: \'n"),
            std::string::npos);
  EXPECT_NE(refusal(R"({"n":["1"]})", [](const JsonFields& f) { f.numbers_or_nan("n"); }).find("damaged: \'n"),
            std::string::npos);
  EXPECT_NE(refusal(R"({"n":{}})", [](const JsonFields& f) { f.numbers_or_nan("n"); }).find("damaged: \'n"),
            std::string::npos);
  EXPECT_EQ(refusal(R"({"n":["a",1]})", [](const JsonFields& f) { f.texts("n"); }),
            "a.json: damaged: 'n[1]' is 1, not a text");
  EXPECT_EQ(refusal(R"({"p":{"n":{"a":1}}})", [](const JsonFields& f) { f.object("p").text_map("n"); }),
            "a.json: damaged: 'p.n.a' is 1, not a text");
  EXPECT_EQ(refusal(R"({"n":[{},7]})", [](const JsonFields& f) { f.objects("n"); }),
            "a.json: damaged: 'n[1]' is 7, not an object");
  EXPECT_NE(refusal(R"({"n":[]})", [](const JsonFields& f) { f.object("n"); }).find("damaged: \'n"), std::string::npos);
}

TEST(JsonFields, RefusesWhatIsNotOneObject) {
  const auto nothing = [](const JsonFields&) {};
  for (const char* text : {"", "{", "[]", "7", "null", "{} {}", "{\"n\":NaN}", "{\"n\":1e999}", "{\"n\":01}",
                           "{\"n\":\"\xff\"}", "{'n':1}"})
    EXPECT_NE(refusal(text, nothing).find("a.json: damaged: it is not "), std::string::npos) << text;
  EXPECT_NE(refusal("{\"n\":" + std::string(100, '[') + std::string(100, ']') + "}", nothing).find("not valid JSON"),
            std::string::npos);
  EXPECT_EQ(refusal(R"({"n":1,"m":{"n":2},"n":1})", nothing),
            "a.json: damaged: it is not valid JSON, or an object has the same key twice");
  EXPECT_EQ(refusal(R"({"m":[{"n":2,"n":2}]})", nothing),
            "a.json: damaged: it is not valid JSON, or an object has the same key twice");
  EXPECT_EQ(refusal(R"({"m":{"n":2},"n":2})", nothing), "(nothing thrown)") << "keys of two objects are two keys";
}

TEST(JsonFields, RefusesANewerSchemaAndSaysToUseANewerCachet) {
  const auto ask = [](const std::string& text) {
    return test::thrown_message<NewerSchema>([&] { JsonFields(text, "a.json").schema(1); });
  };
  EXPECT_EQ(
      ask(R"({"schema":77})"),
      "a.json: its schema is 77, but this version of Cachet reads only schemas up to 1; use a newer version of Cachet");
  EXPECT_EQ(JsonFields(R"({"schema":1})", "a.json").schema(2), 1) << "older ones stay readable";
  const auto damaged = [](const JsonFields& fields) { fields.schema(1); };
  for (const char* text : {"{}", R"({"schema":0})", R"({"schema":1.0})", R"({"schema":"1"})"})
    EXPECT_NE(refusal(text, damaged).find("damaged"), std::string::npos) << text;
}

TEST(JsonFields, ShowsNoControlCharacter) {
  const std::string said = refusal(R"({"p":{"a\u001b[2J":1}})", [](const JsonFields& f) { f.text_map("p"); }) +
                           refusal(R"({"n":"\u001b[2J\u007f"})", [](const JsonFields& f) { f.count("n"); });
  for (const char symbol : said) EXPECT_TRUE(symbol >= ' ' && symbol != '\x7f') << static_cast<int>(symbol);
}

}  // namespace
}  // namespace cachet::io
