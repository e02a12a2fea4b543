// A library whose creator registers itself before another initialiser throws.
#include <stdexcept>

#include "creators.h"

namespace {
struct Early {
  Early() { getPluginRegistry()->registerCreator(creator, ""); }
  NewCreator creator{"FromThrowingLibrary"};
} early;
struct Licence {
  Licence() { throw std::runtime_error("no licence"); }
} licence;
}  // namespace
