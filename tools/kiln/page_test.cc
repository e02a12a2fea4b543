#include "page.h"

#include <gtest/gtest.h>

#include "html.h"
#include "page_files.h"

namespace kiln {
namespace {

TEST(Page, HasAllItsPartsAndAsksNobodyElse) {
  Picture picture;
  picture.title = "m.plan";
  const std::string page = make_page(picture);
  EXPECT_EQ(page.find("{{"), page.npos) << page.substr(page.find("{{"), 80);
  EXPECT_TRUE(page.starts_with("<!doctype html>\n<!-- kiln show -->\n"));
  EXPECT_NE(page.find(R"(<script type="application/json" id="picture">{"title":"m.plan")"), page.npos);
  for (const char* outside : {"src=", "href=", "import(", "fetch(", "XMLHttpRequest", "@import", "url("})
    EXPECT_EQ(page.find(outside), page.npos) << outside;
  for (const PageFile& file : page_files())
    EXPECT_TRUE(file.name == "page.html" || page.find(file.text) != page.npos) << file.name;
}

TEST(Page, OnlyNamesOfPartsStandForThem) {
  Picture picture;
  picture.title = "{{nonce}}";
  EXPECT_EQ(fill_frame("{{title}}, {{titel}} {{}}, {{title", picture), "{{nonce}}, {{titel}} {{}}, {{title");
}

/// A name that would end the script's element, one of a comment, an entity, and the line ends that only JavaScript has.
TEST(Page, NamesNeverBecomeMarkup) {
  Picture picture;
  picture.title = "</title><script>alert(1)</script>";
  picture.blocks.emplace_back();
  picture.steps.push_back({.name = "</script><script>alert(2)</script><!-- &lt; \xe2\x80\xa8 \xe2\x80\xa9 {{style}}"});
  picture.layers.emplace_back("'\"");
  const std::string page = make_page(picture);
  EXPECT_EQ(page.find("<script>"), page.npos);
  EXPECT_NE(page.find("<title>&lt;/title&gt;&lt;script&gt;alert(1)&lt;/script&gt;</title>"), page.npos);
  EXPECT_EQ(html_text("a<b>&\"'\t\x01\xc3\xa4"), "a&lt;b&gt;&amp;&quot;&#39;\t?\xc3\xa4");
  EXPECT_NE(page.find(R"("\u003c/script\u003e\u003cscript\u003ealert(2)\u003c/script\u003e\u003c!-- \u0026lt; )"
                      R"(\u2028 \u2029 {{style}}")"),
            page.npos);
}

/// Scripts run by a number that no text of the page can know, for it is made of all of them.
TEST(Page, ScriptsHaveAnotherNumberOnEachPage) {
  const auto nonce = [](const char* title) {
    Picture picture;
    picture.title = title;
    const std::string page = make_page(picture);
    const size_t at = page.find("'nonce-") + 7;
    return page.substr(at, page.find('\'', at) - at);
  };
  EXPECT_EQ(nonce("a"), nonce("a"));
  EXPECT_NE(nonce("a"), nonce("b"));
  EXPECT_GT(nonce("a").size(), 20U);
}

}  // namespace
}  // namespace kiln
