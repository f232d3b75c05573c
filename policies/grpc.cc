// gRPC service config: grpc-proto service_config.proto, proposal A6, grpc-go and grpc-java; and the
// files of the same form that Google's client generators (GAPIC) read in a way of their own.
#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <map>
#include <set>
#include <stdexcept>

#include "model/base/text.h"
#include "policies/readers.h"
#include "policies/values.h"

namespace retrystorm {
namespace {

constexpr std::string_view kChannel = "gRPC channels";
constexpr double kMostAttempts = 5;

std::string factor(std::string_view text) {
  const std::string number = plain_share(text);
  if (parse_number(number, 0, 1e9) <= 0) throw std::invalid_argument("this must be above zero");
  return number;
}

std::string any_duration(std::string_view text) {
  return option_text(protobuf_duration(text));
}

constexpr std::array kBackoff{Field{"initialBackoff", "backoff-base", positive_protobuf_duration},
                              Field{"backoffMultiplier", "backoff-factor", factor},
                              Field{"maxBackoff", "backoff-cap", positive_protobuf_duration}};

constexpr Field kHedgingDelay{"hedgingDelay", "hedge", any_duration, "0s"};
constexpr Field kTimeout{"timeout", "deadline", any_duration};
constexpr Field kAttemptTimeout{"perAttemptRecvTimeout", "timeout", any_duration};
constexpr Field kMaxAttempts{"maxAttempts", "max-attempts", whole_number};
constexpr std::array kThrottling{Field{"maxTokens", "budget-tokens", plain_share},
                                 Field{"tokenRatio", "budget-deposit", plain_share}};

constexpr std::array<std::string_view, 17> kCodes{
    "OK",        "CANCELLED",      "UNKNOWN",           "INVALID_ARGUMENT",   "DEADLINE_EXCEEDED",
    "NOT_FOUND", "ALREADY_EXISTS", "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION",
    "ABORTED",   "OUT_OF_RANGE",   "UNIMPLEMENTED",     "INTERNAL",           "UNAVAILABLE",
    "DATA_LOSS", "UNAUTHENTICATED"};

// The code's name, by its name in any case or its number; empty if there is none.
std::string_view code_named(std::string text) {
  for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  for (std::size_t i = 0; i < kCodes.size(); ++i) {
    if (text == kCodes[i] || text == std::to_string(i)) return kCodes[i];
  }
  return {};
}

// The config itself, also where a choice by DNS (proposal A2) is around it. Null if there is none.
const Node* config_of(const Node& root) {
  if (root.is_list()) {
    for (const Node& each : root.children) {
      if (const Node* found = config_of(each)) return found;
    }
    return nullptr;
  }
  if (const Node* wrapped = root.find("serviceConfig"); wrapped != nullptr && wrapped->is_map()) {
    return wrapped;
  }
  const Node* methods = root.find({"methodConfig", "method_config"});
  const bool is_one = (methods != nullptr && methods->is_list()) ||
                      root.find({"retryThrottling", "retry_throttling"}) != nullptr;
  return is_one ? &root : nullptr;
}

class Reader {
 public:
  Reader(const Node& config, ReadAs as) : config_(config) {
    gapic_ = as == ReadAs::kGapic || (as == ReadAs::kByContent && is_google());
    chosen_ = as != ReadAs::kByContent;
  }

  PolicyFile read() {
    file_.kind = gapic_ ? "gRPC service config as Google's client generators (GAPIC) read it"
                        : "gRPC service config as a gRPC channel reads it";
    if (!gapic_) file_.format = "grpc";
    check_names(config_, {"loadBalancingPolicy", "loadBalancingConfig", "methodConfig",
                          "retryThrottling", "healthCheckConfig", "connectionScaling"});
    std::set<std::string> taken;
    for (const Node& each : config_.items({"methodConfig"})) read_method(each, taken);
    say_how_it_was_read();
    if (!gapic_ && refusal_line_ > 0) {
      for (Policy& each : file_.policies) each.refused = true;
    }
    return std::move(file_);
  }

 private:
  bool is_google() const {
    for (const Node& method : config_.items({"methodConfig"})) {
      for (const Node& name : method.items({"name"})) {
        if (name.text_at({"service"}).starts_with("google.")) return true;
      }
    }
    return false;
  }

  // A channel takes all of the file or nothing.
  void refuse(std::size_t line, const std::string& why) {
    if (refusal_line_ == 0) {
      refusal_line_ = line;
      refusal_ = why;
    }
    if (!gapic_) file_.note(Note::Level::kError, kRefusedRule, line, why);
  }

  void say_how_it_was_read() {
    if (!gapic_) {
      if (refusal_line_ > 0) {
        file_.note(Note::Level::kError, kRefusedRule, refusal_line_,
                   "a gRPC channel refuses the whole file for that: none of its "
                   "policies is in force (--as=gapic reads it as Google's client "
                   "generators do)");
      }
      return;
    }
    file_.note(
        Note::Level::kNote, kAssumed, 0,
        (chosen_ ? "" : "its services are Google's: ") +
            std::string("read as Google's client generators do, which ignore maxAttempts and "
                        "retryThrottling and retry until the timeout (--as=channel reads it as a "
                        "gRPC channel does)"));
    file_.note(Note::Level::kNote, kAssumed, refusal_line_,
               refusal_line_ > 0 ? "a gRPC channel would refuse the whole file: " + refusal_
                                 : "a gRPC channel would take this file, too");
  }

  // Names that no reader knows are no fault for any of them: they are skipped without a word.
  void check_names(const Node& node, const std::vector<std::string_view>& known) {
    note_others(file_.notes, node, known,
                "no field of a service config: it is skipped without a word");
  }

  std::vector<std::string> names_of(const Node& method, std::set<std::string>& taken) {
    std::vector<std::string> names;
    for (const Node& each : method.items({"name"})) {
      const Node* service = each.find("service");
      const Node* rpc = each.find("method");
      const bool has_service = service != nullptr && !service->text.empty();
      const bool has_method = rpc != nullptr && !rpc->text.empty();
      if (!has_service && has_method) refuse(each.line, "a name with a method needs a service");
      std::string name = "all methods";
      if (has_service) name = shown(service->text);
      if (has_method) name += '/' + shown(rpc->text);
      if (!taken.insert(name).second) refuse(each.line, "two method configs are for " + name);
      names.push_back(std::move(name));
    }
    return names;
  }

  void read_method(const Node& method, std::set<std::string>& taken) {
    if (!method.is_map()) return;
    Policy policy{.names = names_of(method, taken), .line = method.line};
    check_names(method, {"name", "waitForReady", "timeout", "maxRequestMessageBytes",
                         "maxResponseMessageBytes", "retryPolicy", "hedgingPolicy"});
    if (policy.names.empty()) {
      file_.note(Note::Level::kError, kNoEffect, method.line,
                 "a method config without a name is for no method: it does nothing");
      return;
    }
    const Node* hedging = method.find("hedgingPolicy");
    const Node* retry = method.find("retryPolicy");
    if (hedging != nullptr && retry != nullptr) {
      refuse(hedging->line, "hedgingPolicy and retryPolicy exclude each other");
    }
    read_timeout(policy, method);
    if (hedging != nullptr && hedging->is_map()) {
      read_hedging(policy, *hedging);
    } else if (retry == nullptr || !retry->is_map()) {
      policy.assume("max-attempts", "1", "it has no retryPolicy: its methods are not retried");
    } else {
      read_retry(policy, *retry);
    }
    if (const Node* wait = method.find("waitForReady"); wait != nullptr && wait->text == "true") {
      policy.not_modelled(wait->line, "waitForReady: a request waits for a connection");
    }
    file_.add(std::move(policy));
  }

  void read_hedging(Policy& policy, const Node& hedging) {
    check_names(hedging, {"maxAttempts", "hedgingDelay", "nonFatalStatusCodes"});
    policy.assume("max-retries", "0", "hedgingPolicy: nothing is retried beside its hedges");
    const std::size_t most = attempts_of(policy, hedging, "hedgingPolicy");
    if (most >= 2) {
      policy.set("hedge-max", std::to_string(most - 1), hedging.find(kMaxAttempts.name)->line,
                 "maxAttempts counts the first attempt, too");
    }
    add_field(policy, kHedgingDelay, hedging.find(kHedgingDelay.name), kChannel);
    if (hedging.items({"nonFatalStatusCodes"}).empty()) {
      policy.assume("retry-on", "none",
                    "no nonFatalStatusCodes: the first failure ends the request");
    } else {
      read_code_list(policy, *hedging.find("nonFatalStatusCodes"));
    }
    read_throttling(policy);
    policy.not_modelled(0, "the server's pushback (grpc-retry-pushback-ms), transparent retries");
  }

  void read_timeout(Policy& policy, const Node& method) const {
    const Node* timeout = method.find("timeout");
    if (add_field(policy, kTimeout, timeout, kChannel)) {
      policy.assume("deadline-check", "at-end", "a request ends at its deadline");
      policy.set("timeout", policy.find("deadline")->value, timeout->line,
                 "an attempt has no timeout of its own: it may take the whole timeout");
    } else if (timeout == nullptr) {
      policy.remark(
          "no-deadline", method.line,
          "there is no timeout: unless its caller sets a deadline, an attempt that is never "
          "answered waits for ever; here --timeout ends it, and the request with it");
    }
  }

  void read_retry(Policy& policy, const Node& retry) {
    check_names(retry, {"maxAttempts", "initialBackoff", "maxBackoff", "backoffMultiplier",
                        "retryableStatusCodes", "perAttemptRecvTimeout"});
    read_attempts(policy, retry);
    policy.assume("growth", "exponential", "gRPC's waits grow by a factor");
    for (const Field& field : kBackoff) {
      const Node* node = retry.find(field.name);
      if (node == nullptr) {
        refuse(retry.line, std::string(field.name) + " is missing in this retryPolicy");
      }
      add_field(policy, field, node, kChannel);
    }
    if (gapic_) {
      policy.assume("jitter", "full", "GAPIC waits at random up to the backoff");
    } else {
      policy.assume("jitter", "proportional:0.2", "gRPC's waits vary by 20 %");
    }
    read_codes(policy, retry);
    const Node* own = retry.find(kAttemptTimeout.name);
    if (add_field(policy, kAttemptTimeout, own, kChannel)) {
      policy.remark(
          kDependsOnVersion, own->line,
          "perAttemptRecvTimeout: only gRPC for Java has it; with it a timeout is retried");
      add_timeouts(policy);
    }
    if (!gapic_) {
      read_throttling(policy);
      policy.not_modelled(0, "the server's pushback (grpc-retry-pushback-ms), transparent retries");
    }
  }

  // How many attempts a request may have, with the first one. 0 if that is not said.
  std::size_t attempts_of(Policy& policy, const Node& from, const std::string& part) {
    const Node* attempts = from.find(kMaxAttempts.name);
    if (attempts == nullptr) {
      refuse(from.line, "maxAttempts is missing in this " + part + "; it must be 2 or more");
      return 0;
    }
    Policy read;
    double count = 0;
    if (add_field(read, kMaxAttempts, attempts, kChannel)) {
      count = parse_number(read.find("max-attempts")->value, 0, 1e10);
    }
    if (count < 2) refuse(attempts->line, "maxAttempts must be a whole number of at least 2");
    if (count > kMostAttempts && !gapic_) {
      policy.warn(
          kHardLimit, attempts->line,
          field_text(*attempts) + " counts as 5, a channel's limit; a channel argument raises it");
    }
    return static_cast<std::size_t>(std::min(count, kMostAttempts));
  }

  void read_attempts(Policy& policy, const Node& retry) {
    const Node* attempts = retry.find(kMaxAttempts.name);
    const std::size_t count = attempts_of(policy, retry, "retryPolicy");
    if (gapic_) {
      if (attempts != nullptr) {
        policy.remark(kNoEffect, attempts->line, field_text(*attempts) + " is ignored by GAPIC");
      }
      policy.assume("max-attempts", "none", "GAPIC retries until the timeout");
      return;
    }
    if (count < 2) return;
    const std::string said = field_text(*attempts);
    policy.set("max-attempts", std::to_string(count), attempts->line,
               said + (is_limited(*attempts) ? ", of which 5 count" : ""));
  }

  static bool is_limited(const Node& attempts) {
    return parse_number(whole_number(attempts.text), 0, 1e10) > kMostAttempts;
  }

  void read_codes(Policy& policy, const Node& retry) {
    const Node* codes = retry.find("retryableStatusCodes");
    if (retry.items({"retryableStatusCodes"}).empty()) {
      const std::size_t line = codes != nullptr ? codes->line : retry.line;
      refuse(line, "retryableStatusCodes is missing or empty: this retryPolicy retries nothing");
      policy.set("retry-on", "none", line, "no retryableStatusCodes");
      policy.warn(kNoEffect, line, "retryableStatusCodes is missing or empty: nothing is retried");
      return;
    }
    read_code_list(policy, *codes);
  }

  void read_code_list(Policy& policy, const Node& codes) {
    std::string value, source;
    for (const Node& each : codes.children) {
      const std::string_view code = code_named(each.text);
      if (code.empty()) {
        refuse(each.line, shown(each.text) + " is no status code of gRPC");
        continue;
      }
      source.append(source.empty() ? "" : ", ").append(code);
      if (code != "OK") value.append(value.empty() ? "" : "+").append(code);
    }
    if (!value.empty()) {
      policy.set("retry-on", value, codes.line, codes.name + ": " + source);
    }
  }

  void read_throttling(Policy& policy) {
    const Node* throttling = config_.find("retryThrottling");
    if (throttling == nullptr || !throttling->is_map()) {
      policy.assume("retry-budget", "none", "there is no retryThrottling");
      return;
    }
    policy.set("retry-budget", "grpc", throttling->line, "retryThrottling");
    for (const Field& field : kThrottling) {
      const Node* node = throttling->find(field.name);
      if (node == nullptr) {
        refuse(throttling->line, std::string(field.name) + " is missing in retryThrottling");
      }
      add_field(policy, field, node, kChannel);
    }
    const Node* most = throttling->find("maxTokens");
    const Setting* tokens = policy.find("budget-tokens");
    if (most == nullptr || tokens == nullptr) return;
    const double count = parse_number(tokens->value, 0, 1e9);
    if (count != std::floor(count)) {
      policy.warn(kRefusedRule, most->line,
                  field_text(*most) +
                      ": the specification wants a whole number from 1 to 1000; Go "
                      "and Java take this one");
    } else if (count < 1 || count > 1000) {
      policy.warn(kRefusedRule, most->line,
                  field_text(*most) + ": the specification wants a whole number from 1 to 1000");
    }
    // A failure takes one token, and a retry needs more than half of them.
    if (count <= 2) {
      policy.fault(kNoEffect, most->line,
                   field_text(*most) +
                       ": the first failure leaves no more than half of the tokens, so nothing is "
                       "ever retried; 10 is usual");
    }
  }

  const Node& config_;
  bool gapic_ = false, chosen_ = false;
  PolicyFile file_;
  std::size_t refusal_line_ = 0;  // the first of them; 0: none
  std::string refusal_;
};

// gRPC for Go takes names whose letters are of another case (encoding/json), no other one does.
void take_as_go_does(Node& node, std::vector<const Node*>& renamed) {
  static constexpr std::string_view kNames[] = {
      "name",           "service",        "method",
      "timeout",        "waitForReady",   "retryPolicy",
      "maxAttempts",    "initialBackoff", "maxBackoff",
      "maxTokens",      "tokenRatio",     "backoffMultiplier",
      "hedgingPolicy",  "hedgingDelay",   "retryableStatusCodes",
      "retryThrottling"};
  for (Node& each : node.children) {
    if (node.is_map()) {
      const auto meant = std::find_if(
          std::begin(kNames), std::end(kNames),
          [&each](std::string_view name) { return is_same_name(name, each.name, NameCase::kAny); });
      if (meant != std::end(kNames) && each.name != *meant && node.find(*meant) == nullptr) {
        each.name = *meant;
        renamed.push_back(&each);
      }
    }
    take_as_go_does(each, renamed);
  }
}

}  // namespace

PolicyFile read_grpc(const std::vector<Node>& documents, ReadAs as) {
  if (documents.size() != 1 || config_of(documents.front()) == nullptr) return {};
  Node config = *config_of(documents.front());
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
