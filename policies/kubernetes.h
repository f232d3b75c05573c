// Objects of Kubernetes: what Istio, the Gateway API and Linkerd have in common.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "policies/tree.h"

namespace retrystorm {

// Those of a file: its documents, or what is in their lists.
std::vector<const Node*> objects_of(const std::vector<Node>& documents);

// `group` is the part of apiVersion before the version, with its slash.
bool is_object(const Node& node, std::string_view group, std::string_view kind);

// "default" if none is given.
std::string namespace_of(const Node& object);

// The annotations of an object if some of them say what Linkerd retries; else null.
const Node* linkerd_annotations(const Node& object);

// A host as the control plane sees it: a short name stands for a service of the same namespace.
std::string full_host(const std::string& host, const Node& object);

}  // namespace retrystorm
