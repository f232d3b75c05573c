#include "common/output/plain_text.h"

#include <string>

#include "model/base/text.h"

namespace retrystorm {

void PlainText::write_as_it_is(std::ostream& stream, std::string_view text) {
  auto* const plain = dynamic_cast<PlainText*>(stream.rdbuf());
  std::streambuf* const behind = plain == nullptr ? stream.rdbuf() : plain->to_;
  behind->sputn(text.data(), static_cast<std::streamsize>(text.size()));
  behind->pubsync();
}

std::streamsize PlainText::xsputn(const char* text, std::streamsize size) {
  const std::scoped_lock lock(mutex_);
  std::string plain = printable({text, static_cast<std::size_t>(size)}, "\n\t");
  for (char& c : plain) {
    if ((c == ':' && last_ == ':' && length_ == 1) || (c == '[' && hashes_ > 1)) c = '?';
    const bool blank = c == ' ' || c == '\t';
    length_ = c == '\n' ? 0 : length_ + (blank && length_ == 0 ? 0 : 1);
    hashes_ = c == '#' ? hashes_ + 1 : 0;
    last_ = c;
  }
  const auto all = static_cast<std::streamsize>(plain.size());
  return to_->sputn(plain.data(), all) == all ? size : 0;
}

PlainText::int_type PlainText::overflow(int_type letter) {
  if (traits_type::eq_int_type(letter, traits_type::eof())) return traits_type::not_eof(letter);
  const char one = traits_type::to_char_type(letter);
  return xsputn(&one, 1) == 1 ? letter : traits_type::eof();
}

}  // namespace retrystorm
