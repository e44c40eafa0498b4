#include "program/bytes.h"

#include <bit>

namespace trnsim::program {

void ByteWriter::append_number(std::string& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
  out += static_cast<char>(value);
}

void ByteWriter::integer(std::int64_t value) {
  const auto sign = static_cast<std::uint64_t>(value >> 63);
  number((static_cast<std::uint64_t>(value) << 1) ^ sign);
}

void ByteWriter::real(double value) {
  auto bits = std::bit_cast<std::uint64_t>(value);
  for (int i = 0; i < 8; ++i, bits >>= 8) body_ += static_cast<char>(bits);
}

void ByteWriter::text(std::string_view text) {
  auto it = index_.find(text);
  if (it == index_.end()) {
    it = index_.emplace(text, texts_.size()).first;
    texts_.push_back(it->first);
  }
  number(it->second);
}

std::string ByteWriter::take() const {
  std::string out;
  append_number(out, texts_.size());
  for (const std::string_view text : texts_) {
    append_number(out, text.size());
    out += text;
  }
  return out + body_;
}

ByteReader::ByteReader(std::string_view bytes, std::string origin)
    : bytes_(bytes), origin_(std::move(origin)) {
  texts_.resize(count("number of texts"));
  for (std::string& text : texts_) {
    const std::size_t size = count("length of a text");
    text = bytes_.substr(at_, size);
    at_ += size;
  }
}

void ByteReader::damaged(std::string_view what) const {
  refuse("damaged at byte {}: impossible {}", at_, what);
}

std::uint64_t ByteReader::number() {
  std::uint64_t value = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    if (at_end()) break;
    const auto byte = static_cast<unsigned char>(bytes_[at_++]);
    value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return value;
  }
  damaged("number");
}

std::uint64_t ByteReader::number_up_to(std::uint64_t limit, std::string_view what) {
  const std::uint64_t value = number();
  if (value > limit) damaged(what);
  return value;
}

std::size_t ByteReader::count(std::string_view what) {
  const std::uint64_t value = number();
  if (value > bytes_.size() - at_) damaged(what);  // what is left once the number itself is read
  return value;
}

std::int64_t ByteReader::integer() {
  const std::uint64_t value = number();
  return static_cast<std::int64_t>((value >> 1) ^ (~(value & 1) + 1));
}

std::int64_t ByteReader::integer_within(std::int64_t magnitude, std::string_view what) {
  const std::int64_t value = integer();
  if (value > magnitude || value < -magnitude) damaged(what);
  return value;
}

double ByteReader::real() {
  if (bytes_.size() - at_ < 8) damaged("number");
  std::uint64_t bits = 0;
  for (int i = 0; i < 8; ++i)
    bits |= static_cast<std::uint64_t>(static_cast<unsigned char>(bytes_[at_++])) << (8 * i);
  return std::bit_cast<double>(bits);
}

const std::string& ByteReader::text() {
  if (texts_.empty()) damaged("text");
  return texts_[number_up_to(texts_.size() - 1, "text")];
}

}  // namespace trnsim::program
