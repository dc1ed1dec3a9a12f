# Target helpers: a leaf CMakeLists names its sources and what it links, nothing else.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
# -O3 buys nothing here and costs a third of the build.
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
find_program(FLCE_CCACHE ccache)
if(FLCE_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${FLCE_CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${FLCE_CCACHE})
endif()

find_package(GTest REQUIRED)
find_package(nlohmann_json 3.11 REQUIRED)
find_package(CLI11 REQUIRED)
find_package(Threads REQUIRED)

add_library(flce_warnings INTERFACE)
# -Wrestrict of g++ 12 reports std::string concatenation wrongly (GCC bug 105651).
target_compile_options(flce_warnings INTERFACE -Wno-restrict -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Wimplicit-fallthrough)

# flce_library(NAME SOURCES a.cc b.cc LINKS x y): a static library whose headers are included from the repository root.
function(flce_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINKS" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_include_directories(${name} PUBLIC ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PUBLIC ${ARG_LINKS} PRIVATE flce_warnings)
endfunction()

# flce_program(NAME SOURCES main.cc LINKS lib): an executable in bin/.
function(flce_program name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINKS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE ${ARG_LINKS} flce_warnings)
endfunction()

# flce_test(NAME SOURCES x_test.cc LINKS lib): a GoogleTest program, one CTest entry.
# FLCE_SOURCE_DIR is the repository root, for tests that read cases/ and testdata/.
function(flce_test name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINKS" ${ARGN})
  flce_program(${name} SOURCES ${ARG_SOURCES} LINKS ${ARG_LINKS} GTest::gtest_main GTest::gmock)
  # Test code itself gains nothing from optimisation and costs half of its compile time.
  target_compile_options(${name} PRIVATE -O0)
  # Libraries are built several sources at a time (the preset's unity build: half the build time, most of which is spent in
  # headers). Tests stay apart: each may name its fixtures as it likes.
  set_target_properties(${name} PROPERTIES UNITY_BUILD OFF)
  target_compile_definitions(${name} PRIVATE FLCE_SOURCE_DIR="${PROJECT_SOURCE_DIR}" FLCE_BINARY_DIR="${CMAKE_BINARY_DIR}")
  add_test(NAME ${name} COMMAND ${name})
endfunction()
