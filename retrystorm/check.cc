// Is a retry policy in another program's file safe for a service?
#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <map>
#include <stdexcept>

#include "common/output/json_text.h"
#include "common/output/output_queue.h"
#include "model/base/text.h"
#include "policies/findings.h"
#include "retrystorm/disturbances.h"
#include "retrystorm/policy_files.h"
#include "retrystorm/policy_runs.h"
#include "retrystorm/study_command.h"
#include "study/fitted_table.h"
#include "study/judged_runs.h"

namespace retrystorm {
namespace {

struct CheckOptions : StudyOptions {
  CheckOptions() {
    runs = 628;  // of which 2 may be down for down<1%
    outage_at = std::chrono::seconds(15);
    observe = std::chrono::seconds(45);
  }

  std::vector<std::string> files;
  ReadAs as = ReadAs::kByContent;
  std::string sarif;
  std::vector<std::string> baseline;
};

void declare(CLI::App& app, CheckOptions& options) {
  app.add_option("FILES", options.files, "the files with policies")->required()->type_name("");
  add_read_as(app, options.as);
  add_text(*option_group(app, "Study"), "--sarif", options.sarif,
           "write what is wrong with the files to this file, as SARIF 2.1.0")
      ->group("Study");
  option_group(app, "Study")
      ->add_option(
          "--baseline", options.baseline,
          "a file before a change, for each of the files: only what the change makes worse counts; "
          "may be repeated")
      ->type_name("FILE")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->group("Study");
  add_study_options(app, options, kSetByDisturbances);
}

struct CheckedFile;
struct CheckedPolicy;

// Where a policy stands.
struct Place {
  const CheckedFile* file = nullptr;
  const CheckedPolicy* policy = nullptr;
};

struct CheckedPolicy {
  const Policy* policy = nullptr;
  std::vector<Note> findings{};
  Place before{};  // in the files of --baseline
};

struct CheckedFile {
  std::string path;
  PolicyFile file;
  std::vector<CheckedPolicy> policies{};
};

std::vector<CheckedFile> read_files(const std::vector<std::string>& paths, ReadAs as) {
  std::vector<CheckedFile> files;
  std::vector<LayeredPolicy> layered;
  for (const std::string& path : paths) files.push_back({path, read_policy_file(path, as)});
  for (CheckedFile& file : files) {
    for (const Policy& each : file.file.policies) {
      file.policies.push_back({.policy = &each, .findings = findings_of(each)});
      layered.push_back({file.path, &each});
    }
  }
  for (const LayerFinding& finding : layer_findings(layered)) {
    for (CheckedFile& file : files) {
      for (CheckedPolicy& each : file.policies) {
        if (each.policy == finding.at.policy) each.findings.push_back(finding.note);
      }
    }
  }
  return files;
}

bool can_run(const Policy& policy) {
  return !policy.refused && policy.has_retries;
}

PolicyToRun to_run(const CheckedFile& file, const CheckedPolicy& policy) {
  return {.name = printable(file.path) + ':' + std::to_string(policy.policy->line),
          .settings = options_of(*policy.policy),
          .format = file.file.format.empty() ? std::nullopt
                                             : std::optional(parse_export_format(file.file.format)),
          .multiplexed = file.file.kind.starts_with("gRPC")};
}

// Finds what each policy was before: the policy of a name that it has, too, or the only one if both are.
void find_before(std::vector<CheckedFile>& files, const std::vector<CheckedFile>& old_files) {
  std::map<std::string_view, Place> by_name;
  std::vector<Place> all;
  for (const CheckedFile& file : old_files) {
    for (const CheckedPolicy& each : file.policies) {
      all.push_back({&file, &each});
      for (const std::string& name : each.policy->names) by_name.try_emplace(name, all.back());
    }
  }
  std::size_t count = 0;
  for (const CheckedFile& file : files) count += file.policies.size();
  for (CheckedFile& file : files) {
    for (CheckedPolicy& each : file.policies) {
      for (const std::string& name : each.policy->names) {
        const auto found = by_name.find(name);
        if (found == by_name.end() || each.before.policy != nullptr) continue;
        each.before = found->second;
      }
      if (count == 1 && all.size() == 1) each.before = all.front();
    }
  }
}

bool contains(const std::vector<Note>& notes, const Note& note) {
  return std::any_of(notes.begin(), notes.end(), [&note](const Note& each) {
    return each.rule == note.rule && each.text == note.text;
  });
}

// Was this found before the change, too?
bool was_there(const CheckedPolicy& policy, const Note& note) {
  return policy.before.policy != nullptr && contains(policy.before.policy->findings, note);
}

bool was_there(const std::vector<CheckedFile>& old_files, const Note& note) {
  return std::any_of(old_files.begin(), old_files.end(),
                     [&note](const CheckedFile& each) { return contains(each.file.notes, note); });
}

const char* level_name(Note::Level level) {
  return level == Note::Level::kError     ? "error"
         : level == Note::Level::kWarning ? "warning"
                                          : "note";
}

// `was_there` says which are not new.
template <typename WasThere>
void print_notes(const std::vector<Note>& notes, const WasThere& was_there) {
  for (const Note& each : notes) {
    std::string head = std::string("  ") + level_name(each.level);
    head.resize(11, ' ');
    if (each.line > 0) head += "line " + std::to_string(each.line);
    head.resize(std::max<std::size_t>(head.size() + 1, 22), ' ');
    print_wrapped(std::cout, head,
                  each.text + " (" + each.rule + (was_there(each) ? ", as before)" : ")"));
  }
}

void print_files(const std::vector<CheckedFile>& files, const std::vector<CheckedFile>& old_files) {
  for (const CheckedFile& file : files) {
    std::cout << printable(file.path) << ": " << file.file.kind << '\n';
    print_notes(file.file.notes,
                [&old_files](const Note& note) { return was_there(old_files, note); });
    for (const CheckedPolicy& each : file.policies) {
      std::cout << "\n" << summary(*each.policy) << '\n';
      print_notes(each.findings, [&each](const Note& note) { return was_there(each, note); });
    }
    std::cout << '\n';
  }
}

void write_sarif(const std::vector<CheckedFile>& files, const std::vector<CheckedFile>& old_files,
                 LineFile& out) {
  using Json = nlohmann::ordered_json;
  Json rules = Json::array(), results = Json::array();
  for (const auto& [id, about] : kFindingRules) {
    rules.push_back({{"id", id}, {"shortDescription", {{"text", about}}}});
  }
  const auto add = [&](const CheckedFile& file, const Note& note, std::size_t line, bool old) {
    Json result;
    result["ruleId"] = note.rule;
    result["level"] = level_name(note.level);
    result["message"]["text"] = note.text;
    if (!old_files.empty()) result["baselineState"] = old ? "unchanged" : "new";
    Json& place = result["locations"][0]["physicalLocation"];
    place["artifactLocation"]["uri"] = in_address(file.path, "-._~/");
    place["region"]["startLine"] = std::max<std::size_t>(note.line > 0 ? note.line : line, 1);
    results.push_back(result);
  };
  for (const CheckedFile& file : files) {
    for (const Note& each : file.file.notes) add(file, each, 1, was_there(old_files, each));
    for (const CheckedPolicy& policy : file.policies) {
      for (const Note& each : policy.findings) {
        add(file, each, policy.policy->line, was_there(policy, each));
      }
    }
  }
  Json log;
  log["$schema"] = "https://json.schemastore.org/sarif-2.1.0.json";
  log["version"] = "2.1.0";
  Json& run = log["runs"][0];
  run["tool"]["driver"]["name"] = "retrystorm";
  run["tool"]["driver"]["rules"] = rules;
  run["results"] = results;
  out.write(log.dump(2, ' ', false, Json::error_handler_t::replace));
}

// The first error or warning that is new; null: there is none.
const Note* first_harm(const std::vector<CheckedFile>& files,
                       const std::vector<CheckedFile>& old_files) {
  const auto is_harm = [](const Note& note) { return note.level != Note::Level::kNote; };
  for (const CheckedFile& file : files) {
    for (const Note& each : file.file.notes) {
      if (is_harm(each) && !was_there(old_files, each)) return &each;
    }
    for (const CheckedPolicy& policy : file.policies) {
      for (const Note& each : policy.findings) {
        if (is_harm(each) && !was_there(policy, each)) return &each;
      }
    }
  }
  return nullptr;
}

// Of what cannot be modelled at all, such as hedging, nothing is known.
bool has_unknown(const std::vector<CheckedFile>& files) {
  return std::any_of(files.begin(), files.end(), [](const CheckedFile& file) {
    return std::any_of(file.policies.begin(), file.policies.end(), [](const CheckedPolicy& each) {
      return !each.policy->has_retries && each.policy->settings.empty();
    });
  });
}

// The policies that can be run. Those that have not changed are left out.
std::vector<PolicyCase> cases_of(const std::vector<CheckedFile>& files) {
  std::vector<PolicyCase> cases;
  for (const CheckedFile& file : files) {
    for (const CheckedPolicy& each : file.policies) {
      if (!can_run(*each.policy)) continue;
      PolicyCase one{.policy = to_run(file, each)};
      if (each.before.policy != nullptr && can_run(*each.before.policy->policy)) {
        one.before = to_run(*each.before.file, *each.before.policy);
        if (one.before->settings == one.policy.settings) continue;
      }
      cases.push_back(std::move(one));
    }
  }
  return cases;
}

int check_files(const Invocation& invocation, const CheckOptions& typed) {
  CheckOptions options = typed;
  std::vector<CheckedFile> files = read_files(options.files, options.as);
  const std::vector<CheckedFile> old_files = read_files(options.baseline, options.as);
  find_before(files, old_files);
  const NamedOptions given = given_to_study(invocation.app, kSetByDisturbances);
  if (given.empty() && !options.expectations.empty()) {
    throw std::invalid_argument(
        "--expect: nothing is run without a service and its load, such as --service=workers "
        "--workers=64 --service-time=lognormal:80ms --arrivals=open --rate=400");
  }
  if (!options.sarif.empty()) {
    LineFile out(options.sarif);
    write_sarif(files, old_files, out);
  }
  int code = kExitHolds;
  if (given.empty()) {
    print_files(files, old_files);
    std::cout << "Nothing was run: give your service and its load, such as --service=workers "
                 "--workers=64\n--service-time=lognormal:80ms --arrivals=open --rate=400, or as "
                 "--config=service.ini, which\n`retrystorm service` makes of what you know of it\n";
    code = flush_standard_output() ? kExitHolds : kExitFault;
  } else {
    if (options.expectations.empty()) {
      options.expectations.push_back(parse_expectation("down<1%", cell_figures({})));
    }
    if (!options.workload.seed) options.workload.seed = 1;  // for the same verdict each time
    const std::vector<PolicyCase> cases = cases_of(files);
    code = run_policies(invocation, options, cases, given, [&] {
      print_files(files, old_files);
      if (cases.empty()) std::cout << "There is no policy to run, or none has changed.\n";
      std::cout << std::flush;
    });
  }
  if (code == kExitFault || code == kExitBroken) return code;
  if (const Note* harm = first_harm(files, old_files)) {
    // A broken expectation. No run says so, and the finding stands far above.
    if (!given.empty()) {
      std::cout << "exit code " << kExitBroken << ": for the " << level_name(harm->level)
                << " above (" << harm->rule << ")\n";
    }
    return flush_standard_output() ? kExitBroken : kExitFault;
  }
  return has_unknown(files) ? std::max<int>(code, kExitUndecided) : code;
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
    [](const Command& command, int argc, const char* const* argv) {
      return run_command<CheckOptions>(command, argc, argv, declare, check_files);
    }};

}  // namespace retrystorm
