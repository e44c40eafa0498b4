// Numbers and texts as the bytes of a file: little-endian, the same on every host. Whole numbers
// take as many bytes as they need, seven bits each; a text stands once in a table at the front and
// is then a number.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace trnsim::program {

class ByteWriter {
 public:
  void number(std::uint64_t value) { append_number(body_, value); }
  void integer(std::int64_t value);  // small negative ones are short too
  void real(double value);
  void text(std::string_view text);
  std::string take() const;  // the table of texts, then everything else

 private:
  static void append_number(std::string& out, std::uint64_t value);

  std::string body_;
  std::map<std::string, std::uint64_t, std::less<>> index_;
  std::vector<std::string_view> texts_;  // keys of index_
};

// Reads what a ByteWriter wrote. Whatever else it is given, it throws ConfigError that begins with
// `origin` or returns values that mean nothing; it never reads beyond the end.
class ByteReader {
 public:
  ByteReader(std::string_view bytes, std::string origin);

  std::uint64_t number();
  // At most `limit`, or the file is damaged.
  std::uint64_t number_up_to(std::uint64_t limit, std::string_view what);
  std::int64_t integer();
  std::int64_t integer_within(std::int64_t magnitude, std::string_view what);
  double real();
  const std::string& text();
  // How many entries of at least one byte each follow.
  std::size_t count(std::string_view what);
  bool at_end() const { return at_ == bytes_.size(); }

  [[noreturn]] void damaged(std::string_view what) const;
  template <class... Args>
  [[noreturn]] void refuse(fmt::format_string<Args...> text, Args&&... args) const {
    config_error("{}: {}", origin_, fmt::format(text, std::forward<Args>(args)...));
  }

 private:
  std::string_view bytes_;
  std::size_t at_ = 0;
  std::string origin_;
  std::vector<std::string> texts_;
};

}  // namespace trnsim::program
