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
        const auto of = [](const Implied& one) {
          return std::string(one.option) + " is of " + std::string(one.target) + '=' +
                 std::string(one.value);
        };
        throw std::invalid_argument(of(*first) + ", and " + of(each) + ": give one of them, or --" +
                                    std::string(target));
      }
      if (first == nullptr) first = &each;
    }
    if (first != nullptr) set(std::string(target), std::string(first->value));
  }
}

}  // namespace retrystorm
