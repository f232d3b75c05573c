#include "common/cli/settings_file.h"
#include "model/base/option_list.h"
#include "study/named_options.h"
#include "tests/support/temp_dir.h"
#include "tests/support/test.h"

namespace retrystorm {
namespace {

struct InUse {
  bool is_link;
  std::string text;
};

std::vector<InUse> in_use() {
  std::ifstream file(std::string(RETRYSTORM_DOCS) + "/../tests/study/names_in_use.txt");
  std::vector<InUse> all;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('#')) continue;
    all.push_back({line.starts_with("link "), line.substr(5)});
  }
  return all;
}

NamedOptions options_of(const InUse& each, const OptionList& list) {
  if (each.is_link) {
    NamedOptions options;
    for (const auto word : split(each.text, '&')) {
      std::string value(word.substr(word.find('=') + 1));
      std::replace(value.begin(), value.end(), '+', ' ');
      options.emplace(word.substr(0, word.find('=')), value);
    }
    return options;
  }
  const test::TempDir dir;
  const std::string path = dir.file("settings.ini");
  std::string text = each.text;
  for (std::size_t at = text.find("; "); at != text.npos; at = text.find("; ", at)) {
    text.replace(at, 2, "\n");
  }
  std::ofstream(path) << text << '\n';
  return read_settings(path, list);
}

std::vector<std::string> values_of(ScenarioOptions scenario) {
  OptionList list;
  declare_options(list, scenario);
  std::vector<std::string> values;
  for (const Option& option : list.all()) values.push_back(option.get());
  return values;
}

TEST(BetterNames, MeanTheSameInLinksAndFiles) {
  ScenarioOptions any;
  OptionList list;
  declare_options(list, any);
  int links = 0, files = 0;
  for (const InUse& each : in_use()) {
    ++(each.is_link ? links : files);
    const NamedOptions given = options_of(each, list);
    ASSERT_FALSE(given.empty()) << each.text;
    NamedOptions better;
    for (const auto& [name, value] : given) {
      ASSERT_NE(list.find(name), nullptr) << name;
      const auto row =
          std::find_if(kBetterNames.begin(), kBetterNames.end(),
                       [&name = name](const BetterName& one) { return one.old == name; });
      better.emplace(row != kBetterNames.end() && list.find(row->better) == list.find(name)
                         ? std::string(row->better)
                         : name,
                     value);
    }
    const auto values = values_of(scenario_of(given));
    EXPECT_EQ(values, values_of(scenario_of(better))) << each.text;
    EXPECT_NE(values, values_of(scenario_of({}))) << each.text;
  }
  EXPECT_EQ(links, 12);
  EXPECT_EQ(files, 10);
}

TEST(BetterNames, AreTheSameOptionAndTheFirstNameIsTheOldOne) {
  ScenarioOptions scenario;
  OptionList list;
  declare_options(list, scenario);
  for (const BetterName& each : kBetterNames) {
    const Option* option = list.find(each.better);
    if (each.better == "can-do") continue;  // of `retrystorm service`
    ASSERT_NE(option, nullptr) << each.better;
    const bool only_servers = each.old == "factor";  // here it is of the backoff
    EXPECT_EQ(list.find(each.old) == option, !only_servers) << each.better;
  }
}

// What people type means the same as the plain form.
TEST(Options, TakePercentagesRatesAndUnits) {
  for (const auto& [typed, plain] : std::vector<std::pair<NamedOptions, NamedOptions>>{
           {{{"strategy", "exponential"}, {"jitter", "10%"}},
            {{"strategy", "exponential"}, {"jitter", "0.1"}}},
           {{{"jitter", "proportional:20%"}, {"timeout", "0.05min"}},
            {{"jitter", "proportional:0.2"}, {"timeout", "3s"}}},
           {{{"rate", "0.1k/s"}}, {{"rate", "100"}}},
           {{{"rate", "100rps"}}, {{"rate", "100"}}},
           {{{"service-time", "lognormal:80ms:50%"}}, {{"service-time", "lognormal:80ms"}}},
           {{{"retry-budget", "sre"}, {"budget-deposit", "20%"}, {"observe", "1 min"}},
            {{"retry-budget", "20%"}, {"observe", "1m"}}}}) {
    EXPECT_EQ(values_of(scenario_of(typed)), values_of(scenario_of(plain))) << typed.begin()->first;
  }
}

TEST(BetterNames, OneGrammarOfTime) {
  const auto same = [](const char* at, const NamedOptions& other) {
    EXPECT_EQ(values_of(scenario_of({{"at", at}})), values_of(scenario_of(other))) << at;
  };
  same("100s..130s slow:5", {{"fault", "100s-130s slow:5"}});
  same("90s..150s capacity 0.3", {{"capacity", "90s..150s 0.3"}});
  same("60s restart; 100s..130s slow:5", {{"at", "60s restart"}, {"fault", "100s-130s slow:5"}});
  EXPECT_THROW(scenario_of({{"at", "9s..15s capacity 2"}, {"capacity", "5s 2"}}),
               std::invalid_argument);
  const ScenarioOptions both = scenario_of({{"at", "9s..15s slow:2"}, {"fault", "20s-30s slow:3"}});
  EXPECT_EQ(both.timeline.faults.size(), 2);
}

}  // namespace
}  // namespace retrystorm
