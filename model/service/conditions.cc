#include "model/service/conditions.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>
#include <string>

namespace retrystorm {

ServiceOptions with_conditions(const Conditions& conditions, ServiceOptions configured) {
  WorkerSettings& workers = configured.workers;
  configured.base_delay = scale(configured.base_delay, conditions.slow);
  workers.service_time = workers.service_time.times(conditions.slow);
  if (conditions.capacity != 1) {
    configured.limit = static_cast<std::size_t>(
        std::llround(static_cast<double>(configured.limit) * conditions.capacity));
    configured.k *= conditions.capacity;
    workers.workers = std::max<std::size_t>(
        static_cast<std::size_t>(
            std::llround(static_cast<double>(workers.workers) * conditions.capacity)),
        1);
  }
  configured.errors.share = either_fails(configured.errors.share, conditions.errors);
  configured.errors.status = conditions.error_status.value_or(configured.errors.status);
  if (conditions.rate_limit) {
    RateLimitSettings& limit = configured.rate_limit;
    const double most =
        limit.autoscale.kind == AutoscaleKind::kNone ? limit.rate : limit.autoscale.most;
    limit.rate = limit.rate > 0 ? std::min(*conditions.rate_limit, most) : *conditions.rate_limit;
    limit.autoscale = {};
  }
  return configured;
}

void change_option(ServiceOptions& configured, std::string_view name, std::string_view value,
                   Engine engine) {
  static constexpr std::array<std::string_view, 7> kFixed{
      "service",     "backlog",     "accepts",  "max-connections",
      "server-idle", "reset-limit", "abandoned"};
  ServiceOptions changed = configured;
  OptionList options;
  declare_options(options, changed, engine);
  options.set(name, value);
  const std::string& option = options.find(name)->name;
  if (std::find(kFixed.begin(), kFixed.end(), option) != kFixed.end()) {
    throw std::invalid_argument(option + " cannot change while the service runs");
  }
  check(changed);
  const UnusedOptions unused = unused_options(changed);
  if (const auto found = unused.find(option); found != unused.end()) {
    throw NoEffect(found->second);
  }
  configured = changed;
}

}  // namespace retrystorm
