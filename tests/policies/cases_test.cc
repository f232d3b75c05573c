// Policies of other programs as options: files of each kind, and what they become. A case of tests/policies/cases is its
// head, "#### NAME" or "#### NAME --as=WORD" with a word of --as; the policy's file; and after "####" what is read in it:
// options with their lines (those that have an effect with --replicas only in one line), and the ids of notes and
// findings with their lines and numbers. To add a case, write its head and its file and have the rest written; look at
// the difference:
//   RETRYSTORM_WRITE_CASES=1 build/bin/model_tests --gtest_filter=PolicyCases.*

#include "common/output/json_text.h"
#include "policies/policy.h"
#include "policies/readers.h"
#include "simulator/scenario_options.h"
#include "tests/support/temp_dir.h"
#include "tests/support/test.h"

namespace retrystorm::test {
namespace {

// What is said in numbers: the words of a text that have digits.
std::string numbers(const std::string& text) {
  std::istringstream words(text);
  std::string all;
  for (std::string word; words >> word;) {
    if (word.find_first_of("0123456789") == word.npos) continue;
    while (!word.empty() && std::string("():,;").find(word.back()) != std::string::npos)
      word.pop_back();
    all += ' ' + word;
  }
  return all;
}

std::string note_line(const Note& note) {
  const char* levels[] = {"note", "warning", "error"};
  std::string line = std::string(levels[static_cast<int>(note.level)]) + ' ' + note.rule +
                     " line " + std::to_string(note.line) + ':';
  for (const Statement& each : note.says) line += ' ' + pairs_text(statement_json(each));
  return line + (note.says.empty() ? numbers(note.text) : "") + '\n';
}

// Of each policy that is not refused, the settings can be run, and say nothing to a terminal.
void expect_settings(const PolicyFile& file, const Policy& policy) {
  const std::string settings = settings_text(file, policy, "some\n\x1b[1mfile");
  EXPECT_EQ(settings.find('\x1b'), settings.npos);
  ScenarioOptions printed;
  OptionList list;
  declare_options(list, printed);
  EXPECT_NO_THROW(list.apply(settings)) << settings;
  EXPECT_TRUE(unused_options(printed).empty()) << settings;
  EXPECT_NO_THROW(check(printed.workload.retry)) << settings;
  // `check` runs the same as `simulate --config` of what `import` prints.
  ScenarioOptions checked = scenario_of(options_of(policy));
  OptionList others;
  declare_options(others, checked);
  for (std::size_t i = 0; i < list.all().size(); ++i) {
    const Option& each = list.all()[i];
    if (each.name == "strategy") continue;  // the name of what it is
    EXPECT_EQ(each.get(), others.all()[i].get()) << each.name << '\n' << settings;
  }
}

std::string read_as_it_is(const std::string& text, const std::string& as) {
  PolicyFile file;
  try {
    file = read_policies(text, as.empty() ? ReadAs::kByContent : parse_read_as(as));
  } catch (const BadFile& error) {
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
    return "no policy:" + numbers(error.what()) + '\n';
  }
  std::string all = file.kind + '\n';
  for (const Note& each : file.notes) all += note_line(each);
  for (const Policy& policy : file.policies) {
    all += "policy line " + std::to_string(policy.line) + ':';
    for (const std::string& name : policy.names) all += ' ' + name + ',';
    if (policy.names.empty()) all += ',';
    all.back() = policy.refused ? '!' : '\n';
    if (policy.refused) all += " refused\n";
    if (!policy.has_retries) all += "no retries of its own\n";
    if (!policy.layer.empty()) all += "layer " + policy.layer + '\n';
    for (const Setting& each : policy.settings) {
      all += each.option + " = " + each.value +
             (each.line == 0 ? "" : "  # " + std::to_string(each.line)) + '\n';
    }
    if (!policy.of_hosts.empty()) all += "with --replicas:";
    for (const Setting& each : policy.of_hosts) {
      all += ' ' + each.option + '=' + each.value +
             (each.line == 0 ? "" : '@' + std::to_string(each.line));
    }
    if (!policy.of_hosts.empty()) all += '\n';
    for (const Note& each : findings_of(policy)) {
      all += note_line(each);
      EXPECT_TRUE(std::any_of(kFindingRules.begin(), kFindingRules.end(),
                              [&each](const auto& rule) { return rule.name == each.rule; }))
          << each.rule;
    }
    if (!policy.refused) expect_settings(file, policy);
  }
  EXPECT_EQ(all.find("hunter2"), all.npos);
  return all;
}

TEST(PolicyCases, AreReadAsTheirProgramsReadThem) {
  std::size_t cases = 0;
  for (const auto& each :
       std::filesystem::directory_iterator(RETRYSTORM_DOCS "/../tests/policies/cases")) {
    const std::string path = each.path();
    const std::string golden = read_file(path);
    std::string now, name, as, text;
    bool in_file = false;
    for (const std::string& line : lines(golden)) {
      if (line == "####") {
        SCOPED_TRACE(name);
        now += "####\n" + read_as_it_is(text, as) + '\n';
        in_file = false;
        ++cases;
      } else if (line.starts_with("#### ")) {
        const std::size_t at = line.rfind(" --as=");
        name = line.substr(5);
        as = at == line.npos ? "" : line.substr(at + 6);
        text.clear();
        in_file = true;
        now += line + '\n';
      } else if (in_file || line.starts_with("# ")) {
        if (in_file) text += line + '\n';
        now += line + '\n';
      }
    }
    if (std::getenv("RETRYSTORM_WRITE_CASES") != nullptr) std::ofstream(path) << now;
    EXPECT_EQ(now, golden) << "RETRYSTORM_WRITE_CASES=1 writes " << path;
  }
  EXPECT_GT(cases, 100u);
}

}  // namespace
}  // namespace retrystorm::test
