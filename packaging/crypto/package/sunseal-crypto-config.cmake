# SPDX-License-Identifier: MIT OR Apache-2.0
#
# What find_package(sunseal-crypto) reads: an installed archive where there is one, else the sources of this folder.
if(NOT TARGET sunseal::crypto)
  if(EXISTS ${CMAKE_CURRENT_LIST_DIR}/sunseal-crypto-targets.cmake)
    include(${CMAKE_CURRENT_LIST_DIR}/sunseal-crypto-targets.cmake)
  else()
    add_subdirectory(${CMAKE_CURRENT_LIST_DIR} ${CMAKE_BINARY_DIR}/sunseal-crypto EXCLUDE_FROM_ALL)
  endif()
endif()
