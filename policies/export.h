// Writes a retry policy as a file of another program.
#pragma once

#include <string>
#include <string_view>

#include "model/base/statement.h"
#include "model/run/workload.h"
#include "model/service/picker.h"
#include "policies/policy.h"

namespace retrystorm {

enum class ExportFormat { kGrpc, kEnvoy, kIstio, kResilience4j, kAws, kDotNet, kEnvoyGateway };

// Throws std::invalid_argument for a word that is none of them.
ExportFormat parse_export_format(std::string_view word);

// How a file calls what the policy is for.
struct FileNames {
  std::string policy = "policy", service = "service";
  bool flat = false;  // its lines are NAME=value: .properties of resilience4j, variables of AWS
};

// The names in the file of this path that the policy comes from.
FileNames names_in(const PolicyFile& file, const Policy& policy, std::string_view path);

struct Exported {
  std::string text{};
  // What the file cannot say: of an option `export-option` with its name, its text here, and there.
  Statements differences{};
  bool has_comments = true;  // may the format have comments (#)?
};

// The file, as near as the format comes. The differences are found by reading it back. Of several hosts it has how
// they are picked.
Exported export_policy(const WorkloadOptions& workload, ExportFormat format,
                       const FileNames& names = {}, const HostSettings& hosts = {});

}  // namespace retrystorm
