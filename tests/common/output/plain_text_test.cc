#include "common/output/output_queue.h"
#include "tests/support/test.h"

namespace retrystorm {
namespace {

std::string printed(const std::string& text, bool letter_by_letter) {
  std::ostringstream out;
  {
    PlainText plain(out);
    if (letter_by_letter) {
      for (const char c : text) out << c;
    } else {
      out << text << std::flush;
    }
  }
  return out.str();
}

TEST(PlainText, CommandsNobody) {
  for (const bool letters : {false, true}) {
    EXPECT_EQ(printed("a\033[2Jb\r\tc\n", letters), "a?[2Jb?\tc\n");
    EXPECT_EQ(printed("::error::x\n  ::warning::y\n", letters), ":?error::x\n  :?warning::y\n");
    EXPECT_EQ(printed("a::b\n: :\n:\n:\n", letters), "a::b\n: :\n:\n:\n");
    EXPECT_EQ(printed("a ##[error]x #[b\n", letters), "a ##?error]x #[b\n");
  }
}

TEST(PlainText, LetsThroughWhatMovesTheCursorOnPurpose) {
  std::ostringstream out;
  const PlainText plain(out);
  PlainText::write_as_it_is(out, "\r\033[K");
  EXPECT_EQ(out.str(), "\r\033[K");
}

}  // namespace
}  // namespace retrystorm
