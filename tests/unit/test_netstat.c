/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel's counts by their names. */
/* LINK: gateway/daemon/netstat.c */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "gateway/daemon/netstat.h"

static void test_find(void **state)
{
	static const char text[] =
		"TcpExt: SyncookiesSent ReasmOverlaps\nTcpExt: 1 2\n"
		"IpExt: InNoRoutes ReasmOverlaps Last\nIpExt: 3 4 18446744073709551615\nIpExtra: A\nIpExtra: 5\n";

	(void)state;
	assert_int_equal(netstat_find(text, "IpExt", "ReasmOverlaps"), 4);
	assert_int_equal(netstat_find(text, "TcpExt", "ReasmOverlaps"), 2);
	assert_int_equal(netstat_find(text, "IpExtra", "A"), 5);
	assert_int_equal(netstat_find(text, "IpExt", "Reasm"), -1);
	assert_int_equal(netstat_find(text, "Ip", "InNoRoutes"), -1);
	assert_int_equal(netstat_find("IpExt: A B\nIpExt: 1", "IpExt", "B"), -1);
	assert_int_equal(netstat_find("IpExt: A B\n", "IpExt", "A"), -1);
	assert_int_equal(netstat_find("", "IpExt", "A"), -1);
}

static void test_the_kernel_has_it(void **state)
{
	(void)state;
	assert_true(netstat_count("IpExt", "ReasmOverlaps") >= 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_find), cmocka_unit_test(test_the_kernel_has_it)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
