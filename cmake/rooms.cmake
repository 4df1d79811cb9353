# A room is a folder of src/: one concept, compiled to objects.
#
# Parts register themselves by static objects. From a static archive the linker
# would drop those that nobody names, so a room is an OBJECT library and whoever
# links fedvg::<room> gets all its objects and those of the rooms below it.
#
#   fedvg_room(NAME [TORCH] [SOURCES pattern...] [EXCLUDE regex]
#              [USES room...] [LIBRARIES target...])
#
#   TORCH      its files may include torch's headers; without it they cannot see them
#   SOURCES    default src/NAME/**.cpp; a new file needs no edit here
#   USES       rooms below; LIBRARIES others, seen by whoever links the room
#
# Makes fedvg_NAME (the objects, only when there are sources) and fedvg::NAME.

set(FEDVG_ROOMS "" CACHE INTERNAL "Rooms with sources, bottom first")
set(FEDVG_TORCH_ROOMS "" CACHE INTERNAL "Rooms whose files may include torch")

function(fedvg_room name)
  cmake_parse_arguments(ROOM "TORCH" "EXCLUDE" "SOURCES;USES;LIBRARIES" ${ARGN})
  if(NOT ROOM_SOURCES)
    set(ROOM_SOURCES "src/${name}/*.cpp")
  endif()
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${ROOM_SOURCES})
  if(ROOM_EXCLUDE)
    list(FILTER sources EXCLUDE REGEX "${ROOM_EXCLUDE}")
  endif()

  add_library(fedvg_${name}_room INTERFACE)
  add_library(fedvg::${name} ALIAS fedvg_${name}_room)
  target_link_libraries(fedvg_${name}_room INTERFACE ${ROOM_LIBRARIES})
  foreach(below IN LISTS ROOM_USES)
    target_link_libraries(fedvg_${name}_room INTERFACE fedvg::${below})
  endforeach()
  if(ROOM_TORCH)
    target_link_libraries(fedvg_${name}_room INTERFACE libtorch::libs)
    set(FEDVG_TORCH_ROOMS "${FEDVG_TORCH_ROOMS};${name}" CACHE INTERNAL "")
  endif()
  if(NOT sources)
    return()
  endif()

  add_library(fedvg_${name} OBJECT ${sources})
  target_link_libraries(fedvg_${name} PRIVATE fedvg_own_code ${ROOM_LIBRARIES})
  if(ROOM_TORCH)
    target_link_libraries(fedvg_${name} PRIVATE libtorch::headers)
    if(FEDVG_SANITIZE MATCHES "fuzzer")  # fuzzed are readers; these are linked for their options
      target_compile_options(fedvg_${name} PRIVATE -fno-sanitize=all -O0 -g0)
    endif()
  endif()
  target_link_libraries(fedvg_${name}_room INTERFACE $<TARGET_OBJECTS:fedvg_${name}>)
  set(FEDVG_ROOMS "${FEDVG_ROOMS};${name}" CACHE INTERNAL "")
endfunction()
