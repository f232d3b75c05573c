// A retry policy from another program's file, in options of retrystorm, and what is wrong with it.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/cli/finding_rules.h"
#include "model/base/statement.h"
#include "policies/tree.h"
#include "study/named_options.h"

namespace retrystorm {

// An option, and where it comes from.
struct Setting {
  std::string option{};
  std::string value{};
  std::size_t line = 0;  // in the file; 0: it is not in the file
  std::string source{};  // such as "maxAttempts: 100, of which 5 count" or "default of Envoy"
};

// Something to know about a policy.
struct Note {
  // In the order of their weight.
  enum class Level {
    kNote,     // what is not modelled, or a fact
    kWarning,  // can do harm
    kError,    // does not do what it says
  };

  Level level = Level::kNote;
  std::string rule{};    // a name, such as "not-modelled"
  std::size_t line = 0;  // 0: none
  std::string text{};    // a sentence without its dot
  Statements says{};     // the same, of a finding: its ids and values; what a reader notes has none
};

struct Policy {
  std::vector<std::string> names{};  // what it is for
  std::size_t line = 0;              // where it begins
  std::vector<Setting> settings{};
  // How hosts are picked, where the file does not say how many there are: that has an effect with --replicas only.
  std::vector<Setting> of_hosts{};
  std::vector<Note> notes{};
  bool refused = false;     // by the program that reads the file: it is never in force
  bool has_retries = true;  // if not, it only has limits beside a policy from another file
  // The services that it is for, and the part of a system that retries ("gateway", "mesh"), if the file says it. Parts before
  // the same service multiply their attempts.
  std::vector<std::string> hosts{};
  std::string layer{};

  void set(std::string option, std::string value, std::size_t at, std::string source);
  // As it stands in the file: the source is "name: text", and more.
  void take(std::string option, std::string value, const Node& from, std::string_view more = {});
  // What is not in the file.
  void assume(std::string option, std::string value, std::string source) {
    set(std::move(option), std::move(value), 0, std::move(source));
  }
  void note(Note::Level level, std::string_view rule, std::size_t at, std::string text);
  void fault(std::string_view rule, std::size_t at, std::string text) {
    note(Note::Level::kError, rule, at, std::move(text));
  }
  void warn(std::string_view rule, std::size_t at, std::string text) {
    note(Note::Level::kWarning, rule, at, std::move(text));
  }
  void remark(std::string_view rule, std::size_t at, std::string text) {
    note(Note::Level::kNote, rule, at, std::move(text));
  }
  void assumed(std::size_t at, std::string text) { remark(kAssumed, at, std::move(text)); }
  void not_modelled(std::size_t at, std::string text) { remark(kNotModelled, at, std::move(text)); }
  void add(const Policy& part);  // its settings and notes
  void refuse(std::size_t at, std::string text) {
    fault(kRefusedRule, at, std::move(text));
    refused = true;
  }
  const Setting* find(std::string_view option) const;
  // Empty if there is none.
  std::string value(std::string_view option) const {
    return find(option) ? find(option)->value : "";
  }
  // Whether it stands in the file; where, or else where the policy begins.
  bool is_given(std::string_view option) const { return find(option) && find(option)->line > 0; }
  std::size_t line_of(std::string_view option) const {
    return is_given(option) ? find(option)->line : line;
  }
  void remove(std::string_view option);
};

// What was read in a file.
struct PolicyFile {
  std::string kind{};         // in words, such as "gRPC service config"
  std::string_view format{};  // the word of `export`; empty if its reader ignores much of that
  std::vector<Policy> policies{};
  std::vector<Note> notes{};  // about the file as a whole

  // Throws BadFile if there are too many, or their notes are.
  void add(Policy policy);
  void note(Note::Level level, std::string_view rule, std::size_t at, std::string text) {
    notes.push_back({level, std::string(rule), at, std::move(text)});
  }

  std::size_t all_notes = 0;  // of those that were added
};

void check_count(std::size_t policies);  // throws BadFile if one more is too many for a file

// A field of a format, of which readers have tables: what it is called there, or the path to it, such as "tcp>maxConnections";
// the option that it becomes; how its text is read; and what holds where the file does not have it. Without `read` it is one
// that is not simulated, or, without a name, what always holds.
struct Field {
  std::string_view name{};
  std::string_view option{};
  // From the file's text to the option's. Throws std::invalid_argument with a sentence.
  std::string (*read)(std::string_view text) = nullptr;
  std::string_view standard{};  // as the option's text; empty: the option is not set
  std::string_view note{};      // what it is for, if it is not simulated; why it always holds

  std::string last_name() const { return std::string(name.substr(name.rfind('>') + 1)); }
};

constexpr Field not_simulated(std::string_view name, std::string_view what) {
  return {.name = name, .note = what};
}
constexpr Field always(std::string_view option, std::string_view value, std::string_view why) {
  return {.option = option, .standard = value, .note = why};
}

// A text from a file in one line, fit for terminals and comments: with `?` for each byte that is not printable.
std::string shown(std::string_view text, std::size_t longest = 80);
std::string name_of(const Node& object);    // of Kubernetes
std::string field_text(const Node& field);  // "name: text"

// Sets the option from the field, or where the file has none its standard value. A value that cannot be read becomes a note
// (refused). Returns whether the file's value was set.
bool add_field(Policy& policy, const Field& field, const Node& node, std::string_view program);
// The same for each field, from the members of `map`.
void add_fields(Policy& policy, std::span<const Field> fields, const Node& map,
                std::string_view program, NameCase name_case = NameCase::kExact);

// Makes timeouts of what is retried, if it is known what is.
void add_timeouts(Policy& policy);

// Notes each member of a map that is none of these fields. `what` ends the sentence "x is ...".
void note_others(std::vector<Note>& notes, const Node& map, std::vector<std::string_view> known,
                 std::string_view what, NameCase name_case = NameCase::kExact);

NamedOptions options_of(const Policy& policy);
// Those of its runs, with those of hosts if there are `several`. How many there are is a matter of the service that is run:
// the number in a file would multiply workers that were given for all of them.
NamedOptions options_to_run(const Policy& policy, bool several);

// Makes one of policies that are equal, and takes out of each the options that have no effect beside the others. Throws
// BadFile if too many are different.
void finish(PolicyFile& file);

// The policy as a settings file for `--config`, with the source of each option; those that have an effect with --replicas
// only are comments. Where it is a named strategy, it says so: the bytes of a run are then the same.
std::string settings_text(const PolicyFile& file, const Policy& policy, std::string_view path);

// The policy's own notes and, if it is not refused, what follows from its numbers, the most severe first.
std::vector<Note> findings_of(const Policy& policy);

// Policies for one host in several parts of a system multiply.
struct LayeredPolicy {
  std::string path{};  // of its file
  const Policy* policy = nullptr;
};
struct LayerFinding {
  LayeredPolicy at{};  // the last of them
  Note note{};
};
std::vector<LayerFinding> layer_findings(const std::vector<LayeredPolicy>& policies);

}  // namespace retrystorm
