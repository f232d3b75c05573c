// The words that the programs use for results, with their meanings. They come from glossary.json, which
// the explorer shows too.
#pragma once

#include <span>
#include <string_view>

namespace retrystorm {

struct GlossaryFile {
  std::string_view name;
  std::string_view content;
};

// The content of that file, embedded at build time.
std::span<const GlossaryFile> glossary_files();

}  // namespace retrystorm
