/// The standard plugins of another library in place of ours, to compare them: KILN_TEST_PLUGINS names its file.
#pragma once

namespace kiln::plugins::testing {

/// Whether the tests' plugins are another library's. Then no layers take their place, so that each run has a plugin.
bool are_of_other_library();
/// Registers the plugins to be tested. False where a registration failed.
bool register_plugins(void* logger);

}  // namespace kiln::plugins::testing
