# How every room is compiled: language level, visibility, warnings, sanitizers, ccache.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 11)
set(CMAKE_C_EXTENSIONS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
# The libraries are loaded into foreign programs: only what is marked may be seen there.
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_INSTALL_RPATH_USE_LINK_PATH ON)

# What is installed tells nothing of the folder in which it was built.
add_compile_options($<$<COMPILE_LANGUAGE:C,CXX,Fortran>:-ffile-prefix-map=${PROJECT_SOURCE_DIR}/=>)

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "Build type" FORCE)
endif()

find_program(FOREBAY_CCACHE ccache)
mark_as_advanced(FOREBAY_CCACHE)
foreach(lang IN ITEMS C CXX)
  if(FOREBAY_CCACHE AND NOT CMAKE_${lang}_COMPILER_LAUNCHER)
    set(CMAKE_${lang}_COMPILER_LAUNCHER "${FOREBAY_CCACHE}")
  endif()
endforeach()

# Link PRIVATE, from a static library as $<BUILD_INTERFACE:forebay_warnings>: it is not installed.
add_library(forebay_warnings INTERFACE)
target_compile_options(
  forebay_warnings INTERFACE $<BUILD_INTERFACE:-Wall;-Wextra;-Wshadow;$<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor>>)
if(FOREBAY_WERROR)
  target_compile_options(forebay_warnings INTERFACE $<BUILD_INTERFACE:-Werror>)
endif()

if(FOREBAY_SANITIZE)
  add_compile_options(-fsanitize=${FOREBAY_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${FOREBAY_SANITIZE})
endif()
