/* fptree--1.0.sql */

-- complain if script is sourced in psql, rather than via CREATE EXTENSION
\echo Use "CREATE EXTENSION fptree" to load this file. \quit

/*
 * All objects that are not our own are named with their schema: the script may
 * run in any schema of the user's choice.
 */

CREATE FUNCTION fpthandler(pg_catalog.internal)
RETURNS pg_catalog.index_am_handler
AS 'MODULE_PATHNAME'
LANGUAGE C STRICT VOLATILE;

COMMENT ON FUNCTION fpthandler(pg_catalog.internal)
	IS 'fptree index access method handler';

CREATE ACCESS METHOD fptree TYPE INDEX HANDLER fpthandler;

COMMENT ON ACCESS METHOD fptree
	IS 'fptree (prefetching B+-tree) index access method';

/*
 * Operator families and classes.  They have the names and the members of
 * btree's, without in_range (3) and skip support (6), which only btree's own
 * are asked for.  From PostgreSQL 18 on the planner compares families of all
 * ordering access methods, so a pair of types must not be missing.
 *
 * Support functions: 1 comparison, 2 sort support, 4 equal image.
 *
 * Written by src/opclasses.sql, up to the next comment.
 */

CREATE OPERATOR FAMILY array_ops USING fptree;

CREATE OPERATOR CLASS array_ops
	DEFAULT FOR TYPE pg_catalog.anyarray USING fptree FAMILY array_ops AS
	OPERATOR 1 pg_catalog.< (pg_catalog.anyarray, pg_catalog.anyarray),
	OPERATOR 2 pg_catalog.<= (pg_catalog.anyarray, pg_catalog.anyarray),
	OPERATOR 3 pg_catalog.= (pg_catalog.anyarray, pg_catalog.anyarray),
	OPERATOR 4 pg_catalog.>= (pg_catalog.anyarray, pg_catalog.anyarray),
	OPERATOR 5 pg_catalog.> (pg_catalog.anyarray, pg_catalog.anyarray),
	FUNCTION 1 (pg_catalog.anyarray, pg_catalog.anyarray)
		pg_catalog.btarraycmp(pg_catalog.anyarray, pg_catalog.anyarray);

CREATE OPERATOR FAMILY bit_ops USING fptree;

CREATE OPERATOR CLASS bit_ops
	DEFAULT FOR TYPE pg_catalog."bit" USING fptree FAMILY bit_ops AS
	OPERATOR 1 pg_catalog.< (pg_catalog."bit", pg_catalog."bit"),
	OPERATOR 2 pg_catalog.<= (pg_catalog."bit", pg_catalog."bit"),
	OPERATOR 3 pg_catalog.= (pg_catalog."bit", pg_catalog."bit"),
	OPERATOR 4 pg_catalog.>= (pg_catalog."bit", pg_catalog."bit"),
	OPERATOR 5 pg_catalog.> (pg_catalog."bit", pg_catalog."bit"),
	FUNCTION 1 (pg_catalog."bit", pg_catalog."bit")
		pg_catalog.bitcmp(pg_catalog."bit", pg_catalog."bit"),
	FUNCTION 4 (pg_catalog."bit", pg_catalog."bit")
		pg_catalog.btequalimage(pg_catalog.oid);

CREATE OPERATOR FAMILY bool_ops USING fptree;

CREATE OPERATOR CLASS bool_ops
	DEFAULT FOR TYPE pg_catalog.bool USING fptree FAMILY bool_ops AS
	OPERATOR 1 pg_catalog.< (pg_catalog.bool, pg_catalog.bool),
	OPERATOR 2 pg_catalog.<= (pg_catalog.bool, pg_catalog.bool),
	OPERATOR 3 pg_catalog.= (pg_catalog.bool, pg_catalog.bool),
	OPERATOR 4 pg_catalog.>= (pg_catalog.bool, pg_catalog.bool),
	OPERATOR 5 pg_catalog.> (pg_catalog.bool, pg_catalog.bool),
	FUNCTION 1 (pg_catalog.bool, pg_catalog.bool)
		pg_catalog.btboolcmp(pg_catalog.bool, pg_catalog.bool),
	FUNCTION 4 (pg_catalog.bool, pg_catalog.bool)
		pg_catalog.btequalimage(pg_catalog.oid);

CREATE OPERATOR FAMILY bpchar_ops USING fptree;

CREATE OPERATOR CLASS bpchar_ops
	DEFAULT FOR TYPE pg_catalog.bpchar USING fptree FAMILY bpchar_ops AS
	OPERATOR 1 pg_catalog.< (pg_catalog.bpchar, pg_catalog.bpchar),
	OPERATOR 2 pg_catalog.<= (pg_catalog.bpchar, pg_catalog.bpchar),
	OPERATOR 3 pg_catalog.= (pg_catalog.bpchar, pg_catalog.bpchar),
	OPERATOR 4 pg_catalog.>= (pg_catalog.bpchar, pg_catalog.bpchar),
	OPERATOR 5 pg_catalog.> (pg_catalog.bpchar, pg_catalog.bpchar),
	FUNCTION 1 (pg_catalog.bpchar, pg_catalog.bpchar)
		pg_catalog.bpcharcmp(pg_catalog.bpchar, pg_catalog.bpchar),
	FUNCTION 2 (pg_catalog.bpchar, pg_catalog.bpchar)
		pg_catalog.bpchar_sortsupport(pg_catalog.internal),
	FUNCTION 4 (pg_catalog.bpchar, pg_catalog.bpchar)
		pg_catalog.btvarstrequalimage(pg_catalog.oid);

CREATE OPERATOR FAMILY bpchar_pattern_ops USING fptree;

CREATE OPERATOR CLASS bpchar_pattern_ops
	FOR TYPE pg_catalog.bpchar USING fptree FAMILY bpchar_pattern_ops AS
	OPERATOR 1 pg_catalog.~<~ (pg_catalog.bpchar, pg_catalog.bpchar),
	OPERATOR 2 pg_catalog.~<=~ (pg_catalog.bpchar, pg_catalog.bpchar),
	OPERATOR 3 pg_catalog.= (pg_catalog.bpchar, pg_catalog.bpchar),
	OPERATOR 4 pg_catalog.~>=~ (pg_catalog.bpchar, pg_catalog.bpchar),
	OPERATOR 5 pg_catalog.~>~ (pg_catalog.bpchar, pg_catalog.bpchar),
	FUNCTION 1 (pg_catalog.bpchar, pg_catalog.bpchar)
		pg_catalog.btbpchar_pattern_cmp(pg_catalog.bpchar, pg_catalog.bpchar),
	FUNCTION 2 (pg_catalog.bpchar, pg_catalog.bpchar)
		pg_catalog.btbpchar_pattern_sortsupport(pg_catalog.internal),
	FUNCTION 4 (pg_catalog.bpchar, pg_catalog.bpchar)
		pg_catalog.btequalimage(pg_catalog.oid);

CREATE OPERATOR FAMILY bytea_ops USING fptree;

CREATE OPERATOR CLASS bytea_ops
	DEFAULT FOR TYPE pg_catalog.bytea USING fptree FAMILY bytea_ops AS
	OPERATOR 1 pg_catalog.< (pg_catalog.bytea, pg_catalog.bytea),
	OPERATOR 2 pg_catalog.<= (pg_catalog.bytea, pg_catalog.bytea),
	OPERATOR 3 pg_catalog.= (pg_catalog.bytea, pg_catalog.bytea),
	OPERATOR 4 pg_catalog.>= (pg_catalog.bytea, pg_catalog.bytea),
	OPERATOR 5 pg_catalog.> (pg_catalog.bytea, pg_catalog.bytea),
	FUNCTION 1 (pg_catalog.bytea, pg_catalog.bytea)
		pg_catalog.byteacmp(pg_catalog.bytea, pg_catalog.bytea),
	FUNCTION 2 (pg_catalog.bytea, pg_catalog.bytea)
		pg_catalog.bytea_sortsupport(pg_catalog.internal),
	FUNCTION 4 (pg_catalog.bytea, pg_catalog.bytea)
		pg_catalog.btequalimage(pg_catalog.oid);

CREATE OPERATOR FAMILY char_ops USING fptree;

CREATE OPERATOR CLASS char_ops
	DEFAULT FOR TYPE pg_catalog."char" USING fptree FAMILY char_ops AS
	OPERATOR 1 pg_catalog.< (pg_catalog."char", pg_catalog."char"),
	OPERATOR 2 pg_catalog.<= (pg_catalog."char", pg_catalog."char"),
	OPERATOR 3 pg_catalog.= (pg_catalog."char", pg_catalog."char"),
	OPERATOR 4 pg_catalog.>= (pg_catalog."char", pg_catalog."char"),
	OPERATOR 5 pg_catalog.> (pg_catalog."char", pg_catalog."char"),
	FUNCTION 1 (pg_catalog."char", pg_catalog."char")
		pg_catalog.btcharcmp(pg_catalog."char", pg_catalog."char"),
	FUNCTION 4 (pg_catalog."char", pg_catalog."char")
		pg_catalog.btequalimage(pg_catalog.oid);

CREATE OPERATOR FAMILY datetime_ops USING fptree;

CREATE OPERATOR CLASS date_ops
	DEFAULT FOR TYPE pg_catalog.date USING fptree FAMILY datetime_ops AS
	OPERATOR 1 pg_catalog.< (pg_catalog.date, pg_catalog.date),
	OPERATOR 2 pg_catalog.<= (pg_catalog.date, pg_catalog.date),
	OPERATOR 3 pg_catalog.= (pg_catalog.date, pg_catalog.date),
	OPERATOR 4 pg_catalog.>= (pg_catalog.date, pg_catalog.date),
	OPERATOR 5 pg_catalog.> (pg_catalog.date, pg_catalog.date),
	FUNCTION 1 (pg_catalog.date, pg_catalog.date)
		pg_catalog.date_cmp(pg_catalog.date, pg_catalog.date),
	FUNCTION 2 (pg_catalog.date, pg_catalog.date)
		pg_catalog.date_sortsupport(pg_catalog.internal),
	FUNCTION 4 (pg_catalog.date, pg_catalog.date)
		pg_catalog.btequalimage(pg_catalog.oid);

CREATE OPERATOR CLASS timestamp_ops
	DEFAULT FOR TYPE pg_catalog."timestamp" USING fptree FAMILY datetime_ops AS
	OPERATOR 1 pg_catalog.< (pg_catalog."timestamp", pg_catalog."timestamp"),
	OPERATOR 2 pg_catalog.<= (pg_catalog."timestamp", pg_catalog."timestamp"),
	OPERATOR 3 pg_catalog.= (pg_catalog."timestamp", pg_catalog."timestamp"),
	OPERATOR 4 pg_catalog.>= (pg_catalog."timestamp", pg_catalog."timestamp"),
	OPERATOR 5 pg_catalog.> (pg_catalog."timestamp", pg_catalog."timestamp"),
	FUNCTION 1 (pg_catalog."timestamp", pg_catalog."timestamp")
		pg_catalog.timestamp_cmp(pg_catalog."timestamp", pg_catalog."timestamp"),
	FUNCTION 2 (pg_catalog."timestamp", pg_catalog."timestamp")
		pg_catalog.timestamp_sortsupport(pg_catalog.internal),
	FUNCTION 4 (pg_catalog."timestamp", pg_catalog."timestamp")
		pg_catalog.btequalimage(pg_catalog.oid);

CREATE OPERATOR CLASS timestamptz_ops
	DEFAULT FOR TYPE pg_catalog.timestamptz USING fptree FAMILY datetime_ops AS
	OPERATOR 1 pg_catalog.< (pg_catalog.timestamptz, pg_catalog.timestamptz),
	OPERATOR 2 pg_catalog.<= (pg_catalog.timestamptz, pg_catalog.timestamptz),
	OPERATOR 3 pg_catalog.= (pg_catalog.timestamptz, pg_catalog.timestamptz),
	OPERATOR 4 pg_catalog.>= (pg_catalog.timestamptz, pg_catalog.timestamptz),
	OPERATOR 5 pg_catalog.> (pg_catalog.timestamptz, pg_catalog.timestamptz),
	FUNCTION 1 (pg_catalog.timestamptz, pg_catalog.timestamptz)
		pg_catalog.timestamptz_cmp(pg_catalog.timestamptz, pg_catalog.timestamptz),
	FUNCTION 2 (pg_catalog.timestamptz, pg_catalog.timestamptz)
		pg_catalog.timestamp_sortsupport(pg_catalog.internal),
	FUNCTION 4 (pg_catalog.timestamptz, pg_catalog.timestamptz)
		pg_catalog.btequalimage(pg_catalog.oid);

ALTER OPERATOR FAMILY datetime_ops USING fptree ADD
	OPERATOR 1 pg_catalog.< (pg_catalog."timestamp", pg_catalog.date),
	OPERATOR 2 pg_catalog.<= (pg_catalog."timestamp", pg_catalog.date),
	OPERATOR 3 pg_catalog.= (pg_catalog."timestamp", pg_catalog.date),
	OPERATOR 4 pg_catalog.>= (pg_catalog."timestamp", pg_catalog.date),
	OPERATOR 5 pg_catalog.> (pg_catalog."timestamp", pg_catalog.date),
	FUNCTION 1 (pg_catalog."timestamp", pg_catalog.date)
		pg_catalog.timestamp_cmp_date(pg_catalog."timestamp", pg_catalog.date);

ALTER OPERATOR FAMILY datetime_ops USING fptree ADD
	OPERATOR 1 pg_catalog.< (pg_catalog."timestamp", pg_catalog.timestamptz),
	OPERATOR 2 pg_catalog.<= (pg_catalog."timestamp", pg_catalog.timestamptz),
	OPERATOR 3 pg_catalog.= (pg_catalog."timestamp", pg_catalog.timestamptz),
	OPERATOR 4 pg_catalog.>= (pg_catalog."timestamp", pg_catalog.timestamptz),
	OPERATOR 5 pg_catalog.> (pg_catalog."timestamp", pg_catalog.timestamptz),
	FUNCTION 1 (pg_catalog."timestamp", pg_catalog.timestamptz)
		pg_catalog.timestamp_cmp_timestamptz(pg_catalog."timestamp", pg_catalog.timestamptz);

ALTER OPERATOR FAMILY datetime_ops USING fptree ADD
	OPERATOR 1 pg_catalog.< (pg_catalog.date, pg_catalog."timestamp"),
	OPERATOR 2 pg_catalog.<= (pg_catalog.date, pg_catalog."timestamp"),
	OPERATOR 3 pg_catalog.= (pg_catalog.date, pg_catalog."timestamp"),
	OPERATOR 4 pg_catalog.>= (pg_catalog.date, pg_catalog."timestamp"),
	OPERATOR 5 pg_catalog.> (pg_catalog.date, pg_catalog."timestamp"),
	FUNCTION 1 (pg_catalog.date, pg_catalog."timestamp")
		pg_catalog.date_cmp_timestamp(pg_catalog.date, pg_catalog."timestamp");

ALTER OPERATOR FAMILY datetime_ops USING fptree ADD
	OPERATOR 1 pg_catalog.< (pg_catalog.date, pg_catalog.timestamptz),
	OPERATOR 2 pg_catalog.<= (pg_catalog.date, pg_catalog.timestamptz),
	OPERATOR 3 pg_catalog.= (pg_catalog.date, pg_catalog.timestamptz),
	OPERATOR 4 pg_catalog.>= (pg_catalog.date, pg_catalog.timestamptz),
	OPERATOR 5 pg_catalog.> (pg_catalog.date, pg_catalog.timestamptz),
	FUNCTION 1 (pg_catalog.date, pg_catalog.timestamptz)
		pg_catalog.date_cmp_timestamptz(pg_catalog.date, pg_catalog.timestamptz);

ALTER OPERATOR FAMILY datetime_ops USING fptree ADD
	OPERATOR 1 pg_catalog.< (pg_catalog.timestamptz, pg_catalog."timestamp"),
	OPERATOR 2 pg_catalog.<= (pg_catalog.timestamptz, pg_catalog."timestamp"),
	OPERATOR 3 pg_catalog.= (pg_catalog.timestamptz, pg_catalog."timestamp"),
	OPERATOR 4 pg_catalog.>= (pg_catalog.timestamptz, pg_catalog."timestamp"),
	OPERATOR 5 pg_catalog.> (pg_catalog.timestamptz, pg_catalog."timestamp"),
	FUNCTION 1 (pg_catalog.timestamptz, pg_catalog."timestamp")
		pg_catalog.timestamptz_cmp_timestamp(pg_catalog.timestamptz, pg_catalog."timestamp");

ALTER OPERATOR FAMILY datetime_ops USING fptree ADD
	OPERATOR 1 pg_catalog.< (pg_catalog.timestamptz, pg_catalog.date),
	OPERATOR 2 pg_catalog.<= (pg_catalog.timestamptz, pg_catalog.date),
	OPERATOR 3 pg_catalog.= (pg_catalog.timestamptz, pg_catalog.date),
	OPERATOR 4 pg_catalog.>= (pg_catalog.timestamptz, pg_catalog.date),
	OPERATOR 5 pg_catalog.> (pg_catalog.timestamptz, pg_catalog.date),
	FUNCTION 1 (pg_catalog.timestamptz, pg_catalog.date)
		pg_catalog.timestamptz_cmp_date(pg_catalog.timestamptz, pg_catalog.date);

CREATE OPERATOR FAMILY enum_ops USING fptree;

CREATE OPERATOR CLASS enum_ops
	DEFAULT FOR TYPE pg_catalog.anyenum USING fptree FAMILY enum_ops AS
	OPERATOR 1 pg_catalog.< (pg_catalog.anyenum, pg_catalog.anyenum),
	OPERATOR 2 pg_catalog.<= (pg_catalog.anyenum, pg_catalog.anyenum),
	OPERATOR 3 pg_catalog.= (pg_catalog.anyenum, pg_catalog.anyenum),
	OPERATOR 4 pg_catalog.>= (pg_catalog.anyenum, pg_catalog.anyenum),
	OPERATOR 5 pg_catalog.> (pg_catalog.anyenum, pg_catalog.anyenum),
	FUNCTION 1 (pg_catalog.anyenum, pg_catalog.anyenum)
		pg_catalog.enum_cmp(pg_catalog.anyenum, pg_catalog.anyenum),
	FUNCTION 4 (pg_catalog.anyenum, pg_catalog.anyenum)
		pg_catalog.btequalimage(pg_catalog.oid);

CREATE OPERATOR FAMILY float_ops USING fptree;

CREATE OPERATOR CLASS float4_ops
	DEFAULT FOR TYPE pg_catalog.float4 USING fptree FAMILY float_ops AS
	OPERATOR 1 pg_catalog.< (pg_catalog.float4, pg_catalog.float4),
	OPERATOR 2 pg_catalog.<= (pg_catalog.float4, pg_catalog.float4),
	OPERATOR 3 pg_catalog.= (pg_catalog.float4, pg_catalog.float4),
	OPERATOR 4 pg_catalog.>= (pg_catalog.float4, pg_catalog.float4),
	OPERATOR 5 pg_catalog.> (pg_catalog.float4, pg_catalog.float4),
	FUNCTION 1 (pg_catalog.float4, pg_catalog.float4)
		pg_catalog.btfloat4cmp(pg_catalog.float4, pg_catalog.float4),
	FUNCTION 2 (pg_catalog.float4, pg_catalog.float4)
		pg_catalog.btfloat4sortsupport(pg_catalog.internal);

CREATE OPERATOR CLASS float8_ops
	DEFAULT FOR TYPE pg_catalog.float8 USING fptree FAMILY float_ops AS
	OPERATOR 1 pg_catalog.< (pg_catalog.float8, pg_catalog.float8),
	OPERATOR 2 pg_catalog.<= (pg_catalog.float8, pg_catalog.float8),
	OPERATOR 3 pg_catalog.= (pg_catalog.float8, pg_catalog.float8),
	OPERATOR 4 pg_catalog.>= (pg_catalog.float8, pg_catalog.float8),
	OPERATOR 5 pg_catalog.> (pg_catalog.float8, pg_catalog.float8),
	FUNCTION 1 (pg_catalog.float8, pg_catalog.float8)
		pg_catalog.btfloat8cmp(pg_catalog.float8, pg_catalog.float8),
	FUNCTION 2 (pg_catalog.float8, pg_catalog.float8)
		pg_catalog.btfloat8sortsupport(pg_catalog.internal);

ALTER OPERATOR FAMILY float_ops USING fptree ADD
	OPERATOR 1 pg_catalog.< (pg_catalog.float4, pg_catalog.float8),
	OPERATOR 2 pg_catalog.<= (pg_catalog.float4, pg_catalog.float8),
	OPERATOR 3 pg_catalog.= (pg_catalog.float4, pg_catalog.float8),
	OPERATOR 4 pg_catalog.>= (pg_catalog.float4, pg_catalog.float8),
	OPERATOR 5 pg_catalog.> (pg_catalog.float4, pg_catalog.float8),
	FUNCTION 1 (pg_catalog.float4, pg_catalog.float8)
		pg_catalog.btfloat48cmp(pg_catalog.float4, pg_catalog.float8);

ALTER OPERATOR FAMILY float_ops USING fptree ADD
	OPERATOR 1 pg_catalog.< (pg_catalog.float8, pg_catalog.float4),
	OPERATOR 2 pg_catalog.<= (pg_catalog.float8, pg_catalog.float4),
	OPERATOR 3 pg_catalog.= (pg_catalog.float8, pg_catalog.float4),
	OPERATOR 4 pg_catalog.>= (pg_catalog.float8, pg_catalog.float4),
	OPERATOR 5 pg_catalog.> (pg_catalog.float8, pg_catalog.float4),
	FUNCTION 1 (pg_catalog.float8, pg_catalog.float4)
		pg_catalog.btfloat84cmp(pg_catalog.float8, pg_catalog.float4);

CREATE OPERATOR FAMILY integer_ops USING fptree;

CREATE OPERATOR CLASS int2_ops
	DEFAULT FOR TYPE pg_catalog.int2 USING fptree FAMILY integer_ops AS
	OPERATOR 1 pg_catalog.< (pg_catalog.int2, pg_catalog.int2),
	OPERATOR 2 pg_catalog.<= (pg_catalog.int2, pg_catalog.int2),
	OPERATOR 3 pg_catalog.= (pg_catalog.int2, pg_catalog.int2),
	OPERATOR 4 pg_catalog.>= (pg_catalog.int2, pg_catalog.int2),
	OPERATOR 5 pg_catalog.> (pg_catalog.int2, pg_catalog.int2),
	FUNCTION 1 (pg_catalog.int2, pg_catalog.int2)
		pg_catalog.btint2cmp(pg_catalog.int2, pg_catalog.int2),
	FUNCTION 2 (pg_catalog.int2, pg_catalog.int2)
		pg_catalog.btint2sortsupport(pg_catalog.internal),
	FUNCTION 4 (pg_catalog.int2, pg_catalog.int2)
		pg_catalog.btequalimage(pg_catalog.oid);

CREATE OPERATOR CLASS int4_ops
	DEFAULT FOR TYPE pg_catalog.int4 USING fptree FAMILY integer_ops AS
	OPERATOR 1 pg_catalog.< (pg_catalog.int4, pg_catalog.int4),
	OPERATOR 2 pg_catalog.<= (pg_catalog.int4, pg_catalog.int4),
	OPERATOR 3 pg_catalog.= (pg_catalog.int4, pg_catalog.int4),
	OPERATOR 4 pg_catalog.>= (pg_catalog.int4, pg_catalog.int4),
	OPERATOR 5 pg_catalog.> (pg_catalog.int4, pg_catalog.int4),
	FUNCTION 1 (pg_catalog.int4, pg_catalog.int4)
		pg_catalog.btint4cmp(pg_catalog.int4, pg_catalog.int4),
	FUNCTION 2 (pg_catalog.int4, pg_catalog.int4)
		pg_catalog.btint4sortsupport(pg_catalog.internal),
	FUNCTION 4 (pg_catalog.int4, pg_catalog.int4)
		pg_catalog.btequalimage(pg_catalog.oid);

CREATE OPERATOR CLASS int8_ops
	DEFAULT FOR TYPE pg_catalog.int8 USING fptree FAMILY integer_ops AS
	OPERATOR 1 pg_catalog.< (pg_catalog.int8, pg_catalog.int8),
	OPERATOR 2 pg_catalog.<= (pg_catalog.int8, pg_catalog.int8),
	OPERATOR 3 pg_catalog.= (pg_catalog.int8, pg_catalog.int8),
	OPERATOR 4 pg_catalog.>= (pg_catalog.int8, pg_catalog.int8),
	OPERATOR 5 pg_catalog.> (pg_catalog.int8, pg_catalog.int8),
	FUNCTION 1 (pg_catalog.int8, pg_catalog.int8)
		pg_catalog.btint8cmp(pg_catalog.int8, pg_catalog.int8),
	FUNCTION 2 (pg_catalog.int8, pg_catalog.int8)
		pg_catalog.btint8sortsupport(pg_catalog.internal),
	FUNCTION 4 (pg_catalog.int8, pg_catalog.int8)
		pg_catalog.btequalimage(pg_catalog.oid);

ALTER OPERATOR FAMILY integer_ops USING fptree ADD
	OPERATOR 1 pg_catalog.< (pg_catalog.int2, pg_catalog.int4),
	OPERATOR 2 pg_catalog.<= (pg_catalog.int2, pg_catalog.int4),
	OPERATOR 3 pg_catalog.= (pg_catalog.int2, pg_catalog.int4),
	OPERATOR 4 pg_catalog.>= (pg_catalog.int2, pg_catalog.int4),
	OPERATOR 5 pg_catalog.> (pg_catalog.int2, pg_catalog.int4),
	FUNCTION 1 (pg_catalog.int2, pg_catalog.int4)
		pg_catalog.btint24cmp(pg_catalog.int2, pg_catalog.int4);

ALTER OPERATOR FAMILY integer_ops USING fptree ADD
	OPERATOR 1 pg_catalog.< (pg_catalog.int2, pg_catalog.int8),
	OPERATOR 2 pg_catalog.<= (pg_catalog.int2, pg_catalog.int8),
	OPERATOR 3 pg_catalog.= (pg_catalog.int2, pg_catalog.int8),
	OPERATOR 4 pg_catalog.>= (pg_catalog.int2, pg_catalog.int8),
	OPERATOR 5 pg_catalog.> (pg_catalog.int2, pg_catalog.int8),
	FUNCTION 1 (pg_catalog.int2, pg_catalog.int8)
		pg_catalog.btint28cmp(pg_catalog.int2, pg_catalog.int8);

ALTER OPERATOR FAMILY integer_ops USING fptree ADD
	OPERATOR 1 pg_catalog.< (pg_catalog.int4, pg_catalog.int2),
	OPERATOR 2 pg_catalog.<= (pg_catalog.int4, pg_catalog.int2),
	OPERATOR 3 pg_catalog.= (pg_catalog.int4, pg_catalog.int2),
	OPERATOR 4 pg_catalog.>= (pg_catalog.int4, pg_catalog.int2),
	OPERATOR 5 pg_catalog.> (pg_catalog.int4, pg_catalog.int2),
	FUNCTION 1 (pg_catalog.int4, pg_catalog.int2)
		pg_catalog.btint42cmp(pg_catalog.int4, pg_catalog.int2);

ALTER OPERATOR FAMILY integer_ops USING fptree ADD
	OPERATOR 1 pg_catalog.< (pg_catalog.int4, pg_catalog.int8),
	OPERATOR 2 pg_catalog.<= (pg_catalog.int4, pg_catalog.int8),
	OPERATOR 3 pg_catalog.= (pg_catalog.int4, pg_catalog.int8),
	OPERATOR 4 pg_catalog.>= (pg_catalog.int4, pg_catalog.int8),
	OPERATOR 5 pg_catalog.> (pg_catalog.int4, pg_catalog.int8),
	FUNCTION 1 (pg_catalog.int4, pg_catalog.int8)
		pg_catalog.btint48cmp(pg_catalog.int4, pg_catalog.int8);

ALTER OPERATOR FAMILY integer_ops USING fptree ADD
	OPERATOR 1 pg_catalog.< (pg_catalog.int8, pg_catalog.int2),
	OPERATOR 2 pg_catalog.<= (pg_catalog.int8, pg_catalog.int2),
	OPERATOR 3 pg_catalog.= (pg_catalog.int8, pg_catalog.int2),
	OPERATOR 4 pg_catalog.>= (pg_catalog.int8, pg_catalog.int2),
	OPERATOR 5 pg_catalog.> (pg_catalog.int8, pg_catalog.int2),
	FUNCTION 1 (pg_catalog.int8, pg_catalog.int2)
		pg_catalog.btint82cmp(pg_catalog.int8, pg_catalog.int2);

ALTER OPERATOR FAMILY integer_ops USING fptree ADD
	OPERATOR 1 pg_catalog.< (pg_catalog.int8, pg_catalog.int4),
	OPERATOR 2 pg_catalog.<= (pg_catalog.int8, pg_catalog.int4),
	OPERATOR 3 pg_catalog.= (pg_catalog.int8, pg_catalog.int4),
	OPERATOR 4 pg_catalog.>= (pg_catalog.int8, pg_catalog.int4),
	OPERATOR 5 pg_catalog.> (pg_catalog.int8, pg_catalog.int4),
	FUNCTION 1 (pg_catalog.int8, pg_catalog.int4)
		pg_catalog.btint84cmp(pg_catalog.int8, pg_catalog.int4);

CREATE OPERATOR FAMILY interval_ops USING fptree;

CREATE OPERATOR CLASS interval_ops
	DEFAULT FOR TYPE pg_catalog."interval" USING fptree FAMILY interval_ops AS
	OPERATOR 1 pg_catalog.< (pg_catalog."interval", pg_catalog."interval"),
	OPERATOR 2 pg_catalog.<= (pg_catalog."interval", pg_catalog."interval"),
	OPERATOR 3 pg_catalog.= (pg_catalog."interval", pg_catalog."interval"),
	OPERATOR 4 pg_catalog.>= (pg_catalog."interval", pg_catalog."interval"),
	OPERATOR 5 pg_catalog.> (pg_catalog."interval", pg_catalog."interval"),
	FUNCTION 1 (pg_catalog."interval", pg_catalog."interval")
		pg_catalog.interval_cmp(pg_catalog."interval", pg_catalog."interval");

CREATE OPERATOR FAMILY jsonb_ops USING fptree;

CREATE OPERATOR CLASS jsonb_ops
	DEFAULT FOR TYPE pg_catalog.jsonb USING fptree FAMILY jsonb_ops AS
	OPERATOR 1 pg_catalog.< (pg_catalog.jsonb, pg_catalog.jsonb),
	OPERATOR 2 pg_catalog.<= (pg_catalog.jsonb, pg_catalog.jsonb),
	OPERATOR 3 pg_catalog.= (pg_catalog.jsonb, pg_catalog.jsonb),
	OPERATOR 4 pg_catalog.>= (pg_catalog.jsonb, pg_catalog.jsonb),
	OPERATOR 5 pg_catalog.> (pg_catalog.jsonb, pg_catalog.jsonb),
	FUNCTION 1 (pg_catalog.jsonb, pg_catalog.jsonb)
		pg_catalog.jsonb_cmp(pg_catalog.jsonb, pg_catalog.jsonb);

CREATE OPERATOR FAMILY macaddr8_ops USING fptree;

CREATE OPERATOR CLASS macaddr8_ops
	DEFAULT FOR TYPE pg_catalog.macaddr8 USING fptree FAMILY macaddr8_ops AS
	OPERATOR 1 pg_catalog.< (pg_catalog.macaddr8, pg_catalog.macaddr8),
	OPERATOR 2 pg_catalog.<= (pg_catalog.macaddr8, pg_catalog.macaddr8),
	OPERATOR 3 pg_catalog.= (pg_catalog.macaddr8, pg_catalog.macaddr8),
	OPERATOR 4 pg_catalog.>= (pg_catalog.macaddr8, pg_catalog.macaddr8),
	OPERATOR 5 pg_catalog.> (pg_catalog.macaddr8, pg_catalog.macaddr8),
	FUNCTION 1 (pg_catalog.macaddr8, pg_catalog.macaddr8)
		pg_catalog.macaddr8_cmp(pg_catalog.macaddr8, pg_catalog.macaddr8),
	FUNCTION 4 (pg_catalog.macaddr8, pg_catalog.macaddr8)
		pg_catalog.btequalimage(pg_catalog.oid);

CREATE OPERATOR FAMILY macaddr_ops USING fptree;

CREATE OPERATOR CLASS macaddr_ops
	DEFAULT FOR TYPE pg_catalog.macaddr USING fptree FAMILY macaddr_ops AS
	OPERATOR 1 pg_catalog.< (pg_catalog.macaddr, pg_catalog.macaddr),
	OPERATOR 2 pg_catalog.<= (pg_catalog.macaddr, pg_catalog.macaddr),
	OPERATOR 3 pg_catalog.= (pg_catalog.macaddr, pg_catalog.macaddr),
	OPERATOR 4 pg_catalog.>= (pg_catalog.macaddr, pg_catalog.macaddr),
	OPERATOR 5 pg_catalog.> (pg_catalog.macaddr, pg_catalog.macaddr),
	FUNCTION 1 (pg_catalog.macaddr, pg_catalog.macaddr)
		pg_catalog.macaddr_cmp(pg_catalog.macaddr, pg_catalog.macaddr),
	FUNCTION 2 (pg_catalog.macaddr, pg_catalog.macaddr)
		pg_catalog.macaddr_sortsupport(pg_catalog.internal),
	FUNCTION 4 (pg_catalog.macaddr, pg_catalog.macaddr)
		pg_catalog.btequalimage(pg_catalog.oid);

CREATE OPERATOR FAMILY money_ops USING fptree;

CREATE OPERATOR CLASS money_ops
	DEFAULT FOR TYPE pg_catalog.money USING fptree FAMILY money_ops AS
	OPERATOR 1 pg_catalog.< (pg_catalog.money, pg_catalog.money),
	OPERATOR 2 pg_catalog.<= (pg_catalog.money, pg_catalog.money),
	OPERATOR 3 pg_catalog.= (pg_catalog.money, pg_catalog.money),
	OPERATOR 4 pg_catalog.>= (pg_catalog.money, pg_catalog.money),
	OPERATOR 5 pg_catalog.> (pg_catalog.money, pg_catalog.money),
	FUNCTION 1 (pg_catalog.money, pg_catalog.money)
		pg_catalog.cash_cmp(pg_catalog.money, pg_catalog.money),
	FUNCTION 4 (pg_catalog.money, pg_catalog.money)
		pg_catalog.btequalimage(pg_catalog.oid);

CREATE OPERATOR FAMILY multirange_ops USING fptree;

CREATE OPERATOR CLASS multirange_ops
	DEFAULT FOR TYPE pg_catalog.anymultirange USING fptree FAMILY multirange_ops AS
	OPERATOR 1 pg_catalog.< (pg_catalog.anymultirange, pg_catalog.anymultirange),
	OPERATOR 2 pg_catalog.<= (pg_catalog.anymultirange, pg_catalog.anymultirange),
	OPERATOR 3 pg_catalog.= (pg_catalog.anymultirange, pg_catalog.anymultirange),
	OPERATOR 4 pg_catalog.>= (pg_catalog.anymultirange, pg_catalog.anymultirange),
	OPERATOR 5 pg_catalog.> (pg_catalog.anymultirange, pg_catalog.anymultirange),
	FUNCTION 1 (pg_catalog.anymultirange, pg_catalog.anymultirange)
		pg_catalog.multirange_cmp(pg_catalog.anymultirange, pg_catalog.anymultirange);

CREATE OPERATOR FAMILY network_ops USING fptree;

CREATE OPERATOR CLASS inet_ops
	DEFAULT FOR TYPE pg_catalog.inet USING fptree FAMILY network_ops AS
	OPERATOR 1 pg_catalog.< (pg_catalog.inet, pg_catalog.inet),
	OPERATOR 2 pg_catalog.<= (pg_catalog.inet, pg_catalog.inet),
	OPERATOR 3 pg_catalog.= (pg_catalog.inet, pg_catalog.inet),
	OPERATOR 4 pg_catalog.>= (pg_catalog.inet, pg_catalog.inet),
	OPERATOR 5 pg_catalog.> (pg_catalog.inet, pg_catalog.inet),
	FUNCTION 1 (pg_catalog.inet, pg_catalog.inet)
		pg_catalog.network_cmp(pg_catalog.inet, pg_catalog.inet),
	FUNCTION 2 (pg_catalog.inet, pg_catalog.inet)
		pg_catalog.network_sortsupport(pg_catalog.internal),
	FUNCTION 4 (pg_catalog.inet, pg_catalog.inet)
		pg_catalog.btequalimage(pg_catalog.oid);

CREATE OPERATOR CLASS cidr_ops
	FOR TYPE pg_catalog.inet USING fptree FAMILY network_ops AS
	STORAGE pg_catalog.inet;

CREATE OPERATOR FAMILY numeric_ops USING fptree;

CREATE OPERATOR CLASS numeric_ops
	DEFAULT FOR TYPE pg_catalog."numeric" USING fptree FAMILY numeric_ops AS
	OPERATOR 1 pg_catalog.< (pg_catalog."numeric", pg_catalog."numeric"),
	OPERATOR 2 pg_catalog.<= (pg_catalog."numeric", pg_catalog."numeric"),
	OPERATOR 3 pg_catalog.= (pg_catalog."numeric", pg_catalog."numeric"),
	OPERATOR 4 pg_catalog.>= (pg_catalog."numeric", pg_catalog."numeric"),
	OPERATOR 5 pg_catalog.> (pg_catalog."numeric", pg_catalog."numeric"),
	FUNCTION 1 (pg_catalog."numeric", pg_catalog."numeric")
		pg_catalog.numeric_cmp(pg_catalog."numeric", pg_catalog."numeric"),
	FUNCTION 2 (pg_catalog."numeric", pg_catalog."numeric")
		pg_catalog.numeric_sortsupport(pg_catalog.internal);

CREATE OPERATOR FAMILY oid_ops USING fptree;

CREATE OPERATOR CLASS oid_ops
	DEFAULT FOR TYPE pg_catalog.oid USING fptree FAMILY oid_ops AS
	OPERATOR 1 pg_catalog.< (pg_catalog.oid, pg_catalog.oid),
	OPERATOR 2 pg_catalog.<= (pg_catalog.oid, pg_catalog.oid),
	OPERATOR 3 pg_catalog.= (pg_catalog.oid, pg_catalog.oid),
	OPERATOR 4 pg_catalog.>= (pg_catalog.oid, pg_catalog.oid),
	OPERATOR 5 pg_catalog.> (pg_catalog.oid, pg_catalog.oid),
	FUNCTION 1 (pg_catalog.oid, pg_catalog.oid)
		pg_catalog.btoidcmp(pg_catalog.oid, pg_catalog.oid),
	FUNCTION 2 (pg_catalog.oid, pg_catalog.oid)
		pg_catalog.btoidsortsupport(pg_catalog.internal),
	FUNCTION 4 (pg_catalog.oid, pg_catalog.oid)
		pg_catalog.btequalimage(pg_catalog.oid);

CREATE OPERATOR FAMILY oidvector_ops USING fptree;

CREATE OPERATOR CLASS oidvector_ops
	DEFAULT FOR TYPE pg_catalog.oidvector USING fptree FAMILY oidvector_ops AS
	OPERATOR 1 pg_catalog.< (pg_catalog.oidvector, pg_catalog.oidvector),
	OPERATOR 2 pg_catalog.<= (pg_catalog.oidvector, pg_catalog.oidvector),
	OPERATOR 3 pg_catalog.= (pg_catalog.oidvector, pg_catalog.oidvector),
	OPERATOR 4 pg_catalog.>= (pg_catalog.oidvector, pg_catalog.oidvector),
	OPERATOR 5 pg_catalog.> (pg_catalog.oidvector, pg_catalog.oidvector),
	FUNCTION 1 (pg_catalog.oidvector, pg_catalog.oidvector)
		pg_catalog.btoidvectorcmp(pg_catalog.oidvector, pg_catalog.oidvector),
	FUNCTION 4 (pg_catalog.oidvector, pg_catalog.oidvector)
		pg_catalog.btequalimage(pg_catalog.oid);

CREATE OPERATOR FAMILY pg_lsn_ops USING fptree;

CREATE OPERATOR CLASS pg_lsn_ops
	DEFAULT FOR TYPE pg_catalog.pg_lsn USING fptree FAMILY pg_lsn_ops AS
	OPERATOR 1 pg_catalog.< (pg_catalog.pg_lsn, pg_catalog.pg_lsn),
	OPERATOR 2 pg_catalog.<= (pg_catalog.pg_lsn, pg_catalog.pg_lsn),
	OPERATOR 3 pg_catalog.= (pg_catalog.pg_lsn, pg_catalog.pg_lsn),
	OPERATOR 4 pg_catalog.>= (pg_catalog.pg_lsn, pg_catalog.pg_lsn),
	OPERATOR 5 pg_catalog.> (pg_catalog.pg_lsn, pg_catalog.pg_lsn),
	FUNCTION 1 (pg_catalog.pg_lsn, pg_catalog.pg_lsn)
		pg_catalog.pg_lsn_cmp(pg_catalog.pg_lsn, pg_catalog.pg_lsn),
	FUNCTION 4 (pg_catalog.pg_lsn, pg_catalog.pg_lsn)
		pg_catalog.btequalimage(pg_catalog.oid);

CREATE OPERATOR FAMILY range_ops USING fptree;

CREATE OPERATOR CLASS range_ops
	DEFAULT FOR TYPE pg_catalog.anyrange USING fptree FAMILY range_ops AS
	OPERATOR 1 pg_catalog.< (pg_catalog.anyrange, pg_catalog.anyrange),
	OPERATOR 2 pg_catalog.<= (pg_catalog.anyrange, pg_catalog.anyrange),
	OPERATOR 3 pg_catalog.= (pg_catalog.anyrange, pg_catalog.anyrange),
	OPERATOR 4 pg_catalog.>= (pg_catalog.anyrange, pg_catalog.anyrange),
	OPERATOR 5 pg_catalog.> (pg_catalog.anyrange, pg_catalog.anyrange),
	FUNCTION 1 (pg_catalog.anyrange, pg_catalog.anyrange)
		pg_catalog.range_cmp(pg_catalog.anyrange, pg_catalog.anyrange);

CREATE OPERATOR FAMILY record_image_ops USING fptree;

CREATE OPERATOR CLASS record_image_ops
	FOR TYPE pg_catalog.record USING fptree FAMILY record_image_ops AS
	OPERATOR 1 pg_catalog.*< (pg_catalog.record, pg_catalog.record),
	OPERATOR 2 pg_catalog.*<= (pg_catalog.record, pg_catalog.record),
	OPERATOR 3 pg_catalog.*= (pg_catalog.record, pg_catalog.record),
	OPERATOR 4 pg_catalog.*>= (pg_catalog.record, pg_catalog.record),
	OPERATOR 5 pg_catalog.*> (pg_catalog.record, pg_catalog.record),
	FUNCTION 1 (pg_catalog.record, pg_catalog.record)
		pg_catalog.btrecordimagecmp(pg_catalog.record, pg_catalog.record);

CREATE OPERATOR FAMILY record_ops USING fptree;

CREATE OPERATOR CLASS record_ops
	DEFAULT FOR TYPE pg_catalog.record USING fptree FAMILY record_ops AS
	OPERATOR 1 pg_catalog.< (pg_catalog.record, pg_catalog.record),
	OPERATOR 2 pg_catalog.<= (pg_catalog.record, pg_catalog.record),
	OPERATOR 3 pg_catalog.= (pg_catalog.record, pg_catalog.record),
	OPERATOR 4 pg_catalog.>= (pg_catalog.record, pg_catalog.record),
	OPERATOR 5 pg_catalog.> (pg_catalog.record, pg_catalog.record),
	FUNCTION 1 (pg_catalog.record, pg_catalog.record)
		pg_catalog.btrecordcmp(pg_catalog.record, pg_catalog.record);

CREATE OPERATOR FAMILY text_ops USING fptree;

CREATE OPERATOR CLASS name_ops
	DEFAULT FOR TYPE pg_catalog.name USING fptree FAMILY text_ops AS
	OPERATOR 1 pg_catalog.< (pg_catalog.name, pg_catalog.name),
	OPERATOR 2 pg_catalog.<= (pg_catalog.name, pg_catalog.name),
	OPERATOR 3 pg_catalog.= (pg_catalog.name, pg_catalog.name),
	OPERATOR 4 pg_catalog.>= (pg_catalog.name, pg_catalog.name),
	OPERATOR 5 pg_catalog.> (pg_catalog.name, pg_catalog.name),
	FUNCTION 1 (pg_catalog.name, pg_catalog.name)
		pg_catalog.btnamecmp(pg_catalog.name, pg_catalog.name),
	FUNCTION 2 (pg_catalog.name, pg_catalog.name)
		pg_catalog.btnamesortsupport(pg_catalog.internal),
	FUNCTION 4 (pg_catalog.name, pg_catalog.name)
		pg_catalog.btvarstrequalimage(pg_catalog.oid);

CREATE OPERATOR CLASS text_ops
	DEFAULT FOR TYPE pg_catalog.text USING fptree FAMILY text_ops AS
	OPERATOR 1 pg_catalog.< (pg_catalog.text, pg_catalog.text),
	OPERATOR 2 pg_catalog.<= (pg_catalog.text, pg_catalog.text),
	OPERATOR 3 pg_catalog.= (pg_catalog.text, pg_catalog.text),
	OPERATOR 4 pg_catalog.>= (pg_catalog.text, pg_catalog.text),
	OPERATOR 5 pg_catalog.> (pg_catalog.text, pg_catalog.text),
	FUNCTION 1 (pg_catalog.text, pg_catalog.text)
		pg_catalog.bttextcmp(pg_catalog.text, pg_catalog.text),
	FUNCTION 2 (pg_catalog.text, pg_catalog.text)
		pg_catalog.bttextsortsupport(pg_catalog.internal),
	FUNCTION 4 (pg_catalog.text, pg_catalog.text)
		pg_catalog.btvarstrequalimage(pg_catalog.oid);

ALTER OPERATOR FAMILY text_ops USING fptree ADD
	OPERATOR 1 pg_catalog.< (pg_catalog.name, pg_catalog.text),
	OPERATOR 2 pg_catalog.<= (pg_catalog.name, pg_catalog.text),
	OPERATOR 3 pg_catalog.= (pg_catalog.name, pg_catalog.text),
	OPERATOR 4 pg_catalog.>= (pg_catalog.name, pg_catalog.text),
	OPERATOR 5 pg_catalog.> (pg_catalog.name, pg_catalog.text),
	FUNCTION 1 (pg_catalog.name, pg_catalog.text)
		pg_catalog.btnametextcmp(pg_catalog.name, pg_catalog.text);

ALTER OPERATOR FAMILY text_ops USING fptree ADD
	OPERATOR 1 pg_catalog.< (pg_catalog.text, pg_catalog.name),
	OPERATOR 2 pg_catalog.<= (pg_catalog.text, pg_catalog.name),
	OPERATOR 3 pg_catalog.= (pg_catalog.text, pg_catalog.name),
	OPERATOR 4 pg_catalog.>= (pg_catalog.text, pg_catalog.name),
	OPERATOR 5 pg_catalog.> (pg_catalog.text, pg_catalog.name),
	FUNCTION 1 (pg_catalog.text, pg_catalog.name)
		pg_catalog.bttextnamecmp(pg_catalog.text, pg_catalog.name);

CREATE OPERATOR CLASS varchar_ops
	FOR TYPE pg_catalog.text USING fptree FAMILY text_ops AS
	STORAGE pg_catalog.text;

CREATE OPERATOR FAMILY text_pattern_ops USING fptree;

CREATE OPERATOR CLASS text_pattern_ops
	FOR TYPE pg_catalog.text USING fptree FAMILY text_pattern_ops AS
	OPERATOR 1 pg_catalog.~<~ (pg_catalog.text, pg_catalog.text),
	OPERATOR 2 pg_catalog.~<=~ (pg_catalog.text, pg_catalog.text),
	OPERATOR 3 pg_catalog.= (pg_catalog.text, pg_catalog.text),
	OPERATOR 4 pg_catalog.~>=~ (pg_catalog.text, pg_catalog.text),
	OPERATOR 5 pg_catalog.~>~ (pg_catalog.text, pg_catalog.text),
	FUNCTION 1 (pg_catalog.text, pg_catalog.text)
		pg_catalog.bttext_pattern_cmp(pg_catalog.text, pg_catalog.text),
	FUNCTION 2 (pg_catalog.text, pg_catalog.text)
		pg_catalog.bttext_pattern_sortsupport(pg_catalog.internal),
	FUNCTION 4 (pg_catalog.text, pg_catalog.text)
		pg_catalog.btequalimage(pg_catalog.oid);

CREATE OPERATOR CLASS varchar_pattern_ops
	FOR TYPE pg_catalog.text USING fptree FAMILY text_pattern_ops AS
	STORAGE pg_catalog.text;

CREATE OPERATOR FAMILY tid_ops USING fptree;

CREATE OPERATOR CLASS tid_ops
	DEFAULT FOR TYPE pg_catalog.tid USING fptree FAMILY tid_ops AS
	OPERATOR 1 pg_catalog.< (pg_catalog.tid, pg_catalog.tid),
	OPERATOR 2 pg_catalog.<= (pg_catalog.tid, pg_catalog.tid),
	OPERATOR 3 pg_catalog.= (pg_catalog.tid, pg_catalog.tid),
	OPERATOR 4 pg_catalog.>= (pg_catalog.tid, pg_catalog.tid),
	OPERATOR 5 pg_catalog.> (pg_catalog.tid, pg_catalog.tid),
	FUNCTION 1 (pg_catalog.tid, pg_catalog.tid)
		pg_catalog.bttidcmp(pg_catalog.tid, pg_catalog.tid),
	FUNCTION 4 (pg_catalog.tid, pg_catalog.tid)
		pg_catalog.btequalimage(pg_catalog.oid);

CREATE OPERATOR FAMILY time_ops USING fptree;

CREATE OPERATOR CLASS time_ops
	DEFAULT FOR TYPE pg_catalog."time" USING fptree FAMILY time_ops AS
	OPERATOR 1 pg_catalog.< (pg_catalog."time", pg_catalog."time"),
	OPERATOR 2 pg_catalog.<= (pg_catalog."time", pg_catalog."time"),
	OPERATOR 3 pg_catalog.= (pg_catalog."time", pg_catalog."time"),
	OPERATOR 4 pg_catalog.>= (pg_catalog."time", pg_catalog."time"),
	OPERATOR 5 pg_catalog.> (pg_catalog."time", pg_catalog."time"),
	FUNCTION 1 (pg_catalog."time", pg_catalog."time")
		pg_catalog.time_cmp(pg_catalog."time", pg_catalog."time"),
	FUNCTION 4 (pg_catalog."time", pg_catalog."time")
		pg_catalog.btequalimage(pg_catalog.oid);

CREATE OPERATOR FAMILY timetz_ops USING fptree;

CREATE OPERATOR CLASS timetz_ops
	DEFAULT FOR TYPE pg_catalog.timetz USING fptree FAMILY timetz_ops AS
	OPERATOR 1 pg_catalog.< (pg_catalog.timetz, pg_catalog.timetz),
	OPERATOR 2 pg_catalog.<= (pg_catalog.timetz, pg_catalog.timetz),
	OPERATOR 3 pg_catalog.= (pg_catalog.timetz, pg_catalog.timetz),
	OPERATOR 4 pg_catalog.>= (pg_catalog.timetz, pg_catalog.timetz),
	OPERATOR 5 pg_catalog.> (pg_catalog.timetz, pg_catalog.timetz),
	FUNCTION 1 (pg_catalog.timetz, pg_catalog.timetz)
		pg_catalog.timetz_cmp(pg_catalog.timetz, pg_catalog.timetz),
	FUNCTION 4 (pg_catalog.timetz, pg_catalog.timetz)
		pg_catalog.btequalimage(pg_catalog.oid);

CREATE OPERATOR FAMILY tsquery_ops USING fptree;

CREATE OPERATOR CLASS tsquery_ops
	DEFAULT FOR TYPE pg_catalog.tsquery USING fptree FAMILY tsquery_ops AS
	OPERATOR 1 pg_catalog.< (pg_catalog.tsquery, pg_catalog.tsquery),
	OPERATOR 2 pg_catalog.<= (pg_catalog.tsquery, pg_catalog.tsquery),
	OPERATOR 3 pg_catalog.= (pg_catalog.tsquery, pg_catalog.tsquery),
	OPERATOR 4 pg_catalog.>= (pg_catalog.tsquery, pg_catalog.tsquery),
	OPERATOR 5 pg_catalog.> (pg_catalog.tsquery, pg_catalog.tsquery),
	FUNCTION 1 (pg_catalog.tsquery, pg_catalog.tsquery)
		pg_catalog.tsquery_cmp(pg_catalog.tsquery, pg_catalog.tsquery);

CREATE OPERATOR FAMILY tsvector_ops USING fptree;

CREATE OPERATOR CLASS tsvector_ops
	DEFAULT FOR TYPE pg_catalog.tsvector USING fptree FAMILY tsvector_ops AS
	OPERATOR 1 pg_catalog.< (pg_catalog.tsvector, pg_catalog.tsvector),
	OPERATOR 2 pg_catalog.<= (pg_catalog.tsvector, pg_catalog.tsvector),
	OPERATOR 3 pg_catalog.= (pg_catalog.tsvector, pg_catalog.tsvector),
	OPERATOR 4 pg_catalog.>= (pg_catalog.tsvector, pg_catalog.tsvector),
	OPERATOR 5 pg_catalog.> (pg_catalog.tsvector, pg_catalog.tsvector),
	FUNCTION 1 (pg_catalog.tsvector, pg_catalog.tsvector)
		pg_catalog.tsvector_cmp(pg_catalog.tsvector, pg_catalog.tsvector);

CREATE OPERATOR FAMILY uuid_ops USING fptree;

CREATE OPERATOR CLASS uuid_ops
	DEFAULT FOR TYPE pg_catalog.uuid USING fptree FAMILY uuid_ops AS
	OPERATOR 1 pg_catalog.< (pg_catalog.uuid, pg_catalog.uuid),
	OPERATOR 2 pg_catalog.<= (pg_catalog.uuid, pg_catalog.uuid),
	OPERATOR 3 pg_catalog.= (pg_catalog.uuid, pg_catalog.uuid),
	OPERATOR 4 pg_catalog.>= (pg_catalog.uuid, pg_catalog.uuid),
	OPERATOR 5 pg_catalog.> (pg_catalog.uuid, pg_catalog.uuid),
	FUNCTION 1 (pg_catalog.uuid, pg_catalog.uuid)
		pg_catalog.uuid_cmp(pg_catalog.uuid, pg_catalog.uuid),
	FUNCTION 2 (pg_catalog.uuid, pg_catalog.uuid)
		pg_catalog.uuid_sortsupport(pg_catalog.internal),
	FUNCTION 4 (pg_catalog.uuid, pg_catalog.uuid)
		pg_catalog.btequalimage(pg_catalog.oid);

CREATE OPERATOR FAMILY varbit_ops USING fptree;

CREATE OPERATOR CLASS varbit_ops
	DEFAULT FOR TYPE pg_catalog.varbit USING fptree FAMILY varbit_ops AS
	OPERATOR 1 pg_catalog.< (pg_catalog.varbit, pg_catalog.varbit),
	OPERATOR 2 pg_catalog.<= (pg_catalog.varbit, pg_catalog.varbit),
	OPERATOR 3 pg_catalog.= (pg_catalog.varbit, pg_catalog.varbit),
	OPERATOR 4 pg_catalog.>= (pg_catalog.varbit, pg_catalog.varbit),
	OPERATOR 5 pg_catalog.> (pg_catalog.varbit, pg_catalog.varbit),
	FUNCTION 1 (pg_catalog.varbit, pg_catalog.varbit)
		pg_catalog.varbitcmp(pg_catalog.varbit, pg_catalog.varbit),
	FUNCTION 4 (pg_catalog.varbit, pg_catalog.varbit)
		pg_catalog.btequalimage(pg_catalog.oid);

CREATE OPERATOR FAMILY xid8_ops USING fptree;

CREATE OPERATOR CLASS xid8_ops
	DEFAULT FOR TYPE pg_catalog.xid8 USING fptree FAMILY xid8_ops AS
	OPERATOR 1 pg_catalog.< (pg_catalog.xid8, pg_catalog.xid8),
	OPERATOR 2 pg_catalog.<= (pg_catalog.xid8, pg_catalog.xid8),
	OPERATOR 3 pg_catalog.= (pg_catalog.xid8, pg_catalog.xid8),
	OPERATOR 4 pg_catalog.>= (pg_catalog.xid8, pg_catalog.xid8),
	OPERATOR 5 pg_catalog.> (pg_catalog.xid8, pg_catalog.xid8),
	FUNCTION 1 (pg_catalog.xid8, pg_catalog.xid8)
		pg_catalog.xid8cmp(pg_catalog.xid8, pg_catalog.xid8),
	FUNCTION 4 (pg_catalog.xid8, pg_catalog.xid8)
		pg_catalog.btequalimage(pg_catalog.oid);

/*
 * Verification.  Index expressions run as the table's owner, yet only a
 * superuser may call these unless one grants it: they read the whole table.
 */

CREATE FUNCTION fptree_index_check(index pg_catalog.regclass,
	heapallindexed pg_catalog.bool DEFAULT false,
	checkunique pg_catalog.bool DEFAULT false)
RETURNS pg_catalog.void
AS 'MODULE_PATHNAME', 'fptree_index_check'
LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED;

CREATE FUNCTION fptree_index_parent_check(index pg_catalog.regclass,
	heapallindexed pg_catalog.bool DEFAULT false,
	rootdescend pg_catalog.bool DEFAULT false,
	checkunique pg_catalog.bool DEFAULT false)
RETURNS pg_catalog.void
AS 'MODULE_PATHNAME', 'fptree_index_parent_check'
LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED;

REVOKE ALL ON FUNCTION fptree_index_check(pg_catalog.regclass,
	pg_catalog.bool, pg_catalog.bool) FROM PUBLIC;
REVOKE ALL ON FUNCTION fptree_index_parent_check(pg_catalog.regclass,
	pg_catalog.bool, pg_catalog.bool, pg_catalog.bool) FROM PUBLIC;

COMMENT ON FUNCTION fptree_index_check(pg_catalog.regclass,
	pg_catalog.bool, pg_catalog.bool)
	IS 'verify an fptree index while it is in use';
COMMENT ON FUNCTION fptree_index_parent_check(pg_catalog.regclass,
	pg_catalog.bool, pg_catalog.bool, pg_catalog.bool)
	IS 'verify an fptree index, all levels against each other';

/*
 * Inspection.  The page functions are for superusers, whatever is granted: they
 * show values of columns.
 */

CREATE FUNCTION fptree_metap(index pg_catalog.regclass,
	OUT magic pg_catalog.int8,
	OUT version pg_catalog.int8,
	OUT indexid pg_catalog.int8,
	OUT keyclass pg_catalog.int4,
	OUT keysize pg_catalog.int4,
	OUT nullsfirst pg_catalog.bool,
	OUT descending pg_catalog.bool,
	OUT linesize pg_catalog.int4,
	OUT stripes pg_catalog.int4,
	OUT root pg_catalog.int8,
	OUT level pg_catalog.int4,
	OUT node_lines pg_catalog.int4[],
	OUT leaf_node_lines pg_catalog.int4[])
AS 'MODULE_PATHNAME', 'fptree_metap'
LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED;

CREATE FUNCTION fptree_page_stats(index pg_catalog.regclass,
	pageno pg_catalog.int8,
	OUT page pg_catalog.int8,
	OUT type pg_catalog.text,
	OUT level pg_catalog.int4,
	OUT left_page pg_catalog.int8,
	OUT right_page pg_catalog.int8,
	OUT flags pg_catalog.int4,
	OUT entries pg_catalog.int4,
	OUT dead_entries pg_catalog.int4,
	OUT nodes pg_catalog.int4,
	OUT free_nodes pg_catalog.int4,
	OUT null_nodes pg_catalog.int4,
	OUT key_width pg_catalog.int4,
	OUT tid_width pg_catalog.int4,
	OUT lent_bits pg_catalog.int4,
	OUT offset_bits pg_catalog.int4,
	OUT node_lines pg_catalog.int4,
	OUT leaf_node_lines pg_catalog.int4,
	OUT capacity pg_catalog.int4,
	OUT free_size pg_catalog.int4,
	OUT low_fence pg_catalog.text,
	OUT high_fence pg_catalog.text)
AS 'MODULE_PATHNAME', 'fptree_page_stats'
LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED;

CREATE FUNCTION fptree_page_items(index pg_catalog.regclass,
	pageno pg_catalog.int8,
	OUT itemoffset pg_catalog.int4,
	OUT node pg_catalog.int4,
	OUT slot pg_catalog.int4,
	OUT ctid pg_catalog.tid,
	OUT downlink pg_catalog.int8,
	OUT key pg_catalog.text,
	OUT is_null pg_catalog.bool,
	OUT dead pg_catalog.bool)
RETURNS SETOF pg_catalog.record
AS 'MODULE_PATHNAME', 'fptree_page_items'
LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED;

CREATE FUNCTION fptree_stat(index pg_catalog.regclass,
	OUT version pg_catalog.int4,
	OUT tree_level pg_catalog.int4,
	OUT index_size pg_catalog.int8,
	OUT root_block_no pg_catalog.int8,
	OUT internal_pages pg_catalog.int8,
	OUT leaf_pages pg_catalog.int8,
	OUT empty_pages pg_catalog.int8,
	OUT deleted_pages pg_catalog.int8,
	OUT avg_leaf_density pg_catalog.float8,
	OUT leaf_fragmentation pg_catalog.float8,
	OUT entries pg_catalog.int8,
	OUT avg_node_fill pg_catalog.float8)
AS 'MODULE_PATHNAME', 'fptree_stat'
LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED;

REVOKE ALL ON FUNCTION fptree_metap(pg_catalog.regclass) FROM PUBLIC;
REVOKE ALL ON FUNCTION fptree_page_stats(pg_catalog.regclass,
	pg_catalog.int8) FROM PUBLIC;
REVOKE ALL ON FUNCTION fptree_page_items(pg_catalog.regclass,
	pg_catalog.int8) FROM PUBLIC;
REVOKE ALL ON FUNCTION fptree_stat(pg_catalog.regclass) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION fptree_metap(pg_catalog.regclass)
	TO pg_monitor;
GRANT EXECUTE ON FUNCTION fptree_stat(pg_catalog.regclass)
	TO pg_stat_scan_tables;

COMMENT ON FUNCTION fptree_metap(pg_catalog.regclass)
	IS 'metapage of an fptree index';
COMMENT ON FUNCTION fptree_page_stats(pg_catalog.regclass, pg_catalog.int8)
	IS 'header and fill of a page of an fptree index';
COMMENT ON FUNCTION fptree_page_items(pg_catalog.regclass, pg_catalog.int8)
	IS 'entries of a page of an fptree index, in order';
COMMENT ON FUNCTION fptree_stat(pg_catalog.regclass)
	IS 'space and fill of an fptree index';

CREATE FUNCTION fptree_stat_approx(index pg_catalog.regclass,
	sample_pages pg_catalog.int4 DEFAULT 1280,
	OUT tree_level pg_catalog.int4,
	OUT index_size pg_catalog.int8,
	OUT pages_read pg_catalog.int8,
	OUT leaf_pages pg_catalog.int8,
	OUT entries pg_catalog.int8,
	OUT avg_leaf_density pg_catalog.float8,
	OUT fresh_size pg_catalog.int8,
	OUT bloat_percent pg_catalog.float8,
	OUT approximate pg_catalog.bool)
AS 'MODULE_PATHNAME', 'fptree_stat_approx'
LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED;

COMMENT ON FUNCTION fptree_stat_approx(pg_catalog.regclass, pg_catalog.int4)
	IS 'space of an fptree index and its bloat, from a sample';

/*
 * What indexes would take as fptree indexes.  The function asks for privileges
 * by itself; it opens subtransactions.
 */

CREATE FUNCTION fptree_advise(relation pg_catalog.regclass DEFAULT NULL,
	sample_pages pg_catalog.int4 DEFAULT 1280,
	OUT index pg_catalog.regclass,
	OUT on_table pg_catalog.regclass,
	OUT am pg_catalog.name,
	OUT size pg_catalog.int8,
	OUT fresh_size pg_catalog.int8,
	OUT fptree_size pg_catalog.int8,
	OUT ratio pg_catalog.float8,
	OUT replaceable pg_catalog.bool,
	OUT reason pg_catalog.text,
	OUT statements pg_catalog.text[])
RETURNS SETOF pg_catalog.record
AS 'MODULE_PATHNAME', 'fptree_advise'
LANGUAGE C VOLATILE PARALLEL UNSAFE;

COMMENT ON FUNCTION fptree_advise(pg_catalog.regclass, pg_catalog.int4)
	IS 'sizes of indexes as btree and as fptree, and statements to replace them';

/*
 * Read-ahead counters of this session.
 */

CREATE FUNCTION fptree_prefetch_stats(OUT counter pg_catalog.text,
	OUT value pg_catalog.int8)
RETURNS SETOF pg_catalog.record
AS 'MODULE_PATHNAME', 'fptree_prefetch_stats'
LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED;

COMMENT ON FUNCTION fptree_prefetch_stats()
	IS 'read-ahead counters of fptree scans in this session';

CREATE FUNCTION fptree_prefetch_reset()
RETURNS pg_catalog.void
AS 'MODULE_PATHNAME', 'fptree_prefetch_reset'
LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED;

COMMENT ON FUNCTION fptree_prefetch_reset()
	IS 'set the read-ahead counters of this session to zero';

/*
 * Stripes: indexes that are spread over several tablespaces.
 */

CREATE FUNCTION fptree_stripe_handler(pg_catalog.internal)
RETURNS pg_catalog.table_am_handler
AS 'MODULE_PATHNAME', 'fptree_stripe_handler'
LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED;

CREATE ACCESS METHOD fptree_stripe TYPE TABLE HANDLER fptree_stripe_handler;

COMMENT ON ACCESS METHOD fptree_stripe
	IS 'files of striped fptree indexes; not for tables';

CREATE FUNCTION fptree_stripes(index pg_catalog.regclass,
	OUT no pg_catalog.int4,
	OUT stripe pg_catalog.regclass,
	OUT tablespace pg_catalog.name,
	OUT bytes pg_catalog.int8,
	OUT pages pg_catalog.int8,
	OUT free_pages pg_catalog.int8,
	OUT reads pg_catalog.int8)
RETURNS SETOF pg_catalog.record
AS 'MODULE_PATHNAME', 'fptree_stripes'
LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED;

COMMENT ON FUNCTION fptree_stripes(pg_catalog.regclass)
	IS 'stripes of an fptree index';

CREATE FUNCTION fptree_index_size(index pg_catalog.regclass)
RETURNS pg_catalog.int8
AS 'MODULE_PATHNAME', 'fptree_index_size'
LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED;

COMMENT ON FUNCTION fptree_index_size(pg_catalog.regclass)
	IS 'bytes of all files of an fptree index, stripes included';

CREATE FUNCTION fptree_set_tablespaces(index pg_catalog.regclass,
	tablespaces pg_catalog.text)
RETURNS pg_catalog.void
AS 'MODULE_PATHNAME', 'fptree_set_tablespaces'
LANGUAGE C VOLATILE PARALLEL UNSAFE;

COMMENT ON FUNCTION fptree_set_tablespaces(pg_catalog.regclass,
	pg_catalog.text)
	IS 'set the tablespaces of an fptree index and of its partitions';

CREATE FUNCTION fptree_follow_renames()
RETURNS pg_catalog.int4
AS 'MODULE_PATHNAME', 'fptree_follow_renames'
LANGUAGE C VOLATILE PARALLEL UNSAFE;

COMMENT ON FUNCTION fptree_follow_renames()
	IS 'put the new names of tablespaces into the lists of fptree indexes';

CREATE FUNCTION fptree_orphans()
RETURNS SETOF pg_catalog.regclass
AS 'MODULE_PATHNAME', 'fptree_orphans'
LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED;

CREATE FUNCTION fptree_drop_orphans()
RETURNS pg_catalog.int4
AS 'MODULE_PATHNAME', 'fptree_drop_orphans'
LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE;

REVOKE ALL ON FUNCTION fptree_orphans() FROM PUBLIC;
REVOKE ALL ON FUNCTION fptree_drop_orphans() FROM PUBLIC;

COMMENT ON FUNCTION fptree_orphans()
	IS 'stripes that belong to no fptree index';
COMMENT ON FUNCTION fptree_drop_orphans()
	IS 'drop the stripes that belong to no fptree index';
