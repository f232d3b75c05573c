#include "policies/tree.h"

#include <yaml.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "common/os/foreign_file.h"
#include "model/base/text.h"

namespace retrystorm {
namespace {

constexpr std::size_t kMostNodes = 100'000;
constexpr std::size_t kDeepest = 100;

[[noreturn]] void refuse_at(const std::string& format, std::size_t line, std::size_t column,
                            const std::string& why) {
  throw BadFile("line " + std::to_string(line) +
                (column > 0 ? ", column " + std::to_string(column) : "") + ": not valid " + format +
                ": " + why);
}

// The code of the four hexadecimal digits after "\u", which the text begins with; 0 if it does not.
unsigned escaped_code(std::string_view text) {
  if (text.size() < 6 || text[0] != '\\' || text[1] != 'u') return 0;
  unsigned code = 0;
  const auto [end, error] = std::from_chars(text.data() + 2, text.data() + 6, code, 16);
  return error == std::errc() && end == text.data() + 6 ? code : 0;
}

// JSON writes a character beyond 16 bits as a pair of escapes, such as \ud83d\ude00. YAML does not know
// them: here is the text with the characters themselves.
std::string without_pairs(std::string_view json) {
  std::string text;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const unsigned high = escaped_code(json.substr(i)),
                   low = high == 0 ? 0 : escaped_code(json.substr(i + 6));
    if (high >= 0xd800 && high < 0xdc00 && low >= 0xdc00 && low < 0xe000) {
      const unsigned code = 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
      for (const unsigned byte : {0xf0 | code >> 18, 0x80 | (code >> 12 & 0x3f),
                                  0x80 | (code >> 6 & 0x3f), 0x80 | (code & 0x3f)}) {
        text += static_cast<char>(byte);
      }
      i += 11;
    } else {
      text += json[i];
      if (json[i] == '\\' && i + 1 < json.size()) text += json[++i];  // \\ begins no escape
    }
  }
  return text;
}

class YamlReader {
 public:
  explicit YamlReader(std::string_view text) {
    if (yaml_parser_initialize(&parser_) == 0) throw std::bad_alloc();
    yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(text.data()),
                                 text.size());
  }
  ~YamlReader() {
    yaml_event_delete(&event_);
    yaml_parser_delete(&parser_);
  }
  YamlReader(const YamlReader&) = delete;
  YamlReader& operator=(const YamlReader&) = delete;

  std::vector<Node> documents() {
    std::vector<Node> documents;
    for (next(); event_.type != YAML_STREAM_END_EVENT; next()) {
      if (event_.type != YAML_DOCUMENT_START_EVENT) continue;
      next();
      anchors_.clear();
      documents.push_back(node(0));
    }
    return documents;
  }

 private:
  void count_node(std::size_t line) {
    if (++nodes_ > kMostNodes)
      refuse_too_large("more than " + std::to_string(kMostNodes) + " values", line);
  }

  // A copy of a node, by an anchor or an alias.
  void count_copy(const Node& node, std::size_t line) {
    count_node(line);
    copied_ += node.name.size() + node.text.size();
    if (copied_ > kLongestFile) refuse_too_large("aliases of more than 4 MB", line);
    for (const Node& child : node.children) count_copy(child, line);
  }

  void next() {
    yaml_event_delete(&event_);
    if (yaml_parser_parse(&parser_, &event_) != 0) return;
    if (parser_.error == YAML_MEMORY_ERROR) throw std::bad_alloc();
    const bool read = parser_.error == YAML_READER_ERROR;
    const yaml_mark_t& mark = read ? parser_.mark : parser_.problem_mark;
    refuse_at("YAML", mark.line + 1, mark.column + 1,
              parser_.problem == nullptr ? "it does not end" : parser_.problem);
  }

  std::size_t line() const { return event_.start_mark.line + 1; }

  static std::string text_of(const yaml_char_t* text) {
    return text == nullptr ? "" : reinterpret_cast<const char*>(text);
  }

  // The node that the event at hand begins. Afterwards the event is the one that ends it.
  Node node(std::size_t depth) {
    if (depth > kDeepest)
      refuse_too_large("more than " + std::to_string(kDeepest) + " levels", line());
    Node node;
    node.line = line();
    if (event_.type == YAML_ALIAS_EVENT) return alias();
    count_node(node.line);
    std::string anchor;
    switch (event_.type) {
      case YAML_SCALAR_EVENT:
        anchor = text_of(event_.data.scalar.anchor);
        scalar(node);
        break;
      case YAML_SEQUENCE_START_EVENT:
        anchor = begin(event_.data.sequence_start.anchor);
        node.kind = Node::Kind::kList;
        for (next(); event_.type != YAML_SEQUENCE_END_EVENT; next()) {
          node.children.push_back(this->node(depth + 1));
        }
        break;
      default:
        anchor = begin(event_.data.mapping_start.anchor);
        map(node, depth);
    }
    if (!anchor.empty()) {
      count_copy(node, node.line);
      anchors_[anchor] = std::make_unique<Node>(node);
    }
    return node;
  }

  // Notes that a node of this anchor has begun: an alias to it from inside would have no end.
  std::string begin(const yaml_char_t* anchor) {
    const std::string name = text_of(anchor);
    if (!name.empty()) anchors_[name] = nullptr;
    return name;
  }

  void scalar(Node& node) const {
    const auto& scalar = event_.data.scalar;
    node.text.assign(reinterpret_cast<const char*>(scalar.value), scalar.length);
    node.quoted = scalar.style != YAML_PLAIN_SCALAR_STYLE;
    constexpr std::array<std::string_view, 5> kNulls{"", "~", "null", "Null", "NULL"};
    const bool null = !node.quoted && std::ranges::count(kNulls, node.text) > 0;
    node.kind = null ? Node::Kind::kNull : Node::Kind::kScalar;
    if (null) node.text.clear();
    if (!node.quoted && node.text.find("{{") != node.text.npos) refuse_template(node.line);
  }

  [[noreturn]] static void refuse_template(std::size_t line) {
    throw BadFile("line " + std::to_string(line) + ": " + std::string(kTemplate));
  }

  void map(Node& node, std::size_t depth) {
    node.kind = Node::Kind::kMap;
    std::vector<Node> merged;
    for (next(); event_.type != YAML_MAPPING_END_EVENT; next()) {
      const Node key = this->node(depth + 1);
      // `{{ .Values.x }}` is a map whose key is a map.
      if (key.is_map()) refuse_template(key.line);
      if (key.is_list()) refuse_at("YAML", key.line, 0, "a key is a list");
      next();
      Node value = this->node(depth + 1);
      value.name = key.text;
      value.line = key.line;
      (key.text == "<<" && !key.quoted ? merged : node.children).push_back(std::move(value));
    }
    std::set<std::string, std::less<>> names;
    for (const Node& each : node.children) {
      check_name(each.name, each.line);
      if (!names.insert(each.name).second) refuse_at("YAML", each.line, 0, "a key is given twice");
    }
    const auto merge = [&](const Node& from) {
      if (!from.is_map()) refuse_at("YAML", from.line, 0, "<< brings no map");
      for (const Node& each : from.children) {
        if (!names.insert(each.name).second) continue;
        count_copy(each, from.line);
        node.children.push_back(each);
      }
    };
    for (const Node& each : merged) {
      if (!each.is_list()) merge(each);
      for (const Node& one : each.items()) merge(one);
    }
  }

  Node alias() {
    const auto found = anchors_.find(text_of(event_.data.alias.anchor));
    if (found == anchors_.end())
      refuse_at("YAML", line(), 0, "an alias without an anchor before it");
    if (found->second == nullptr) refuse_at("YAML", line(), 0, "an alias inside of its own anchor");
    count_copy(*found->second, line());
    return *found->second;
  }

  yaml_parser_t parser_{};
  yaml_event_t event_{};
  std::size_t nodes_ = 0, copied_ = 0;                    // what the file makes; the last in bytes
  std::map<std::string, std::unique_ptr<Node>> anchors_;  // null: not ended yet
};

// A key or a value without its escapes.
std::string unescaped(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      plain += text[i];
      continue;
    }
    const char c = text[++i];
    plain += c == 'n' ? '\n' : c == 't' ? '\t' : c == 'r' ? '\r' : c == 'f' ? '\f' : c;
  }
  return plain;
}

Node entry_of(std::string_view line, std::size_t number) {
  std::size_t end = 0;
  while (end < line.size() && std::string_view("=: \t").find(line[end]) == std::string_view::npos) {
    end += line[end] == '\\' ? 2 : 1;
  }
  end = std::min(end, line.size());
  std::string_view value = line.substr(end);
  const auto skip_blanks = [&value] {
    value.remove_prefix(std::min(value.find_first_not_of(" \t"), value.size()));
  };
  skip_blanks();
  if (!value.empty() && (value.front() == '=' || value.front() == ':')) value.remove_prefix(1);
  skip_blanks();
  return scalar_node(unescaped(line.substr(0, end)), trimmed(unescaped(value)), number);
}

}  // namespace

void refuse_too_large(const std::string& what, std::size_t line) {
  throw BadFile((line > 0 ? "line " + std::to_string(line) + ": " : "") + what +
                ": too large to be read");
}

void check_name(std::string_view name, std::size_t line) {
  if (name.size() <= kLongestName) return;
  refuse_too_large("a name of more than " + std::to_string(kLongestName) + " letters", line);
}

const Node& Node::member(std::string_view key, NameCase name_case) const {
  if (!is_map()) return kNowhere;
  if (name_case == NameCase::kProtobuf) return first_of({key, in_camel_case(key)});
  const auto found = std::ranges::find_if(
      children, [&](const Node& each) { return is_same_name(key, each.name, name_case); });
  return found == children.end() ? kNowhere : *found;
}

const Node& Node::at(std::string_view path, NameCase name_case) const {
  const std::size_t end = path.find('>');
  const Node& next = member(path.substr(0, end), name_case);
  return end == path.npos ? next : next.at(path.substr(end + 1), name_case);
}

const Node& Node::first_of(std::initializer_list<std::string_view> names) const {
  for (const std::string_view each : names) {
    if (const Node& found = member(each, NameCase::kExact)) return found;
  }
  return kNowhere;
}

const std::vector<Node>& Node::items() const {
  static const std::vector<Node> kNone;
  return is_list() ? children : kNone;
}

const Node& Node::first() const {
  return items().empty() ? kNowhere : children.front();
}

std::string in_camel_case(std::string_view snake) {
  std::string camel;
  for (std::size_t i = 0; i < snake.size(); ++i) {
    camel += snake[i] == '_' ? static_cast<char>(snake[++i] - 'a' + 'A') : snake[i];
  }
  return camel;
}

bool is_same_name(std::string_view a, std::string_view b, NameCase name_case) {
  return name_case == NameCase::kAny ? to_lower(a) == to_lower(b) : a == b;
}

const Node& node_in(const Nodes& nodes, std::string_view name) {
  const auto found = nodes.find(name);
  return found == nodes.end() ? kNowhere : found->second;
}

Node scalar_node(std::string_view name, std::string_view text, std::size_t line) {
  return {.kind = Node::Kind::kScalar,
          .line = line,
          .name = std::string(name),
          .text = std::string(text)};
}

bool has_template(std::string_view text) {
  const auto has = [text](std::string_view sign) { return text.find(sign) != text.npos; };
  return has("{{") || has("{%") || has("<%");
}

void refuse_template(std::string_view text) {
  if (has_template(text)) throw BadFile(std::string(kTemplate));
}

bool is_json(std::string_view text) {
  const std::string_view begin =
      text.substr(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
  return begin.starts_with('{') || begin.starts_with('[');
}

std::string without_comments(std::string_view json) {
  std::string text(json);
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (quoted && text[i] == '\\') {
      ++i;
      continue;
    }
    if (text[i] == '"') quoted = !quoted;
    const bool after_colon = i > 0 && text[i - 1] == ':';  // of an address without quotes, in YAML
    if (quoted || text[i] != '/' || after_colon || i + 1 == text.size()) continue;
    const bool block = text[i + 1] == '*';
    if (!block && text[i + 1] != '/') continue;
    const std::size_t end = block ? text.find("*/", i + 2) : text.find('\n', i);
    const std::size_t after = end == text.npos ? text.size() : end + (block ? 2 : 0);
    for (; i < after; ++i) {
      if (text[i] != '\n') text[i] = ' ';
    }
    --i;
  }
  return text;
}

std::vector<Node> parse_yaml(std::string_view text) {
  // LibYAML compares each %TAG with all before it. (In UTF-16 there is a zero byte between its letters.)
  constexpr std::size_t kMostTags = 1'000;
  std::size_t tags = 0;
  for (std::size_t at = text.find('%'); at != text.npos; at = text.find('%', at + 1)) {
    const std::string_view next = text.substr(at + 1, 2);
    if (next.starts_with('T') || next == std::string_view("\0T", 2)) ++tags;
  }
  if (tags > kMostTags) refuse_too_large("more than 1000 times %T");
  const std::string plain = is_json(text) ? without_pairs(text) : std::string(text);
  return YamlReader(plain).documents();
}

void check_json(std::string_view text) {
  try {
    const auto ignored = nlohmann::json::parse(text);
  } catch (const nlohmann::json::parse_error& error) {
    const std::string_view before = text.substr(0, error.byte > 0 ? error.byte - 1 : 0);
    const std::size_t line_begin = before.rfind('\n') + 1;  // 0 if there is none
    refuse_at("JSON", static_cast<std::size_t>(std::ranges::count(before, '\n')) + 1,
              before.size() - line_begin + 1,
              "a value, a comma or a bracket is missing here, or one too many");
  } catch (const nlohmann::json::out_of_range&) {
    throw BadFile("not valid JSON: a number in it is too large");
  }
}

std::vector<const Node*> objects_of(const std::vector<Node>& documents) {
  std::vector<const Node*> objects;
  for (const Node& document : documents) {
    bool lists = false;
    for (const Node& member : document.children) {
      if (!document.is_map() || !member.is_list()) continue;
      for (const Node& each : member.children) {
        if (!each["kind"]) continue;
        objects.push_back(&each);
        lists = true;
      }
    }
    if (!lists) objects.push_back(&document);
  }
  return objects;
}

bool is_object(const Node& node, std::string_view group, std::string_view kind) {
  return node["apiVersion"].brief().starts_with(group) && node["kind"].brief() == kind;
}

std::string namespace_of(const Node& object) {
  const std::string space = object["metadata>namespace"].brief();
  return space.empty() ? "default" : space;
}

std::string full_host(const std::string& host, const Node& object) {
  if (host.find('.') != std::string::npos || host == "*") return host;
  return host + '.' + namespace_of(object) + ".svc.cluster.local";
}

Node linkerd_annotations(const Node& object) {
  Node ours = object["metadata>annotations"];
  std::erase_if(ours.children, [](const Node& each) {
    return !each.name.starts_with("retry.linkerd.io/") &&
           !each.name.starts_with("timeout.linkerd.io/");
  });
  return ours.children.empty() ? kNowhere : ours;
}

std::string read_text_file(const std::string& path) {
  return read_foreign_file(path, kLongestFile);
}

void each_line(std::string_view text,
               const std::function<void(std::string_view line, std::size_t number)>& take) {
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    take(line, number);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

std::vector<std::vector<Node>> parse_properties(std::string_view text) {
  constexpr std::size_t kMost = 20'000;
  std::size_t count = 0;
  std::vector<std::vector<Node>> documents(1);
  std::string line;
  std::size_t begin = 0;
  const auto end_line = [&] {
    if (begin > 0) {
      if (++count > kMost) refuse_too_large("more than " + std::to_string(kMost) + " values");
      documents.back().push_back(entry_of(line, begin));
      check_name(documents.back().back().name, begin);
    }
    line.clear();
    begin = 0;
  };
  each_line(text, [&](std::string_view raw, std::size_t number) {
    const std::size_t first = raw.find_first_not_of(" \t\f");
    std::string_view rest = first == raw.npos ? std::string_view() : raw.substr(first);
    if (begin == 0) {
      if (rest == "#---" || rest == "!---") documents.emplace_back();
      if (rest.empty() || rest.front() == '#' || rest.front() == '!') return;
      begin = number;
    }
    // With an odd number of backslashes at its end it goes on. (npos + 1 is 0.)
    const bool more = (rest.size() - (rest.find_last_not_of('\\') + 1)) % 2 == 1;
    if (more) rest.remove_suffix(1);
    line += rest;
    if (!more) end_line();
  });
  end_line();
  return documents;
}

}  // namespace retrystorm
