// A JSON object as text.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "model/base/statement.h"

namespace retrystorm {

// With its members in the order in which they were added.
using Json = nlohmann::ordered_json;

// With its members in the order in which they were added.

// With its members in the order in which they were added.

// With its members in the order in which they were added.

// Rounds to three decimals: precise enough for a rate or a time, and easy to read.
double rounded(double value);

// An object as one line, without the newline.
std::string json_line(const Json& object);

// The id, and the values by their names; times in seconds.
Json statement_json(const Statement& statement);
Json statements_json(const Statements& statements);

// An object as one word for each of its members: "503:12.5 refused:3.0".
std::string pairs_text(const Json& object);

}  // namespace retrystorm
