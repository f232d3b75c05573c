// What is wrong with a policy by arithmetic alone, without a run.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "policies/policy.h"

namespace retrystorm {

// The policy's own notes and what follows from its numbers, the most severe first. A refused policy has
// its own only.
std::vector<Note> findings_of(const Policy& policy);

// Policies for one host in several parts of a system multiply.
struct LayeredPolicy {
  std::string path{};  // of its file
  const Policy* policy = nullptr;
};
struct LayerFinding {
  LayeredPolicy at{};  // the last of them
  Note note{};
};
std::vector<LayerFinding> layer_findings(const std::vector<LayeredPolicy>& policies);

}  // namespace retrystorm
