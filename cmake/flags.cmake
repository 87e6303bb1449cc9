# talus_flags: what every C file of the project is compiled with.
#
# -ffp-contract=off and C_EXTENSIONS OFF (-std=c17, not gnu17) keep results the same on every
# instruction set: gnu17 lets GCC fuse a*b+c where the machine has FMA.

set(CMAKE_C_STANDARD 17)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

# Compilers that the tests were not run with have warnings of their own, and nobody who only wants to
# build should stop at one.
set(werror_default OFF)
if(CMAKE_C_COMPILER_ID STREQUAL "GNU" AND CMAKE_C_COMPILER_VERSION MATCHES "^12\\."
   OR CMAKE_C_COMPILER_ID STREQUAL "Clang" AND CMAKE_C_COMPILER_VERSION MATCHES "^14\\.")
  set(werror_default ON)
endif()
option(TALUS_WERROR "Warnings are errors (default: with gcc 12 and clang 14)" ${werror_default})
option(TALUS_FAST "-O3 -march=native and fused multiply-adds: results may differ" OFF)
set(TALUS_SANITIZE "" CACHE STRING "Argument of -fsanitize=, such as address,undefined")
if(CMAKE_BUILD_TYPE STREQUAL "Debug")
  set(assert_default ON)
else()
  set(assert_default OFF)
endif()
option(TALUS_ASSERT "TL_ASSERT is checked" ${assert_default})

add_library(talus_flags INTERFACE)
target_compile_definitions(talus_flags INTERFACE _POSIX_C_SOURCE=200809L)
target_compile_options(talus_flags INTERFACE
  -fno-math-errno # nobody reads errno after sqrt, and the call costs the vector instruction
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes
  # The objects are position independent; without this GCC would not inline across functions that
  # another library could, in theory, replace.
  -fno-semantic-interposition
  # __FILE__ in messages reads src/..., wherever the tree was built.
  -fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=)
if(TALUS_WERROR)
  target_compile_options(talus_flags INTERFACE -Werror)
endif()

# Last on the command line, so that it wins over the -DNDEBUG of the build type.
if(TALUS_ASSERT)
  target_compile_options(talus_flags INTERFACE -UNDEBUG)
else()
  target_compile_definitions(talus_flags INTERFACE NDEBUG)
endif()

# TALUS_FAST is 1 for tests that would compare exact numbers.
if(TALUS_FAST)
  target_compile_options(talus_flags INTERFACE -O3 -march=native -ffp-contract=fast)
  # gcc 12 with AVX-512 fills structs of constants wrongly when it vectorises straight-line code.
  if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
    target_compile_options(talus_flags INTERFACE -fno-tree-slp-vectorize)
  endif()
  target_compile_definitions(talus_flags INTERFACE TALUS_FAST=1)
else()
  target_compile_options(talus_flags INTERFACE -ffp-contract=off)
  target_compile_definitions(talus_flags INTERFACE TALUS_FAST=0)
endif()

if(TALUS_SANITIZE)
  target_compile_options(talus_flags INTERFACE
    -fsanitize=${TALUS_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer
    -g1) # lines for stack traces; variables would double the size of every test
  target_link_options(talus_flags INTERFACE -fsanitize=${TALUS_SANITIZE})
  if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
    # Instrumented code confuses GCC's flow analysis; the plain builds keep these warnings.
    target_compile_options(talus_flags INTERFACE -Wno-maybe-uninitialized -Wno-format-truncation)
  endif()
endif()
