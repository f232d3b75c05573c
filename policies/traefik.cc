// Traefik's retry middleware: in its dynamic configuration (YAML, TOML), in objects of Kubernetes, in
// labels of containers.
// Sources: traefik/traefik pkg/middlewares/retry/retry.go, pkg/config/dynamic/middlewares.go.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <stdexcept>

#include "model/base/text.h"
#include "policies/kubernetes.h"
#include "policies/readers.h"
#include "policies/text_files.h"
#include "policies/values.h"

namespace retrystorm {
namespace {

constexpr std::string_view kProgram = "Traefik";
constexpr std::string_view kLabel = "traefik.http.middlewares.";
constexpr auto kCase = NameCase::kAny;

std::string duration(std::string_view text) {
  return option_text(duration_or(std::chrono::seconds(1), text));
}

std::string attempts(std::string_view text) {
  const std::string count = whole_number(text);
  if (count == "0") throw std::invalid_argument("this must be at least 1: it counts the first one");
  return count;
}

constexpr std::array kFields{field(foreign_name(kProgram, "attempts"), attempts),
                             field(foreign_name(kProgram, "initialInterval"), duration),
                             field(foreign_name(kProgram, "timeout"), duration)};

class Reader {
 public:
  PolicyFile read(const std::vector<Node>& documents) {
    file_.kind = "Traefik configuration";
    for (const Node& each : documents) {
      find_used(each);
      read_labels(each);
    }
    for (const Node& each : documents) read_file(each);
    for (const Node* each : objects_of(documents)) {
      const Node* retry = each->at({"spec", "retry"});
      if (each->text_at({"kind"}) == "Middleware" && retry != nullptr) {
        read_retry(each->text_at({"metadata", "name"}), *retry);
      }
    }
    for (auto& [name, fields] : labels_) {
      Node retry{.kind = Node::Kind::kMap, .line = fields.front().line, .children = fields};
      read_retry(name, retry);
    }
    return std::move(file_);
  }

 private:
  // The names in lists of middlewares: of routers, entry points, chains and routes.
  void find_used(const Node& node) {
    for (const Node& each : node.children) {
      if (is_same_name(each.name, "middlewares", kCase) && each.is_list()) {
        for (const Node& one : each.children)
          add_used(one.is_map() ? one.text_at({"name"}) : one.text);
      }
      if (each.name.starts_with("traefik.") && each.name.ends_with(".middlewares")) {
        for (const std::string_view one : parts_of(each.text, ',')) add_used(one);
      }
      const std::size_t equals = each.text.find('=');
      if (each.text.starts_with("traefik.") && equals != std::string::npos &&
          each.text.substr(0, equals).ends_with(".middlewares")) {
        for (const std::string_view one :
             parts_of(std::string_view(each.text).substr(equals + 1), ','))
          add_used(one);
      }
      find_used(each);
    }
  }

  void add_used(std::string_view name) {
    used_.insert(std::string(trimmed(name.substr(0, name.find('@')))));
  }

  void read_file(const Node& document) {
    const Node* http = document.find("http", kCase);
    const Node* all = http == nullptr ? nullptr : http->find("middlewares", kCase);
    if (all == nullptr || !all->is_map()) return;
    for (const Node& each : all->children) {
      if (const Node* retry = each.find("retry", kCase)) read_retry(each.name, *retry, true);
    }
  }

  // "traefik.http.middlewares.NAME.retry.FIELD", as a key or before a "=".
  void read_labels(const Node& node) {
    for (const Node& each : node.children) {
      const std::size_t equals = each.text.find('=');
      const bool is_key = each.name.starts_with(kLabel);
      if (each.is_scalar() &&
          (is_key || (each.text.starts_with(kLabel) && equals != each.text.npos))) {
        const std::string label = is_key ? each.name : each.text.substr(0, equals);
        const std::string value = is_key ? each.text : each.text.substr(equals + 1);
        const auto parts = parts_of(std::string_view(label).substr(kLabel.size()), '.');
        if (parts.size() == 3 && is_same_name(parts[1], "retry", kCase)) {
          labels_[std::string(parts[0])].push_back(scalar_node(parts[2], value, each.line));
        }
      }
      read_labels(each);
    }
  }

  void read_retry(const std::string& name, const Node& retry, bool unique = false) {
    Policy policy;
    policy.unique_names = unique;
    policy.line = retry.line;
    policy.names.push_back(shown(name));
    policy.layer = "gateway";
    note_others(policy.notes, retry,
                {"attempts", "initialInterval", "timeout", "status", "disableRetryOnNetworkError",
                 "retryNonIdempotentMethod", "maxRequestBodyBytes"},
                "no field of retry: Traefik refuses the file", kCase);
    add_fields(policy, kFields, &retry, kProgram, kCase);
    if (retry.find(kFields[0].name, kCase) == nullptr) {
      policy.note(Note::Level::kError, kRefusedRule, retry.line,
                  "attempts is missing: Traefik does not make the middleware");
      policy.refused = true;
    }
    set_waits(policy);
    set_conditions(policy, retry);
    const Setting* deadline = policy.find("deadline");
    if (deadline != nullptr) policy.assume("deadline-check", "at-end", "it ends at its timeout");
    policy.assume("retry-budget", "none", "Traefik has no limit on all retries together");
    if (!used_.contains(name)) {
      policy.note(
          Note::Level::kWarning, kNoEffect, retry.line,
          "no router of the file uses this middleware: it has an effect only if another file's "
          "does");
    }
    file_.add(std::move(policy));
  }

  // From the first wait to the double of it, over all retries.
  static void set_waits(Policy& policy) {
    const Setting* count = policy.find("max-attempts");
    const Setting* base = policy.find("backoff-base");
    if (base == nullptr || parse_duration(base->value) == Duration::zero()) {
      policy.remove("backoff-base");
      policy.assume("growth", "none", "initialInterval is not given: Traefik retries at once");
      return;
    }
    constexpr double kMost = 1e9;
    const double retries = count == nullptr ? 1 : parse_number(count->value, 1, kMost) - 1;
    policy.assume("growth", "exponential", "Traefik's waits grow to the double of the first");
    policy.assume("backoff-factor", print_number(retries < 1 ? 2 : std::pow(2, 1 / retries)),
                  "2 ^ (1 / (attempts - 1))");
    policy.assume("jitter", "proportional:0.5", "Traefik's waits vary by half (cenkalti/backoff)");
  }

  static void set_conditions(Policy& policy, const Node& retry) {
    RetryOn on;
    const Node* off = retry.find("disableRetryOnNetworkError", kCase);
    on.transport = off == nullptr || !is_true(off->text);
    const Node* statuses = retry.find("status", kCase);
    if (statuses != nullptr) {
      for (const Node& each : statuses->children) {
        try {
          add_statuses(on, each.text);
        } catch (const std::invalid_argument& error) {
          policy.note(Note::Level::kError, kRefusedRule, each.line,
                      "status: " + shown(error.what()));
        }
      }
    }
    policy.set("retry-on", to_string(on), statuses == nullptr ? 0 : statuses->line,
               statuses == nullptr ? "Traefik retries only what could not be sent" : "status");
    const Node* unsafe = retry.find("retryNonIdempotentMethod", kCase);
    if (statuses == nullptr) return;
    if (unsafe != nullptr && is_true(unsafe->text)) {
      policy.note(Note::Level::kWarning, "repeats-work", unsafe->line,
                  "POST and PATCH are retried, too: what they did may be done again");
    } else {
      policy.not_modelled(statuses->line, "POST, LOCK and PATCH, which are not retried");
    }
  }

  PolicyFile file_;
  std::set<std::string> used_;
  std::map<std::string, std::vector<Node>> labels_;  // the fields, by middleware
};

bool has_label(const Node& node) {
  const auto is_label = [](const std::string& text) {
    return text.starts_with(kLabel) && text.find(".retry.") != text.npos;
  };
  return std::any_of(node.children.begin(), node.children.end(), [&](const Node& each) {
    return is_label(each.name) || is_label(each.text) || has_label(each);
  });
}

}  // namespace

bool is_traefik_toml(std::string_view text) {
  bool header = false;
  each_line(text, [&header](std::string_view line, std::size_t) {
    header = header || trimmed(line).starts_with("[http.") || trimmed(line) == "[http]";
  });
  return header && text.find("middlewares") != text.npos;
}

bool is_traefik(const std::vector<Node>& documents) {
  const auto objects = objects_of(documents);
  return std::any_of(documents.begin(), documents.end(),
                     [](const Node& each) {
                       const Node* http = each.find("http", kCase);
                       return (http != nullptr && http->find("middlewares", kCase) != nullptr) ||
                              has_label(each);
                     }) ||
         std::any_of(objects.begin(), objects.end(), [](const Node* each) {
           return is_object(*each, "traefik.io/", "Middleware") ||
                  is_object(*each, "traefik.containo.us/", "Middleware");
         });
}

PolicyFile read_traefik(const std::vector<Node>& documents) {
  return Reader().read(documents);
}

}  // namespace retrystorm
