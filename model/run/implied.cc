#include "model/run/implied.h"

#include <stdexcept>

namespace retrystorm {

void imply(const std::function<bool(std::string_view option)>& given,
           const std::function<void(const std::string& target, const std::string& value)>& set) {
  const bool many_services = given("chain") || given("topology");
  for (const std::string_view target : {"arrivals", "service"}) {
    if (given(target) || (target == "service" && many_services)) continue;
    const Implied* first = nullptr;
    for (const Implied& each : kImplied) {
      if (each.target != target || !given(each.option)) continue;
      if (first != nullptr && first->value != each.value) {
        const std::string name(target), other(each.option);
        throw std::invalid_argument(std::string(first->option) + ": of " + name + '=' +
                                    std::string(first->value) + ", and --" + other + " of " + name +
                                    '=' + std::string(each.value) + ": give one of them, or --" +
                                    name);
      }
      if (first == nullptr) first = &each;
    }
    if (first != nullptr) set(std::string(target), std::string(first->value));
  }
}

}  // namespace retrystorm
