// Is a retry policy in another program's file safe for a service?
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <filesystem>
#include <iostream>
#include <map>

#include "common/output/answer.h"
#include "common/output/json_text.h"
#include "common/output/output_queue.h"
#include "model/base/text.h"
#include "policies/policy.h"
#include "policies/values.h"
#include "retrystorm/policy_files.h"
#include "retrystorm/policy_runs.h"
#include "retrystorm/study_command.h"
#include "study/cell_answer.h"
#include "study/judged_runs.h"
#include "words/words.h"

namespace retrystorm {
namespace {

enum class Format { kText, kJson, kMarkdown, kSarif };
constexpr std::array<std::pair<std::string_view, Format>, 4> kFormats{
    {{"text", Format::kText},
     {"json", Format::kJson},
     {"markdown", Format::kMarkdown},
     {"sarif", Format::kSarif}}};

struct CheckOptions : StudyOptions {
  CheckOptions() {
    runs = 628;  // of which 2 may be down for down<1%
    outage_at = std::chrono::seconds(15);
    observe = std::chrono::seconds(45);
  }

  std::vector<std::string> files;
  ReadAs as = ReadAs::kByContent;
  Format format = Format::kText;
  std::vector<std::string> baseline;
};

void declare(CLI::App& app, CheckOptions& options) {
  app.add_option("FILES", options.files, "the files with policies, or folders of them")
      ->required()
      ->type_name("");
  add_read_as(app, options.as);
  add_value(
      *option_group(app, "Study"), "--format", "NAME", "text",
      [&options](const std::string& word) { options.format = value_of_word(kFormats, word); },
      "what is written to standard output: text, markdown, json (JSON Lines) or sarif (2.1.0, what is "
      "wrong with the files); with the last two the text goes to standard error")
      ->group("Study");
  add_repeated(*option_group(app, "Study"), "--baseline", "FILE", options.baseline,
               "a file before a change, for each of the files: only what the change makes worse "
               "counts; may be repeated")
      ->group("Study");
  add_study_options(app, options);
  add_max_time(app, options);
  add_explain_run(app, options.look);
  hide(app, "markdown");  // --format has it
  hide(app, "strategy");  // the files have it
}

struct CheckedFile;

struct CheckedPolicy {
  const CheckedFile* file = nullptr;
  const Policy* policy = nullptr;
  std::vector<Note> findings{};
  const CheckedPolicy* before = nullptr;  // in the files of --baseline
};

struct CheckedFile {
  std::string path;
  PolicyFile file;
  std::vector<CheckedPolicy> policies{};
};

struct CheckedFiles {
  std::vector<CheckedFile> files{};
  std::vector<CheckedPolicy*> policies{};  // of all files

  // Of what cannot be modelled at all, such as hedging, nothing is known.
  bool has_unknown() const {
    return std::ranges::any_of(policies, [](const CheckedPolicy* each) {
      const Policy& policy = *each->policy;
      return !policy.has_retries && policy.settings.empty() && policy.of_hosts.empty();
    });
  }

  // How many hosts a file says that there are: the first that says it.
  std::string known_hosts() const {
    for (const CheckedPolicy* each : policies) {
      if (each->policy->find("replicas")) return each->policy->value("replicas");
    }
    return "";
  }
};

CheckedFiles read_files(const std::vector<std::string>& paths, ReadAs as) {
  CheckedFiles all;
  for (const std::string& path : paths) {
    std::error_code error;  // reading the file says what is wrong
    const std::vector<NamedFile> read =
        std::filesystem::is_directory(path, error)
            ? policy_files_in(path, as)
            : std::vector<NamedFile>{{path, read_policy_file(path, as)}};
    for (const auto& [name, file] : read) all.files.push_back({name, file});
  }
  std::vector<LayeredPolicy> layered;
  for (CheckedFile& file : all.files) {
    for (const Policy& each : file.file.policies) {
      file.policies.push_back({.file = &file, .policy = &each, .findings = findings_of(each)});
      layered.push_back({file.path, &each});
    }
    for (CheckedPolicy& each : file.policies) all.policies.push_back(&each);
  }
  for (const LayerFinding& finding : layer_findings(layered)) {
    for (CheckedPolicy* each : all.policies) {
      if (each->policy == finding.at.policy) each->findings.push_back(finding.note);
    }
  }
  return all;
}

bool can_run(const Policy& policy) {
  return !policy.refused && policy.has_retries;
}

// Finds the policy among those of its file. Two that begin in one line are told apart by a name.
std::string start_of(const CheckedPolicy& policy) {
  const std::vector<CheckedPolicy>& others = policy.file->policies;
  const std::size_t line = policy.policy->line;
  const std::vector<std::string>& names = policy.policy->names;
  std::string start = " --start=" + shell_word(policy.file->path);
  if (others.size() == 1) return start;
  const auto in_line =
      std::ranges::count_if(others, [line](const auto& each) { return each.policy->line == line; });
  if (in_line > 1 && names.empty()) return "";
  return start + " --policy=" + (in_line > 1 ? shell_word(names.front()) : std::to_string(line));
}

PolicyToRun to_run(const CheckedPolicy& policy, bool several) {
  std::string name = printable(policy.file->path) + ':' + std::to_string(policy.policy->line);
  std::ranges::replace(name, '`', '\'');  // they could end a fence of Markdown
  return {.name = name,
          .settings = options_to_run(*policy.policy, several),
          .multiplexed = !several && sends_over_one_connection(policy.file->file),
          .start = start_of(policy)};
}

// Finds what each policy was before: the policy of a name that it has, too, or the only one if both are.
void find_before(CheckedFiles& now, const CheckedFiles& old) {
  std::map<std::string_view, const CheckedPolicy*> by_name;
  for (const CheckedPolicy* each : old.policies) {
    for (const std::string& name : each->policy->names) by_name.try_emplace(name, each);
  }
  for (CheckedPolicy* each : now.policies) {
    for (const std::string& name : each->policy->names) {
      const auto found = by_name.find(name);
      if (found != by_name.end() && each->before == nullptr) each->before = found->second;
    }
    if (now.policies.size() == 1 && old.policies.size() == 1) each->before = old.policies.front();
  }
}

bool contains(const std::vector<Note>& notes, const Note& note) {
  return std::ranges::any_of(notes, [&note](const Note& each) {
    return each.rule == note.rule && each.text == note.text;
  });
}

// A note, and where it stands.
struct Found {
  const CheckedFile* file = nullptr;
  const CheckedPolicy* policy = nullptr;  // null: it is about the file
  const Note* note = nullptr;
  bool old = false;  // found before the change, too

  std::size_t line() const {
    return std::max<std::size_t>(
        note->line > 0 || policy == nullptr ? note->line : policy->policy->line, 1);
  }
  bool is_new_harm() const { return note->level != Note::Level::kNote && !old; }
};

std::vector<Found> found_in(const CheckedFiles& now, const CheckedFiles& old) {
  std::vector<Found> all;
  for (const CheckedFile& file : now.files) {
    for (const Note& note : file.file.notes) {
      const bool was_there = std::ranges::any_of(
          old.files, [&note](const CheckedFile& each) { return contains(each.file.notes, note); });
      all.push_back({&file, nullptr, &note, was_there});
    }
    for (const CheckedPolicy& each : file.policies) {
      for (const Note& note : each.findings) {
        all.push_back(
            {&file, &each, &note, each.before != nullptr && contains(each.before->findings, note)});
      }
    }
  }
  return all;
}

const char* level_name(Note::Level level) {
  return level == Note::Level::kError     ? "error"
         : level == Note::Level::kWarning ? "warning"
                                          : "note";
}

// What is found: of each file first what is about the whole of it. `policy` null: of the file. Of the notes, which break
// nothing, the first few, unless `whole`. Returns how many are left out.
std::size_t print_notes(const std::vector<Found>& all, const CheckedFile& file,
                        const CheckedPolicy* policy, bool markdown, bool whole,
                        const AnswerLook& look) {
  constexpr std::size_t kMostNotes = 3;
  std::size_t notes = 0;
  for (const Found& each : all) {
    if (each.file != &file || each.policy != policy) continue;
    const Note& note = *each.note;
    if (note.level == Note::Level::kNote && ++notes > kMostNotes && !whole) continue;
    const std::string text = note.text + " (" + note.rule + (each.old ? ", as before)" : ")");
    const std::string line = note.line > 0 ? "line " + std::to_string(note.line) : "";
    if (markdown) {
      std::cout << "- **" << level_name(note.level) << "**" << (line.empty() ? "" : " ") << line
                << ": " << as_markdown(text) << '\n';
      continue;
    }
    std::string head = std::string("  ") + level_name(note.level);
    head.resize(11, ' ');
    head += line;
    head.resize(std::max<std::size_t>(head.size() + 1, 22), ' ');
    Teller(look.color)
        .text(text, note.level == Note::Level::kNote ? Tone::kPlain : Tone::kDoubt, head);
  }
  return whole || notes < kMostNotes ? 0 : notes - kMostNotes;
}

// "max-attempts=5 -> 9": what differs from the policy before. Empty if nothing does.
std::string changes_of(const CheckedPolicy& policy) {
  std::vector<std::string> all;
  if (policy.before == nullptr) return "";
  const NamedOptions now = options_of(*policy.policy), old = options_of(*policy.before->policy);
  NamedOptions both = now;
  both.insert(old.begin(), old.end());
  for (const auto& [name, any] : both) {
    const std::string before = value_or(old, name, "-"), after = value_or(now, name, "-");
    if (before != after) all.push_back(name + '=' + before + " -> " + after);
  }
  return list_words(all);
}

void print_files(const std::vector<CheckedFile>& files, const std::vector<Found>& all,
                 bool markdown, const AnswerLook& look) {
  const bool whole = markdown || look.verbose || look.explain;
  std::size_t left_out = 0;
  const char* const end = markdown ? "\n\n" : "\n";
  for (const CheckedFile& file : files) {
    std::cout << (markdown ? "## " + as_markdown_code(file.path) : printable(file.path)) << ": "
              << file.file.kind << end;
    left_out += print_notes(all, file, nullptr, markdown, whole, look);
    for (const CheckedPolicy& each : file.policies) {
      const std::string text = summary(*each.policy);
      std::cout << (markdown ? "\n### " + as_markdown(text) : text) << end;
      if (const std::string list = changes_of(each); !list.empty()) {
        const std::string what = words_of({"check-changed", {{"list", list}}});
        markdown ? void(std::cout << as_markdown(what) << end)
                 : Teller(look.color).text(what, Tone::kPlain);
      }
      left_out += print_notes(all, file, &each, markdown, whole, look);
    }
    if (markdown) std::cout << '\n';
  }
  if (left_out > 0) {
    Teller(look.color).dim({"more-notes", {counted("count", left_out)}});
  }
}

// What is found, in one sentence, which is the reason of the exit code if `harm` is there.
void print_reason(const std::vector<Found>& all, bool unknown, bool was_run, const Teller& teller) {
  const auto harm = std::ranges::find_if(all, &Found::is_new_harm);
  if (harm == all.end()) {
    if (was_run) return;
    const auto old = std::ranges::count_if(
        all, [](const Found& each) { return each.old && each.note->level != Note::Level::kNote; });
    if (old > 0) {
      return teller.headline(
          Tone::kDoubt,
          {"check-no-new-harm", {{"found", count_words(static_cast<double>(old), "finding")}}});
    }
    return unknown ? teller.headline(Tone::kDoubt, {"check-unknown"})
                   : teller.headline(Tone::kGood, {"check-no-harm"});
  }
  const auto count = static_cast<double>(std::ranges::count_if(all, &Found::is_new_harm));
  const Statement reason{was_run ? "check-exit-code" : "check-harm",
                         {{"found", count_words(count, "finding")},
                          counted("code", kExitBroken),
                          {"line", std::to_string(harm->line())},
                          {"rule", std::string(harm->note->rule)}}};
  was_run ? teller.below(reason, Tone::kDoubt) : teller.headline(Tone::kDoubt, reason);
}

void write_sarif(const std::vector<Found>& all, bool of_changes) {
  Json rules = Json::array(), results = Json::array();
  for (const auto& [id, about] : kFindingRules) {
    rules.push_back({{"id", id}, {"shortDescription", {{"text", about}}}});
  }
  for (const Found& each : all) {
    Json result;
    result["ruleId"] = each.note->rule;
    result["level"] = level_name(each.note->level);
    result["message"]["text"] = each.note->text;
    if (of_changes) result["baselineState"] = each.old ? "unchanged" : "new";
    Json& place = result["locations"][0]["physicalLocation"];
    place["artifactLocation"]["uri"] = in_address(each.file->path, "-._~/");
    place["region"]["startLine"] = each.line();
    results.push_back(result);
  }
  Json log;
  log["$schema"] = "https://json.schemastore.org/sarif-2.1.0.json";
  log["version"] = "2.1.0";
  Json& run = log["runs"][0];
  run["tool"]["driver"]["name"] = "retrystorm";
  run["tool"]["driver"]["rules"] = rules;
  run["results"] = results;
  LineFile("-").write(log.dump(2, ' ', false, Json::error_handler_t::replace));
}

void write_json(const CheckedFiles& checked, const std::vector<Found>& all, JsonLines& json) {
  for (const CheckedPolicy* each : checked.policies) {
    json.write({{"type", "policy"},
                {"file", printable(each->file->path)},
                {"line", each->policy->line},
                {"kind", each->file->file.kind},
                {"names", each->policy->names},
                {"refused", each->policy->refused},
                {"settings", options_of(*each->policy)}});
  }
  for (const Found& each : all) {
    Json finding{{"type", "finding"},       {"file", printable(each.file->path)},
                 {"line", each.line()},     {"level", level_name(each.note->level)},
                 {"rule", each.note->rule}, {"text", each.note->text},
                 {"new", !each.old}};
    if (!each.note->says.empty()) finding["says"] = statements_json(each.note->says);
    json.write(finding);
  }
}

// The policies that can be run. Those that have not changed are left out. `several`: hosts, to which no connection is
// kept.
std::vector<PolicyCase> cases_of(const CheckedFiles& checked, bool several) {
  std::vector<PolicyCase> cases;
  for (const CheckedPolicy* each : checked.policies) {
    if (!can_run(*each->policy)) continue;
    PolicyCase one{.policy = to_run(*each, several)};
    if (each->before != nullptr && can_run(*each->before->policy)) {
      one.before = to_run(*each->before, several);
      if (one.before->settings == one.policy.settings) continue;
    }
    cases.push_back(std::move(one));
  }
  return cases;
}

int check_files(const Invocation& invocation, const CheckOptions& typed) {
  CheckOptions options = typed;
  const bool markdown = options.format == Format::kMarkdown;
  CheckedFiles checked = read_files(options.files, options.as);
  const CheckedFiles old = read_files(options.baseline, options.as);
  find_before(checked, old);
  const std::vector<Found> all = found_in(checked, old);
  NamedOptions given = given_to_study(invocation.app, {});
  if (given.contains("strategy")) {
    refuse(
        "--strategy: check is about the policies of the files; simulate compares them with others: "
        "retrystorm import FILE > mine.ini, then simulate --sweep strategy=mine.ini," +
        given.at("strategy"));
  }
  const std::vector<StudyDisturbance> disturbances = with_own_outage(given);
  if (given.empty() && !options.expectations.empty()) {
    refuse(
        "--expect: nothing is run without a service and its load, such as --service=workers "
        "--workers=64 --service-time=lognormal:80ms --arrivals=open --rate=400");
  }
  if (options.format == Format::kJson) {
    if (!options.json.empty()) refuse("--format=json excludes --json");
    options.json = "-";
  }
  if (!options.workload.seed) options.workload.seed = 1;    // for the same verdict each time
  const bool none = given.empty() || options.look.explain;  // nothing is run
  const std::vector<PolicyCase> cases =
      none ? std::vector<PolicyCase>() : cases_of(checked, has_hosts(given));
  if (options.cell.number > 0 && (cases.empty() || !old.files.empty())) {
    refuse(cases.empty()
               ? "--cell: a cell is a policy that is run, and none is (see --rate, --workers)"
               : "--cell excludes --baseline");
  }
  const auto write = [&](JsonLines& json) {
    if (options.format == Format::kSarif) write_sarif(all, !old.files.empty());
    write_json(checked, all, json);
  };
  const auto print = [&] {
    if (!markdown) {
      print_reason(all, checked.has_unknown(), !cases.empty(), Teller(options.look.color));
    }
    print_files(checked.files, all, markdown, options.look);
    if (given.empty()) {
      say({"check-ask-service"});
    } else if (cases.empty()) {
      if (!none) say({"check-nothing-to-run"});
    } else {
      if (disturbances.size() < retrystorm::disturbances().size()) say({"check-own-outage"});
      const auto hosts = checked.known_hosts();
      if (!hosts.empty() && !has_hosts(given)) {
        say({"check-one-host", {{"hosts", hosts}}});
      }
    }
    std::cout << std::flush;
  };
  int code = kExitHolds;
  if (cases.empty()) {
    JsonLines json(options.json);
    write_start("retrystorm", invocation, options_json(invocation.app), *options.workload.seed,
                json);
    write(json);
    print();
    if (!json.finish() || !flush_standard_output()) return kExitFault;
  } else {
    if (options.expectations.empty()) {
      options.expectations.push_back(parse_expectation("down<1%", cell_figures({})));
    }
    code = run_policies(invocation, options, {cases, disturbances, given, markdown, write, print});
    if (options.cell.is_part()) return code;  // `merge` says what became of all
  }
  if (code == kExitFault || code == kExitBroken) return code;
  if (std::ranges::any_of(all, [](const Found& each) { return each.is_new_harm(); })) {
    return flush_standard_output() ? kExitBroken : kExitFault;
  }
  return checked.has_unknown() ? std::max<int>(code, kExitUndecided) : code;
}

}  // namespace

const Command kCheck{
    "check",
    "Says what is wrong with the retry policies in other programs' files (see `import`), without a\n"
    "run. With options of your service and its load it also runs them: does the service come back?\n"
    "Exit code 3: something is wrong, or it does not come back.",
    "retrystorm check virtual-service.yaml\n"
    "retrystorm check virtual-service.yaml --service=workers --workers=64 "
    "--service-time=lognormal:80ms --arrivals=open --rate=400",
    run_command<CheckOptions, declare, check_files>};

}  // namespace retrystorm
