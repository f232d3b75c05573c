// Spring Cloud Gateway: the filter Retry, of routes and of all, in Spring's application.yml.
// Sources: spring-cloud-gateway 4.1 (RetryGatewayFilterFactory, NettyRoutingFilter, TimeoutException) and its reference,
// "Retry GatewayFilter Factory"; reactor-addons (reactor.retry.Backoff).
#include <algorithm>
#include <array>

#include "model/retry/retry_on.h"
#include "policies/mesh.h"

namespace retrystorm {
namespace {

constexpr std::string_view kProgram = "Spring Cloud Gateway";
constexpr Field kRetries{"retries", "max-retries", count_from<1>, "3"};
constexpr Field kTimeout{"response-timeout", "timeout", as_option<spring_duration>};
constexpr std::array kBackoff{
    Field{"firstBackoff", "backoff-base", as_option<spring_duration>, "5ms"},
    Field{"factor", "backoff-factor", count_from<1>, "2"},
    Field{"maxBackoff", "backoff-cap", as_option<spring_duration>}};

// The words of the lists, each with the failures that it stands for.
constexpr std::string_view kWords =
    "INFORMATIONAL=1xx SUCCESSFUL=2xx REDIRECTION=3xx CLIENT_ERROR=4xx SERVER_ERROR=5xx OK=200 "
    "CREATED=201 ACCEPTED=202 NO_CONTENT=204 BAD_REQUEST=400 UNAUTHORIZED=401 FORBIDDEN=403 "
    "NOT_FOUND=404 REQUEST_TIMEOUT=408 CONFLICT=409 LOCKED=423 TOO_EARLY=425 TOO_MANY_REQUESTS=429 "
    "INTERNAL_SERVER_ERROR=500 BAD_GATEWAY=502 SERVICE_UNAVAILABLE=503 GATEWAY_TIMEOUT=504 "
    "java.io.IOException=transport java.lang.Exception=transport+timeout "
    "org.springframework.cloud.gateway.support.TimeoutException=timeout";

// "Retry=3,BAD_GATEWAY,GET,10ms" as a map.
Node arguments_of(const Node& filter) {
  constexpr std::array kOrder{"name",         "retries",    "statuses", "methods",
                              "firstBackoff", "maxBackoff", "factor"};
  Node arguments{.kind = Node::Kind::kMap, .line = filter.line};
  std::string list = filter.text;
  std::ranges::replace(list, '=', ',');
  const auto parts = parts_of(list, ',');
  for (std::size_t i = 0; i < std::min(parts.size(), kOrder.size()); ++i) {
    arguments.children.push_back(scalar_node(kOrder[i], trimmed(parts[i]), filter.line));
  }
  return arguments;
}

// The words of a list, or of a text with commas.
std::string words_of(const Node& node, std::string_view standard) {
  std::string words(node ? node.text : standard);
  for (const Node& each : node.children) append(words, each.text, ", ");
  return words;
}

std::string conditions(Policy& policy, const Node& arguments) {
  std::string on;
  const std::string list =
      words_of(arguments["series"], "SERVER_ERROR") + ',' + words_of(arguments["statuses"], "") +
      ',' +
      words_of(arguments["exceptions"],
               "java.io.IOException,org.springframework.cloud.gateway.support.TimeoutException");
  for (std::string_view word : parts_of(list, ',')) {
    word = trimmed(word);
    if (const auto covers = meaning_of(word, kWords)) {
      append(on, *covers);
    } else if (word == "java.util.concurrent.TimeoutException") {
      policy.warn(kNoEffect, policy.line,
                  shown(word) +
                      " is not what response-timeout throws (the gateway's own "
                      "TimeoutException is): a timeout is not retried");
    } else if (!word.empty()) {
      policy.not_modelled(policy.line, "what is retried: " + shown(word));
    }
  }
  return to_string(parse_retry_on(on.empty() ? "none" : on));
}

Policy policy_of(const Node& arguments, const std::string& name, std::size_t line,
                 const Node& timeout) {
  Policy policy{.names = {shown(name)}, .line = line, .layer = "gateway"};
  add_field(policy, kRetries, arguments[kRetries.name], kProgram);
  const Node& waits = arguments["firstBackoff"] ? arguments : arguments["backoff"];
  policy.assume("growth", waits ? "exponential" : "none", waits ? "backoff" : "without backoff");
  if (waits) add_fields(policy, kBackoff, waits, kProgram, NameCase::kAny);
  if (!timeout) note_no_deadline(policy, std::string(kTimeout.name) + " is not given");
  add_field(policy, kTimeout, timeout, kProgram);
  policy.assume("deadline", "none", "it has no limit on the time of all tries");
  policy.assume("retry-budget", "none", "it has no limit on all retries together");
  policy.set("retry-on", conditions(policy, arguments), line, "series, statuses, exceptions");
  const Node methods = scalar_node("methods", words_of(arguments["methods"], "GET"), line);
  check_method(policy, methods);
  policy.not_modelled(line, field_text(methods) + ": others are not retried");
  for (const char* other : {"jitter", "timeout"}) {
    if (const Node& node = arguments[other]) policy.not_modelled(node.line, field_text(node));
  }
  return policy;
}

// `name` and `timeout` are of what is around the node.
void walk(PolicyFile& file, const Node& node, std::string name, const Node* timeout) {
  if (const Node& id = node["id"]) name = id.text;
  if (const Node& client = node["httpclient"]) {
    timeout = &client.first_of({kTimeout.name, "responseTimeout"});
  }
  // A route's own; below zero it has none.
  if (const Node& own = node["metadata"][kTimeout.name]) {
    timeout = own.text.starts_with('-') ? &kNowhere : &own;
  }
  for (const Node& each : node.children) {
    walk(file, each, name, timeout);
    if (!each.is_list() || !each.name.ends_with("filters")) continue;
    for (const Node& filter : each.children) {
      if (filter.text != "Retry" && !filter.text.starts_with("Retry=") &&
          filter["name"].brief() != "Retry") {
        continue;
      }
      const Node& own = filter["args"];
      file.add(policy_of(own ? own : arguments_of(filter),
                         each.name == "filters" ? name : each.name, filter.line, *timeout));
    }
  }
}

}  // namespace

PolicyFile read_spring_gateway(const std::vector<Node>& documents, ReadAs) {
  PolicyFile file;
  for (const Node& each : documents) walk(file, each, "a route", &kNowhere);
  if (!file.policies.empty()) file.kind = "Spring Cloud Gateway configuration";
  return file;
}

}  // namespace retrystorm
