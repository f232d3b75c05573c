// A program that uses retrystorm: which of two strategies does this service survive? (See study/library.h.)
#include <iostream>

#include "study/library.h"

int main() {
  for (const char* strategy : {"fixed", "exponential"}) {
    const auto result = retrystorm::run_scenario({{"strategy", strategy},
                                                  {"workers", "10"},
                                                  {"service-time", "100ms"},
                                                  {"clients", "500"},
                                                  {"lambda", "10s"}});
    std::cout << strategy << ": down in " << result.down_runs() << " of " << result.runs
              << " runs, " << retrystorm::figure(result, "amplification")
              << " attempts per request\n";
  }
}
