// HAProxy: the backends of a configuration, with what they inherit.
// Sources: HAProxy's configuration.txt (of hosts: 2.6), src/backend.c, src/proxy.c, include/haproxy/defaults.h. Tried with
// 2.6: three retries after 500 take 3 ms, after refused connections 3 s. With redispatch only the last retry goes
// elsewhere, but where any server will do (by turns or at random) each does, without a wait (stream_choose_redispatch in
// include/haproxy/stream.h).
#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <string>

#include "policies/mesh.h"

namespace retrystorm {
namespace {

constexpr std::string_view kProgram = "HAProxy";

Duration time(std::string_view text) {
  return duration_or(std::chrono::milliseconds(1), text);
}

// The same server is not asked again before a second, or the time for a connection if that is less.
std::string wait(std::string_view text) {
  return brief_duration(std::min<Duration>(time(text), std::chrono::seconds(1)));
}

constexpr std::array kFields{always("growth", "constant", "HAProxy's waits are equal"),
                             Field{"retries", "max-retries", whole_number, "3"},
                             Field{"timeout connect", "backoff-base", wait, "1s"},
                             Field{"timeout server", "timeout", as_option<time>}};

// The words of a server's line (2.6). Without `timeout check` the period is the timeout, too.
constexpr std::array kCheck{Field{"inter", "every", as_option<time>, "2s"},
                            Field{"timeout check", "timeout", as_option<time>},
                            Field{"fall", "failures", count_from<1>, "3"}};

constexpr std::array kOthers{
    always("deadline", "none", "HAProxy has no limit on the time of all tries"),
    not_simulated("http-request disable-l7-retry",
                  "requests that are retried only where the connection failed")};

// The words of retry-on, and the failures that they stand for.
constexpr std::string_view kWords =
    "none=- conn-failure=transport empty-response=transport junk-response= "
    "response-timeout=timeout 0rtt-rejected= "
    "all-retryable-errors=transport+timeout+500+502+503+504 401=401 403=403 404=404 408=408 "
    "421=421 425=425 429=429 500=500 501=501 502=502 503=503 504=504";

// By the number of connections; of random servers two are compared unless it says another number.
constexpr std::string_view kBalances =
    "roundrobin=round-robin static-rr=round-robin leastconn=least random=two random(1)=random "
    "random(2)=two";

struct Section {
  std::string kind{}, name{};
  std::size_t line = 0;
  std::size_t servers = 0;  // its lines
  std::size_t hosts = 0;    // with those of templates, without backups
  Nodes settings{};         // by their words
};

// Where the comment of a line begins, which is not in quotation marks.
std::size_t comment_of(std::string_view line) {
  char quote = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '\\' && quote != '\'') {
      ++i;
    } else if (c == quote) {
      quote = 0;
    } else if (quote == 0 && (c == '"' || c == '\'')) {
      quote = c;
    } else if (quote == 0 && c == '#') {
      return i;
    }
  }
  return line.size();
}

// Words, until a comment. What is beyond 64 words or 300 bytes is left out: HAProxy refuses more words (MAX_LINE_ARGS),
// and nothing that is read here is as long.
std::vector<std::string> words_of(std::string_view line) {
  constexpr std::size_t kMostWords = 64, kLongest = 300;
  std::string text(line.substr(0, std::min(kLongest, comment_of(line))));
  std::ranges::replace(text, '\t', ' ');
  std::vector<std::string> words;
  for (const std::string_view each : split(text, ' ')) {
    if (!each.empty() && words.size() < kMostWords) words.emplace_back(each);
  }
  return words;
}

// Those of a line `server` or `server-template NAME COUNT|1-COUNT`.
std::size_t hosts_of(const std::vector<std::string>& words) {
  const bool off = std::ranges::any_of(
      words, [](const std::string& word) { return word == "backup" || word == "disabled"; });
  if (off) return 0;
  if (words[0] == "server" || words.size() < 3) return 1;
  return std::strtoul(words[2].substr(words[2].find('-') + 1).c_str(), nullptr, 10);
}

// The check in a line `server` or `default-server`; that of the last line counts.
void note_check(Nodes& settings, const std::vector<std::string>& words, std::size_t line) {
  for (std::size_t i = words[0] == "server" ? 3 : 1; i < words.size(); ++i) {
    const bool has_value = is_among(words[i], "inter fall port");
    if (!has_value && words[i] != "check") continue;
    settings[words[i]] =
        scalar_node(words[i], has_value && i + 1 < words.size() ? words[i + 1] : "", line);
  }
}

constexpr std::string_view kSections = "global defaults frontend backend listen";

std::vector<Section> sections_of(std::string_view text) {
  std::vector<Section> sections;
  std::map<std::string, Nodes> named;  // sections "defaults NAME"
  Nodes defaults;
  const auto end = [&] {
    if (sections.empty() || sections.back().kind != "defaults") return;
    defaults = sections.back().settings;
    named[sections.back().name] = defaults;
  };
  each_line(text, [&](std::string_view line, std::size_t number) {
    const std::vector<std::string> words = words_of(line);
    if (words.empty()) return;
    if (is_among(words[0], kSections)) {
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
    if (words[0] == "server" || words[0] == "server-template") {
      ++section.servers;
      section.hosts += hosts_of(words);
    }
    if (words[0] == "server" || words[0] == "default-server") {
      note_check(section.settings, words, number);
    }
    const bool no = words[0] == "no";
    std::size_t at = no ? 1 : 0;
    if (at >= words.size()) return;
    std::string name = words[at++];
    if (is_among(name, "timeout option http-request") && at < words.size()) {
      name += ' ' + words[at++];
    }
    if (no) {
      section.settings.erase(name);
      return;
    }
    // Each section has a copy of what it inherits, so only of what is read.
    static constexpr std::array<std::string_view, 11> kRead{
        "retries",         "retry-on",       "mode",          "option redispatch",
        "timeout connect", "timeout server", "timeout queue", "http-request disable-l7-retry",
        "balance",         "option httpchk", "timeout check"};
    if (std::ranges::find(kRead, name) == kRead.end()) return;
    std::string value;
    for (; at < words.size(); ++at) append(value, words[at], " ");
    section.settings[name] = scalar_node(name, value, number);
  });
  return sections;
}

void add_conditions(Policy& policy, const Nodes& settings) {
  const Node& given = node_in(settings, "retry-on");
  const bool holds = given && node_in(settings, "mode").text == "http";
  if (given && !holds) {
    policy.warn(kNoEffect, given.line, "retry-on has an effect in mode http only");
  }
  const Node words = holds ? given : scalar_node("retry-on", "conn-failure", 0);
  policy.set("retry-on", failures_of(policy, words, kWords, kProgram), words.line,
             holds ? field_text(words) : "retry-on is not given: failed connections only");
  if (holds) {
    policy.not_modelled(words.line, "requests longer than a buffer, which are not retried");
  }
  const auto listed = parts_of(words.text, ' ');
  if (std::ranges::all_of(
          listed, [](std::string_view each) { return is_among(each, "none conn-failure"); })) {
    return;
  }
  policy.set("growth", "none", words.line,
             "what has failed later than its connection is sent again at once");
  policy.remove("backoff-base");
  if (is_among("conn-failure", words.text) || is_among("all-retryable-errors", words.text)) {
    policy.not_modelled(
        words.line,
        "failed connections, after which there is a wait of timeout connect, at most 1s");
  }
}

void add_check(Policy& policy, const Nodes& settings) {
  const Node& check = node_in(settings, "check");
  if (!check) return;
  if (!node_in(settings, "option httpchk")) {
    return policy.not_modelled(check.line, "check without option httpchk only connects");
  }
  Node parts{.kind = Node::Kind::kMap, .line = check.line, .name = "check"};
  for (const Field& each : kCheck) {
    if (const Node& value = node_in(settings, each.name)) parts.children.push_back(value);
  }
  if (!node_in(settings, "timeout check")) {
    const Node& inter = node_in(settings, "inter");
    parts.children.push_back(scalar_node("timeout check", inter ? inter.text : "2s", check.line));
  }
  add_probe(policy, kCheck, parts, node_in(settings, "port"), kProgram);
  policy.not_modelled(
      check.line,
      "after a check that times out the next one comes inter later; here inter after its begin");
}

Policy policy_of(const Section& section) {
  Policy policy{.names = {section.kind + ' ' + shown(section.name)},
                .line = section.line,
                .layer = "gateway"};
  const auto setting = [&section](std::string_view name) -> const Node& {
    return node_in(section.settings, name);
  };
  for (const Field& each : kFields) add_field(policy, each, setting(each.name), kProgram);
  if (!setting("timeout server")) note_no_deadline(policy, "timeout server is not given");
  add_conditions(policy, section.settings);
  policy.assume("retry-budget", "none", "HAProxy has no limit on all retries together");
  set_replicas(policy, section.hosts, scalar_node("server", "", section.line));
  add_check(policy, section.settings);
  const Node &other = setting("option redispatch"), &balance = setting("balance");
  add_balance(policy, balance, kBalances);
  const bool redispatches = other && other.text != "0";
  if (redispatches && section.hosts > 1 &&
      (!balance || is_among(policy.value("balance"), "round-robin random two"))) {
    policy.set("retry-host", "other", other.line, "option redispatch: another server, at once");
    policy.set("growth", "none", other.line, "option redispatch: another server, at once");
    policy.remove("backoff-base");
  } else if (redispatches) {
    policy.not_modelled(other.line,
                        "option redispatch: the last retry goes to another server, at once");
  } else if (section.servers > 1 && policy.find("max-retries") &&
             policy.value("max-retries") != "0") {
    policy.warn("same-server", section.line,
                "without option redispatch each retry goes to the server that failed, though there "
                "are others");
  }
  for (const Field& each : kOthers) add_field(policy, each, setting(each.name), kProgram);
  if (const Node& queue = setting("timeout queue")) {
    policy.not_modelled(queue.line, field_text(queue) + ": how long requests wait for a server");
  }
  return policy;
}

bool is_haproxy(std::string_view text) {
  bool section = false, inside = false;
  each_line(text, [&](std::string_view line, std::size_t) {
    const std::vector<std::string> words = words_of(line);
    if (words.empty()) return;
    if (line.front() != ' ' && line.front() != '\t' && is_among(words[0], kSections)) {
      section = section || words.size() < 4;
    } else if (section && words.size() > 1) {
      inside = inside || is_among(words[0], "server retries timeout option mode bind balance");
    }
  });
  return section && inside;
}

}  // namespace

PolicyFile read_haproxy(std::string_view text, ReadAs) {
  if (!is_haproxy(text)) return {};
  refuse_template(text);
  PolicyFile file{.kind = "HAProxy configuration"};
  for (const Section& each : sections_of(text)) {
    if ((each.kind == "backend" || each.kind == "listen") && each.servers > 0) {
      file.add(policy_of(each));
    }
  }
  return file;
}

}  // namespace retrystorm
