// Runs at build time. Checks that every named strategy can be read and names its source and
// how its library connects.
#include <cstdio>
#include <exception>
#include <string>

#include "model/retry/retry_settings.h"
#include "model/retry/strategies.h"
#include "model/run/workload.h"

int main() {
  using namespace retrystorm;
  int failed = 0;
  for (const NamedStrategy& each : named_strategies()) {
    std::string wrong;
    try {
      refuse(unused_of_part(retry_settings(each.name)));
      library_way(each.name);
      if (each.summary.empty() || each.source.empty() || each.date.empty()) {
        wrong = "its head must be a summary, '# Source: ...' and '# Date: ...'";
      }
    } catch (const std::exception& error) {
      wrong = error.what();
    }
    if (wrong.empty()) continue;
    std::fprintf(stderr, "strategies/%s.ini: %s\n", std::string(each.name).c_str(), wrong.c_str());
    failed = 1;
  }
  return failed;
}
