// HAProxy: the backends of a configuration, with what they inherit.
// Sources: HAProxy's configuration.txt, src/backend.c, src/proxy.c, include/haproxy/defaults.h.
#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>

#include "model/base/text.h"
#include "model/retry/retry_on.h"
#include "policies/mesh.h"
#include "policies/readers.h"
#include "policies/tree.h"
#include "policies/values.h"

namespace retrystorm {
namespace {

constexpr std::string_view kProgram = "HAProxy";

Duration time(std::string_view text) {
  return duration_or(std::chrono::milliseconds(1), text);
}

std::string duration(std::string_view text) {
  return option_text(time(text));
}

// The same server is not asked again before a second, or the time for a connection if that is less.
std::string wait(std::string_view text) {
  return option_text(std::min<Duration>(time(text), std::chrono::seconds(1)));
}

constexpr std::array kFields{Field{"retries", "max-retries", whole_number, "3"},
                             Field{"timeout connect", "backoff-base", wait, "1s"},
                             Field{"timeout server", "timeout", duration}};

// The words of retry-on, and the failures that they stand for.
constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kWords{
    {{"none", ""},
     {"conn-failure", "transport"},
     {"empty-response", "transport"},
     {"junk-response", ""},
     {"response-timeout", "timeout"},
     {"0rtt-rejected", ""},
     {"all-retryable-errors", "transport+timeout+500+502+503+504"}}};
constexpr std::string_view kStatuses = "401 403 404 408 421 425 429 500 501 502 503 504";

// By their words. Sections share what they inherit.
using Settings = std::map<std::string, std::shared_ptr<const Node>, std::less<>>;

struct Section {
  std::string kind{}, name{};
  std::size_t line = 0;
  std::size_t servers = 0;
  Settings settings{};
};

const Node* find(const Settings& settings, std::string_view name) {
  const auto found = settings.find(name);
  return found == settings.end() ? nullptr : found->second.get();
}

// Words, until a comment. What is beyond 64 words or 300 bytes is left out: HAProxy refuses more words (MAX_LINE_ARGS),
// and nothing that is read here is as long.
std::vector<std::string> words_of(std::string_view line) {
  constexpr std::size_t kMostWords = 64, kLongest = 300;
  line = line.substr(0, kLongest);
  std::vector<std::string> words;
  std::string word;
  for (const char c : line.substr(0, line.find('#'))) {
    if (c != ' ' && c != '\t') {
      word += c;
    } else if (!word.empty()) {
      words.push_back(std::move(word));
      word.clear();
      if (words.size() == kMostWords) return words;
    }
  }
  if (!word.empty()) words.push_back(std::move(word));
  return words;
}

bool is_section(const std::string& word) {
  return word == "global" || word == "defaults" || word == "frontend" || word == "backend" ||
         word == "listen";
}

std::vector<Section> sections_of(std::string_view text) {
  std::vector<Section> sections;
  std::map<std::string, Settings> named;  // sections "defaults NAME"
  Settings defaults;
  const auto end = [&] {
    if (sections.empty() || sections.back().kind != "defaults") return;
    defaults = sections.back().settings;
    named[sections.back().name] = defaults;
  };
  each_line(text, [&](std::string_view line, std::size_t number) {
    const std::vector<std::string> words = words_of(line);
    if (words.empty()) return;
    if (is_section(words[0])) {
      end();
      check_count(sections.size());
      Section section{.kind = words[0], .name = words.size() > 1 ? words[1] : "", .line = number};
      if (section.kind == "backend" || section.kind == "listen") section.settings = defaults;
      if (words.size() > 3 && words[2] == "from") section.settings = named[words[3]];
      sections.push_back(std::move(section));
      return;
    }
    if (sections.empty()) return;
    Section& section = sections.back();
    if (words[0] == "server" || words[0] == "server-template") ++section.servers;
    const bool no = words[0] == "no";
    std::size_t at = no ? 1 : 0;
    if (at >= words.size()) return;
    std::string name = words[at++];
    if ((name == "timeout" || name == "option" || name == "http-request") && at < words.size())
      name += ' ' + words[at++];
    if (no) {
      section.settings.erase(name);
      return;
    }
    // Each section has a copy of what it inherits, so only of what is read.
    static constexpr std::array<std::string_view, 8> kRead{
        "retries",         "retry-on",       "mode",          "option redispatch",
        "timeout connect", "timeout server", "timeout queue", "http-request disable-l7-retry"};
    if (std::find(kRead.begin(), kRead.end(), name) == kRead.end()) return;
    std::string value;
    for (; at < words.size(); ++at) value += (value.empty() ? "" : " ") + words[at];
    section.settings[name] = std::make_shared<const Node>(scalar_node(name, value, number));
  });
  return sections;
}

void add_conditions(Policy& policy, const Settings& settings) {
  const Node* words = find(settings, "retry-on");
  const Node* mode = find(settings, "mode");
  if (words != nullptr && (mode == nullptr || mode->text != "http")) {
    policy.warn(kNoEffect, words->line, "retry-on has an effect in mode http only");
    words = nullptr;
  }
  std::string on;
  const std::string text = words == nullptr ? "conn-failure" : words->text;
  for (const std::string_view word : parts_of(text, ' ')) {
    const auto known = std::find_if(kWords.begin(), kWords.end(),
                                    [word](const auto& each) { return each.first == word; });
    const auto statuses = split(kStatuses, ' ');
    std::string_view covers = known == kWords.end() ? word : known->second;
    if (known == kWords.end() &&
        std::find(statuses.begin(), statuses.end(), word) == statuses.end()) {
      policy.refuse(words->line,
                    shown(word) + " is no condition of retry-on: HAProxy does not start with it");
    } else if (!covers.empty()) {
      on.append(on.empty() ? "" : "+").append(covers);
    } else if (word != "none") {
      policy.not_modelled(words->line, std::string(word) + ": there are no such answers here");
    }
  }
  policy.set(
      "retry-on", to_string(parse_retry_on(on.empty() ? "none" : on)),
      words == nullptr ? 0 : words->line,
      words == nullptr ? "retry-on is not given: failed connections only" : field_text(*words));
  if (words != nullptr) {
    policy.not_modelled(words->line, "requests longer than a buffer, which are not retried");
  }
}

Policy policy_of(const Section& section) {
  Policy policy{.names = {section.kind + ' ' + shown(section.name)},
                .line = section.line,
                .layer = "gateway"};
  policy.assume("growth", "constant", "HAProxy's waits are equal");
  for (const Field& each : kFields)
    add_field(policy, each, find(section.settings, each.name), kProgram);
  if (find(section.settings, "timeout server") == nullptr) {
    note_no_deadline(policy, "timeout server");
  }
  add_conditions(policy, section.settings);
  policy.assume("retry-budget", "none", "HAProxy has no limit on all retries together");
  if (const Node* other = find(section.settings, "option redispatch")) {
    policy.not_modelled(other->line,
                        "option redispatch: the last retry goes to another server, at once");
  } else if (const Setting* retries = policy.find("max-retries");
             section.servers > 1 && retries != nullptr && retries->value != "0") {
    policy.warn("same-server", section.line,
                "without option redispatch each retry goes to the server that failed, though there "
                "are others");
  }
  policy.assume("deadline", "none", "HAProxy has no limit on the time of all tries");
  if (const Node* off = find(section.settings, "http-request disable-l7-retry")) {
    policy.not_modelled(off->line,
                        "http-request disable-l7-retry: requests that are retried only where the "
                        "connection failed");
  }
  if (const Node* queue = find(section.settings, "timeout queue")) {
    policy.not_modelled(queue->line, field_text(*queue) + ": how long requests wait for a server");
  }
  return policy;
}

}  // namespace

bool is_haproxy(std::string_view text) {
  bool section = false, inside = false;
  each_line(text, [&](std::string_view line, std::size_t) {
    const std::vector<std::string> words = words_of(line);
    if (words.empty()) return;
    if (line.front() != ' ' && line.front() != '\t' && is_section(words[0])) {
      section = section || words.size() < 4;
    } else if (section && words.size() > 1) {
      for (const char* name :
           {"server", "retries", "timeout", "option", "mode", "bind", "balance"}) {
        inside = inside || words[0] == name;
      }
    }
  });
  return section && inside;
}

PolicyFile read_haproxy(std::string_view text) {
  PolicyFile file{.kind = "HAProxy configuration"};
  for (const Section& each : sections_of(text)) {
    if ((each.kind == "backend" || each.kind == "listen") && each.servers > 0) {
      file.add(policy_of(each));
    }
  }
  return file;
}

}  // namespace retrystorm
