# cmake -DOUT=x.cc -DNAMESPACE=flce -DFILES="kName=path;..." -P embed_text.cmake
# Writes a source file with each text file as a constant, `extern const std::string_view kName`.
# Bytes, not string literals: compilers limit the length of a literal.
set(code "// Made by embed_text.cmake.\n#include <string>\n#include <string_view>\n\nnamespace ${NAMESPACE} {\n")
foreach(entry IN LISTS FILES)
  string(REGEX MATCH "^([^=]+)=(.+)$" matched "${entry}")
  set(name ${CMAKE_MATCH_1})
  file(READ "${CMAKE_MATCH_2}" hex HEX)
  string(LENGTH "${hex}" length)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "'\\\\x\\1'," bytes "${hex}")
  math(EXPR size "${length} / 2")
  string(APPEND code "namespace {\nconstexpr char ${name}Bytes[] = {${bytes}'\\0'};\n}\n")
  string(APPEND code "extern const std::string_view ${name};\nconst std::string_view ${name}(${name}Bytes, ${size});\n")
endforeach()
string(APPEND code "}  // namespace ${NAMESPACE}\n")
file(WRITE "${OUT}" "${code}")
