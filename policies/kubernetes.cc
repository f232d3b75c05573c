#include "policies/kubernetes.h"

#include <algorithm>

namespace retrystorm {

std::vector<const Node*> objects_of(const std::vector<Node>& documents) {
  std::vector<const Node*> objects;
  for (const Node& document : documents) {
    bool lists = false;
    for (const Node& member : document.children) {
      if (!document.is_map() || !member.is_list()) continue;
      for (const Node& each : member.children) {
        if (each.find("kind") == nullptr) continue;
        objects.push_back(&each);
        lists = true;
      }
    }
    if (!lists) objects.push_back(&document);
  }
  return objects;
}

bool is_object(const Node& node, std::string_view group, std::string_view kind) {
  return node.text_at({"apiVersion"}).starts_with(group) && node.text_at({"kind"}) == kind;
}

std::string namespace_of(const Node& object) {
  const std::string space = object.text_at({"metadata", "namespace"});
  return space.empty() ? "default" : space;
}

std::string full_host(const std::string& host, const Node& object) {
  if (host.find('.') != std::string::npos || host == "*") return host;
  return host + '.' + namespace_of(object) + ".svc.cluster.local";
}

const Node* linkerd_annotations(const Node& object) {
  const Node* all = object.at({"metadata", "annotations"});
  const bool ours = all != nullptr && all->is_map() &&
                    std::any_of(all->children.begin(), all->children.end(), [](const Node& each) {
                      return each.name.starts_with("retry.linkerd.io/") ||
                             each.name.starts_with("timeout.linkerd.io/");
                    });
  return ours ? all : nullptr;
}

}  // namespace retrystorm
