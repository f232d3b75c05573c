#include "study/rows.h"
#include "tests/support/temp_dir.h"
#include "tests/support/test.h"

namespace retrystorm {
namespace {

Table two_groups() {
  return {.columns = {{.title = "name", .code = true},
                      {.title = "down", .group = "frozen for long"},
                      {.title = "n", .group = "frozen for long"},
                      {.title = "load", .group = "errors"}},
          .rows = {{"fixed", "100 %", "1", "2.50"}, {"no", "0 %", "10", "1.00"}}};
}

TEST(Table, HasGroupsAboveTheirColumnsAndAlignsAllButTheFirstRight) {
  std::ostringstream out;
  print(out, two_groups());
  EXPECT_EQ(out.str(),
            "       frozen for long  errors\n"
            "name          down   n    load\n"
            "fixed        100 %   1    2.50\n"
            "no             0 %  10    1.00\n");
}

TEST(Table, HasNoLineOfGroupsWithoutAny) {
  std::ostringstream out;
  print(out, {.columns = {{.title = "a"}, {.title = "µs"}}, .rows = {{"x", "1"}}});
  EXPECT_EQ(out.str(), "a  µs\nx   1\n");
}

TEST(Table, IsMarkdownWithTheGroupInFrontOfItsFirstColumn) {
  const test::TempDir dir;
  LineFile file(dir.file("md"));
  write_markdown(file, two_groups());
  EXPECT_EQ(test::read_file(dir.file("md")),
            "| name | frozen for long: down | n | errors: load |\n"
            "|---|---|---|---|\n"
            "| `fixed` | 100 % | 1 | 2.50 |\n"
            "| `no` | 0 % | 10 | 1.00 |\n");
}

TEST(CsvRow, QuotesTextThatWouldBeTwoCells) {
  EXPECT_EQ(csv_row({"a", "", "b, c", "\"d\""}), "a,,\"b, c\",\"\"\"d\"\"\"");
  EXPECT_EQ(csv_row({"a\rb", "c\nd"}), "a?b,c?d");
}

TEST(CsvRow, CommandsNoLog) {
  EXPECT_EQ(csv_row({"::error::a", "##[error]b", "\033[2J"}), "\"::error::a\",?#[error]b,?[2J");
}

TEST(CsvRow, HasNoFormulas) {
  EXPECT_EQ(csv_row({"=1+1.ini", "@a", "-a", "\tb"}), "\"'=1+1.ini\",\"'@a\",\"'-a\",\"'\tb\"");
  EXPECT_EQ(csv_row({"-1.5", "+3", "-.5", "-", "a=b"}), "-1.5,+3,-.5,-,a=b");
}

TEST(MarkdownRow, KeepsPipesInTheirCells) {
  EXPECT_EQ(markdown_row({"a|b", "`c|d`"}), "| a\\|b | `c\\|d` |");
}

TEST(LineFile, SaysWhichFileCannotBeWritten) {
  EXPECT_THROW(LineFile("/nowhere/at/all"), std::runtime_error);
  EXPECT_THROW(LineFile("/dev/full").write("line"), std::runtime_error);
}

TEST(LineFile, IsOverwritten) {
  const test::TempDir dir;
  const std::string path = dir.file("csv");
  LineFile(path).write("first");
  LineFile(path).write("2");
  EXPECT_EQ(test::read_file(path), "2\n");
}

}  // namespace
}  // namespace retrystorm
