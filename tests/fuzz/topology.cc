// Files of --topology: refused with a sentence, or services that can be run.
#include "simulator/graph/topology_file.h"
#include "tests/fuzz/target.h"

void retrystorm::fuzz(std::string_view text) {
  try {
    const TopologyFile file("file", text);
    for (const auto& name : file.services()) file.set_in(name);
  } catch (const std::invalid_argument&) {
  }
}
