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

// Throws BadFile, with a message of one line, if the text is none of the kinds that are known, is broken, too large or a
// template, or has no policy.
PolicyFile read_policies(std::string_view text, ReadAs as = ReadAs::kByContent);
// The same of a file. Throws UnreadableFile, with the path before the message.
PolicyFile read_policy_file(const std::string& path, ReadAs as = ReadAs::kByContent);

// The words of --as. Throws std::invalid_argument for another.
ReadAs parse_read_as(std::string_view word);

// Each reads what is of its kind; a file without any has no kind.
PolicyFile read_grpc(const std::vector<Node>& documents, ReadAs as);
PolicyFile read_istio(const std::vector<Node>& documents, ReadAs as);
PolicyFile read_envoy(const std::vector<Node>& documents, ReadAs as);
PolicyFile read_spring_gateway(const std::vector<Node>& documents, ReadAs as);
PolicyFile read_resilience4j(const std::vector<Node>& documents, ReadAs as);
PolicyFile read_gateway(const std::vector<Node>& documents, ReadAs as);
PolicyFile read_linkerd(const std::vector<Node>& documents, ReadAs as);
PolicyFile read_kgateway(const std::vector<Node>& documents, ReadAs as);
PolicyFile read_dotnet(const std::vector<Node>& documents, ReadAs as);
PolicyFile read_nginx_ingress(const std::vector<Node>& documents, ReadAs as);
PolicyFile read_haproxy(std::string_view text, ReadAs as);
PolicyFile read_nginx(std::string_view text, ReadAs as);
PolicyFile read_aws(std::string_view text, ReadAs as);
// resilience4j in a properties file.
PolicyFile read_properties(const std::vector<std::vector<Node>>& documents);

}  // namespace retrystorm
