#include "common/http/orders.h"

namespace retrystorm {
namespace {

constexpr std::string_view kOutage = "outage ";
constexpr std::string_view kEnds = "ends";

Disturbance parse_outage(std::string_view text) {
  const Disturbance outage = parse_disturbance(text, Engine::kReal);
  if (!is_of_service(outage)) refuse(print_disturbance(outage) + " cannot be done by the server");
  return outage;
}

}  // namespace

bool parse_outage_order(std::string_view line, OutageOrder& order) {
  constexpr std::string_view kFor = " for ";
  if (!line.starts_with(kOutage) || line.ends_with(kEnds)) return false;
  line.remove_prefix(kOutage.size());
  const std::size_t at = line.find(kFor);
  if (at == line.npos) refuse("the outage has no duration");
  order = {.outage = parse_outage(line.substr(0, at)),
           .most = parse_duration(line.substr(at + kFor.size()), Duration::zero())};
  return true;
}

bool parse_outage_end(std::string_view line, std::optional<Disturbance>& which) {
  if (!line.starts_with(kOutage) || !line.ends_with(kEnds)) return false;
  line.remove_prefix(kOutage.size());
  line.remove_suffix(kEnds.size());
  which.reset();
  if (!line.empty()) which = parse_outage(line.substr(0, line.size() - 1));
  return true;
}

}  // namespace retrystorm
