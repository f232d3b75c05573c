#include "common/os/kernel.h"

#include <fstream>

namespace retrystorm {

std::size_t syn_linear_timeouts() {
  std::size_t count = 0;
  std::ifstream file("/proc/sys/net/ipv4/tcp_syn_linear_timeouts");
  return file >> count ? count : 0;
}

}  // namespace retrystorm
