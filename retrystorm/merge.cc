// Joins the files of the parts of a study, which machines have made with --cell=i/n.
//
// A part has whole cells: i, i + n, i + 2n, ..., each with as many lines as any other one. So the lines of the whole are
// those of the parts in turn. All other lines are the same in each part.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <fstream>
#include <iostream>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/exit_code.h"
#include "common/output/expectation.h"
#include "common/output/json_text.h"
#include "model/base/text.h"
#include "retrystorm/study_command.h"
#include "study/cell_answer.h"

namespace retrystorm {
namespace {

struct MergeOptions {
  std::vector<std::string> files;
};

void declare(CLI::App& app, MergeOptions& options) {
  app.add_option("FILES", options.files, "the files of all parts, of --json or of --csv")
      ->required()
      ->type_name("");
}

[[noreturn]] void refuse_file(const std::string& path, const std::string& what) {
  throw UnreadableFile(printable(path) + ' ' + what);
}

struct Part {
  std::string path;
  CellShare share{};
  std::size_t cells = 0;  // of all parts
  Json start{};           // of a CSV file: its comment
  nlohmann::ordered_map<std::string, std::vector<std::string>> lines{};  // by type

  const std::vector<std::string>& of(const std::string& type) const {
    static const std::vector<std::string> kNone;
    const auto found = lines.find(type);
    return found == lines.end() ? kNone : found->second;
  }
  std::size_t own_cells() const {
    return share.number > cells ? 0 : (cells - share.number) / share.parts + 1;
  }
  std::string option() const {
    return "--cell=" + std::to_string(share.number) + '/' + std::to_string(share.parts);
  }
};

// Without the option that is another one in each part.
std::string without_cell(std::string command) {
  constexpr std::string_view kOption = " --cell=";
  const std::size_t at = command.find(kOption.substr(0, kOption.size() - 1));
  if (at == command.npos) return command;
  return command.erase(at, command.find_first_of(" ,", at + kOption.size()) - at);
}

// The first line: that of --json, or the comment of --csv (see `csv_comment`).
void read_start(const std::string& line, Part& part) {
  int title = 0;
  if (std::sscanf(line.c_str(), "# part %zu/%zu of %zu cells: %n", &part.share.number,
                  &part.share.parts, &part.cells, &title) == 3) {
    part.start["command"] = "# " + line.substr(static_cast<std::size_t>(title));
  } else {
    part.start = Json::parse(line);
    part.share = parse_share(part.start.at("cell").get<std::string>());
    part.cells = part.start.at("cells").get<std::size_t>();
    part.start["cell"] = 0;
    part.start.erase("cells");
  }
  part.start["command"] = without_cell(part.start.at("command").get<std::string>());
  if (part.share.number < 1 || part.share.number > part.share.parts)
    throw std::out_of_range("cell");
}

Part read_part(const std::string& path) {
  Part part{.path = path};
  std::ifstream file;
  if (is_plain_file(path)) file.open(path);
  if (!file.is_open()) throw UnreadableFile("cannot read " + in_quotes(path));
  std::string line;
  std::getline(file, line);
  const bool csv = line.starts_with('#');
  try {
    read_start(line, part);
  } catch (const std::exception&) {  // no such line
    refuse_file(path, "is no part of a study: the files of --json and --csv with --cell=i/n are");
  }
  while (std::getline(file, line)) {
    const Json json = csv ? Json{{"type", part.lines.empty() ? "columns" : "cell"}}
                          : Json::parse(line, nullptr, false);
    if (file.eof() || !json.is_object() || !json.contains("type") || !json["type"].is_string()) {
      refuse_file(path, "is cut short: run " + part.option() + " again");
    }
    part.lines[json["type"]].push_back(line);
  }
  return part;
}

// Each cell has lines of its own of these types. The others are the same in each part.
const std::set<std::string> kOfCells{"cell", "run", "expectation"};

// How many lines of this type each cell has.
std::size_t lines_of_a_cell(const std::vector<Part>& parts, const std::string& type) {
  std::size_t most = 0;
  for (const Part& part : parts) {
    const std::size_t cells = std::max<std::size_t>(part.own_cells(), 1);
    most = std::max(most, (part.of(type).size() + cells - 1) / cells);
  }
  return most;
}

// What must be the same in all parts, without what changes no row (see `results_command_line`).
Json asked_of(const Part& part) {
  Json asked = part.start;
  if (asked.size() > 1) asked.erase("command");
  for (const char* name :
       {"csv", "json", "markdown", "picture_data", "quiet", "threads", "verbose", "color"}) {
    asked.erase(name);
  }
  asked["parts"] = part.share.parts;
  asked["cells"] = part.cells;
  for (const auto& [type, lines] : part.lines) {
    if (!kOfCells.contains(type)) asked[type + " lines"] = lines;
  }
  return asked;
}

// `parts`: by their numbers. Throws UnreadableFile if they are not all parts of one study, each once and whole.
void check_parts(const std::vector<Part>& parts) {
  const Part& first = parts.front();
  const std::string beside = "and " + printable(first.path) + " differ in ";
  for (const Part& part : parts) {
    const Json differs = Json::diff(asked_of(first), asked_of(part));
    if (differs.empty()) continue;
    const std::string path = differs[0]["path"];
    refuse_file(part.path, beside + with_dashes(path.substr(1, path.find('/', 1) - 1)) +
                               ": all parts need the same program, options and seed");
  }
  for (std::size_t i = 0; i < std::max(first.share.parts, parts.size()); ++i) {
    if (i < parts.size() && parts[i].share.number == i + 1) continue;
    if (i > 0 && i < parts.size() && parts[i].share.number == i) {
      refuse_file(parts[i].path, "and " + printable(parts[i - 1].path) + " are the same part");
    }
    throw UnreadableFile("a part is missing: --cell=" + std::to_string(i + 1) + '/' +
                         std::to_string(first.share.parts));
  }
  const bool rows = lines_of_a_cell(parts, "cell") + lines_of_a_cell(parts, "run") > 0;
  const bool claims = !first.start.contains("expect") || lines_of_a_cell(parts, "expectation") > 0;
  for (const Part& part : parts) {
    bool whole = rows && claims;
    for (const std::string& type : kOfCells) {
      whole &= part.of(type).size() == part.own_cells() * lines_of_a_cell(parts, type);
    }
    if (!whole) refuse_file(part.path, "has not all of its rows: run " + part.option() + " again");
  }
}

// What a line says of a claim, or of a policy that `check` has read.
std::optional<Finding> finding_of(const std::string& type, const Json& line) {
  if (type == "expectation") {
    for (const Finding each : {Finding::kHolds, Finding::kBroken, Finding::kUndecided}) {
      if (line.value("finding", "") == to_string(each)) return each;
    }
  }
  const bool is_harm =
      type == "finding" && line.value("new", false) && line.value("level", "") != "note";
  if (is_harm) return Finding::kBroken;
  const bool is_unknown = type == "policy" && line.value("settings", Json()).empty();
  return is_unknown ? std::optional(Finding::kUndecided) : std::nullopt;
}

int merge(const Invocation&, const MergeOptions& options) {
  std::vector<Part> parts;
  for (const std::string& path : options.files) parts.push_back(read_part(path));
  std::ranges::stable_sort(parts, {}, [](const Part& each) { return each.share.number; });
  check_parts(parts);
  LineFile out("-");
  Json start = parts.front().start;
  for (const Part& part : parts) start["parts"].push_back(printable(part.path));
  if (start.contains("type")) {
    out.write(json_line(start));
  } else {
    std::string comment = start["command"];
    if (comment.find("--expect") != comment.npos) say({"merge-claims"}, style_of(2), "", std::cerr);
    comment += ", parts:";
    for (const Part& part : parts) comment += ' ' + printable(part.path);
    out.write(comment);
  }
  std::vector<Finding> findings;
  for (auto [type, lines] : parts.front().lines) {
    if (kOfCells.contains(type)) {
      const std::size_t each = lines_of_a_cell(parts, type), count = parts.front().cells * each;
      lines.clear();
      for (std::size_t i = 0; i < count; ++i) {
        const std::size_t cell = i / each, turn = cell / parts.size();
        lines.push_back(parts[cell % parts.size()].of(type)[turn * each + i % each]);
      }
    }
    for (const std::string& line : lines) {
      out.write(line);
      if (const auto finding = finding_of(type, Json::parse(line, nullptr, false))) {
        findings.push_back(*finding);
      }
    }
  }
  return exit_code_of(findings);
}

}  // namespace

const Command kMerge{
    "merge",
    "Joins the files of the parts of a study that several machines have made, each with --cell=i/n:\n"
    "the rows and claims of one run, and its exit code. Writes to standard output.",
    "retrystorm merge part-*.json >all.json", run_command<MergeOptions, declare, merge>};

}  // namespace retrystorm
