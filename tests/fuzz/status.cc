// The server's status, which may come from anything that listens on the port.
#include <cstdint>
#include <string>

#include "client/dashboard/server_monitor.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  retrystorm::parse_server_status({reinterpret_cast<const char*>(data), size});
  return 0;
}
