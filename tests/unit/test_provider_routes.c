/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a session was told beside what its provider takes: warned of from 75 % on, both families together. */
/* LINK: routing/bgp_shape.c config/schema.c config/diag.c config/types.c config/types_bgp.c config/types_net.c config/types_policy.c config/endpoint.c config/types_text.c */
/* LIBS: jansson */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "routing/session.h"
#include "routing/show_shape.h"

/* Its warning; "" for none. */
static const char *warning(uint32_t takes, int ipv4, int ipv6, char ret[160])
{
	const struct session s = {.object = "line a",
		.peer = "10.0.0.2",
		.families = CARRIES_IPV4 | CARRIES_IPV6,
		.provider_routes = takes};
	json_t *neighbors =
		json_pack("{s:{s:s, s:{s:{s:i}, s:{s:i}}}}", "10.0.0.2", "bgpState", "Established", "addressFamilyInfo",
			"ipv4Unicast", "sentPrefixCounter", ipv4, "ipv6Unicast", "sentPrefixCounter", ipv6);
	json_t *json = bgp_session_shape(&s, neighbors, NULL);
	const char *text = json_string_value(json_array_get(json_object_get(json, "warnings"), 0));

	(void)snprintf(ret, 160, "%s", text ? text : "");
	json_decref(json);
	json_decref(neighbors);
	return ret;
}

static void test_warning(void **state)
{
	char text[160];

	(void)state;
	assert_string_equal(warning(0, 100000, 0, text), "");
	assert_string_equal(warning(100, 74, 0, text), "");
	assert_string_equal(warning(100, 75, 0, text), "it was told 75 routes, and its provider takes 100");
	assert_string_equal(warning(100, 40, 40, text), "it was told 80 routes, and its provider takes 100");
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_warning)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
