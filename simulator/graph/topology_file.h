// Services behind services as a settings file: a section for each service, and for the calls between two.
//
//     [api]
//     workers = 32
//     calls = cart, db
//     [api.db]
//     strategy = grpc
//     [clients.app]
//     clients = 500
#pragma once

#include <cstddef>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "model/graph/topology.h"

namespace retrystorm {

// A fault in a line of such a file: "PATH: line 3: workers: ...".
struct BadTopologyLine : std::invalid_argument {
  BadTopologyLine(std::size_t at, const std::string& because, const std::string& of = "",
                  const std::string& begin = "")
      : invalid_argument(begin + "line " + std::to_string(at) + ": " +
                         (of.empty() ? "" : of + ": ") + because),
        line(at),
        option(of),
        why(because) {}

  std::size_t line;         // from 1
  std::string option, why;  // `option` is empty where the line as a whole is wrong
};

struct TopologyLine {
  std::size_t number = 0;  // from 1
  std::string name{}, value{};
};

// A service, or with `to` the calls of one to another, or of "clients" the kind of that name.
struct TopologySection {
  std::size_t line = 0;
  std::string name{}, to{};
  std::vector<TopologyLine> settings{};
};

// The text of a file: names and values are not looked at. `path` begins each message, if it is not empty. The functions throw
// std::invalid_argument with a readable message that names the line.
class TopologyFile {
 public:
  TopologyFile() = default;
  TopologyFile(std::string path, std::string_view text);

  // Throws UnreadableFile also if the file cannot be read or is longer than 1 MB.
  static TopologyFile read(const std::string& path);

  const std::string& path() const { return path_; }
  bool empty() const { return sections_.empty(); }

  // The names of the options that the section "api", "clients.app" or "api.db" sets, in all their forms.
  std::set<std::string> set_in(std::string_view section) const;

  // The names of the services, in the order of the file.
  std::vector<std::string> services() const;
  // The names of the options that each of them sets.
  std::set<std::string> set_in_all_services() const;

  // The services, each beginning as `node`, and the calls, each beginning as `edge`. The first service is the one
  // that the clients call: all by `clients`, or each kind of them by what its section says beside that.
  Topology topology(const GraphNode& node, const GraphEdge& edge, const GraphEdge& clients) const;

 private:
  std::string path_{};
  std::vector<TopologySection> sections_{};
};

}  // namespace retrystorm
