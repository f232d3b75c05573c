// What is said as something is refused.
#pragma once

#include <gmock/gmock.h>

#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace retrystorm::test {

// The message of the error of this kind, or empty if there is none. Errors of other kinds pass.
template <typename Error = std::invalid_argument, typename Work>
std::string refusal_of(const Work& work) {
  try {
    work();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

// Does or asks `work` for what each row gives. What it throws or returns must name what the row does: the option, the
// value, the line. A row that names nothing must be taken.
template <typename Given = std::string, typename Error = std::invalid_argument, typename Work>
void expect_refusals(const Work& work, const std::vector<std::pair<Given, std::string>>& rows) {
  for (const auto& row : rows) {
    SCOPED_TRACE(testing::PrintToString(row.first));
    std::string said;
    if constexpr (std::is_convertible_v<std::invoke_result_t<Work, const Given&>, std::string>) {
      said = work(row.first);
    } else {
      said = refusal_of<Error>([&] { work(row.first); });
    }
    EXPECT_EQ(said.empty(), row.second.empty()) << said;
    EXPECT_THAT(said, testing::HasSubstr(row.second));
  }
}

}  // namespace retrystorm::test
