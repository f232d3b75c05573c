// The first line of a file of JSON Lines, and of a table in CSV: which program wrote it, and how.
#pragma once

#include <chrono>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace retrystorm {

// "retrystorm 1.0.0 (2f76069a1)"
std::string version_text();

// The program, its version, the command that repeats the run, and every option. `started_at` is the
// wall-clock time at `t` = 0. Readers can use it to align files of programs that were started at
// different times. Virtual time has none.
nlohmann::ordered_json start_json(
    const std::string& program, const std::string& command, const nlohmann::ordered_json& options,
    std::optional<std::chrono::system_clock::time_point> started_at = std::nullopt);

// "# simulate --runs=9, retrystorm 1.0.0 (2f76069a1), seed 5", in one line whatever the command is.
std::string csv_comment(const std::string& command, std::uint64_t seed);

}  // namespace retrystorm
