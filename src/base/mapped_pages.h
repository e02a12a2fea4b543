/// Pages of mapped files, and how they are given back before their file is unmapped.
#pragma once

#include <cstddef>
#include <span>

namespace kiln {

/// Gives the pages of a mapped file among `bytes` back to the system, which brings them again from the file when they
/// are read. For constants that have just been read from end to end: else a build holds all of a model in memory.
/// Leaves memory of every other kind as it is, and a few pages that are not worth a system call. Any thread may call
/// it.
void release_pages(std::span<const std::byte> bytes);

/// Tells `release_pages` which addresses are a file's. Called by whoever maps one, and before it is unmapped.
void add_mapped_pages(std::span<const std::byte> file);
void remove_mapped_pages(std::span<const std::byte> file);

}  // namespace kiln
