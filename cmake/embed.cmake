# Writes OUTPUT, a C++ file that holds FILES (separated by commas) byte for byte, as the function
# FUNCTION that HEADER declares: a span of TYPE {name, content}.
# Usage: cmake -DOUTPUT=... -DFILES=... -DHEADER=... -DTYPE=... -DFUNCTION=... -P embed.cmake
string(REPLACE "," ";" files "${FILES}")
set(arrays "")
set(entries "")
set(number 0)
foreach(file IN LISTS files)
  get_filename_component(name "${file}" NAME)
  file(READ "${file}" bytes HEX)
  # Octal escapes as signed characters: no other notation avoids narrowing.
  string(REGEX REPLACE "(..)" "'\\\\x\\1'," bytes "${bytes}")
  string(APPEND arrays "constexpr char k${TYPE}${number}[] = {${bytes}};\n")
  string(APPEND entries "    {\"${name}\", {k${TYPE}${number}, sizeof(k${TYPE}${number})}},\n")
  math(EXPR number "${number} + 1")
endforeach()
file(WRITE "${OUTPUT}" "#include \"${HEADER}\"

namespace retrystorm {
namespace {

${arrays}
constexpr ${TYPE} k${TYPE}s[] = {
${entries}};

}  // namespace

std::span<const ${TYPE}> ${FUNCTION}() {
  return k${TYPE}s;
}

}  // namespace retrystorm
")
