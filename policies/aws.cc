// AWS: retry_mode and max_attempts, of profiles in config and credentials files, or as variables.
// Sources: botocore (configprovider.py, args.py), aws-cli (topics/config-vars.rst); AWS SDKs and Tools
// Reference Guide, "Retry behavior".
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>

#include "model/base/text.h"
#include "policies/readers.h"
#include "policies/tree.h"
#include "policies/values.h"

namespace retrystorm {
namespace {

constexpr Field kMaxAttempts{"max_attempts", "max-attempts", count_from_one};
// aws-cli topics/config-vars.rst: in seconds, 0 for none.
constexpr Field kReadTimeout{"cli_read_timeout", "timeout", whole_seconds};

// The values of a profile.
struct Profile {
  std::string name{};
  bool prefixed = false;       // [profile x], not [x]
  std::size_t again = 0;       // the line of the same section once more; 0: there is none
  std::size_t other_form = 0;  // likewise, of [x] beside [profile x]
  std::optional<Node> mode{}, attempts{}, timeout{};
};

std::string strategy_of(const std::string& mode, bool botocore) {
  if (mode == "adaptive") return "aws-adaptive";
  if (mode == "legacy") return "aws-legacy";
  if (mode == "standard") return "aws-standard";
  return botocore ? "aws-legacy" : "aws-standard";
}

Policy policy_of(const Profile& profile, ReadAs as) {
  Policy policy;
  policy.names.push_back(profile.name);
  const bool botocore = as == ReadAs::kBotocore;
  const std::string mode = profile.mode ? profile.mode->text : "";
  const std::string strategy = strategy_of(mode, botocore);
  policy.line = std::min(profile.mode ? profile.mode->line : profile.attempts->line,
                         profile.attempts ? profile.attempts->line : profile.mode->line);
  if (!profile.mode) {
    policy.assume("strategy", strategy, "retry_mode is not given");
    policy.assumed(policy.line,
                   botocore
                       ? "retry_mode is not given: legacy, botocore's default"
                       : "retry_mode is not given: standard, as in the SDKs since 2026 (botocore, "
                         "and with it the command line, has legacy: --as=botocore)");
  } else if (mode == "legacy" || mode == "standard" || mode == "adaptive") {
    policy.set("strategy", strategy, profile.mode->line, field_text(*profile.mode));
  } else {
    policy.refuse(profile.mode->line,
                  field_text(*profile.mode) + ": the modes are legacy, standard and adaptive");
  }
  if (strategy != "aws-legacy") {
    policy.remark(kDependsOnVersion, profile.mode ? profile.mode->line : 0,
                  "the waits and the quota are those of 2026; before, they were those of "
                  "aws-standard-2025");
  }
  if (profile.attempts) add_field(policy, kMaxAttempts, &*profile.attempts, "AWS SDKs");
  if (profile.timeout && profile.timeout->text != "0") {
    add_field(policy, kReadTimeout, &*profile.timeout, "AWS SDKs");
    policy.assumed(
        profile.timeout->line,
        "cli_read_timeout is of the command line: an SDK's timeouts stand in the program");
  }
  if (mode == "adaptive") {
    policy.assumed(profile.mode->line,
                   "adaptive slows down after throttling (429) only, not after errors or timeouts");
  }
  if (profile.other_form > 0) {
    policy.assumed(profile.other_form,
                   "[NAME] and [profile NAME] are one profile: only one of the two counts");
  }
  policy.assumed(
      0, "AWS_RETRY_MODE, AWS_MAX_ATTEMPTS and what the program sets itself overrule a file");
  return policy;
}

PolicyFile file_of(std::string kind, const std::vector<Profile>& profiles, ReadAs as) {
  PolicyFile file{.kind = std::move(kind), .format = "aws"};
  for (const Profile& each : profiles) {
    if (each.mode || each.attempts) file.add(policy_of(each, as));
  }
  const auto twice = std::find_if(profiles.begin(), profiles.end(),
                                  [](const Profile& each) { return each.again > 0; });
  if (twice == profiles.end()) return file;
  const std::string what = twice->name + " is there twice: ";
  if (as == ReadAs::kBotocore) {
    file.note(Note::Level::kError, kRefusedRule, twice->again,
              what + "botocore refuses the whole file");
    for (Policy& each : file.policies) each.refused = true;
  } else {
    file.note(Note::Level::kWarning, kAssumed, twice->again,
              what +
                  "read as one, where the last value counts (botocore, and with it "
                  "the command line, refuses the whole file)");
  }
  return file;
}

void take(Profile& profile, std::string_view name, std::string_view value, std::size_t line) {
  if (name == "retry_mode") {
    std::string mode(value);
    for (char& c : mode) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
    profile.mode = scalar_node(name, mode, line);
  } else if (name == "max_attempts") {
    profile.attempts = scalar_node(name, value, line);
  } else if (name == "cli_read_timeout") {
    profile.timeout = scalar_node(name, value, line);
  }
}

constexpr std::string_view kProfile = "profile ";

// The profile that a section is; empty for other sections, such as [sso-session x].
std::string profile_of(std::string_view section) {
  if (section.starts_with(kProfile)) {
    section = trimmed(section.substr(kProfile.size()));
    if (section.size() > 1 && section.front() == '"' && section.back() == '"') {
      section = section.substr(1, section.size() - 2);
    }
    return "profile " + shown(section);
  }
  const bool plain = section.find(' ') == section.npos;
  return plain ? "profile " + shown(section) : "";
}

}  // namespace

bool is_aws_config(std::string_view text) {
  bool section = false, key = false;
  each_line(text, [&](std::string_view line, std::size_t) {
    const std::string_view plain = trimmed(line);
    if (plain == "[default]" || plain.starts_with("[profile ")) section = true;
    for (const std::string_view name : {"retry_mode", "max_attempts", "aws_access_key_id", "region",
                                        "role_arn", "source_profile", "credential_process"}) {
      const bool named = plain.starts_with(name);
      if (named && trimmed(plain.substr(name.size())).starts_with('=')) key = true;
    }
  });
  return key && (section || text.find("\n[") != text.npos || text.starts_with('['));
}

PolicyFile read_aws_config(std::string_view text, ReadAs as) {
  std::vector<Profile> profiles;
  std::map<std::string, std::size_t> places;  // of profiles, by name
  std::set<std::string_view> sections;
  std::size_t section = 0;  // the profile of the line, counted from 1; 0: none
  each_line(text, [&](std::string_view line, std::size_t number) {
    const std::string_view plain = trimmed(line);
    if (plain.empty() || plain.front() == '#' || plain.front() == ';') return;
    // Indented: a value of the key above, such as `s3 =`.
    if (line.front() == ' ' || line.front() == '\t') return;
    if (plain.front() == '[') {
      const std::string_view title = trimmed(plain.substr(1, plain.find(']') - 1));
      const std::string name = profile_of(title);
      section = 0;
      if (name.empty()) return;
      const Profile fresh{.name = name, .prefixed = title.starts_with(kProfile)};
      const auto [place, is_new] = places.try_emplace(name, profiles.size());
      if (is_new) {
        check_count(profiles.size());
        profiles.push_back(fresh);
      }
      // Two ways to write one name are two sections for botocore, of which the last one counts. Otherwise [x] has no
      // effect beside [profile x].
      Profile& there = profiles[place->second];
      const bool botocore = as == ReadAs::kBotocore, other = there.prefixed != fresh.prefixed;
      const bool counts = !other || fresh.prefixed || (botocore && title == "default");
      if (!sections.insert(title).second || (!is_new && !other && !botocore)) {
        if (there.again == 0) there.again = number;
      } else if (counts) {
        there = fresh;
      }
      if (other) there.other_form = number;
      if (!counts) return;
      section = place->second + 1;
      return;
    }
    const std::size_t equals = plain.find('=');
    if (equals == plain.npos || section == 0) return;
    std::string_view value = plain.substr(equals + 1);
    for (const char* comment : {" #", " ;"}) value = value.substr(0, value.find(comment));
    take(profiles[section - 1], trimmed(plain.substr(0, equals)), trimmed(value), number);
  });
  return file_of("AWS configuration", profiles, as);
}

bool is_aws_environment(std::string_view text) {
  bool any = false, all = true;
  each_line(text, [&](std::string_view line, std::size_t) {
    const std::string_view plain = trimmed(line);
    if (plain.empty() || plain.front() == '#') return;
    const std::size_t equals = plain.find('=');
    const std::string_view name = plain.substr(0, equals);
    const bool is_name =
        equals != plain.npos && !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
          return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
        });
    all = all && is_name;
    any = any || name == "AWS_RETRY_MODE" || name == "AWS_MAX_ATTEMPTS";
  });
  return any && all;
}

PolicyFile read_aws_environment(std::string_view text, ReadAs as) {
  Profile profile{.name = "environment"};
  each_line(text, [&](std::string_view line, std::size_t number) {
    const std::string_view plain = trimmed(line);
    if (plain.empty() || plain.front() == '#') return;
    const std::size_t equals = plain.find('=');
    std::string_view value = trimmed(plain.substr(equals + 1));
    if (value.size() > 1 && (value.front() == '"' || value.front() == '\'') &&
        value.back() == value.front()) {
      value = value.substr(1, value.size() - 2);
    }
    if (plain.starts_with("AWS_RETRY_MODE=")) take(profile, "retry_mode", value, number);
    if (plain.starts_with("AWS_MAX_ATTEMPTS=")) take(profile, "max_attempts", value, number);
  });
  return file_of("AWS environment variables", {profile}, as);
}

}  // namespace retrystorm
