/// Files that are read and written as a whole.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kiln::cli {

/// Fails with what the system says. `what` names the file's purpose: "cannot read plan m.plan: No such file ...".
std::vector<char> read_file(const std::string& path, std::string_view what);

bool file_exists(const std::string& path);

bool is_pipe(const std::string& path);

/// Whether what is written there can be read back: no pipe, no device.
bool is_regular_or_new(const std::string& path);

/// Fills memory from a file that holds exactly that many bytes.
void read_exactly(const std::string& path, void* data, int64_t size_bytes, std::string_view what);

/// Fails if `path` is a file whose first bytes are not those of a file that this program would write there: what
/// others wrote is never replaced. Nothing there, an empty file and what is no regular file pass. Spaces and line ends
/// do not count.
///   beginning  what the file starts with          key   what it has somewhere
///   what       names the flag in the message
void require_replaceable(const std::string& path, std::string_view beginning, std::string_view key,
                         std::string_view what);

/// Writes to the standard output, and to its end: what reads it may be gone, a disk full. `what` names what is written.
void write_stdout(std::string_view content, std::string_view what);

/// Writes a file whole or not at all: see NewFile.
void write_file(const std::string& path, std::string_view content, std::string_view what);

}  // namespace kiln::cli
