// Files as trees: what is in them and where, and that nothing hostile grows or hangs.
#include "policies/tree.h"

#include "tests/support/refusal.h"
#include "tests/support/test.h"

namespace retrystorm::test {
namespace {

std::string repeated(std::string_view text, std::size_t times) {
  std::string all;
  for (std::size_t i = 0; i < times; ++i) all += text;
  return all;
}

const std::string kSecret = "hunter2";

// What is said of a text that is not read. It never has the secret in it.
template <typename Parse>
auto refusal_by(const Parse& parse) {
  return [&parse](const std::string& text) {
    std::string said = refusal_of<BadFile>([&] { parse(text); });
    EXPECT_EQ(said.find(kSecret), said.npos) << said;
    return said;
  };
}

TEST(Tree, KeepsTheLineOfEachValue) {
  const Node json = parse_yaml("{\n  \"a\": 1,\n\t\"b\":[\n    2.50\n  ]\n}\n").front();
  EXPECT_EQ(json["a"].line, 2u);
  EXPECT_EQ(json["a"].text, "1");
  ASSERT_THAT(json["b"].children, SizeIs(1));
  EXPECT_EQ(json["b"].children[0].line, 4u);
  EXPECT_EQ(json["b"].children[0].text, "2.50");

  const auto yaml = parse_yaml("a: 1\n---\nb:\n  c: '010'\n  d: ~\n");
  ASSERT_THAT(yaml, SizeIs(2));
  EXPECT_EQ(yaml[0]["a"].text, "1");
  EXPECT_EQ(yaml[1]["b"].line, 3u);
  EXPECT_EQ(yaml[1]["b>c"].line, 4u);
  EXPECT_EQ(yaml[1]["b>c"].text, "010");
  EXPECT_EQ(yaml[1]["b>d"].kind, Node::Kind::kNull);
  EXPECT_FALSE(yaml[1]["b>e"]);
  EXPECT_EQ(yaml[1]["b>e>f"].line, 0u);
}

TEST(Tree, FollowsAliasesAndMergesTheirMembers) {
  const auto yaml = parse_yaml(
      "base: &base {retries: 3, timeout: 1s}\n"
      "other: &other {retries: 9, host: x}\n"
      "plain: *base\n"
      "one: {<<: *base, retries: 5}\n"
      "two: {<<: [*base, *other]}\n");
  const Node& root = yaml.front();
  EXPECT_EQ(root["plain>timeout"].text, "1s");
  // What is said in place counts, then the first that is merged.
  EXPECT_EQ(root["one>retries"].text, "5");
  EXPECT_EQ(root["one>timeout"].text, "1s");
  EXPECT_EQ(root["two>retries"].text, "3");
  EXPECT_EQ(root["two>host"].text, "x");
}

// RFC 8259, 7: "a string containing only the G clef character (U+1D11E) may be represented as
// \"\\uD834\\uDD1E\"".
TEST(Tree, ReadsPairsOfEscapes) {
  const auto json =
      parse_yaml(R"({"a": "\uD834\uDD1E", "b\ud83d\ude00": "\\ud834\\udd1e", "c": 1})");
  EXPECT_EQ(json.front()["a"].text, "\xF0\x9D\x84\x9E");
  EXPECT_EQ(json.front()["b\xF0\x9F\x98\x80"].text, R"(\ud834\udd1e)");
  EXPECT_EQ(json.front()["c"].text, "1");
  for (const char* half : {R"(["\ud834"])", R"(["\ud834\u0041"])", R"({"a": "\uD83D\)"}) {
    EXPECT_THROW(parse_yaml(half), BadFile) << half;
  }
}

TEST(Tree, RefusesWhatIsWrongWithItsLineAndWithoutItsText) {
  expect_refusals(
      refusal_by(parse_yaml),
      {{"a: b\nc: " + kSecret + "\n  d: e\n", "line 3"},
       {"a: [" + kSecret + "\n", "line 2"},
       {"a: 1\n" + kSecret + ": 2\na: 3\n", "line 3: not valid YAML: a key is given"},
       {"a: *nothing\n", "line 1: not valid YAML: an alias without an anchor"},
       {"a: &x\n  - *x\n", "line 2: not valid YAML: an alias inside"},
       {"a: &x\n  b: *x\n", "an alias inside"},
       {"<<: " + kSecret + "\n", "<< brings no map"},
       {"retries: {{ .Values." + kSecret + " }}\n", "line 1: this looks like a template"},
       {"host: x-{{ .Values." + kSecret + " }}\n", "line 1: this looks like a template"}});
  expect_refusals(
      refusal_by(check_json),
      {{"{\"a\": 1,\n \"" + kSecret + "\" 2}", "line 2, column 12: not valid JSON"},
       {"{\"a\": 1,\n \"b\": 2,}", "line 2, column 9: not valid JSON"},
       {"{\"a\": 1} " + kSecret, "line 1, column 10: not valid JSON"},
       {"{\"" + kSecret + "\": 1e999}", "not valid JSON: a number in it is too large"}});
}

// Each would take gigabytes, hours or the whole stack if it were followed.
TEST(Tree, RefusesWhatWouldGrow) {
  std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 30; ++i) {
    const std::string last = "*a" + std::to_string(i - 1) + ", ";
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + repeated(last, 8) + last +
            "]\n";
  }
  const auto begin = std::chrono::steady_clock::now();
  // Aliases of a long text, also as a key, and anchors in anchors; and a name: readers join them, and look for similar
  // ones.
  const std::string text = "&x \"" + repeated("y", 2'000'000) + "\"";
  const std::string name = repeated("n", 3'000'000);
  std::string tags;
  for (int i = 0; i <= 1'000; ++i) tags += "%TAG !a" + std::to_string(i) + "! b\n";
  expect_refusals(refusal_by(parse_yaml),
                  {{bomb, "too large to be read"},
                   {"a: " + text + "\nb: [*x, *x, *x]\n", "too large"},
                   {"a: " + text + "\nb: [{*x : 1}, {*x : 1}]\n", "too large"},
                   {"&a [&b [&c [" + text + "]]]\n", "too large"},
                   {"? " + name + "\n: 1\n", "a name of more than"},
                   {tags + "---\n", "too large to be read"},
                   {repeated("[", 100'000), "too large to be read"},
                   {repeated("- ", 1'000), "too large to be read"},
                   {repeated("- 1\n", 200'000), "values"},
                   {'[' + repeated("1,", 200'000) + "1]", "values"}});
  EXPECT_EQ(parse_yaml("name: " + name)[0]["name"].brief().size(), kLongestName);
  EXPECT_THROW(parse_yaml(repeated("? ", 2'000)), BadFile);
  EXPECT_THROW(check_json(repeated("[", 10'000)), BadFile);
  // In a second, with room for a sanitizer on a busy machine.
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(30));
}

}  // namespace
}  // namespace retrystorm::test
