// gRPC service config: grpc-proto service_config.proto, proposals A6, A48 (least request: of two) and A50 (outliers, which
// are those whose share of failures is great, not those that fail so often in a row), grpc-go and grpc-java; and the files
// of the same form that Google's client generators (GAPIC) read in a way of their own.
#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <stdexcept>

#include "model/base/text.h"
#include "policies/mesh.h"

namespace retrystorm {
namespace {

constexpr std::string_view kChannel = "gRPC channels";
constexpr std::size_t kMostAttempts = 5;

std::string above_zero(std::string_view text) {
  const std::string number = plain_share(text);
  if (parse_number(number, 0, 1e9) <= 0) refuse("this must be above zero");
  return number;
}

constexpr std::array kBackoff{Field{"initialBackoff", "backoff-base", positive_protobuf_duration},
                              Field{"backoffMultiplier", "backoff-factor", above_zero},
                              Field{"maxBackoff", "backoff-cap", positive_protobuf_duration}};

constexpr Field kHedgingDelay{"hedgingDelay", "hedge", as_option<protobuf_duration>, "0s"};
constexpr Field kTimeout{"timeout", "deadline", as_option<protobuf_duration>};
constexpr Field kAttemptTimeout{"perAttemptRecvTimeout", "timeout", as_option<protobuf_duration>};
constexpr std::array kThrottling{Field{"maxTokens", "budget-tokens", above_zero},
                                 Field{"tokenRatio", "budget-deposit", above_zero}};

constexpr std::array<std::string_view, 17> kCodes{
    "OK",        "CANCELLED",      "UNKNOWN",           "INVALID_ARGUMENT",   "DEADLINE_EXCEEDED",
    "NOT_FOUND", "ALREADY_EXISTS", "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION",
    "ABORTED",   "OUT_OF_RANGE",   "UNIMPLEMENTED",     "INTERNAL",           "UNAVAILABLE",
    "DATA_LOSS", "UNAUTHENTICATED"};

// The code's name, by its name in any case or its number; empty if there is none.
std::string_view code_named(std::string_view text) {
  for (std::size_t i = 0; i < kCodes.size(); ++i) {
    if (is_same_name(text, kCodes[i], NameCase::kAny) || text == std::to_string(i))
      return kCodes[i];
  }
  return {};
}

// The config itself, also where a choice by DNS (proposal A2) is around it.
const Node& config_of(const Node& root) {
  for (const Node& each : root.items()) {
    if (const Node& found = config_of(each)) return found;
  }
  const Node& wrapped = root["serviceConfig"];
  if (wrapped.is_map()) return wrapped;
  const bool is_one = root.first_of({"methodConfig", "method_config"}).is_list() ||
                      root.first_of({"retryThrottling", "retry_throttling"});
  return is_one ? root : kNowhere;
}

class Reader {
 public:
  Reader(const Node& config, ReadAs as) : config_(config) {
    chosen_ = as != ReadAs::kByContent;
    gapic_ = as == ReadAs::kGapic || (!chosen_ && is_google());
  }

  PolicyFile read() {
    file_.kind = gapic_ ? "gRPC service config as Google's client generators (GAPIC) read it"
                        : "gRPC service config as a gRPC channel reads it";
    if (!gapic_) file_.format = "grpc";
    check_names(config_, {"loadBalancingPolicy", "loadBalancingConfig", "methodConfig",
                          "retryThrottling", "healthCheckConfig", "connectionScaling"});
    for (const Node& each : config_["methodConfig"].items()) {
      if (each.is_map()) read_method(each);
    }
    if (gapic_) {
      file_.note(
          Note::Level::kNote, kAssumed, 0,
          (chosen_ ? "" : "its services are Google's: ") +
              std::string("read as Google's client generators do, which ignore maxAttempts and "
                          "retryThrottling and retry until the timeout (--as=channel reads it as a "
                          "gRPC channel does)"));
      file_.note(Note::Level::kNote, kAssumed, refusal_line_,
                 refusal_line_ > 0 ? "a gRPC channel would refuse the whole file: " + refusal_
                                   : "a gRPC channel would take this file, too");
    } else if (refusal_line_ > 0) {
      file_.note(Note::Level::kError, kRefusedRule, refusal_line_,
                 "a gRPC channel refuses the whole file for that: none of its policies is in force "
                 "(--as=gapic reads it as Google's client generators do)");
      for (Policy& each : file_.policies) each.refused = true;
    }
    return std::move(file_);
  }

 private:
  bool is_google() const {
    for (const Node& method : config_["methodConfig"].items()) {
      for (const Node& name : method["name"].items()) {
        if (name["service"].brief().starts_with("google.")) return true;
      }
    }
    return false;
  }

  // A channel takes all of the file or nothing.
  void refuse_at(std::size_t line, const std::string& why) {
    if (refusal_line_ == 0) {
      refusal_line_ = line;
      refusal_ = why;
    }
    if (!gapic_) file_.note(Note::Level::kError, kRefusedRule, line, why);
  }

  // Names that no reader knows are no fault for any of them: they are skipped without a word.
  void check_names(const Node& node, const std::vector<std::string_view>& known) {
    note_others(file_.notes, node, known,
                "no field of a service config: it is skipped without a word");
  }

  std::vector<std::string> names_of(const Node& method) {
    std::vector<std::string> names;
    for (const Node& each : method["name"].items()) {
      const std::string &service = each["service"].text, &rpc = each["method"].text;
      if (service.empty() && !rpc.empty())
        refuse_at(each.line, "a name with a method needs a service");
      std::string name = service.empty() ? "all methods" : shown(service);
      if (!rpc.empty()) name += '/' + shown(rpc);
      if (!taken_.insert(name).second) refuse_at(each.line, "two method configs are for " + name);
      names.push_back(std::move(name));
    }
    return names;
  }

  void read_method(const Node& method) {
    Policy policy{.names = names_of(method), .line = method.line};
    check_names(method, {"name", "waitForReady", "timeout", "maxRequestMessageBytes",
                         "maxResponseMessageBytes", "retryPolicy", "hedgingPolicy"});
    if (policy.names.empty()) {
      file_.note(Note::Level::kError, kNoEffect, method.line,
                 "a method config without a name is for no method: it does nothing");
      return;
    }
    const Node &hedging = method["hedgingPolicy"], &retry = method["retryPolicy"];
    if (hedging && retry) {
      refuse_at(hedging.line, "hedgingPolicy and retryPolicy exclude each other");
    }
    read_timeout(policy, method);
    if (hedging.is_map()) {
      read_hedging(policy, hedging);
    } else if (retry.is_map()) {
      read_retry(policy, retry);
    } else {
      policy.assume("max-attempts", "1", "it has no retryPolicy: its methods are not retried");
    }
    if (const Node& wait = method["waitForReady"]; wait.text == "true") {
      policy.not_modelled(wait.line, "waitForReady: a request waits for a connection");
    }
    if (!gapic_) {
      policy.assume("picker", "client", "each channel picks by itself");
      read_balance(policy, config_["loadBalancingConfig"]);
    }
    file_.add(std::move(policy));
  }

  // The first of a list of policies, each of which is a map in a map by its name.
  static void read_balance(Policy& policy, const Node& list) {
    if (list.first().children.empty()) return;
    const Node& first = list.first().children.front();
    if (!first.name.starts_with("outlier_detection")) {
      add_balance(policy, scalar_node(list.name, first.name, first.line));
      if (policy.find("balance") == nullptr) return;
      return policy.assume("eject", "1:1s:1:lost", "a host without a connection is not picked");
    }
    policy.not_modelled(first.line, shown(first.name) + ": hosts with many failures are left out");
    read_balance(policy, first.first_of({"childPolicy", "child_policy"}));
  }

  void read_hedging(Policy& policy, const Node& hedging) {
    check_names(hedging, {"maxAttempts", "hedgingDelay", "nonFatalStatusCodes"});
    policy.assume("max-retries", "0", "hedgingPolicy: nothing is retried beside its hedges");
    if (const std::size_t most = attempts_of(policy, hedging, "hedgingPolicy"); most >= 2) {
      policy.set("hedge-max", std::to_string(std::min(most, kMostAttempts) - 1),
                 hedging["maxAttempts"].line, "maxAttempts counts the first attempt, too");
    }
    add_field(policy, kHedgingDelay, hedging[kHedgingDelay.name], kChannel);
    const Node& codes = hedging["nonFatalStatusCodes"];
    if (codes.items().empty()) {
      policy.assume("retry-on", "none",
                    "no nonFatalStatusCodes: the first failure ends the request");
    } else {
      read_code_list(policy, codes);
    }
    read_throttling(policy);
  }

  static void read_timeout(Policy& policy, const Node& method) {
    const Node& timeout = method["timeout"];
    if (add_field(policy, kTimeout, timeout, kChannel)) {
      policy.assume("deadline-check", "at-end", "a request ends at its deadline");
      policy.set("timeout", policy.find("deadline")->value, timeout.line,
                 "an attempt has no timeout of its own: it may take the whole timeout");
    } else if (!timeout) {
      policy.remark(
          "no-deadline", method.line,
          "there is no timeout: unless its caller sets a deadline, an attempt that is never "
          "answered waits for ever; here --timeout ends it, and the request with it");
    }
  }

  // Those that a channel wants all.
  void read_fields(Policy& policy, std::span<const Field> fields, const Node& map,
                   const std::string& part) {
    for (const Field& field : fields) {
      const Node& node = map[field.name];
      if (!node) refuse_at(map.line, std::string(field.name) + " is missing in " + part);
      add_field(policy, field, node, kChannel);
    }
  }

  void read_retry(Policy& policy, const Node& retry) {
    check_names(retry, {"maxAttempts", "initialBackoff", "maxBackoff", "backoffMultiplier",
                        "retryableStatusCodes", "perAttemptRecvTimeout"});
    const Node& attempts = retry["maxAttempts"];
    const std::size_t count = attempts_of(policy, retry, "retryPolicy");
    if (gapic_) {
      if (attempts) {
        policy.remark(kNoEffect, attempts.line, field_text(attempts) + " is ignored by GAPIC");
      }
      policy.assume("max-attempts", "none", "GAPIC retries until the timeout");
    } else if (count >= 2) {
      policy.take("max-attempts", std::to_string(std::min(count, kMostAttempts)), attempts,
                  count > kMostAttempts ? ", of which 5 count" : "");
    }
    policy.assume("growth", "exponential", "gRPC's waits grow by a factor");
    read_fields(policy, kBackoff, retry, "this retryPolicy");
    policy.assume("jitter", gapic_ ? "full" : "proportional:0.2",
                  gapic_ ? "GAPIC waits at random up to the backoff" : "gRPC's waits vary by 20 %");
    read_codes(policy, retry);
    const Node& own = retry[kAttemptTimeout.name];
    if (add_field(policy, kAttemptTimeout, own, kChannel)) {
      policy.remark(
          kDependsOnVersion, own.line,
          "perAttemptRecvTimeout: only gRPC for Java has it; with it a timeout is retried");
      add_timeouts(policy);
    }
    if (!gapic_) read_throttling(policy);
  }

  // How many attempts a request may have, with the first one. 0 if that is not said.
  std::size_t attempts_of(Policy& policy, const Node& from, const std::string& part) {
    const Node& attempts = from["maxAttempts"];
    if (!attempts) {
      refuse_at(from.line, "maxAttempts is missing in this " + part + "; it must be 2 or more");
      return 0;
    }
    std::size_t count = 0;
    try {
      count = std::stoul(whole_number(attempts.text));
    } catch (const std::invalid_argument&) {  // it counts as none
    }
    if (count < 2) refuse_at(attempts.line, "maxAttempts must be a whole number of at least 2");
    if (count > kMostAttempts && !gapic_) {
      policy.warn(
          kHardLimit, attempts.line,
          field_text(attempts) + " counts as 5, a channel's limit; a channel argument raises it");
    }
    return count;
  }

  void read_codes(Policy& policy, const Node& retry) {
    const Node& codes = retry["retryableStatusCodes"];
    if (!codes.items().empty()) return read_code_list(policy, codes);
    const std::size_t line = (codes ? codes : retry).line;
    refuse_at(line, "retryableStatusCodes is missing or empty: this retryPolicy retries nothing");
    policy.set("retry-on", "none", line, "no retryableStatusCodes");
    policy.warn(kNoEffect, line, "retryableStatusCodes is missing or empty: nothing is retried");
  }

  void read_code_list(Policy& policy, const Node& codes) {
    std::string value, source;
    for (const Node& each : codes.children) {
      const std::string_view code = code_named(each.text);
      if (code.empty()) {
        refuse_at(each.line, shown(each.text) + " is no status code of gRPC");
        continue;
      }
      append(source, code, ", ");
      if (code != "OK") append(value, code);
    }
    if (!value.empty()) policy.set("retry-on", value, codes.line, codes.name + ": " + source);
  }

  void read_throttling(Policy& policy) {
    const Node& throttling = config_["retryThrottling"];
    if (throttling.is_map()) {
      policy.set("retry-budget", "grpc", throttling.line, "retryThrottling");
      read_fields(policy, kThrottling, throttling, "retryThrottling");
      if (const Node& most = throttling["maxTokens"]) check_tokens(policy, most);
    } else {
      policy.assume("retry-budget", "none", "there is no retryThrottling");
    }
    policy.not_modelled(0, "the server's pushback (grpc-retry-pushback-ms), transparent retries");
  }

  static void check_tokens(Policy& policy, const Node& most) {
    const Setting* tokens = policy.find("budget-tokens");
    if (tokens == nullptr) return;
    const double count = parse_number(tokens->value, 0, 1e9);
    const bool whole = count == std::floor(count);
    if (!whole || count < 1 || count > 1000) {
      policy.warn(kRefusedRule, most.line,
                  field_text(most) + ": the specification wants a whole number from 1 to 1000" +
                      (whole ? "; Go refuses the whole file" : "; Go and Java take this one"));
    }
    // A failure takes one token, and a retry needs more than half of them.
    if (count <= 2) {
      policy.fault(kNoEffect, most.line,
                   field_text(most) +
                       ": the first failure leaves no more than half of the tokens, so nothing is "
                       "ever retried; 10 is usual");
    }
  }

  const Node& config_;
  bool gapic_ = false, chosen_ = false;
  PolicyFile file_;
  std::set<std::string> taken_;   // names of methods
  std::size_t refusal_line_ = 0;  // the first of them; 0: none
  std::string refusal_;
};

// gRPC for Go takes names whose letters are of another case (encoding/json), no other one does.
void take_as_go_does(Node& node, std::vector<const Node*>& renamed) {
  static const std::vector<std::string_view> kNames = split(
      "name service method timeout waitForReady retryPolicy maxAttempts initialBackoff maxBackoff "
      "maxTokens tokenRatio backoffMultiplier hedgingPolicy hedgingDelay retryableStatusCodes "
      "retryThrottling",
      ' ');
  for (Node& each : node.children) {
    for (const std::string_view name : kNames) {
      if (each.name == name || !is_same_name(name, each.name, NameCase::kAny)) continue;
      if (!node.is_map() || node[name]) continue;
      each.name = name;
      renamed.push_back(&each);
    }
    take_as_go_does(each, renamed);
  }
}

}  // namespace

PolicyFile read_grpc(const std::vector<Node>& documents, ReadAs as) {
  Node config = documents.size() == 1 ? config_of(documents.front()) : kNowhere;
  if (!config) return {};
  std::vector<const Node*> renamed;
  take_as_go_does(config, renamed);
  PolicyFile file = Reader(config, as).read();
  if (!renamed.empty()) {
    file.note(
        Note::Level::kWarning, kNoEffect, renamed.front()->line,
        renamed.front()->name +
            (renamed.size() == 1 ? ""
                                 : " and " + std::to_string(renamed.size() - 1) + " more names") +
            " with letters of another case: only gRPC for Go takes them so; for Java, C++ and Node "
            "they are no fields");
  }
  return file;
}

}  // namespace retrystorm
