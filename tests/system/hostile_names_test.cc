// The same hostile names through every output of every command: no name commands a terminal, a log of a CI, a
// spreadsheet, Markdown, HTML, or adds a line or a cell.
#include <unistd.h>

#include "model/base/text.h"
#include "tests/support/child_process.h"
#include "tests/support/test.h"

namespace retrystorm::test {
namespace {

// None has a comma, which separates the files of a list, too.
const std::vector<std::string> kNames = [] {
  const auto all = split(
      "=1+1,@SUM(1),+1+cmd,-2+3,a\rb,a\n::error::b,::error::c, ::warning::d,##[error]e,"
      "\033[2J,\033]0;title\007,\23331m,\302\23331m,\xff\xfe,a\tb,a\bb\x7f,"
      "<script>alert(1),<img src=x onerror=alert(1)>,[a](javascript:b),![i](x),`code`,```,"
      "**bold**,_f_ ~~g~~,a|b,# head,&lt;b&gt;,\"quoted\",'; id; ',$(id) %s%n",
      ',');
  return std::vector<std::string>(all.begin(), all.end());
}();

Ended run(const std::string& program, const Arguments& arguments, const std::string& folder = "/") {
  ChildProcess process(program, arguments, 0, [&folder] {
    if (chdir(folder.c_str()) != 0) _exit(1);
  });
  const int code = process.exit_code(6 * kPatience).value_or(-1);
  return {code, process.out(), process.err()};
}

void expect_no_controls(const std::string& text, const std::string& what) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const auto next = static_cast<unsigned char>(i + 1 < text.size() ? text[i + 1] : 0);
    ASSERT_TRUE((byte >= ' ' && byte != 0x7f) || byte == '\n' || byte == '\t')
        << what << ": " << text;
    ASSERT_FALSE(byte == 0xc2 && next >= 0x80 && next < 0xa0) << what;
  }
}

void expect_plain(const std::string& text, const std::string& what) {
  expect_no_controls(text, what);
  EXPECT_EQ(text.find("##["), text.npos) << what << ": " << text;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t begin = line.find_first_not_of(" \t");
    if (begin == line.npos) continue;
    EXPECT_NE(line.substr(begin, 2), "::") << what << ": " << line;
  }
}

// RFC 4180. The first row is a comment.
void expect_table(const std::string& csv, std::size_t rows) {
  std::vector<std::vector<std::string>> table(1, {""});
  bool quoted = false;
  for (std::size_t i = csv.find('\n') + 1; i < csv.size(); ++i) {
    const char c = csv[i];
    std::string& cell = table.back().back();
    if (c == '"' && quoted && i + 1 < csv.size() && csv[i + 1] == '"') {
      cell += csv[++i];
    } else if (c == '"') {
      quoted = !quoted;
    } else if (quoted || (c != ',' && c != '\n')) {
      EXPECT_TRUE(quoted || c != '\r') << csv;
      cell += c;
    } else if (c == ',') {
      table.back().emplace_back();
    } else if (i + 1 < csv.size()) {
      table.push_back({""});
    }
  }
  EXPECT_EQ(csv.substr(0, 2), "# ");
  EXPECT_EQ(table.size(), 1 + rows) << csv;
  for (const auto& row : table) {
    EXPECT_EQ(row.size(), table[0].size()) << csv;
    for (const std::string& cell : row) {
      const bool number = cell.size() > 1 && cell.find_first_not_of("0123456789.e", 1) == cell.npos;
      EXPECT_TRUE(number || cell.size() < 2 ||
                  std::string("=+@-\t").find(cell[0]) == std::string::npos)
          << cell;
    }
  }
}

// What is left outside of code and fences, without what is escaped.
std::string markup_of(const std::string& markdown) {
  std::string text;
  std::istringstream lines(markdown);
  bool fenced = false;
  for (std::string line; std::getline(lines, line);) {
    if (line == "```") {
      fenced = !fenced;
      continue;
    }
    bool code = false;
    for (std::size_t i = 0; !fenced && i < line.size(); ++i) {
      if (line[i] == '\\' && !code) {
        ++i;
      } else if (line[i] == '`') {
        code = !code;
      } else if (!code) {
        text += line[i];
      }
    }
    EXPECT_FALSE(code) << line;
    text += '\n';
  }
  EXPECT_FALSE(fenced) << markdown;
  return text;
}

// The first line is the command, as one can give it again.
void expect_plain_rows(const std::string& csv) {
  expect_plain(csv.substr(csv.find('\n') + 1), "CSV");
}

void expect_markdown(const std::string& markdown) {
  expect_no_controls(markdown, "Markdown");
  const std::string markup = markup_of(markdown);
  for (const char* wrong : {"<", "](", "![", "~~", "_f_", "&lt;"}) {
    EXPECT_EQ(markup.find(wrong), markup.npos)
        << wrong << ": " << markup.substr(std::min(markup.find(wrong), markup.size()), 80);
  }
}

void expect_json_lines(const std::string& text) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    EXPECT_TRUE(nlohmann::json::accept(line)) << line;
  }
}

class HostileNames : public ::testing::Test {
 protected:
  HostileNames() {
    for (const std::string& name : kNames) {
      nlohmann::json policy =
          nlohmann::json::parse(R"({"methodConfig": [{"name": [{"service": ""}], "retryPolicy": {
        "maxAttempts": 4, "initialBackoff": "0.1s", "maxBackoff": "1s", "backoffMultiplier": 2,
        "retryableStatusCodes": ["UNAVAILABLE"]}}]})");
      policy["methodConfig"][0]["name"][0]["service"] = name;
      policies_.push_back(written(
          name + ".json", policy.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace)));
      strategies_.push_back(written(name + ".ini", "strategy = fixed\nmax-retries = 1\n"));
      list_ += (list_.empty() ? "" : ",") + strategies_.back();
    }
  }

  std::string written(const std::string& name, const std::string& text) {
    std::ofstream(dir_.file(name)) << text;
    return dir_.file(name);
  }

  // Runs it, and looks at what it prints.
  Ended expect(const char* program, Arguments arguments) {
    const Ended printed = run(program, arguments, dir_.file("."));
    EXPECT_NE(printed.code, -1);
    expect_plain(printed.out, arguments.front());
    expect_plain(printed.err, arguments.front());
    return printed;
  }

  TempDir dir_;
  std::vector<std::string> policies_, strategies_;
  std::string list_;
};

TEST_F(HostileNames, OfPoliciesThatAreChecked) {
  const auto check = [&](const std::string& format) {
    return Arguments{"check"} + policies_ + Arguments{"--format=" + format};
  };
  const auto in = [&](const char* format) { return expect(RETRYSTORM_STUDIES, check(format)).out; };
  const std::string text = in("text");
  EXPECT_GT(text.size(), 1000u);
  const std::string markdown = in("markdown");
  expect_markdown(markdown);
  std::size_t heads = 0;
  for (std::size_t at = 0; (at = markdown.find("\n## ", at)) != markdown.npos; ++at) ++heads;
  EXPECT_EQ(heads + 1, kNames.size());
  for (const char* format : {"json", "sarif"}) {
    const Ended machine = run(RETRYSTORM_STUDIES, check(format));
    expect_plain(machine.err, format);
    if (format == std::string("json")) {
      expect_json_lines(machine.out);
    } else {
      EXPECT_TRUE(nlohmann::json::accept(machine.out));
    }
  }
  // Relative, so that a line may begin with the name.
  for (const char* name : {"::error::c", "##[error]e", "```", "\033[2J"}) {
    expect_markdown(expect(RETRYSTORM_STUDIES, {"check", dir_.file(name) + ".json", "--workers=10",
                                                "--service-time=50ms", "--rate=50", "--runs=2",
                                                "--format=markdown", "--observe=20s"})
                        .out);
    expect(RETRYSTORM_STUDIES, {"check", std::string(name) + ".json"});
  }
}

TEST_F(HostileNames, OfPoliciesThatAreImported) {
  for (const std::string& each : policies_) {
    EXPECT_EQ(expect(RETRYSTORM_STUDIES, {"import", each}).code, 0);
    EXPECT_NE(expect(RETRYSTORM_STUDIES, {"import", each, "--policy=x\033[2J"}).code, 0);
  }
}

TEST_F(HostileNames, OfStrategies) {
  const std::string csv = dir_.file("csv"), markdown = dir_.file("md"), json = dir_.file("json");
  const std::string strategies = "--strategies=" + list_, sweep = "--sweep=strategy=" + list_;
  const Arguments small{"--runs=1", "--seed=1", strategies};
  struct Study {
    const char* program;
    Arguments arguments;
    bool is_table = false;  // of a row for each name
  };
  for (const auto& [program, arguments, is_table] :
       {Study{RETRYSTORM_STUDIES, {"schedule", "--waits=3", strategies}, true},
        Study{RETRYSTORM_SIMULATE, {sweep, "--runs=1", "--clients=10", "--seed=1"}, true},
        Study{RETRYSTORM_STUDIES, Arguments{"strategies"} + small},
        Study{RETRYSTORM_STUDIES, Arguments{"map", "--x=clients=5", "--y=backlog=5",
                                            "--observe=15s", "--outage-at=5s", "--outage-for=1s"} +
                                      small},
        Study{RETRYSTORM_STUDIES,
              Arguments{"remedies", "--clients=5", "--remedy=`<b>|: 60s restart"} + small},
        Study{RETRYSTORM_STUDIES, Arguments{"job", "--tasks=10"} + small}}) {
    const Arguments files{"--csv=" + csv, "--markdown=" + markdown, "--json=" + json};
    EXPECT_EQ(expect(program, arguments + files).code, 0) << arguments[0];
    if (is_table) expect_table(read_file(csv), kNames.size());
    expect_plain_rows(read_file(csv));
    expect_markdown(read_file(markdown));
    expect_json_lines(read_file(json));
  }
  expect(RETRYSTORM_SIMULATE, {sweep, "--runs=1", "--clients=10", "--wide"});
}

// The commands in the start lines have the names.
TEST_F(HostileNames, OfRunsInAReport) {
  Arguments report;
  for (const std::string& each : strategies_) {
    const std::string json = dir_.file(std::to_string(report.size()) + ".jsonl");
    expect(RETRYSTORM_SIMULATE, {"--config=" + each, "--clients=10", "--seed=1", "--json=" + json});
    expect_json_lines(read_file(json));
    report.push_back(json);
  }
  report.push_back("--output=" + dir_.file("report.html"));
  const Ended printed = run(RETRYSTORM_SCENARIOS "/../report", report);
  if (printed.code != 0) GTEST_SKIP() << printed.err;  // a program or a library for it is missing
  const std::string html = read_file(dir_.file("report.html"));
  EXPECT_NE(html.find("src=x onerror"), html.npos);
  for (const char* wrong : {"<img src=x", "<script>alert"}) EXPECT_EQ(html.find(wrong), html.npos);
}

TEST_F(HostileNames, OfFilesOptionsAndValues) {
  for (const std::string& each : strategies_) {
    expect(RETRYSTORM_SIMULATE, {"--config=" + each, "--print-settings"});
    expect(RETRYSTORM_SIMULATE, {"--config=" + each + ".not", "--clients=10"});
  }
  for (const std::string& name : kNames) {
    const std::string wrong =
        written("settings", name + " = 1\n[" + name + "]\nstrategy = " + name + '\n');
    for (const char* program : {RETRYSTORM_SIMULATE, RETRYSTORM_CLIENT, RETRYSTORM_SERVER}) {
      EXPECT_NE(expect(program, {"--config=" + wrong}).code, 0);
    }
    // Each is refused.
    Arguments options;
    for (const char* option : {"--", "--strategy=", "--jitter=", "--at=", "--sweep=", "--expect=",
                               "--outage=", "--retry-on=", "--service-time="}) {
      options.push_back(option + name);
    }
    EXPECT_NE(expect(RETRYSTORM_SIMULATE, options).code, 0);
    expect(RETRYSTORM_SIMULATE, {"--explain=" + name});
    EXPECT_NE(expect(RETRYSTORM_CLIENT, {"--url=http://" + name}).code, 0);
    EXPECT_NE(expect(RETRYSTORM_STUDIES, {name}).code, 0);
    const std::string topology =
        written("topology", "[" + name + "]\n" + name + " = 1\n[a > " + name + "]\n");
    EXPECT_NE(expect(RETRYSTORM_SIMULATE, {"--topology=" + topology}).code, 0);
    expect(RETRYSTORM_STUDIES,
           {"service", "--from-prometheus=" + written("page", name + " 1\n"), "--metric=" + name});
  }
}

}  // namespace
}  // namespace retrystorm::test
