// Files of --topology: refused with a sentence, or services that can be run.
#include <cstdint>
#include <stdexcept>
#include <string_view>

#include "simulator/graph/topology_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace retrystorm;
  try {
    const TopologyFile file("file", std::string_view(reinterpret_cast<const char*>(data), size));
    for (const auto& name : file.services()) file.set_in(name);
  } catch (const std::invalid_argument&) {
  }
  return 0;
}
