// Changes to a policy that make its retries fewer or later, in the words of its file.
#pragma once

#include <string>
#include <vector>

#include "policies/export.h"
#include "study/named_options.h"

namespace retrystorm {

struct PolicyChange {
  std::string title{};               // "a retry budget of 10 %"
  std::vector<std::string> lines{};  // of a file with it, which one without it does not have
  NamedOptions settings{};           // of the policy with these lines
};

// What may get a service back, the least change first. Leaves out what the format cannot say.
std::vector<PolicyChange> changes_to(const NamedOptions& settings, ExportFormat format,
                                     const FileNames& names = {});

}  // namespace retrystorm
