// SPDX-License-Identifier: Apache-2.0
#include "shared/units.hpp"

#include "tests/shared/testing.hpp"

namespace ringscope {
namespace {

TEST(Units, EachUnitIsWorthWhatItSays) {
    EXPECT_EQ(*parse_bytes("bytes", "64MiB"), 67'108'864);
    EXPECT_EQ(*parse_bytes("bytes", "1.5GB"), 1'500'000'000);
    EXPECT_EQ(*parse_bytes("bytes", "1TiB"), 1'099'511'627'776);
    EXPECT_EQ(*parse_bytes("bytes", "4096"), 4096);
    EXPECT_EQ(*parse_bytes("bytes", "0"), 0);
    EXPECT_EQ(*parse_bandwidth("bandwidth", "25GB/s"), 25'000'000'000);
    EXPECT_EQ(*parse_bandwidth("bandwidth", "400Gb/s"), 50'000'000'000);
    EXPECT_EQ(*parse_bandwidth("bandwidth", "1"), 1);
    EXPECT_EQ(*parse_time("latency", "500ns"), 500'000);
    EXPECT_EQ(*parse_time("latency", "1.5us"), 1'500'000);
    EXPECT_EQ(*parse_time("latency", "2"), 2'000'000'000'000);
    EXPECT_EQ(*parse_time("latency", "0.001ns"), 1);
}

TEST(Units, WhatIsNoNumberWithAUnitIsRefusedWithFieldValueAndRange) {
    for (const char* text : {"",
                             "MiB",
                             "64Mib",
                             "64 MiB",
                             "-1",
                             "1e3",
                             "0.5",
                             "1.2.3",
                             "64MiB ",
                             "2TiB",
                             "99999999999999999999",
                             "0x10",
                             ".",
                             "1.5B",
                             "nan",
                             "inf",
                             "64MiB/s"}) {
        const auto bytes = parse_bytes("bytes", text);
        ASSERT_FALSE(bytes) << text;
        EXPECT_EQ(bytes.error().field, "bytes");
        EXPECT_EQ(bytes.error().value, text);
        EXPECT_EQ(bytes.error().allowed,
                  "must be a whole number of bytes from 0 to 1TiB, such as 4096, 64MiB or 1.5GB");
    }
    for (const char* text : {"0", "0GB/s", "50GB", "1001TB/s", "3b/s", "fast"}) {
        EXPECT_FALSE(parse_bandwidth("bandwidth", text)) << text;
    }
    for (const char* text : {"1001s", "0.1ps", "5min", "500NS", "-1ns"}) {
        EXPECT_FALSE(parse_time("latency", text)) << text;
    }
}

TEST(Units, PrintingIsExactAndShort) {
    EXPECT_EQ(print_bytes(67'108'864), "64MiB");
    EXPECT_EQ(print_bytes(1536), "1.5KiB");
    EXPECT_EQ(print_bytes(1001), "1001B");
    EXPECT_EQ(print_bytes(0), "0B");
    EXPECT_EQ(print_bandwidth(12'500'000'000), "12.5GB/s");
    EXPECT_EQ(print_time(1'500'000), "1.5us");
    EXPECT_EQ(print_time(0), "0ps");
    EXPECT_EQ(print_time(1'234'567), "1234.567ns");
}

TEST(Units, WhatIsPrintedIsReadBack) {
    Dice dice(1);
    for (int i = 0; i < 20'000; ++i) {
        const int64_t scale = int64_t{1} << dice.below(40);
        const int64_t bytes = dice.below(scale + 1);
        EXPECT_EQ(*parse_bytes("b", print_bytes(bytes)), bytes);
        EXPECT_EQ(*parse_bandwidth("b", print_bandwidth(bytes + 1)), bytes + 1);
        EXPECT_EQ(*parse_time("t", print_time(bytes)), bytes);
    }
}

TEST(Units, PeopleSeeFourDigits) {
    EXPECT_EQ(show_time(2'355'810'240), "2.356 ms");
    EXPECT_EQ(show_time(500'000), "500 ns");
    EXPECT_EQ(show_bandwidth(49'851'431'157), "49.85 GB/s");
    EXPECT_EQ(show_bytes(8 << 20), "8 MiB");
    EXPECT_EQ(show_bytes(0), "0 B");
}

TEST(Units, ATransferNeverBeatsItsLink) {
    EXPECT_EQ(transfer_ps(4096, 450'000'000'000), 9103);  // 9102.2 ps
    EXPECT_EQ(transfer_ps(0, 1), 0);
    EXPECT_EQ(multiply_divide(INT64_MAX, INT64_MAX, INT64_MAX), INT64_MAX);
    EXPECT_EQ(multiply_divide_up(7, 3, 2), 11);
    EXPECT_EQ(multiply_divide(7, 3, 2), 10);
}

TEST(Units, ARateSaturates) {
    EXPECT_EQ(rate_bytes_per_s(1000, ps_per_s), 1000);
    EXPECT_EQ(rate_bytes_per_s(1000, 0), 0);
    EXPECT_EQ(rate_bytes_per_s(bytes_max, 1), INT64_MAX);
}

}  // namespace
}  // namespace ringscope
