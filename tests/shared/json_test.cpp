// SPDX-License-Identifier: Apache-2.0
#include "shared/json.hpp"

#include "shared/report.hpp"
#include "shared/result.hpp"
#include "tests/shared/testing.hpp"

namespace ringscope {
namespace {

TEST(Json, NestsAndSeparates) {
    JsonWriter json;
    json.begin_object()
        .field("a", 1)
        .key("b")
        .begin_array()
        .value(true)
        .null()
        .begin_object()
        .end_object()
        .end_array()
        .field("c", "x")
        .end_object();
    EXPECT_EQ(json.text(), R"({"a":1,"b":[true,null,{}],"c":"x"})");
}

TEST(Json, StringsCannotBreakOut) {
    JsonWriter json;
    json.value(std::string_view("\"\\\n\x01</script>\xff\xc3\xa9\xc3", 17));
    EXPECT_EQ(json.text(), "\"\\\"\\\\\\u000a\\u0001</script>\\ufffd\xc3\xa9\\ufffd\"");
}

TEST(Json, WhatIsNoUtf8IsReplaced) {
    const std::pair<const char*, int> cases[] = {
        {"\xed\xa0\x80", 3},      // a surrogate
        {"\xe0\x80\x80", 3},      // overlong
        {"\xf0\x80\x80\x80", 4},  // overlong
        {"\xf4\x90\x80\x80", 4},  // beyond the last code point
        {"\xc0\x80", 2}};
    for (const auto& [text, replaced] : cases) {
        std::string expected = "\"";
        for (int i = 0; i < replaced; ++i) {
            expected += "\\ufffd";
        }
        JsonWriter json;
        json.value(text);
        EXPECT_EQ(json.text(), expected + "\"");
    }
    JsonWriter json;
    json.value("\xf0\x9f\x98\x80 \xe2\x82\xac");
    EXPECT_EQ(json.text(), "\"\xf0\x9f\x98\x80 \xe2\x82\xac\"");
}

TEST(Json, AnErrorCarriesItsField) {
    EXPECT_EQ(
        error_json(parse_run("ranks=0").error()),
        R"({"title":"ranks=0: must be a whole number from 1 to 4096","field":"ranks","value":"0",)"
        R"("allowed":"must be a whole number from 1 to 4096"})");
    EXPECT_EQ(error_json(plain_error(ErrorKind::device, "late")), R"({"title":"late"})");
}

}  // namespace
}  // namespace ringscope
