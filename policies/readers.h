// Reads a file of any of the formats. Each has a reader in a file of its own, which does not throw for what a file says:
// what cannot be read is a note of its policy.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "policies/policy.h"
#include "policies/tree.h"

namespace retrystorm {

// How the program that reads a file would read it, where the file does not tell.
enum class ReadAs {
  kByContent,
  kGrpcChannel,  // gRPC's own clients
  kGapic,        // Google's generators of clients, which read gRPC's file in their own way
  kBotocore,     // AWS: the library of Python and of the command line
  kAwsSdk,       // AWS: all others
  kIstio,        // Gateway API: Istio
  kEnvoyGateway,
};

// Throws BadFile if the text is none of the kinds that are known, is broken, too large or a template,
// or has no policy. The message has one line.
PolicyFile read_policies(std::string_view text, ReadAs as = ReadAs::kByContent);

// The same of a file. Throws UnreadableFile, with the path before the message.
PolicyFile read_policy_file(const std::string& path, ReadAs as = ReadAs::kByContent);

// The words of --as. Throws std::invalid_argument for another.
ReadAs parse_read_as(std::string_view word);

// Each says whether the documents are of its kind.
bool is_grpc(const std::vector<Node>& documents);
bool is_istio(const std::vector<Node>& documents);
bool is_envoy(const std::vector<Node>& documents);

PolicyFile read_grpc(const std::vector<Node>& documents, ReadAs as);
PolicyFile read_istio(const std::vector<Node>& documents);
PolicyFile read_envoy(const std::vector<Node>& documents);

bool is_gateway(const std::vector<Node>& documents);
bool is_linkerd(const std::vector<Node>& documents);
PolicyFile read_gateway(const std::vector<Node>& documents, ReadAs as);
PolicyFile read_linkerd(const std::vector<Node>& documents);

// kgateway (once Gloo): options of routes, in Envoy's words. Without a kind if there are none.
PolicyFile read_kgateway(const std::vector<Node>& documents);

// NGINX, and an Ingress of its controller.
bool is_nginx(std::string_view text);
bool is_nginx_ingress(const std::vector<Node>& documents);
PolicyFile read_nginx(std::string_view text);
PolicyFile read_nginx_ingress(const std::vector<Node>& documents);

bool is_haproxy(std::string_view text);
PolicyFile read_haproxy(std::string_view text);

// .NET: an appsettings file.
bool is_dotnet(const std::vector<Node>& documents);
PolicyFile read_dotnet(const std::vector<Node>& documents);

// The keys of all documents: one list for each, in their order. Only of resilience4j and of what
// makes a document a profile's.
std::vector<std::vector<Entry>> flat_entries(const std::vector<Node>& documents);
bool is_resilience4j(const std::vector<std::vector<Entry>>& documents);
PolicyFile read_resilience4j(const std::vector<std::vector<Entry>>& documents);

// Without a kind if there is no filter Retry.
PolicyFile read_spring_gateway(const std::vector<Node>& documents);

// AWS: a config or credentials file, or a list of environment variables.
bool is_aws_config(std::string_view text);
bool is_aws_environment(std::string_view text);
PolicyFile read_aws_config(std::string_view text, ReadAs as);
PolicyFile read_aws_environment(std::string_view text, ReadAs as);

}  // namespace retrystorm
