#include "common/http/control.h"

#include <stdexcept>

namespace retrystorm {

bool parse_outage_order(std::string_view line, OutageOrder& order) {
  constexpr std::string_view kBegin = "outage ", kFor = " for ";
  if (!line.starts_with(kBegin) || line == kEndOfOutage) return false;
  line.remove_prefix(kBegin.size());
  const std::size_t at = line.find(kFor);
  if (at == line.npos) throw std::invalid_argument("for how long is the outage?");
  OutageOrder read{.outage = parse_disturbance(line.substr(0, at), Engine::kReal),
                   .most = parse_duration(line.substr(at + kFor.size()), Duration::zero())};
  if (!is_of_service(read.outage)) {
    throw std::invalid_argument(print_disturbance(read.outage) + " is not the server's to do");
  }
  order = read;
  return true;
}

}  // namespace retrystorm
