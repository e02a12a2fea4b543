// A library that is not one of plugins.
extern "C" int answer() { return 42; }
