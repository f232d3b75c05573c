#include "retrystorm/policy_files.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <iostream>
#include <map>
#include <stdexcept>
#include <system_error>

#include "common/exit_code.h"
#include "model/base/text.h"
#include "model/retry/strategies.h"
#include "words/words.h"

namespace retrystorm {
namespace {

// A line for each policy to choose from.
std::string choice(const std::vector<Policy>& policies) {
  constexpr std::size_t kMost = 20;
  std::string list;
  for (std::size_t i = 0; i < std::min(policies.size(), kMost); ++i) {
    list += "\n  " + summary(policies[i]);
  }
  if (policies.size() > kMost) {
    list += "\n  and " + std::to_string(policies.size() - kMost) + " more";
  }
  return list;
}

}  // namespace

void add_read_as(CLI::App& app, ReadAs& as) {
  add_value(
      *option_group(app, "Run"), "--as", "NAME", "",
      [&as](const std::string& word) { as = parse_read_as(word); },
      "who reads the file, where it does not say: channel or gapic (gRPC), botocore or aws-sdk "
      "(AWS), envoy-gateway or istio (Gateway API)")
      ->group("Study");
}

bool sends_over_one_connection(const PolicyFile& file) {
  return file.kind.starts_with("gRPC");
}

std::string summary(const Policy& policy) {
  std::string text = "line " + std::to_string(policy.line) + ": ";
  if (policy.refused) {
    text += "refused by its program";
  } else if (!policy.has_retries) {
    text += "limits only";
  } else {
    text += retries_title(scenario_of(options_of(policy)).workload.retry);
  }
  text += ": " + printable(policy.names.front());
  if (policy.names.size() > 1) {
    text += " and " + std::to_string(policy.names.size() - 1) + " more";
  }
  return text;
}

const Policy& chosen_policy(const PolicyFile& file, const std::string& path,
                            const std::string& wanted) {
  if (wanted.empty()) {
    if (file.policies.size() == 1) return file.policies.front();
    throw std::invalid_argument(path + " has " + std::to_string(file.policies.size()) +
                                " different policies: choose one with --policy=NAME or its line" +
                                choice(file.policies));
  }
  for (const Policy& each : file.policies) {
    if (std::to_string(each.line) == wanted) return each;
    for (const std::string& name : each.names) {
      if (name == wanted) return each;
    }
  }
  throw std::invalid_argument("--policy: " + path + " has no policy for " +
                              in_quotes(printable(wanted)) + choice(file.policies));
}

std::string in_address(std::string_view text, std::string_view kept) {
  static constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
  static constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string address;
  for (const char c : text) {
    if (kPlain.find(c) != kPlain.npos || kept.find(c) != kept.npos) {
      address += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      address += {'%', kDigits[byte >> 4], kDigits[byte & 15]};
    }
  }
  return address;
}

std::string explorer_link(const std::string& page, const NamedOptions& options) {
  std::error_code none;
  const bool is_file = std::filesystem::exists(page, none);
  std::string link =
      is_file ? "file://" + in_address(std::filesystem::absolute(page).string(), "-._~/") : page;
  link += "#v=1";  // as explorer/page/link.js reads it
  for (const auto& [name, value] : options) link += '&' + name + '=' + in_address(value);
  return link;
}

void print_exported(const Exported& exported) {
  for (const Statement& each : exported.differences) {
    (exported.has_comments ? std::cout : std::cerr)
        << (exported.has_comments ? "# " : "")
        << words_of({"export-differs", {{"what", words_of(each)}}}) << '\n';
  }
  std::cout << exported.text;
}

std::vector<NamedFile> policy_files_in(const std::string& folder, ReadAs as) {
  std::error_code error;
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (entry.is_regular_file(error)) paths.push_back(entry.path().string());
  }
  std::ranges::sort(paths);
  std::vector<NamedFile> files;
  for (const std::string& path : paths) {
    try {
      files.emplace_back(path, read_policy_file(path, as));
    } catch (const UnreadableFile& unreadable) {
      std::cerr << unreadable.what() << ": left out\n";
    }
  }
  if (files.empty()) {
    throw UnreadableFile("there is no policy in " + in_quotes(printable(folder)));
  }
  return files;
}

bool has_hosts(const NamedOptions& given) {
  const auto replicas = given.find("replicas");
  return replicas != given.end() && replicas->second != "1";
}

std::vector<ListedStrategy> policies_in(const std::string& folder, bool several) try {
  std::vector<ListedStrategy> policies;
  for (const auto& [path, file] : policy_files_in(folder, ReadAs::kByContent)) {
    const std::string name = printable(std::filesystem::path(path).filename().string());
    std::map<std::size_t, int> in_line;  // of a file in one line
    for (const Policy& each : file.policies) {
      if (each.refused || !each.has_retries) continue;
      const int number = ++in_line[each.line];
      policies.push_back({.name = name + ':' + std::to_string(each.line) +
                                  (number == 1 ? "" : '#' + std::to_string(number)),
                          .settings = options_to_run(each, several)});
    }
  }
  if (policies.empty()) {
    throw UnreadableFile("there is no policy in " + in_quotes(printable(folder)));
  }
  return policies;
} catch (const UnreadableFile& error) {
  throw UnreadableFile(std::string("--strategies-from: ") + error.what());
}

}  // namespace retrystorm
