// AWS: retry_mode and max_attempts, of profiles in config and credentials files, or as variables.
// Sources: botocore (configprovider.py, args.py), aws-cli (topics/config-vars.rst); AWS SDKs and Tools
// Reference Guide, "Retry behavior".
#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string>

#include "policies/mesh.h"

namespace retrystorm {
namespace {

constexpr std::string_view kProgram = "AWS SDKs";
constexpr Field kMaxAttempts{"max_attempts", "max-attempts", count_from<1>};
// aws-cli topics/config-vars.rst: in seconds, 0 for none.
constexpr Field kReadTimeout{"cli_read_timeout", "timeout", whole_seconds};

struct Profile {
  std::string name{};
  bool prefixed = false;       // [profile x], not [x]
  std::size_t again = 0;       // the line of the same section once more; 0: there is none
  std::size_t other_form = 0;  // likewise, of [x] beside [profile x]
  Node mode{}, attempts{}, timeout{};

  void take(std::string_view field, std::string_view value, std::size_t line) {
    if (field == "retry_mode") mode = scalar_node(field, to_lower(value), line);
    if (field == kMaxAttempts.name) attempts = scalar_node(field, value, line);
    if (field == kReadTimeout.name) timeout = scalar_node(field, value, line);
  }
};

Policy policy_of(const Profile& profile, ReadAs as) {
  const Node &mode = profile.mode, &attempts = profile.attempts, &timeout = profile.timeout;
  const bool botocore = as == ReadAs::kBotocore,
             known = is_among(mode.text, "legacy standard adaptive");
  const std::string counts = known ? mode.text : botocore ? "legacy" : "standard";
  Policy policy{.names = {profile.name},
                .line = std::min((mode ? mode : attempts).line, (attempts ? attempts : mode).line)};
  if (!mode) {
    policy.assume("strategy", "aws-" + counts, "retry_mode is not given");
    policy.assumed(policy.line,
                   botocore
                       ? "retry_mode is not given: legacy, botocore's default"
                       : "retry_mode is not given: standard, as in the SDKs since 2026 (botocore, "
                         "and with it the command line, has legacy: --as=botocore)");
  } else if (known) {
    policy.take("strategy", "aws-" + counts, mode);
  } else {
    policy.refuse(mode.line, field_text(mode) + ": the modes are legacy, standard and adaptive");
  }
  if (counts != "legacy") {
    policy.remark(kDependsOnVersion, mode.line,
                  "the waits and the quota are those of 2026; before, they were those of "
                  "aws-standard-2025");
  }
  add_field(policy, kMaxAttempts, attempts, kProgram);
  if (timeout && timeout.text != "0") {
    add_field(policy, kReadTimeout, timeout, kProgram);
    policy.assumed(
        timeout.line,
        "cli_read_timeout is of the command line: an SDK's timeouts stand in the program");
  }
  if (counts == "adaptive") {
    policy.assumed(mode.line,
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
  const auto is_twice = [](const Profile& each) { return each.again > 0; };
  const auto twice = std::ranges::find_if(profiles, is_twice);
  if (twice == profiles.end()) return file;
  const bool refused = as == ReadAs::kBotocore;
  file.note(refused ? Note::Level::kError : Note::Level::kWarning,
            refused ? kRefusedRule : kAssumed, twice->again,
            twice->name + " is there twice: " +
                (refused ? "botocore refuses the whole file"
                         : "read as one, where the last value counts (botocore, and with it the "
                           "command line, refuses the whole file)"));
  for (Policy& each : file.policies) each.refused |= refused;
  return file;
}

std::string_view without_quotes(std::string_view text) {
  const bool quoted = text.size() > 1 && (text.front() == '"' || text.front() == '\'') &&
                      text.back() == text.front();
  return quoted ? text.substr(1, text.size() - 2) : text;
}

constexpr std::string_view kProfile = "profile ";

// The profile that a section is; empty for other sections, such as [sso-session x].
std::string profile_of(std::string_view section) {
  if (section.starts_with(kProfile)) {
    section = without_quotes(trimmed(section.substr(kProfile.size())));
  } else if (section.find(' ') != section.npos) {
    return "";
  }
  return "profile " + shown(section);
}

constexpr std::string_view kVariables = "AWS_RETRY_MODE AWS_MAX_ATTEMPTS";

// Of lines NAME=VALUE, or NAME="VALUE". A line of another form has no name.
void each_variable(std::string_view text,
                   const std::function<void(std::string_view name, std::string_view value,
                                            std::size_t line)>& take) {
  each_line(text, [&take](std::string_view line, std::size_t number) {
    const std::string_view plain = trimmed(line);
    if (plain.empty() || plain.front() == '#') return;
    const std::size_t equals = plain.find('=');
    if (equals == plain.npos) return take("", "", number);
    take(plain.substr(0, equals), without_quotes(trimmed(plain.substr(equals + 1))), number);
  });
}

bool is_config(std::string_view text) {
  bool section = false, key = false;
  each_line(text, [&](std::string_view line, std::size_t) {
    const std::string_view plain = trimmed(line);
    if (plain == "[default]" || plain.starts_with("[profile ")) section = true;
    const std::size_t equals = plain.find('=');
    key = key || (equals != plain.npos &&
                  is_among(trimmed(plain.substr(0, equals)),
                           "retry_mode max_attempts aws_access_key_id region role_arn "
                           "source_profile credential_process"));
  });
  return key && (section || text.find("\n[") != text.npos || text.starts_with('['));
}

PolicyFile read_config(std::string_view text, ReadAs as) {
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
    profiles[section - 1].take(trimmed(plain.substr(0, equals)), trimmed(value), number);
  });
  return file_of("AWS configuration", profiles, as);
}

bool is_environment(std::string_view text) {
  bool any = false, all = true;
  each_variable(text, [&](std::string_view name, std::string_view, std::size_t) {
    constexpr std::string_view kOfNames = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    all = all && !name.empty() && name.find_first_not_of(kOfNames) == name.npos;
    any = any || is_among(name, kVariables);
  });
  return any && all;
}

PolicyFile read_environment(std::string_view text, ReadAs as) {
  Profile profile{.name = "environment"};
  each_variable(text, [&](std::string_view name, std::string_view value, std::size_t line) {
    if (is_among(name, kVariables)) profile.take(to_lower(name.substr(4)), value, line);
  });
  return file_of("AWS environment variables", {profile}, as);
}

}  // namespace

PolicyFile read_aws(std::string_view text, ReadAs as) {
  if (is_environment(text)) return read_environment(text, as);
  return is_config(text) ? read_config(text, as) : PolicyFile();
}

}  // namespace retrystorm
