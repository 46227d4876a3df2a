/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The schema table keeps its own rules: what the code that walks it relies on is true of every row. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <string.h>

#include "config/schema.h"
#include "config/types.h"
#include "gateway/base/arena.h"
#include "gateway/base/str.h"

/* LINK: config/diag.c config/schema.c config/types.c config/types_bgp.c config/types_net.c config/types_policy.c config/endpoint.c config/types_text.c */

typedef void (*row_fn)(const struct object_type *object, const struct field *field);

/* Each object that the root reaches, once for each place where it stands; returns the number of rows. */
static size_t each_row(const struct object_type *object, row_fn check)
{
	size_t n = 0;

	for (size_t i = 0; i < object->n_fields; i++) {
		const struct field *field = &object->fields[i];

		check(object, field);
		n++;
		if (field->object)
			n += each_row(field->object, check);
	}
	return n;
}

static void check_all(row_fn check)
{
	assert_true(each_row(schema_root(), check) > 60);
}

static void check_words(const struct object_type *object, const struct field *field)
{
	assert_true(*field->help);
	assert_true(*object->help);
	assert_true(*field->key);
	assert_int_equal(strspn(field->key, "abcdefghijklmnopqrstuvwxyz0123456789-"), strlen(field->key));
	if (field->limit.words)
		for (size_t i = 0; i < field->limit.words->n; i++) {
			assert_true(*field->limit.words->v[i].word);
			assert_true(*field->limit.words->v[i].help);
		}
}

static void test_words(void **state)
{
	(void)state;
	check_all(check_words);
}

static void check_shape(const struct object_type *object, const struct field *field)
{
	bool is_value = field->kind == FIELD_LEAF || field->kind == FIELD_LIST;

	assert_int_equal(field->type != NULL, is_value);
	assert_int_equal(field->object != NULL, !is_value);
	assert_true(field->offset + (field->type ? field->type->size : sizeof(void *)) <= object->size);
	assert_int_equal(is_value && str_eq(field->type->name, "ENUM"), field->limit.words != NULL);
	if (field->limit.has_range)
		assert_true(field->limit.min < field->limit.max);
	if (field->flags & F_SECRET)
		assert_string_equal(field->type->name, "PATH");
	if (field->flags & F_REQUIRED)
		assert_null(field->def);
	/* "is it the same key" is asked by schema_field(), which finds the first */
	assert_ptr_equal(schema_field(object, field->key), field);
	assert_ptr_equal(schema_object(object->name), object);
}

static void test_shape(void **state)
{
	(void)state;
	check_all(check_shape);
}

static void check_default(const struct object_type *object, const struct field *field)
{
	struct arena *arena;
	_Alignas(max_align_t) char value[64] = {0};
	const char *want = NULL;

	(void)object;
	if (!field->type) {
		assert_null(field->def);
		return;
	}
	arena = arena_new();
	assert_true(field->type->size <= sizeof(value));
	/* what is never right, and what would be */
	assert_int_equal(field->type->parse("\n", &field->limit, arena, value, &want), -EINVAL);
	assert_true(want && *want);
	if (field->def) {
		assert_int_equal(field->kind, FIELD_LEAF);
		assert_int_equal(field->type->parse(field->def, &field->limit, arena, value, &want), 0);
	}
	arena_free(arena);
}

static void test_defaults(void **state)
{
	(void)state;
	check_all(check_default);
}

static void check_ref(const struct object_type *object, const struct field *field)
{
	struct target target;

	(void)object;
	if (!field->limit.ref)
		return;
	assert_string_equal(field->type->name, "NAME");
	assert_int_equal(*field->limit.ref, '/');
	target = schema_target(field->limit.ref);
	assert_true(target.n > 0);
	for (size_t i = 0; i + 1 < target.n; i++)
		assert_int_equal(target.rows[i]->kind, FIELD_NODE);
	assert_int_equal(target.list->kind, FIELD_NODES);
	assert_string_equal(schema_key(target.list->object)->type->name, "NAME");
}

static void test_refs(void **state)
{
	(void)state;
	check_all(check_ref);
}

static void check_keys(const struct object_type *object, const struct field *field)
{
	size_t n = 0;

	(void)object;
	if (!field->object)
		return;
	for (size_t i = 0; i < field->object->n_fields; i++) {
		const struct field *f = &field->object->fields[i];

		if (!(f->flags & F_KEY))
			continue;
		n++;
		assert_int_equal(f->kind, FIELD_LEAF);
		assert_true(f->flags & F_REQUIRED);
		assert_null(f->limit.words);
	}
	assert_int_equal(n, field->kind == FIELD_NODES);
}

static void test_keys(void **state)
{
	(void)state;
	check_all(check_keys);
}

static void test_lookup(void **state)
{
	const struct object_type *segment = schema_object("segment");
	const struct words *mode = schema_words("segment_mode");

	(void)state;
	assert_string_equal(schema_root()->name, "config");
	assert_non_null(segment);
	assert_null(schema_object("segments"));
	assert_null(schema_field(segment, "memebers"));
	assert_string_equal(schema_key(segment)->key, "name");
	assert_null(schema_key(schema_root()));
	assert_int_equal(schema_field_index(segment, schema_field(segment, "vni")), 2);
	assert_non_null(mode);
	assert_string_equal(mode->v[MODE_ROUTED].word, "routed");
	assert_null(schema_words("mode"));
	assert_string_equal(change_name(RECREATE), "recreate");
}

static void test_path(void **state)
{
	const struct path root = {.key = "segments", .name = "gpu"}, list = {.up = &root, .key = "macs", .number = 3};
	const struct path leaf = {.up = &list, .key = "remote"};
	struct arena *arena = arena_new();

	(void)state;
	assert_string_equal(path_str(&leaf, arena), "segments[gpu].macs[#3].remote");
	arena_free(arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_shape),
		cmocka_unit_test(test_defaults),
		cmocka_unit_test(test_refs),
		cmocka_unit_test(test_keys),
		cmocka_unit_test(test_lookup),
		cmocka_unit_test(test_path),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
