# Compilers of `sunseal toolchain get@GET_FOR@`, or those on PATH. For another one: -DCMAKE_C_COMPILER=...
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR @PROCESSOR@)
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
if(NOT DEFINED ENV{SUNSEAL_TOOLS})
  execute_process(COMMAND sunseal toolchain get --for @GROUP@ --print-bin
                  OUTPUT_VARIABLE SUNSEAL_TOOLS OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  set(ENV{SUNSEAL_TOOLS} "${SUNSEAL_TOOLS}")
endif()

@CORE@
set(CMAKE_C_FLAGS_INIT "${TARGET} -ffreestanding -ffunction-sections -fdata-sections -fno-common -gdwarf-4 -Os")
