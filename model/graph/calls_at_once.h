// When the calls that a service makes at once have succeeded or failed as a whole.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "model/graph/topology.h"

namespace retrystorm {

struct CallsAtOnce {
  std::uint32_t under_way = 0;              // all of them
  std::uint32_t required = 0;               // those that may not fail
  std::uint32_t succeeded = 0, failed = 0;  // of those

  void end(bool optional, bool failure) {
    --under_way;
    if (!optional) ++(failure ? failed : succeeded);
  }

  // Have they succeeded? Empty as long as that is open.
  std::optional<bool> result(const OnFailure& rule) const {
    const bool some_suffice = rule.kind == OnFailure::Kind::kNeed && required > 0;
    const std::size_t need = some_suffice ? std::min<std::size_t>(rule.need, required) : required;
    if (failed > required - need) {
      if (rule.kind == OnFailure::Kind::kAll && under_way > 0) return std::nullopt;
      return false;
    }
    if (under_way == 0 || (some_suffice && succeeded >= need)) return true;
    return std::nullopt;
  }
};

}  // namespace retrystorm
