# Writes a C++ source that holds the files of web/ as text: cmake -DFOLDER=web -DOUTPUT=web_files.cpp -P embed.cmake
file(GLOB paths ${FOLDER}/*.html ${FOLDER}/*.css ${FOLDER}/*.js)
list(SORT paths)
set(source "#include \"report/web_files.h\"\n\n#include <array>\n\nnamespace trnsim::report {\n\n")
set(names "")
foreach(path IN LISTS paths)
  get_filename_component(name ${path} NAME)
  file(READ ${path} text)
  string(APPEND names "      WebFile{\"${name}\", R\"embedded(${text})embedded\"},\n")
endforeach()
string(APPEND source "std::span<const WebFile> web_files() {\n  static constexpr std::array kFiles{\n${names}  };\n"
                     "  return kFiles;\n}\n\n}  // namespace trnsim::report\n")
file(WRITE ${OUTPUT} "${source}")
