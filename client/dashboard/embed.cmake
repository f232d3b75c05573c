# Writes OUTPUT, a C++ file that holds FILES (separated by commas) byte for byte.
# Usage: cmake -DOUTPUT=... -DFILES=... -P embed.cmake
string(REPLACE "," ";" files "${FILES}")
set(arrays "")
set(entries "")
set(number 0)
foreach(file IN LISTS files)
  get_filename_component(name "${file}" NAME)
  file(READ "${file}" bytes HEX)
  # Octets as signed characters, of which there is no other spelling that never narrows.
  string(REGEX REPLACE "(..)" "'\\\\x\\1'," bytes "${bytes}")
  string(APPEND arrays "constexpr char kFile${number}[] = {${bytes}};\n")
  string(APPEND entries "    {\"${name}\", {kFile${number}, sizeof(kFile${number})}},\n")
  math(EXPR number "${number} + 1")
endforeach()
file(WRITE "${OUTPUT}" "#include \"client/dashboard/assets.h\"

namespace retrystorm {
namespace {

${arrays}
constexpr Asset kAssets[] = {
${entries}};

}  // namespace

std::span<const Asset> assets() {
  return kAssets;
}

}  // namespace retrystorm
")
