BEGIN TRANSACTION;
CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT pk_alembic_version PRIMARY KEY (version_num)
);
INSERT INTO "alembic_version" VALUES('0001');
CREATE TABLE align_records (
	team_id VARCHAR NOT NULL, 
	channel_id VARCHAR NOT NULL, 
	"key" VARCHAR NOT NULL, 
	case_id INTEGER, 
	value JSON NOT NULL, 
	CONSTRAINT pk_align_records PRIMARY KEY (team_id, channel_id, "key"), 
	CONSTRAINT fk_align_records_cases FOREIGN KEY(team_id, case_id) REFERENCES cases (team_id, id) ON DELETE CASCADE ON UPDATE CASCADE
);
INSERT INTO "align_records" VALUES('T1','channel_id of T1: „1“ ''a''
😀','key of T1: „1“ ''a''
😀',1,'{"z": [0.3333333333333333, null, true], "a": {"\u00fc": "\u201e\u201c \ud83d\ude00"}}');
INSERT INTO "align_records" VALUES('T1','channel_id of T1: „2“ ''a''
😀','key of T1: „2“ ''a''
😀',2,'{"z": [0.6666666666666666, null, true], "a": {"\u00fc": "\u201e\u201c \ud83d\ude00"}}');
INSERT INTO "align_records" VALUES('T2','channel_id of T2: „11“ ''a''
😀','key of T2: „11“ ''a''
😀',11,'{"z": [3.6666666666666665, null, true], "a": {"\u00fc": "\u201e\u201c \ud83d\ude00"}}');
INSERT INTO "align_records" VALUES('T2','channel_id of T2: „12“ ''a''
😀','key of T2: „12“ ''a''
😀',12,'{"z": [4.0, null, true], "a": {"\u00fc": "\u201e\u201c \ud83d\ude00"}}');
CREATE TABLE audit (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	team_id VARCHAR NOT NULL, 
	who VARCHAR NOT NULL, 
	what VARCHAR NOT NULL, 
	at DATETIME NOT NULL, 
	channel_id VARCHAR, 
	user_id VARCHAR, 
	case_id INTEGER, 
	cases INTEGER
);
INSERT INTO "audit" VALUES(1,'T1','who of T1: „1“ ''a''
😀','purged','2026-11-19 11:00:00.654321','channel_id of T1: „1“ ''a''
😀','user_id of T1: „1“ ''a''
😀',1,1);
INSERT INTO "audit" VALUES(2,'T1','who of T1: „2“ ''a''
😀','purged','2026-11-19 10:00:00.654321','channel_id of T1: „2“ ''a''
😀','user_id of T1: „2“ ''a''
😀',2,2);
INSERT INTO "audit" VALUES(11,'T2','who of T2: „11“ ''a''
😀','purged','2026-11-19 01:00:00.654321','channel_id of T2: „11“ ''a''
😀','user_id of T2: „11“ ''a''
😀',11,11);
INSERT INTO "audit" VALUES(12,'T2','who of T2: „12“ ''a''
😀','purged','2026-11-19 00:00:00.654321','channel_id of T2: „12“ ''a''
😀','user_id of T2: „12“ ''a''
😀',12,12);
CREATE TABLE cases (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	team_id VARCHAR NOT NULL, 
	"key" VARCHAR NOT NULL, 
	channel_id VARCHAR NOT NULL, 
	requester_id VARCHAR NOT NULL, 
	requester_name VARCHAR NOT NULL, 
	source VARCHAR NOT NULL, 
	rubric VARCHAR NOT NULL, 
	visibility VARCHAR NOT NULL, 
	status VARCHAR NOT NULL, 
	attempt INTEGER NOT NULL, 
	created_at DATETIME NOT NULL, 
	opened INTEGER DEFAULT '1' NOT NULL, 
	messages INTEGER DEFAULT '1' NOT NULL, 
	messages_before INTEGER DEFAULT '0' NOT NULL, 
	left_out INTEGER DEFAULT '0' NOT NULL, 
	slack_tries INTEGER DEFAULT '0' NOT NULL, 
	model_tries INTEGER DEFAULT '0' NOT NULL, 
	internal_errors INTEGER DEFAULT '0' NOT NULL, 
	reserved_tokens INTEGER DEFAULT '0' NOT NULL, 
	thread_intent BOOLEAN DEFAULT 0 NOT NULL, 
	reply_intent BOOLEAN DEFAULT 0 NOT NULL, 
	message_ts VARCHAR, 
	parent_ts VARCHAR, 
	author_id VARCHAR, 
	thread_ts VARCHAR, 
	reply_ts VARCHAR, 
	lease_owner VARCHAR, 
	blocked_by VARCHAR, 
	excluded VARCHAR, 
	shows VARCHAR, 
	unread VARCHAR, 
	probability FLOAT, 
	blocker TEXT, 
	response_url TEXT, 
	question_source VARCHAR, 
	question_ts VARCHAR, 
	question_author_id VARCHAR, 
	question_hash VARCHAR, 
	question TEXT, 
	response_hash VARCHAR, 
	response TEXT, 
	judged_at DATETIME, 
	delivered_at DATETIME, 
	model VARCHAR, 
	escalation VARCHAR, 
	rubric_version VARCHAR, 
	judge_version VARCHAR, 
	unscored_reason VARCHAR, 
	unscored_detail TEXT, 
	score INTEGER, 
	lowest INTEGER, 
	highest INTEGER, 
	mean FLOAT, 
	spread FLOAT, 
	weighted_score FLOAT, 
	justification TEXT, 
	points JSON, 
	input_tokens INTEGER, 
	output_tokens INTEGER, 
	reasoning_tokens INTEGER, 
	skipped_ratings INTEGER, 
	latency_ms INTEGER, 
	cost_usd FLOAT, 
	flags JSON DEFAULT '[]' NOT NULL, 
	edited_at DATETIME, 
	deleted_at DATETIME, 
	forgotten_at DATETIME, 
	is_stale BOOLEAN DEFAULT 0 NOT NULL, 
	CONSTRAINT uq_cases_team_id_key UNIQUE (team_id, "key"), 
	CONSTRAINT uq_cases_team_id_id UNIQUE (team_id, id), 
	CONSTRAINT ck_cases_scored_or_not CHECK (score IS NULL OR unscored_reason IS NULL)
);
INSERT INTO "cases" VALUES(1,'T1','key of T1: „1“ ''a''
😀','channel_id of T1: „1“ ''a''
😀','requester_id of T1: „1“ ''a''
😀','requester_name of T1: „1“ ''a''
😀','source of T1: „1“ ''a''
😀','rubric of T1: „1“ ''a''
😀','visibility of T1: „1“ ''a''
😀','delivered',1,'2026-11-19 11:00:00.654321',1,1,1,1,1,1,1,1,0,0,'message_ts of T1: „1“ ''a''
😀','parent_ts of T1: „1“ ''a''
😀','author_id of T1: „1“ ''a''
😀','thread_ts of T1: „1“ ''a''
😀','reply_ts of T1: „1“ ''a''
😀','lease_owner of T1: „1“ ''a''
😀','blocked_by of T1: „1“ ''a''
😀','excluded of T1: „1“ ''a''
😀','shows of T1: „1“ ''a''
😀','unread of T1: „1“ ''a''
😀',3.33333333333333314829e-01,'blocker of T1: „1“ ''a''
😀','response_url of T1: „1“ ''a''
😀','question_source of T1: „1“ ''a''
😀','question_ts of T1: „1“ ''a''
😀','question_author_id of T1: „1“ ''a''
😀','question_hash of T1: „1“ ''a''
😀','question of T1: „1“ ''a''
😀','response_hash of T1: „1“ ''a''
😀','response of T1: „1“ ''a''
😀','2026-11-19 11:00:00.654321','2026-11-19 11:00:00.654321','model of T1: „1“ ''a''
😀','escalation of T1: „1“ ''a''
😀','rubric_version of T1: „1“ ''a''
😀','judge_version of T1: „1“ ''a''
😀',NULL,'unscored_detail of T1: „1“ ''a''
😀',1,1,1,3.33333333333333314829e-01,3.33333333333333314829e-01,3.33333333333333314829e-01,'justification of T1: „1“ ''a''
😀','{"z": [0.3333333333333333, null, true], "a": {"\u00fc": "\u201e\u201c \ud83d\ude00"}}',1,1,1,1,1,3.33333333333333314829e-01,'{"z": [0.3333333333333333, null, true], "a": {"\u00fc": "\u201e\u201c \ud83d\ude00"}}','2026-11-19 11:00:00.654321','2026-11-19 11:00:00.654321','2026-11-19 11:00:00.654321',0);
INSERT INTO "cases" VALUES(2,'T1','key of T1: „2“ ''a''
😀','channel_id of T1: „2“ ''a''
😀','requester_id of T1: „2“ ''a''
😀','requester_name of T1: „2“ ''a''
😀','source of T1: „2“ ''a''
😀','rubric of T1: „2“ ''a''
😀','visibility of T1: „2“ ''a''
😀','delivered',2,'2026-11-19 10:00:00.654321',2,2,2,2,2,2,2,2,1,1,'message_ts of T1: „2“ ''a''
😀','parent_ts of T1: „2“ ''a''
😀','author_id of T1: „2“ ''a''
😀','thread_ts of T1: „2“ ''a''
😀','reply_ts of T1: „2“ ''a''
😀','lease_owner of T1: „2“ ''a''
😀','blocked_by of T1: „2“ ''a''
😀','excluded of T1: „2“ ''a''
😀','shows of T1: „2“ ''a''
😀','unread of T1: „2“ ''a''
😀',6.66666666666666629659e-01,'blocker of T1: „2“ ''a''
😀','response_url of T1: „2“ ''a''
😀','question_source of T1: „2“ ''a''
😀','question_ts of T1: „2“ ''a''
😀','question_author_id of T1: „2“ ''a''
😀','question_hash of T1: „2“ ''a''
😀','question of T1: „2“ ''a''
😀','response_hash of T1: „2“ ''a''
😀','response of T1: „2“ ''a''
😀','2026-11-19 10:00:00.654321','2026-11-19 10:00:00.654321','model of T1: „2“ ''a''
😀','escalation of T1: „2“ ''a''
😀','rubric_version of T1: „2“ ''a''
😀','judge_version of T1: „2“ ''a''
😀',NULL,'unscored_detail of T1: „2“ ''a''
😀',2,2,2,6.66666666666666629659e-01,6.66666666666666629659e-01,6.66666666666666629659e-01,'justification of T1: „2“ ''a''
😀','{"z": [0.6666666666666666, null, true], "a": {"\u00fc": "\u201e\u201c \ud83d\ude00"}}',2,2,2,2,2,6.66666666666666629659e-01,'{"z": [0.6666666666666666, null, true], "a": {"\u00fc": "\u201e\u201c \ud83d\ude00"}}','2026-11-19 10:00:00.654321','2026-11-19 10:00:00.654321','2026-11-19 10:00:00.654321',1);
INSERT INTO "cases" VALUES(11,'T2','key of T2: „11“ ''a''
😀','channel_id of T2: „11“ ''a''
😀','requester_id of T2: „11“ ''a''
😀','requester_name of T2: „11“ ''a''
😀','source of T2: „11“ ''a''
😀','rubric of T2: „11“ ''a''
😀','visibility of T2: „11“ ''a''
😀','delivered',11,'2026-11-19 01:00:00.654321',11,11,11,11,11,11,11,11,0,0,'message_ts of T2: „11“ ''a''
😀','parent_ts of T2: „11“ ''a''
😀','author_id of T2: „11“ ''a''
😀','thread_ts of T2: „11“ ''a''
😀','reply_ts of T2: „11“ ''a''
😀','lease_owner of T2: „11“ ''a''
😀','blocked_by of T2: „11“ ''a''
😀','excluded of T2: „11“ ''a''
😀','shows of T2: „11“ ''a''
😀','unread of T2: „11“ ''a''
😀',3.66666666666666651863e+00,'blocker of T2: „11“ ''a''
😀','response_url of T2: „11“ ''a''
😀','question_source of T2: „11“ ''a''
😀','question_ts of T2: „11“ ''a''
😀','question_author_id of T2: „11“ ''a''
😀','question_hash of T2: „11“ ''a''
😀','question of T2: „11“ ''a''
😀','response_hash of T2: „11“ ''a''
😀','response of T2: „11“ ''a''
😀','2026-11-19 01:00:00.654321','2026-11-19 01:00:00.654321','model of T2: „11“ ''a''
😀','escalation of T2: „11“ ''a''
😀','rubric_version of T2: „11“ ''a''
😀','judge_version of T2: „11“ ''a''
😀',NULL,'unscored_detail of T2: „11“ ''a''
😀',11,11,11,3.66666666666666651863e+00,3.66666666666666651863e+00,3.66666666666666651863e+00,'justification of T2: „11“ ''a''
😀','{"z": [3.6666666666666665, null, true], "a": {"\u00fc": "\u201e\u201c \ud83d\ude00"}}',11,11,11,11,11,3.66666666666666651863e+00,'{"z": [3.6666666666666665, null, true], "a": {"\u00fc": "\u201e\u201c \ud83d\ude00"}}','2026-11-19 01:00:00.654321','2026-11-19 01:00:00.654321','2026-11-19 01:00:00.654321',0);
INSERT INTO "cases" VALUES(12,'T2','key of T2: „12“ ''a''
😀','channel_id of T2: „12“ ''a''
😀','requester_id of T2: „12“ ''a''
😀','requester_name of T2: „12“ ''a''
😀','source of T2: „12“ ''a''
😀','rubric of T2: „12“ ''a''
😀','visibility of T2: „12“ ''a''
😀','delivered',12,'2026-11-19 00:00:00.654321',12,12,12,12,12,12,12,12,1,1,'message_ts of T2: „12“ ''a''
😀','parent_ts of T2: „12“ ''a''
😀','author_id of T2: „12“ ''a''
😀','thread_ts of T2: „12“ ''a''
😀','reply_ts of T2: „12“ ''a''
😀','lease_owner of T2: „12“ ''a''
😀','blocked_by of T2: „12“ ''a''
😀','excluded of T2: „12“ ''a''
😀','shows of T2: „12“ ''a''
😀','unread of T2: „12“ ''a''
😀',4.0,'blocker of T2: „12“ ''a''
😀','response_url of T2: „12“ ''a''
😀','question_source of T2: „12“ ''a''
😀','question_ts of T2: „12“ ''a''
😀','question_author_id of T2: „12“ ''a''
😀','question_hash of T2: „12“ ''a''
😀','question of T2: „12“ ''a''
😀','response_hash of T2: „12“ ''a''
😀','response of T2: „12“ ''a''
😀','2026-11-19 00:00:00.654321','2026-11-19 00:00:00.654321','model of T2: „12“ ''a''
😀','escalation of T2: „12“ ''a''
😀','rubric_version of T2: „12“ ''a''
😀','judge_version of T2: „12“ ''a''
😀',NULL,'unscored_detail of T2: „12“ ''a''
😀',12,12,12,4.0,4.0,4.0,'justification of T2: „12“ ''a''
😀','{"z": [4.0, null, true], "a": {"\u00fc": "\u201e\u201c \ud83d\ude00"}}',12,12,12,12,12,4.0,'{"z": [4.0, null, true], "a": {"\u00fc": "\u201e\u201c \ud83d\ude00"}}','2026-11-19 00:00:00.654321','2026-11-19 00:00:00.654321','2026-11-19 00:00:00.654321',1);
CREATE TABLE causes (
	team_id VARCHAR NOT NULL, 
	channel_id VARCHAR NOT NULL, 
	week VARCHAR NOT NULL, 
	case_id INTEGER NOT NULL, 
	name TEXT NOT NULL, 
	CONSTRAINT pk_causes PRIMARY KEY (team_id, channel_id, week, case_id), 
	CONSTRAINT fk_causes_cases FOREIGN KEY(team_id, case_id) REFERENCES cases (team_id, id) ON DELETE CASCADE ON UPDATE CASCADE
);
INSERT INTO "causes" VALUES('T1','channel_id of T1: „1“ ''a''
😀','week of T1: „1“ ''a''
😀',1,'name of T1: „1“ ''a''
😀');
INSERT INTO "causes" VALUES('T1','channel_id of T1: „2“ ''a''
😀','week of T1: „2“ ''a''
😀',2,'name of T1: „2“ ''a''
😀');
INSERT INTO "causes" VALUES('T2','channel_id of T2: „11“ ''a''
😀','week of T2: „11“ ''a''
😀',11,'name of T2: „11“ ''a''
😀');
INSERT INTO "causes" VALUES('T2','channel_id of T2: „12“ ''a''
😀','week of T2: „12“ ''a''
😀',12,'name of T2: „12“ ''a''
😀');
CREATE TABLE channels (
	team_id VARCHAR NOT NULL, 
	channel_id VARCHAR NOT NULL, 
	is_digest_on BOOLEAN DEFAULT 0 NOT NULL, 
	digest_day VARCHAR, 
	digest_time VARCHAR, 
	digest_tz VARCHAR, 
	score_reaction VARCHAR, 
	rubric VARCHAR, 
	rubric_version VARCHAR, 
	judge_model VARCHAR, 
	digest_since DATETIME, 
	labels_per_week INTEGER, 
	reference TEXT, 
	CONSTRAINT pk_channels PRIMARY KEY (team_id, channel_id)
);
INSERT INTO "channels" VALUES('T1','channel_id of T1: „1“ ''a''
😀',0,'digest_day of T1: „1“ ''a''
😀','digest_time of T1: „1“ ''a''
😀','digest_tz of T1: „1“ ''a''
😀','score_reaction of T1: „1“ ''a''
😀','rubric of T1: „1“ ''a''
😀','rubric_version of T1: „1“ ''a''
😀','judge_model of T1: „1“ ''a''
😀','2026-11-19 11:00:00.654321',1,'reference of T1: „1“ ''a''
😀');
INSERT INTO "channels" VALUES('T1','channel_id of T1: „2“ ''a''
😀',1,'digest_day of T1: „2“ ''a''
😀','digest_time of T1: „2“ ''a''
😀','digest_tz of T1: „2“ ''a''
😀','score_reaction of T1: „2“ ''a''
😀','rubric of T1: „2“ ''a''
😀','rubric_version of T1: „2“ ''a''
😀','judge_model of T1: „2“ ''a''
😀','2026-11-19 10:00:00.654321',2,'reference of T1: „2“ ''a''
😀');
INSERT INTO "channels" VALUES('T2','channel_id of T2: „11“ ''a''
😀',0,'digest_day of T2: „11“ ''a''
😀','digest_time of T2: „11“ ''a''
😀','digest_tz of T2: „11“ ''a''
😀','score_reaction of T2: „11“ ''a''
😀','rubric of T2: „11“ ''a''
😀','rubric_version of T2: „11“ ''a''
😀','judge_model of T2: „11“ ''a''
😀','2026-11-19 01:00:00.654321',11,'reference of T2: „11“ ''a''
😀');
INSERT INTO "channels" VALUES('T2','channel_id of T2: „12“ ''a''
😀',1,'digest_day of T2: „12“ ''a''
😀','digest_time of T2: „12“ ''a''
😀','digest_tz of T2: „12“ ''a''
😀','score_reaction of T2: „12“ ''a''
😀','rubric of T2: „12“ ''a''
😀','rubric_version of T2: „12“ ''a''
😀','judge_model of T2: „12“ ''a''
😀','2026-11-19 00:00:00.654321',12,'reference of T2: „12“ ''a''
😀');
CREATE TABLE digests (
	team_id VARCHAR NOT NULL, 
	channel_id VARCHAR NOT NULL, 
	week VARCHAR NOT NULL, 
	status VARCHAR NOT NULL, 
	claimed_at DATETIME NOT NULL, 
	message_ts VARCHAR, 
	CONSTRAINT pk_digests PRIMARY KEY (team_id, channel_id, week)
);
INSERT INTO "digests" VALUES('T1','channel_id of T1: „1“ ''a''
😀','week of T1: „1“ ''a''
😀','delivered','2026-11-19 11:00:00.654321','message_ts of T1: „1“ ''a''
😀');
INSERT INTO "digests" VALUES('T1','channel_id of T1: „2“ ''a''
😀','week of T1: „2“ ''a''
😀','delivered','2026-11-19 10:00:00.654321','message_ts of T1: „2“ ''a''
😀');
INSERT INTO "digests" VALUES('T2','channel_id of T2: „11“ ''a''
😀','week of T2: „11“ ''a''
😀','delivered','2026-11-19 01:00:00.654321','message_ts of T2: „11“ ''a''
😀');
INSERT INTO "digests" VALUES('T2','channel_id of T2: „12“ ''a''
😀','week of T2: „12“ ''a''
😀','delivered','2026-11-19 00:00:00.654321','message_ts of T2: „12“ ''a''
😀');
CREATE TABLE executions (
	team_id VARCHAR NOT NULL, 
	id VARCHAR NOT NULL, 
	case_id INTEGER NOT NULL, 
	quotes BOOLEAN NOT NULL, 
	completed_at DATETIME, 
	CONSTRAINT pk_executions PRIMARY KEY (team_id, id)
);
INSERT INTO "executions" VALUES('T1','id of T1: „1“ ''a''
😀',1,0,'2026-11-19 11:00:00.654321');
INSERT INTO "executions" VALUES('T1','id of T1: „2“ ''a''
😀',2,1,'2026-11-19 10:00:00.654321');
INSERT INTO "executions" VALUES('T2','id of T2: „11“ ''a''
😀',11,0,'2026-11-19 01:00:00.654321');
INSERT INTO "executions" VALUES('T2','id of T2: „12“ ''a''
😀',12,1,'2026-11-19 00:00:00.654321');
CREATE TABLE installations (
	team_id VARCHAR NOT NULL, 
	app_id VARCHAR NOT NULL, 
	name VARCHAR NOT NULL, 
	installed_at DATETIME NOT NULL, 
	token VARCHAR, 
	left_at DATETIME, 
	CONSTRAINT pk_installations PRIMARY KEY (team_id, app_id)
);
INSERT INTO "installations" VALUES('T1','app_id of T1: „1“ ''a''
😀','name of T1: „1“ ''a''
😀','2026-11-19 11:00:00.654321','token of T1: „1“ ''a''
😀','2026-11-19 11:00:00.654321');
INSERT INTO "installations" VALUES('T1','app_id of T1: „2“ ''a''
😀','name of T1: „2“ ''a''
😀','2026-11-19 10:00:00.654321','token of T1: „2“ ''a''
😀','2026-11-19 10:00:00.654321');
INSERT INTO "installations" VALUES('T2','app_id of T2: „11“ ''a''
😀','name of T2: „11“ ''a''
😀','2026-11-19 01:00:00.654321','token of T2: „11“ ''a''
😀','2026-11-19 01:00:00.654321');
INSERT INTO "installations" VALUES('T2','app_id of T2: „12“ ''a''
😀','name of T2: „12“ ''a''
😀','2026-11-19 00:00:00.654321','token of T2: „12“ ''a''
😀','2026-11-19 00:00:00.654321');
CREATE TABLE judge_requests (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	team_id VARCHAR NOT NULL, 
	channel_id VARCHAR NOT NULL, 
	user_id VARCHAR NOT NULL, 
	aim VARCHAR NOT NULL, 
	status VARCHAR NOT NULL, 
	asked_at DATETIME NOT NULL, 
	rubric VARCHAR, 
	rubric_version VARCHAR, 
	judge_model VARCHAR, 
	message_channel VARCHAR, 
	message_ts VARCHAR, 
	prompt TEXT, 
	learnt JSON, 
	CONSTRAINT uq_judge_requests_team_id_channel_id_aim UNIQUE (team_id, channel_id, aim)
);
INSERT INTO "judge_requests" VALUES(1,'T1','channel_id of T1: „1“ ''a''
😀','user_id of T1: „1“ ''a''
😀','aim of T1: „1“ ''a''
😀','delivered','2026-11-19 11:00:00.654321','rubric of T1: „1“ ''a''
😀','rubric_version of T1: „1“ ''a''
😀','judge_model of T1: „1“ ''a''
😀','message_channel of T1: „1“ ''a''
😀','message_ts of T1: „1“ ''a''
😀','prompt of T1: „1“ ''a''
😀','{"z": [0.3333333333333333, null, true], "a": {"\u00fc": "\u201e\u201c \ud83d\ude00"}}');
INSERT INTO "judge_requests" VALUES(2,'T1','channel_id of T1: „2“ ''a''
😀','user_id of T1: „2“ ''a''
😀','aim of T1: „2“ ''a''
😀','delivered','2026-11-19 10:00:00.654321','rubric of T1: „2“ ''a''
😀','rubric_version of T1: „2“ ''a''
😀','judge_model of T1: „2“ ''a''
😀','message_channel of T1: „2“ ''a''
😀','message_ts of T1: „2“ ''a''
😀','prompt of T1: „2“ ''a''
😀','{"z": [0.6666666666666666, null, true], "a": {"\u00fc": "\u201e\u201c \ud83d\ude00"}}');
INSERT INTO "judge_requests" VALUES(11,'T2','channel_id of T2: „11“ ''a''
😀','user_id of T2: „11“ ''a''
😀','aim of T2: „11“ ''a''
😀','delivered','2026-11-19 01:00:00.654321','rubric of T2: „11“ ''a''
😀','rubric_version of T2: „11“ ''a''
😀','judge_model of T2: „11“ ''a''
😀','message_channel of T2: „11“ ''a''
😀','message_ts of T2: „11“ ''a''
😀','prompt of T2: „11“ ''a''
😀','{"z": [3.6666666666666665, null, true], "a": {"\u00fc": "\u201e\u201c \ud83d\ude00"}}');
INSERT INTO "judge_requests" VALUES(12,'T2','channel_id of T2: „12“ ''a''
😀','user_id of T2: „12“ ''a''
😀','aim of T2: „12“ ''a''
😀','delivered','2026-11-19 00:00:00.654321','rubric of T2: „12“ ''a''
😀','rubric_version of T2: „12“ ''a''
😀','judge_model of T2: „12“ ''a''
😀','message_channel of T2: „12“ ''a''
😀','message_ts of T2: „12“ ''a''
😀','prompt of T2: „12“ ''a''
😀','{"z": [4.0, null, true], "a": {"\u00fc": "\u201e\u201c \ud83d\ude00"}}');
CREATE TABLE keys (
	name VARCHAR NOT NULL, 
	value VARCHAR NOT NULL, 
	CONSTRAINT pk_keys PRIMARY KEY (name)
);
INSERT INTO "keys" VALUES('name of T1: „1“ ''a''
😀','value of T1: „1“ ''a''
😀');
INSERT INTO "keys" VALUES('name of T1: „2“ ''a''
😀','value of T1: „2“ ''a''
😀');
INSERT INTO "keys" VALUES('name of T2: „11“ ''a''
😀','value of T2: „11“ ''a''
😀');
INSERT INTO "keys" VALUES('name of T2: „12“ ''a''
😀','value of T2: „12“ ''a''
😀');
CREATE TABLE label_assignments (
	team_id VARCHAR NOT NULL, 
	user_id VARCHAR NOT NULL, 
	case_id INTEGER NOT NULL, 
	probability FLOAT NOT NULL, 
	drawn_at DATETIME NOT NULL, 
	outcome VARCHAR, 
	CONSTRAINT pk_label_assignments PRIMARY KEY (team_id, user_id, case_id), 
	CONSTRAINT fk_label_assignments_cases FOREIGN KEY(team_id, case_id) REFERENCES cases (team_id, id) ON DELETE CASCADE ON UPDATE CASCADE
);
INSERT INTO "label_assignments" VALUES('T1','user_id of T1: „1“ ''a''
😀',1,3.33333333333333314829e-01,'2026-11-19 11:00:00.654321','outcome of T1: „1“ ''a''
😀');
INSERT INTO "label_assignments" VALUES('T1','user_id of T1: „2“ ''a''
😀',2,6.66666666666666629659e-01,'2026-11-19 10:00:00.654321','outcome of T1: „2“ ''a''
😀');
INSERT INTO "label_assignments" VALUES('T2','user_id of T2: „11“ ''a''
😀',11,3.66666666666666651863e+00,'2026-11-19 01:00:00.654321','outcome of T2: „11“ ''a''
😀');
INSERT INTO "label_assignments" VALUES('T2','user_id of T2: „12“ ''a''
😀',12,4.0,'2026-11-19 00:00:00.654321','outcome of T2: „12“ ''a''
😀');
CREATE TABLE labels (
	team_id VARCHAR NOT NULL, 
	case_id INTEGER NOT NULL, 
	user_id VARCHAR NOT NULL, 
	channel_id VARCHAR DEFAULT '' NOT NULL, 
	score INTEGER NOT NULL, 
	created_at DATETIME NOT NULL, 
	updated_at DATETIME NOT NULL, 
	reason TEXT, 
	probability FLOAT, 
	is_blind BOOLEAN DEFAULT 0 NOT NULL, 
	CONSTRAINT pk_labels PRIMARY KEY (team_id, case_id, user_id), 
	CONSTRAINT fk_labels_cases FOREIGN KEY(team_id, case_id) REFERENCES cases (team_id, id) ON DELETE CASCADE ON UPDATE CASCADE
);
INSERT INTO "labels" VALUES('T1',1,'user_id of T1: „1“ ''a''
😀','channel_id of T1: „1“ ''a''
😀',1,'2026-11-19 11:00:00.654321','2026-11-19 11:00:00.654321','reason of T1: „1“ ''a''
😀',3.33333333333333314829e-01,0);
INSERT INTO "labels" VALUES('T1',2,'user_id of T1: „2“ ''a''
😀','channel_id of T1: „2“ ''a''
😀',2,'2026-11-19 10:00:00.654321','2026-11-19 10:00:00.654321','reason of T1: „2“ ''a''
😀',6.66666666666666629659e-01,1);
INSERT INTO "labels" VALUES('T2',11,'user_id of T2: „11“ ''a''
😀','channel_id of T2: „11“ ''a''
😀',11,'2026-11-19 01:00:00.654321','2026-11-19 01:00:00.654321','reason of T2: „11“ ''a''
😀',3.66666666666666651863e+00,0);
INSERT INTO "labels" VALUES('T2',12,'user_id of T2: „12“ ''a''
😀','channel_id of T2: „12“ ''a''
😀',12,'2026-11-19 00:00:00.654321','2026-11-19 00:00:00.654321','reason of T2: „12“ ''a''
😀',4.0,1);
CREATE TABLE notices (
	team_id VARCHAR NOT NULL, 
	channel_id VARCHAR NOT NULL, 
	author_id VARCHAR NOT NULL, 
	name VARCHAR NOT NULL, 
	recipient VARCHAR NOT NULL, 
	day VARCHAR NOT NULL, 
	claimed_at DATETIME NOT NULL, 
	posted_at DATETIME, 
	is_refused BOOLEAN, 
	CONSTRAINT pk_notices PRIMARY KEY (team_id, channel_id, author_id, name, recipient)
);
INSERT INTO "notices" VALUES('T1','channel_id of T1: „1“ ''a''
😀','author_id of T1: „1“ ''a''
😀','name of T1: „1“ ''a''
😀','recipient of T1: „1“ ''a''
😀','day of T1: „1“ ''a''
😀','2026-11-19 11:00:00.654321','2026-11-19 11:00:00.654321',0);
INSERT INTO "notices" VALUES('T1','channel_id of T1: „2“ ''a''
😀','author_id of T1: „2“ ''a''
😀','name of T1: „2“ ''a''
😀','recipient of T1: „2“ ''a''
😀','day of T1: „2“ ''a''
😀','2026-11-19 10:00:00.654321','2026-11-19 10:00:00.654321',1);
INSERT INTO "notices" VALUES('T2','channel_id of T2: „11“ ''a''
😀','author_id of T2: „11“ ''a''
😀','name of T2: „11“ ''a''
😀','recipient of T2: „11“ ''a''
😀','day of T2: „11“ ''a''
😀','2026-11-19 01:00:00.654321','2026-11-19 01:00:00.654321',0);
INSERT INTO "notices" VALUES('T2','channel_id of T2: „12“ ''a''
😀','author_id of T2: „12“ ''a''
😀','name of T2: „12“ ''a''
😀','recipient of T2: „12“ ''a''
😀','day of T2: „12“ ''a''
😀','2026-11-19 00:00:00.654321','2026-11-19 00:00:00.654321',1);
CREATE TABLE oauth_states (
	state VARCHAR NOT NULL, 
	expires_at DATETIME NOT NULL, 
	CONSTRAINT pk_oauth_states PRIMARY KEY (state)
);
INSERT INTO "oauth_states" VALUES('state of T1: „1“ ''a''
😀','2026-11-19 11:00:00.654321');
INSERT INTO "oauth_states" VALUES('state of T1: „2“ ''a''
😀','2026-11-19 10:00:00.654321');
INSERT INTO "oauth_states" VALUES('state of T2: „11“ ''a''
😀','2026-11-19 01:00:00.654321');
INSERT INTO "oauth_states" VALUES('state of T2: „12“ ''a''
😀','2026-11-19 00:00:00.654321');
CREATE TABLE people (
	team_id VARCHAR NOT NULL, 
	user_id VARCHAR NOT NULL, 
	visibility VARCHAR, 
	is_asked BOOLEAN, 
	updated_at DATETIME NOT NULL, 
	CONSTRAINT pk_people PRIMARY KEY (team_id, user_id)
);
INSERT INTO "people" VALUES('T1','user_id of T1: „1“ ''a''
😀','visibility of T1: „1“ ''a''
😀',0,'2026-11-19 11:00:00.654321');
INSERT INTO "people" VALUES('T1','user_id of T1: „2“ ''a''
😀','visibility of T1: „2“ ''a''
😀',1,'2026-11-19 10:00:00.654321');
INSERT INTO "people" VALUES('T2','user_id of T2: „11“ ''a''
😀','visibility of T2: „11“ ''a''
😀',0,'2026-11-19 01:00:00.654321');
INSERT INTO "people" VALUES('T2','user_id of T2: „12“ ''a''
😀','visibility of T2: „12“ ''a''
😀',1,'2026-11-19 00:00:00.654321');
CREATE TABLE processes (
	id VARCHAR NOT NULL, 
	host VARCHAR NOT NULL, 
	pid INTEGER NOT NULL, 
	is_connected BOOLEAN NOT NULL, 
	seen_at DATETIME NOT NULL, 
	CONSTRAINT pk_processes PRIMARY KEY (id)
);
CREATE TABLE quotes (
	team_id VARCHAR NOT NULL, 
	case_id INTEGER NOT NULL, 
	channel_id VARCHAR NOT NULL, 
	ts VARCHAR NOT NULL, 
	CONSTRAINT pk_quotes PRIMARY KEY (team_id, case_id, channel_id, ts), 
	CONSTRAINT fk_quotes_cases FOREIGN KEY(team_id, case_id) REFERENCES cases (team_id, id) ON DELETE CASCADE ON UPDATE CASCADE
);
INSERT INTO "quotes" VALUES('T1',1,'channel_id of T1: „1“ ''a''
😀','ts of T1: „1“ ''a''
😀');
INSERT INTO "quotes" VALUES('T1',2,'channel_id of T1: „2“ ''a''
😀','ts of T1: „2“ ''a''
😀');
INSERT INTO "quotes" VALUES('T2',11,'channel_id of T2: „11“ ''a''
😀','ts of T2: „11“ ''a''
😀');
INSERT INTO "quotes" VALUES('T2',12,'channel_id of T2: „12“ ''a''
😀','ts of T2: „12“ ''a''
😀');
CREATE TABLE ratings (
	team_id VARCHAR NOT NULL, 
	case_id INTEGER NOT NULL, 
	position INTEGER NOT NULL, 
	justification TEXT NOT NULL, 
	raw TEXT NOT NULL, 
	unscored_reason VARCHAR, 
	model VARCHAR, 
	served VARCHAR, 
	score INTEGER, 
	weighted_score FLOAT, 
	coverage FLOAT, 
	input_tokens INTEGER, 
	output_tokens INTEGER, 
	reasoning_tokens INTEGER, 
	latency_ms INTEGER, 
	cost_usd FLOAT, 
	probabilities JSON, 
	points JSON, 
	CONSTRAINT pk_ratings PRIMARY KEY (team_id, case_id, position), 
	CONSTRAINT fk_ratings_cases FOREIGN KEY(team_id, case_id) REFERENCES cases (team_id, id) ON DELETE CASCADE ON UPDATE CASCADE, 
	CONSTRAINT ck_ratings_scored_or_not CHECK ((score IS NULL) <> (unscored_reason IS NULL))
);
INSERT INTO "ratings" VALUES('T1',1,1,'justification of T1: „1“ ''a''
😀','raw of T1: „1“ ''a''
😀',NULL,'model of T1: „1“ ''a''
😀','served of T1: „1“ ''a''
😀',1,3.33333333333333314829e-01,3.33333333333333314829e-01,1,1,1,1,3.33333333333333314829e-01,'{"z": [0.3333333333333333, null, true], "a": {"\u00fc": "\u201e\u201c \ud83d\ude00"}}','{"z": [0.3333333333333333, null, true], "a": {"\u00fc": "\u201e\u201c \ud83d\ude00"}}');
INSERT INTO "ratings" VALUES('T1',2,2,'justification of T1: „2“ ''a''
😀','raw of T1: „2“ ''a''
😀',NULL,'model of T1: „2“ ''a''
😀','served of T1: „2“ ''a''
😀',2,6.66666666666666629659e-01,6.66666666666666629659e-01,2,2,2,2,6.66666666666666629659e-01,'{"z": [0.6666666666666666, null, true], "a": {"\u00fc": "\u201e\u201c \ud83d\ude00"}}','{"z": [0.6666666666666666, null, true], "a": {"\u00fc": "\u201e\u201c \ud83d\ude00"}}');
INSERT INTO "ratings" VALUES('T2',11,11,'justification of T2: „11“ ''a''
😀','raw of T2: „11“ ''a''
😀',NULL,'model of T2: „11“ ''a''
😀','served of T2: „11“ ''a''
😀',11,3.66666666666666651863e+00,3.66666666666666651863e+00,11,11,11,11,3.66666666666666651863e+00,'{"z": [3.6666666666666665, null, true], "a": {"\u00fc": "\u201e\u201c \ud83d\ude00"}}','{"z": [3.6666666666666665, null, true], "a": {"\u00fc": "\u201e\u201c \ud83d\ude00"}}');
INSERT INTO "ratings" VALUES('T2',12,12,'justification of T2: „12“ ''a''
😀','raw of T2: „12“ ''a''
😀',NULL,'model of T2: „12“ ''a''
😀','served of T2: „12“ ''a''
😀',12,4.0,4.0,12,12,12,12,4.0,'{"z": [4.0, null, true], "a": {"\u00fc": "\u201e\u201c \ud83d\ude00"}}','{"z": [4.0, null, true], "a": {"\u00fc": "\u201e\u201c \ud83d\ude00"}}');
CREATE TABLE releases (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	team_id VARCHAR NOT NULL, 
	channel_id VARCHAR NOT NULL, 
	author_id VARCHAR NOT NULL, 
	set_by VARCHAR NOT NULL, 
	set_at DATETIME NOT NULL, 
	note TEXT NOT NULL, 
	needed INTEGER NOT NULL, 
	taken_back_at DATETIME
);
INSERT INTO "releases" VALUES(1,'T1','channel_id of T1: „1“ ''a''
😀','author_id of T1: „1“ ''a''
😀','set_by of T1: „1“ ''a''
😀','2026-11-19 11:00:00.654321','note of T1: „1“ ''a''
😀',1,'2026-11-19 11:00:00.654321');
INSERT INTO "releases" VALUES(2,'T1','channel_id of T1: „2“ ''a''
😀','author_id of T1: „2“ ''a''
😀','set_by of T1: „2“ ''a''
😀','2026-11-19 10:00:00.654321','note of T1: „2“ ''a''
😀',2,'2026-11-19 10:00:00.654321');
INSERT INTO "releases" VALUES(11,'T2','channel_id of T2: „11“ ''a''
😀','author_id of T2: „11“ ''a''
😀','set_by of T2: „11“ ''a''
😀','2026-11-19 01:00:00.654321','note of T2: „11“ ''a''
😀',11,'2026-11-19 01:00:00.654321');
INSERT INTO "releases" VALUES(12,'T2','channel_id of T2: „12“ ''a''
😀','author_id of T2: „12“ ''a''
😀','set_by of T2: „12“ ''a''
😀','2026-11-19 00:00:00.654321','note of T2: „12“ ''a''
😀',12,'2026-11-19 00:00:00.654321');
CREATE TABLE replies (
	team_id VARCHAR NOT NULL, 
	channel_id VARCHAR NOT NULL, 
	ts VARCHAR NOT NULL, 
	author_id VARCHAR NOT NULL, 
	day VARCHAR NOT NULL, 
	probability FLOAT NOT NULL, 
	parent_ts VARCHAR, 
	last_ts VARCHAR, 
	ended_ts VARCHAR, 
	outcome VARCHAR, 
	text_hash VARCHAR, 
	rests_at DATETIME NOT NULL, 
	CONSTRAINT pk_replies PRIMARY KEY (team_id, channel_id, ts)
);
INSERT INTO "replies" VALUES('T1','channel_id of T1: „1“ ''a''
😀','ts of T1: „1“ ''a''
😀','author_id of T1: „1“ ''a''
😀','day of T1: „1“ ''a''
😀',3.33333333333333314829e-01,'parent_ts of T1: „1“ ''a''
😀','last_ts of T1: „1“ ''a''
😀','ended_ts of T1: „1“ ''a''
😀','outcome of T1: „1“ ''a''
😀','text_hash of T1: „1“ ''a''
😀','2026-11-19 11:00:00.654321');
INSERT INTO "replies" VALUES('T1','channel_id of T1: „2“ ''a''
😀','ts of T1: „2“ ''a''
😀','author_id of T1: „2“ ''a''
😀','day of T1: „2“ ''a''
😀',6.66666666666666629659e-01,'parent_ts of T1: „2“ ''a''
😀','last_ts of T1: „2“ ''a''
😀','ended_ts of T1: „2“ ''a''
😀','outcome of T1: „2“ ''a''
😀','text_hash of T1: „2“ ''a''
😀','2026-11-19 10:00:00.654321');
INSERT INTO "replies" VALUES('T2','channel_id of T2: „11“ ''a''
😀','ts of T2: „11“ ''a''
😀','author_id of T2: „11“ ''a''
😀','day of T2: „11“ ''a''
😀',3.66666666666666651863e+00,'parent_ts of T2: „11“ ''a''
😀','last_ts of T2: „11“ ''a''
😀','ended_ts of T2: „11“ ''a''
😀','outcome of T2: „11“ ''a''
😀','text_hash of T2: „11“ ''a''
😀','2026-11-19 01:00:00.654321');
INSERT INTO "replies" VALUES('T2','channel_id of T2: „12“ ''a''
😀','ts of T2: „12“ ''a''
😀','author_id of T2: „12“ ''a''
😀','day of T2: „12“ ''a''
😀',4.0,'parent_ts of T2: „12“ ''a''
😀','last_ts of T2: „12“ ''a''
😀','ended_ts of T2: „12“ ''a''
😀','outcome of T2: „12“ ''a''
😀','text_hash of T2: „12“ ''a''
😀','2026-11-19 00:00:00.654321');
CREATE TABLE rubrics (
	team_id VARCHAR NOT NULL, 
	channel_id VARCHAR NOT NULL, 
	name VARCHAR NOT NULL, 
	number INTEGER NOT NULL, 
	version VARCHAR NOT NULL, 
	saved_by VARCHAR NOT NULL, 
	prompt TEXT NOT NULL, 
	saved_at DATETIME NOT NULL, 
	CONSTRAINT pk_rubrics PRIMARY KEY (team_id, channel_id, name, number)
);
INSERT INTO "rubrics" VALUES('T1','channel_id of T1: „1“ ''a''
😀','name of T1: „1“ ''a''
😀',1,'version of T1: „1“ ''a''
😀','saved_by of T1: „1“ ''a''
😀','prompt of T1: „1“ ''a''
😀','2026-11-19 11:00:00.654321');
INSERT INTO "rubrics" VALUES('T1','channel_id of T1: „2“ ''a''
😀','name of T1: „2“ ''a''
😀',2,'version of T1: „2“ ''a''
😀','saved_by of T1: „2“ ''a''
😀','prompt of T1: „2“ ''a''
😀','2026-11-19 10:00:00.654321');
INSERT INTO "rubrics" VALUES('T2','channel_id of T2: „11“ ''a''
😀','name of T2: „11“ ''a''
😀',11,'version of T2: „11“ ''a''
😀','saved_by of T2: „11“ ''a''
😀','prompt of T2: „11“ ''a''
😀','2026-11-19 01:00:00.654321');
INSERT INTO "rubrics" VALUES('T2','channel_id of T2: „12“ ''a''
😀','name of T2: „12“ ''a''
😀',12,'version of T2: „12“ ''a''
😀','saved_by of T2: „12“ ''a''
😀','prompt of T2: „12“ ''a''
😀','2026-11-19 00:00:00.654321');
CREATE TABLE spent (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	team_id VARCHAR NOT NULL, 
	requester_id VARCHAR NOT NULL, 
	tokens INTEGER NOT NULL, 
	created_at DATETIME NOT NULL
);
INSERT INTO "spent" VALUES(1,'T1','requester_id of T1: „1“ ''a''
😀',1,'2026-11-19 11:00:00.654321');
INSERT INTO "spent" VALUES(2,'T1','requester_id of T1: „2“ ''a''
😀',2,'2026-11-19 10:00:00.654321');
INSERT INTO "spent" VALUES(11,'T2','requester_id of T2: „11“ ''a''
😀',11,'2026-11-19 01:00:00.654321');
INSERT INTO "spent" VALUES(12,'T2','requester_id of T2: „12“ ''a''
😀',12,'2026-11-19 00:00:00.654321');
CREATE TABLE thumbs (
	team_id VARCHAR NOT NULL, 
	channel_id VARCHAR NOT NULL, 
	ts VARCHAR NOT NULL, 
	user_id VARCHAR NOT NULL, 
	is_up BOOLEAN NOT NULL, 
	is_given BOOLEAN NOT NULL, 
	changed_at DATETIME NOT NULL, 
	CONSTRAINT pk_thumbs PRIMARY KEY (team_id, channel_id, ts, user_id, is_up)
);
INSERT INTO "thumbs" VALUES('T1','channel_id of T1: „1“ ''a''
😀','ts of T1: „1“ ''a''
😀','user_id of T1: „1“ ''a''
😀',0,0,'2026-11-19 11:00:00.654321');
INSERT INTO "thumbs" VALUES('T1','channel_id of T1: „2“ ''a''
😀','ts of T1: „2“ ''a''
😀','user_id of T1: „2“ ''a''
😀',1,1,'2026-11-19 10:00:00.654321');
INSERT INTO "thumbs" VALUES('T2','channel_id of T2: „11“ ''a''
😀','ts of T2: „11“ ''a''
😀','user_id of T2: „11“ ''a''
😀',0,0,'2026-11-19 01:00:00.654321');
INSERT INTO "thumbs" VALUES('T2','channel_id of T2: „12“ ''a''
😀','ts of T2: „12“ ''a''
😀','user_id of T2: „12“ ''a''
😀',1,1,'2026-11-19 00:00:00.654321');
CREATE TABLE turns (
	team_id VARCHAR NOT NULL, 
	case_id INTEGER NOT NULL, 
	position INTEGER NOT NULL, 
	channel_id VARCHAR NOT NULL, 
	part VARCHAR NOT NULL, 
	ts VARCHAR NOT NULL, 
	role VARCHAR NOT NULL, 
	text_hash VARCHAR NOT NULL, 
	author_id VARCHAR, 
	text TEXT, 
	CONSTRAINT pk_turns PRIMARY KEY (team_id, case_id, position), 
	CONSTRAINT fk_turns_cases FOREIGN KEY(team_id, case_id) REFERENCES cases (team_id, id) ON DELETE CASCADE ON UPDATE CASCADE
);
INSERT INTO "turns" VALUES('T1',1,1,'channel_id of T1: „1“ ''a''
😀','part of T1: „1“ ''a''
😀','ts of T1: „1“ ''a''
😀','role of T1: „1“ ''a''
😀','text_hash of T1: „1“ ''a''
😀','author_id of T1: „1“ ''a''
😀','text of T1: „1“ ''a''
😀');
INSERT INTO "turns" VALUES('T1',2,2,'channel_id of T1: „2“ ''a''
😀','part of T1: „2“ ''a''
😀','ts of T1: „2“ ''a''
😀','role of T1: „2“ ''a''
😀','text_hash of T1: „2“ ''a''
😀','author_id of T1: „2“ ''a''
😀','text of T1: „2“ ''a''
😀');
INSERT INTO "turns" VALUES('T2',11,11,'channel_id of T2: „11“ ''a''
😀','part of T2: „11“ ''a''
😀','ts of T2: „11“ ''a''
😀','role of T2: „11“ ''a''
😀','text_hash of T2: „11“ ''a''
😀','author_id of T2: „11“ ''a''
😀','text of T2: „11“ ''a''
😀');
INSERT INTO "turns" VALUES('T2',12,12,'channel_id of T2: „12“ ''a''
😀','part of T2: „12“ ''a''
😀','ts of T2: „12“ ''a''
😀','role of T2: „12“ ''a''
😀','text_hash of T2: „12“ ''a''
😀','author_id of T2: „12“ ''a''
😀','text of T2: „12“ ''a''
😀');
CREATE TABLE watches (
	team_id VARCHAR NOT NULL, 
	channel_id VARCHAR NOT NULL, 
	author_id VARCHAR NOT NULL, 
	shows VARCHAR NOT NULL, 
	share FLOAT NOT NULL, 
	per_day INTEGER NOT NULL, 
	since DATETIME NOT NULL, 
	alerts_to VARCHAR, 
	floor FLOAT, 
	low_since DATETIME, 
	look_at DATETIME NOT NULL, 
	read_until DATETIME NOT NULL, 
	not_read VARCHAR, 
	judge_version VARCHAR, 
	CONSTRAINT pk_watches PRIMARY KEY (team_id, channel_id, author_id)
);
INSERT INTO "watches" VALUES('T1','channel_id of T1: „1“ ''a''
😀','author_id of T1: „1“ ''a''
😀','shows of T1: „1“ ''a''
😀',3.33333333333333314829e-01,1,'2026-11-19 11:00:00.654321','U1,C1',3.33333333333333314829e-01,'2026-11-19 11:00:00.654321','2026-11-19 11:00:00.654321','2026-11-19 11:00:00.654321','not_read of T1: „1“ ''a''
😀','judge_version of T1: „1“ ''a''
😀');
INSERT INTO "watches" VALUES('T1','channel_id of T1: „2“ ''a''
😀','author_id of T1: „2“ ''a''
😀','shows of T1: „2“ ''a''
😀',6.66666666666666629659e-01,2,'2026-11-19 10:00:00.654321','U2,C2',6.66666666666666629659e-01,'2026-11-19 10:00:00.654321','2026-11-19 10:00:00.654321','2026-11-19 10:00:00.654321','not_read of T1: „2“ ''a''
😀','judge_version of T1: „2“ ''a''
😀');
INSERT INTO "watches" VALUES('T2','channel_id of T2: „11“ ''a''
😀','author_id of T2: „11“ ''a''
😀','shows of T2: „11“ ''a''
😀',3.66666666666666651863e+00,11,'2026-11-19 01:00:00.654321','U11,C11',3.66666666666666651863e+00,'2026-11-19 01:00:00.654321','2026-11-19 01:00:00.654321','2026-11-19 01:00:00.654321','not_read of T2: „11“ ''a''
😀','judge_version of T2: „11“ ''a''
😀');
INSERT INTO "watches" VALUES('T2','channel_id of T2: „12“ ''a''
😀','author_id of T2: „12“ ''a''
😀','shows of T2: „12“ ''a''
😀',4.0,12,'2026-11-19 00:00:00.654321','U12,C12',4.0,'2026-11-19 00:00:00.654321','2026-11-19 00:00:00.654321','2026-11-19 00:00:00.654321','not_read of T2: „12“ ''a''
😀','judge_version of T2: „12“ ''a''
😀');
CREATE INDEX ix_cases_watched ON cases (team_id, channel_id, judged_at, lowest, highest, score, author_id, requester_id, thread_ts, unscored_reason, model, judge_version, input_tokens, output_tokens, cost_usd, skipped_ratings, unread, probability, excluded) WHERE probability IS NOT NULL AND excluded IS NULL;
CREATE INDEX ix_cases_unsettled ON cases (team_id, channel_id, requester_id, status) WHERE status != 'delivered';
CREATE INDEX ix_cases_team_id_requester_id_created_at ON cases (team_id, requester_id, created_at);
CREATE INDEX ix_cases_team_id_question_author_id ON cases (team_id, question_author_id) WHERE question_author_id IS NOT NULL;
CREATE INDEX ix_cases_team_id_judged_at ON cases (team_id, judged_at);
CREATE INDEX ix_cases_team_id_channel_id_thread_ts ON cases (team_id, channel_id, thread_ts) WHERE thread_ts IS NOT NULL;
CREATE INDEX ix_cases_team_id_channel_id_question_ts ON cases (team_id, channel_id, question_ts) WHERE question_ts IS NOT NULL;
CREATE INDEX ix_cases_team_id_channel_id_message_ts ON cases (team_id, channel_id, message_ts);
CREATE INDEX ix_cases_team_id_channel_id_judged_at ON cases (team_id, channel_id, judged_at);
CREATE INDEX ix_cases_team_id_author_id ON cases (team_id, author_id) WHERE author_id IS NOT NULL;
CREATE INDEX ix_cases_stale ON cases (id) WHERE is_stale;
CREATE INDEX ix_cases_repeated ON cases (team_id, channel_id, judged_at, message_ts, attempt, visibility, blocker, blocked_by, excluded, probability) WHERE attempt > 1;
CREATE INDEX ix_cases_figures ON cases (team_id, channel_id, judged_at, lowest, highest, score, author_id, requester_id, thread_ts, unscored_reason, model, judge_version, input_tokens, output_tokens, cost_usd, skipped_ratings, unread, message_ts, visibility, blocker, blocked_by, excluded, probability) WHERE message_ts IS NOT NULL AND visibility = 'thread' AND blocker IS NULL AND blocked_by IS NULL AND excluded IS NULL AND probability IS NULL;
CREATE INDEX ix_cases_created_at ON cases (created_at);
CREATE INDEX ix_replies_waiting ON replies (team_id, rests_at) WHERE outcome IS NULL;
CREATE INDEX ix_replies_team_id_channel_id_parent_ts ON replies (team_id, channel_id, parent_ts);
CREATE INDEX ix_replies_figures ON replies (team_id, channel_id, author_id, day, outcome);
CREATE INDEX ix_releases_team_id_channel_id ON releases (team_id, channel_id);
CREATE INDEX ix_executions_waiting ON executions (case_id) WHERE completed_at IS NULL;
CREATE INDEX ix_thumbs_team_id_user_id ON thumbs (team_id, user_id);
CREATE INDEX ix_thumbs_taken_back ON thumbs (changed_at) WHERE NOT is_given;
CREATE INDEX ix_audit_at ON audit (at);
CREATE INDEX ix_spent_created_at ON spent (created_at);
CREATE INDEX ix_turns_team_id_channel_id_ts ON turns (team_id, channel_id, ts);
CREATE INDEX ix_turns_team_id_author_id ON turns (team_id, author_id);
CREATE INDEX ix_causes_team_id_case_id ON causes (team_id, case_id);
CREATE INDEX ix_labels_figures ON labels (team_id, channel_id, case_id, score);
CREATE INDEX ix_align_records_team_id_case_id ON align_records (team_id, case_id);
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('audit',12);
INSERT INTO "sqlite_sequence" VALUES('cases',12);
INSERT INTO "sqlite_sequence" VALUES('judge_requests',12);
INSERT INTO "sqlite_sequence" VALUES('releases',12);
INSERT INTO "sqlite_sequence" VALUES('spent',12);
COMMIT;
