#include <array>
#include <utility>

#include "common/exit_code.h"
#include "policies/mesh.h"

namespace retrystorm {
namespace {

constexpr std::string_view kKnownKinds =
    "a gRPC service config, Envoy, Istio, resilience4j, Spring Cloud Gateway, AWS, .NET's standard resilience "
    "handler, Gateway API, Envoy Gateway, kgateway, Linkerd, NGINX or HAProxy";

// Whether the first line that says something is KEY=VALUE.
bool is_properties(std::string_view text) {
  std::string_view first;
  each_line(text, [&first](std::string_view line, std::size_t) {
    const std::string_view plain = trimmed(line);
    if (first.empty() && plain.find_first_of("#;") != 0) first = plain;
  });
  const std::size_t end = first.find_first_of("=: \t");
  return end != first.npos && end > 0 && trimmed(first.substr(end)).starts_with('=');
}

bool is_script(std::string_view text) {
  if (text.starts_with("#!")) return true;
  bool exports = false;
  each_line(text, [&exports](std::string_view line, std::size_t) {
    exports = exports || trimmed(line).starts_with("export ");
  });
  return exports;
}

// Where names look like those of a kind that is read: whose they are instead. The first that fits.
struct FalseFriend {
  std::string_view signs;  // one of them is in the text
  std::string_view what;
};

constexpr std::array<FalseFriend, 12> kFalseFriends{{
    {"service-time outage-for backoff-base", "settings of retrystorm, which --config takes"},
    {"argoproj.io/", "Argo's, whose retryPolicy is a word and is for jobs"},
    {"getambassador.io/", "Emissary's, whose retry_policy is not Envoy's"},
    {"projectcontour.io/", "Contour's HTTPProxy"},
    {"dapr.io/", "Dapr's"},
    {"litellm ErrorRetries", "LiteLLM's, whose retry_policy is not Envoy's"},
    {"virtualRouterName", "AWS App Mesh's"},
    {"traefik. [http.middlewares", "Traefik's"},
    {"healthcheck:", "a compose file, whose retries are of health checks"},
    {"envoy_local_cluster_json", "Consul's (HCL); the JSON in it is Envoy's: give that alone"},
    {"nginx.ingress.kubernetes.io/", "an Ingress of NGINX's controller"},
    {"\"ConnectionStrings\" \"Logging\" AllowedHosts \"RetryOptions\" \"Resilience\"",
     "an appsettings file of .NET whose retries, if it has any, are in names of its own: what they do is in the "
     "program's code"},
}};

const FalseFriend* false_friend_in(std::string_view text) {
  for (const FalseFriend& each : kFalseFriends) {
    for (const std::string_view sign : split(each.signs, ' ')) {
      if (text.find(sign) != text.npos) return &each;
    }
  }
  return nullptr;
}

[[noreturn]] void refuse_unknown(std::string_view text) {
  if (const FalseFriend* found = false_friend_in(text)) {
    throw BadFile("this looks like " + std::string(found->what) +
                  ": that is not read here; what is read is " + std::string(kKnownKinds));
  }
  if (trimmed(text).empty()) throw BadFile("it is empty");
  throw BadFile("there is no retry policy of a kind that is known: " + std::string(kKnownKinds));
}

// Adds what is of another kind in the same file.
void join(PolicyFile& file, PolicyFile more) {
  if (file.kind.empty() || more.kind.empty()) {
    if (file.kind.empty()) file = std::move(more);
    return;
  }
  for (Policy& each : more.policies) file.add(std::move(each));
  file.notes.insert(file.notes.end(), more.notes.begin(), more.notes.end());
  file.kind += ", and " + more.kind;
  file.format = {};
}

// Files of Kubernetes and of Spring may have several kinds. The first of these that a file has is what is read in it.
const std::vector<std::vector<PolicyFile (*)(const std::vector<Node>&, ReadAs)>> kTogether{
    {read_istio},
    {read_envoy},
    {read_spring_gateway, read_resilience4j, read_gateway, read_linkerd, read_kgateway},
    {read_dotnet},
    {read_nginx_ingress}};

PolicyFile read_any(std::string_view text, ReadAs as) {
  if (is_script(text)) {
    throw BadFile(
        "this looks like a script: nothing of it is run or evaluated; give a file of "
        "NAME=VALUE lines, or a config file");
  }
  for (const auto read : {read_haproxy, read_nginx, read_aws}) {
    if (PolicyFile file = read(text, as); !file.kind.empty()) return file;
  }
  if (is_properties(text)) {
    PolicyFile file = read_properties(parse_properties(text));
    if (file.kind.empty()) refuse_unknown(text);
    return file;
  }
  std::vector<Node> documents;
  try {
    const std::string plain = without_comments(text);
    documents = parse_yaml(is_json(plain) ? plain : text);
  } catch (const BadFile& error) {
    // The syntax of another program need not be YAML.
    if (false_friend_in(text)) refuse_unknown(text);
    if (has_template(text)) {
      throw BadFile(std::string(error.what()) + "; " + std::string(kTemplate));
    }
    throw;
  }
  if (PolicyFile file = read_grpc(documents, as); !file.kind.empty()) {
    check_json(text);
    return file;
  }
  for (const auto& together : kTogether) {
    PolicyFile file;
    for (const auto read : together) join(file, read(documents, as));
    if (file.kind.empty()) continue;
    add_workloads(file, documents);
    return file;
  }
  refuse_unknown(text);
}

constexpr std::array<std::pair<std::string_view, ReadAs>, 6> kWords{
    {{"channel", ReadAs::kGrpcChannel},
     {"gapic", ReadAs::kGapic},
     {"botocore", ReadAs::kBotocore},
     {"aws-sdk", ReadAs::kAwsSdk},
     {"istio", ReadAs::kIstio},
     {"envoy-gateway", ReadAs::kEnvoyGateway}}};

}  // namespace

PolicyFile read_policies(std::string_view text, ReadAs as) {
  if (text.size() > kLongestFile) {
    throw BadFile("it is longer than " + std::to_string(kLongestFile >> 20) + " MB");
  }
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  PolicyFile file = read_any(text, as);
  finish(file);
  if (file.policies.empty() && file.notes.empty()) {
    throw BadFile("this is " + file.kind + ", but there is no retry policy in it");
  }
  return file;
}

PolicyFile read_policy_file(const std::string& path, ReadAs as) {
  const std::string text = read_text_file(path);
  try {
    return read_policies(text, as);
  } catch (const BadFile& error) {
    throw UnreadableFile(printable(path + ": " + error.what()));
  }
}

ReadAs parse_read_as(std::string_view word) {
  return value_of_word(kWords, word);
}

}  // namespace retrystorm
