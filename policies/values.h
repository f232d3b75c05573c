// Values as other programs write them, turned into the texts of options.
//
// All throw std::invalid_argument with a sentence if the text is not one that the program would take.
#pragma once

#include <cstdint>
#include <iterator>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "model/base/duration.h"
#include "model/base/text.h"
#include "model/retry/retry_on.h"

namespace retrystorm {

// The value beside a word in a table of pairs. Throws with the words if it is none of them.
template <typename Table>
auto value_of_word(const Table& table, std::string_view word) {
  std::vector<std::string_view> words;
  for (const auto& [each, value] : table) {
    if (each == word) return value;
    words.push_back(each);
  }
  refuse(unknown_name(word, words));
}

// The row of this name in a table; null if there is none.
template <typename Table>
auto row_named(const Table& table, std::string_view name) -> decltype(&*std::begin(table)) {
  for (const auto& each : table) {
    if (each.name == name) return &each;
  }
  return nullptr;
}

// Whether it is one of these words, which have blanks between them.
bool is_among(std::string_view word, std::string_view words);
// What a table "WORD=MEANING WORD=MEANING ..." has beside this word, if it is there.
std::optional<std::string_view> meaning_of(std::string_view word, std::string_view table);

// Adds to a list in a text.
void append(std::string& list, std::string_view part, std::string_view between = "+");

// "1.5s": seconds only, with a fraction of up to nine digits (protobuf, and with it gRPC and Envoy).
Duration protobuf_duration(std::string_view text);
// "1m30s" as in Go, but never a bare number (Istio).
Duration go_duration(std::string_view text);
// "1m30s", without fractions: up to four numbers of up to five digits (Gateway API, Envoy Gateway).
Duration gateway_duration(std::string_view text);
// "1m30s", "500ms"; a bare number counts in this unit: seconds in NGINX, milliseconds in HAProxy.
Duration duration_or(Duration unit, std::string_view text);
// "00:00:02.5", "1.02:00:00" with days, and a bare number of days (.NET).
Duration timespan(std::string_view text);
// "500ms", "2s", "PT0.5S", and a bare number of milliseconds (Spring).
Duration spring_duration(std::string_view text);

// A duration that is read so, as an option's text.
template <Duration (*read)(std::string_view)>
std::string as_option(std::string_view text) {
  return brief_duration(read(text));
}
std::string positive_protobuf_duration(std::string_view text);  // above zero

// A whole number, such as 5 or 5.0; of at least this; of what a program holds in 32 bits with a sign.
std::string whole_number(std::string_view text);
template <unsigned least>
std::string count_from(std::string_view text) {
  std::string count = whole_number(text);
  if (std::stoul(count) >= least) return count;
  refuse("this must be at least " + std::to_string(least) + ": the start fails");
}
inline constexpr std::uint32_t kMostSigned = 2'147'483'647;
std::string signed_number(std::string_view text);
std::string whole_seconds(std::string_view text);
std::string plain_share(std::string_view text);       // any number of at least 0
std::string percent_as_share(std::string_view text);  // 20 becomes 0.2
bool is_true(std::string_view text);

// The parts of a list. Throws BadFile if there are too many.
std::vector<std::string_view> parts_of(std::string_view text, char separator);
// Adds a status, or a range such as 500-504, from 100 to 599.
void add_statuses(RetryOn& on, std::string_view range);

}  // namespace retrystorm
