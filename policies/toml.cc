// TOML as a tree. In a file of its own: the parser is long.
#include <algorithm>

#include "policies/tree.h"

namespace retrystorm {

constexpr void require(bool holds) {
  if (!holds) throw BadFile("not valid TOML");
}

}  // namespace retrystorm

// What version 3.3 asserts does not hold for all files ([a\x01]), and with NDEBUG it would go on regardless.
#undef NDEBUG
#define TOML_ASSERT(expression) ::retrystorm::require(static_cast<bool>(expression))
#include <toml++/toml.h>

namespace retrystorm {
namespace {

constexpr std::size_t kDeepest = 100;

// The parser makes a table of each part of a dotted key, however many there are, and takes a multiple of
// the file's length.
void check_size(std::string_view text) {
  constexpr std::size_t kMostMarks = 100'000, kMostParts = 40;
  std::size_t marks = 0, parts = 0;
  for (const char c : text) {
    if (c == '.') {
      ++parts;
      marks += 2;  // a table takes more than a value
    } else if (std::string_view("=,{}[]\n").find(c) != std::string_view::npos) {
      parts = 0;
      ++marks;
    }
    if (marks > kMostMarks || parts > kMostParts) {
      throw BadFile("more than " + std::to_string(marks > kMostMarks ? kMostMarks : kMostParts) +
                    (marks > kMostMarks ? " values" : " levels") + ": too large to be read");
    }
  }
}

Node node_of(const toml::node& from, std::size_t depth) {
  const std::size_t line = from.source().begin.line;
  if (depth > kDeepest) {
    throw BadFile("line " + std::to_string(line) + ": more than " + std::to_string(kDeepest) +
                  " levels: too large to be read");
  }
  Node node;
  node.line = line;
  if (const toml::table* table = from.as_table()) {
    node.kind = Node::Kind::kMap;
    for (const auto& [key, value] : *table) {
      check_name(key.str(), key.source().begin.line);
      node.children.push_back(node_of(value, depth + 1));
      node.children.back().name = std::string(key.str());
      node.children.back().line = key.source().begin.line;
    }
    // The parser has them by name.
    std::stable_sort(node.children.begin(), node.children.end(),
                     [](const Node& a, const Node& b) { return a.line < b.line; });
  } else if (const toml::array* list = from.as_array()) {
    node.kind = Node::Kind::kList;
    for (const toml::node& each : *list) node.children.push_back(node_of(each, depth + 1));
  } else {
    node.kind = Node::Kind::kScalar;
    if (const auto text = from.value_exact<std::string>()) {
      node.text = *text;
      node.quoted = true;
    } else if (const auto flag = from.value_exact<bool>()) {
      node.text = *flag ? "true" : "false";
    } else if (const auto whole = from.value_exact<std::int64_t>()) {
      node.text = std::to_string(*whole);
    } else if (const auto number = from.value_exact<double>()) {
      node.text = std::to_string(*number);
    }
  }
  return node;
}

}  // namespace

Node parse_toml(std::string_view text) {
  check_size(text);
  try {
    return node_of(toml::parse(text), 0);
  } catch (const toml::parse_error& error) {
    // Its message may quote the file.
    const auto& at = error.source().begin;
    throw BadFile("line " + std::to_string(at.line) + ", column " + std::to_string(at.column) +
                  ": not valid TOML");
  }
}

}  // namespace retrystorm
