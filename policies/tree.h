// What is in a file: lines, properties, or of YAML and JSON one tree of texts with the lines where they stand, and
// Kubernetes' objects in it.
//
// The files are hostile: size, depth, nodes and aliases are bounded, so that none takes more than some tens of megabytes or
// some seconds. LibYAML has an event for an alias, so that nothing is expanded before it is counted. A file that is wrong
// anywhere is refused as a whole. Messages name lines and columns, and never quote the file, which may hold passwords.
#pragma once

#include <cstddef>
#include <functional>
#include <initializer_list>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace retrystorm {

constexpr std::size_t kLongestFile = 4 << 20;  // in bytes
constexpr std::size_t kLongestName = 1000;     // readers join names, and look for similar ones

// A file that cannot be read as what it is. The message says where and why.
class BadFile : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Throws BadFile, for what would take too much memory or time, such as "more than 100 levels".
[[noreturn]] void refuse_too_large(const std::string& what, std::size_t line = 0);

// How names may be written: with letters of any case; or both as retry_on and as retryOn, as protobuf's JSON has them.
enum class NameCase { kExact, kAny, kProtobuf };
std::string in_camel_case(std::string_view snake);  // the second form of the first
bool is_same_name(std::string_view a, std::string_view b, NameCase name_case);

struct Node {
  enum class Kind { kNone, kNull, kScalar, kList, kMap };

  Kind kind = Kind::kNone;       // kNone: it is not there
  bool quoted = false;           // a scalar that is a text for sure
  std::size_t line = 0;          // counted from 1
  std::string name{};            // its key, in a map
  std::string text{};            // of a scalar
  std::vector<Node> children{};  // of a list or a map

  explicit operator bool() const { return kind != Kind::kNone; }
  bool is_map() const { return kind == Kind::kMap; }
  bool is_list() const { return kind == Kind::kList; }
  bool is_scalar() const { return kind == Kind::kScalar; }
  // A member of a map: at the end of a path of names, such as "spec>http"; with the first of these names that it has;
  // of this name, which may be any text. If there is none: a node that is not there, without line, text and members.
  const Node& operator[](std::string_view path) const { return at(path, NameCase::kExact); }
  const Node& at(std::string_view path, NameCase name_case) const;
  const Node& first_of(std::initializer_list<std::string_view> names) const;
  const Node& member(std::string_view key, NameCase name_case) const;
  // The elements of a list; of anything else none. The first of them.
  const std::vector<Node>& items() const;
  const Node& first() const;
  // Of a scalar, a name or a number: at most `kLongestName` of its text.
  std::string brief() const { return is_scalar() ? text.substr(0, kLongestName) : ""; }
};

// What is not there, for where there may be nothing to look in.
inline const Node kNowhere{};

// Values by their names; and the one of a name, which may be none.
using Nodes = std::map<std::string, Node, std::less<>>;
const Node& node_in(const Nodes& nodes, std::string_view name);

void check_name(std::string_view name, std::size_t line);  // throws BadFile if it is too long

// A value of a file of lines.
Node scalar_node(std::string_view name, std::string_view text, std::size_t line);

bool is_json(std::string_view text);

inline constexpr std::string_view kTemplate =
    "this looks like a template: render it first (such as with helm template)";
bool has_template(std::string_view text);
void refuse_template(std::string_view text);  // throws BadFile for one

// With blanks in place of the comments, which some programs take.
std::string without_comments(std::string_view json);

// The documents of a YAML or JSON file, with what aliases and merge keys (<<) stand for. Throws BadFile.
std::vector<Node> parse_yaml(std::string_view text);
void check_json(std::string_view text);  // throws BadFile for YAML that is no JSON

// Those of a file: its documents, or what is in their lists.
std::vector<const Node*> objects_of(const std::vector<Node>& documents);

// `group` is the part of apiVersion before the version, with its slash.
bool is_object(const Node& node, std::string_view group, std::string_view kind);

// "default" if none is given.
std::string namespace_of(const Node& object);

// Those annotations of an object that say what Linkerd retries, if there are any.
Node linkerd_annotations(const Node& object);

// A host as the control plane sees it: a short name stands for a service of the same namespace.
std::string full_host(const std::string& host, const Node& object);

// The text of a file that is not longer than `kLongestFile`. Throws UnreadableFile.
std::string read_text_file(const std::string& path);

// Calls `take` with each line, without its end, and its number from 1 on.
void each_line(std::string_view text,
               const std::function<void(std::string_view line, std::size_t number)>& take);

// The values in the documents of a properties file (`#---` begins another): `=`, `:` or a blank after the key, `\` at the
// end of a line that goes on, `#` and `!` before comments.
std::vector<std::vector<Node>> parse_properties(std::string_view text);

}  // namespace retrystorm
