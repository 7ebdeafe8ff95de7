CREATE TABLE public.alembic_version (
    version_num character varying(32) NOT NULL
);
CREATE TABLE public.align_records (
    team_id character varying NOT NULL,
    channel_id character varying NOT NULL,
    key character varying NOT NULL,
    case_id integer,
    value json NOT NULL
);
CREATE TABLE public.audit (
    id integer NOT NULL,
    team_id character varying NOT NULL,
    who character varying NOT NULL,
    what character varying NOT NULL,
    at timestamp with time zone NOT NULL,
    channel_id character varying,
    user_id character varying,
    case_id integer,
    cases integer
);
CREATE SEQUENCE public.audit_id_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.audit_id_seq OWNED BY public.audit.id;
CREATE TABLE public.cases (
    id integer NOT NULL,
    team_id character varying NOT NULL,
    key character varying NOT NULL,
    channel_id character varying NOT NULL,
    requester_id character varying NOT NULL,
    requester_name character varying NOT NULL,
    source character varying NOT NULL,
    rubric character varying NOT NULL,
    visibility character varying NOT NULL,
    status character varying NOT NULL,
    attempt integer NOT NULL,
    created_at timestamp with time zone NOT NULL,
    opened integer DEFAULT 1 NOT NULL,
    messages integer DEFAULT 1 NOT NULL,
    messages_before integer DEFAULT 0 NOT NULL,
    left_out integer DEFAULT 0 NOT NULL,
    slack_tries integer DEFAULT 0 NOT NULL,
    model_tries integer DEFAULT 0 NOT NULL,
    internal_errors integer DEFAULT 0 NOT NULL,
    reserved_tokens integer DEFAULT 0 NOT NULL,
    thread_intent boolean DEFAULT false NOT NULL,
    reply_intent boolean DEFAULT false NOT NULL,
    message_ts character varying,
    parent_ts character varying,
    author_id character varying,
    thread_ts character varying,
    reply_ts character varying,
    lease_owner character varying,
    blocked_by character varying,
    excluded character varying,
    shows character varying,
    unread character varying,
    probability double precision,
    blocker text,
    response_url text,
    question_source character varying,
    question_ts character varying,
    question_author_id character varying,
    question_hash character varying,
    question text,
    response_hash character varying,
    response text,
    judged_at timestamp with time zone,
    delivered_at timestamp with time zone,
    model character varying,
    escalation character varying,
    rubric_version character varying,
    judge_version character varying,
    unscored_reason character varying,
    unscored_detail text,
    score integer,
    lowest integer,
    highest integer,
    mean double precision,
    spread double precision,
    weighted_score double precision,
    justification text,
    points json,
    input_tokens integer,
    output_tokens integer,
    reasoning_tokens integer,
    skipped_ratings integer,
    latency_ms integer,
    cost_usd double precision,
    flags json DEFAULT '[]'::json NOT NULL,
    edited_at timestamp with time zone,
    deleted_at timestamp with time zone,
    forgotten_at timestamp with time zone,
    is_stale boolean DEFAULT false NOT NULL,
    CONSTRAINT ck_cases_scored_or_not CHECK (((score IS NULL) OR (unscored_reason IS NULL)))
);
CREATE SEQUENCE public.cases_id_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.cases_id_seq OWNED BY public.cases.id;
CREATE TABLE public.causes (
    team_id character varying NOT NULL,
    channel_id character varying NOT NULL,
    week character varying NOT NULL,
    case_id integer NOT NULL,
    name text NOT NULL
);
CREATE TABLE public.channels (
    team_id character varying NOT NULL,
    channel_id character varying NOT NULL,
    is_digest_on boolean DEFAULT false NOT NULL,
    digest_day character varying,
    digest_time character varying,
    digest_tz character varying,
    score_reaction character varying,
    rubric character varying,
    rubric_version character varying,
    judge_model character varying,
    digest_since timestamp with time zone,
    labels_per_week integer,
    reference text
);
CREATE TABLE public.digests (
    team_id character varying NOT NULL,
    channel_id character varying NOT NULL,
    week character varying NOT NULL,
    status character varying NOT NULL,
    claimed_at timestamp with time zone NOT NULL,
    message_ts character varying
);
CREATE TABLE public.executions (
    team_id character varying NOT NULL,
    id character varying NOT NULL,
    case_id integer NOT NULL,
    quotes boolean NOT NULL,
    completed_at timestamp with time zone
);
CREATE TABLE public.installations (
    team_id character varying NOT NULL,
    app_id character varying NOT NULL,
    name character varying NOT NULL,
    installed_at timestamp with time zone NOT NULL,
    token character varying,
    left_at timestamp with time zone
);
CREATE TABLE public.judge_requests (
    id integer NOT NULL,
    team_id character varying NOT NULL,
    channel_id character varying NOT NULL,
    user_id character varying NOT NULL,
    aim character varying NOT NULL,
    status character varying NOT NULL,
    asked_at timestamp with time zone NOT NULL,
    rubric character varying,
    rubric_version character varying,
    judge_model character varying,
    message_channel character varying,
    message_ts character varying,
    prompt text,
    learnt json
);
CREATE SEQUENCE public.judge_requests_id_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.judge_requests_id_seq OWNED BY public.judge_requests.id;
CREATE TABLE public.keys (
    name character varying NOT NULL,
    value character varying NOT NULL
);
CREATE TABLE public.label_assignments (
    team_id character varying NOT NULL,
    user_id character varying NOT NULL,
    case_id integer NOT NULL,
    probability double precision NOT NULL,
    drawn_at timestamp with time zone NOT NULL,
    outcome character varying
);
CREATE TABLE public.labels (
    team_id character varying NOT NULL,
    case_id integer NOT NULL,
    user_id character varying NOT NULL,
    channel_id character varying DEFAULT ''::character varying NOT NULL,
    score integer NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    reason text,
    probability double precision,
    is_blind boolean DEFAULT false NOT NULL
);
CREATE TABLE public.notices (
    team_id character varying NOT NULL,
    channel_id character varying NOT NULL,
    author_id character varying NOT NULL,
    name character varying NOT NULL,
    recipient character varying NOT NULL,
    day character varying NOT NULL,
    claimed_at timestamp with time zone NOT NULL,
    posted_at timestamp with time zone,
    is_refused boolean
);
CREATE TABLE public.oauth_states (
    state character varying NOT NULL,
    expires_at timestamp with time zone NOT NULL
);
CREATE TABLE public.people (
    team_id character varying NOT NULL,
    user_id character varying NOT NULL,
    visibility character varying,
    is_asked boolean,
    updated_at timestamp with time zone NOT NULL
);
CREATE TABLE public.processes (
    id character varying NOT NULL,
    host character varying NOT NULL,
    pid integer NOT NULL,
    is_connected boolean NOT NULL,
    seen_at timestamp with time zone NOT NULL
);
CREATE TABLE public.quotes (
    team_id character varying NOT NULL,
    case_id integer NOT NULL,
    channel_id character varying NOT NULL,
    ts character varying NOT NULL
);
CREATE TABLE public.ratings (
    team_id character varying NOT NULL,
    case_id integer NOT NULL,
    "position" integer NOT NULL,
    justification text NOT NULL,
    raw text NOT NULL,
    unscored_reason character varying,
    model character varying,
    served character varying,
    score integer,
    weighted_score double precision,
    coverage double precision,
    input_tokens integer,
    output_tokens integer,
    reasoning_tokens integer,
    latency_ms integer,
    cost_usd double precision,
    probabilities json,
    points json,
    CONSTRAINT ck_ratings_scored_or_not CHECK (((score IS NULL) <> (unscored_reason IS NULL)))
);
CREATE TABLE public.releases (
    id integer NOT NULL,
    team_id character varying NOT NULL,
    channel_id character varying NOT NULL,
    author_id character varying NOT NULL,
    set_by character varying NOT NULL,
    set_at timestamp with time zone NOT NULL,
    note text NOT NULL,
    needed integer NOT NULL,
    taken_back_at timestamp with time zone
);
CREATE SEQUENCE public.releases_id_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.releases_id_seq OWNED BY public.releases.id;
CREATE TABLE public.replies (
    team_id character varying NOT NULL,
    channel_id character varying NOT NULL,
    ts character varying NOT NULL,
    author_id character varying NOT NULL,
    day character varying NOT NULL,
    probability double precision NOT NULL,
    parent_ts character varying,
    last_ts character varying,
    ended_ts character varying,
    outcome character varying,
    text_hash character varying,
    rests_at timestamp with time zone NOT NULL
);
CREATE TABLE public.rubrics (
    team_id character varying NOT NULL,
    channel_id character varying NOT NULL,
    name character varying NOT NULL,
    number integer NOT NULL,
    version character varying NOT NULL,
    saved_by character varying NOT NULL,
    prompt text NOT NULL,
    saved_at timestamp with time zone NOT NULL
);
CREATE TABLE public.spent (
    id integer NOT NULL,
    team_id character varying NOT NULL,
    requester_id character varying NOT NULL,
    tokens integer NOT NULL,
    created_at timestamp with time zone NOT NULL
);
CREATE SEQUENCE public.spent_id_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.spent_id_seq OWNED BY public.spent.id;
CREATE TABLE public.thumbs (
    team_id character varying NOT NULL,
    channel_id character varying NOT NULL,
    ts character varying NOT NULL,
    user_id character varying NOT NULL,
    is_up boolean NOT NULL,
    is_given boolean NOT NULL,
    changed_at timestamp with time zone NOT NULL
);
CREATE TABLE public.turns (
    team_id character varying NOT NULL,
    case_id integer NOT NULL,
    "position" integer NOT NULL,
    channel_id character varying NOT NULL,
    part character varying NOT NULL,
    ts character varying NOT NULL,
    role character varying NOT NULL,
    text_hash character varying NOT NULL,
    author_id character varying,
    text text
);
CREATE TABLE public.watches (
    team_id character varying NOT NULL,
    channel_id character varying NOT NULL,
    author_id character varying NOT NULL,
    shows character varying NOT NULL,
    share double precision NOT NULL,
    per_day integer NOT NULL,
    since timestamp with time zone NOT NULL,
    alerts_to character varying,
    floor double precision,
    low_since timestamp with time zone,
    look_at timestamp with time zone NOT NULL,
    read_until timestamp with time zone NOT NULL,
    not_read character varying,
    judge_version character varying
);
ALTER TABLE ONLY public.audit ALTER COLUMN id SET DEFAULT nextval('public.audit_id_seq'::regclass);
ALTER TABLE ONLY public.cases ALTER COLUMN id SET DEFAULT nextval('public.cases_id_seq'::regclass);
ALTER TABLE ONLY public.judge_requests ALTER COLUMN id SET DEFAULT nextval('public.judge_requests_id_seq'::regclass);
ALTER TABLE ONLY public.releases ALTER COLUMN id SET DEFAULT nextval('public.releases_id_seq'::regclass);
ALTER TABLE ONLY public.spent ALTER COLUMN id SET DEFAULT nextval('public.spent_id_seq'::regclass);
INSERT INTO public.alembic_version VALUES ('0001');
INSERT INTO public.align_records VALUES ('T1', 'channel_id of T1: „1“ ''a''
😀', 'key of T1: „1“ ''a''
😀', 1, '{"z": [0.3333333333333333, null, true], "a": {"\u00fc": "\u201e\u201c \ud83d\ude00"}}');
INSERT INTO public.align_records VALUES ('T1', 'channel_id of T1: „2“ ''a''
😀', 'key of T1: „2“ ''a''
😀', 2, '{"z": [0.6666666666666666, null, true], "a": {"\u00fc": "\u201e\u201c \ud83d\ude00"}}');
INSERT INTO public.align_records VALUES ('T2', 'channel_id of T2: „11“ ''a''
😀', 'key of T2: „11“ ''a''
😀', 11, '{"z": [3.6666666666666665, null, true], "a": {"\u00fc": "\u201e\u201c \ud83d\ude00"}}');
INSERT INTO public.align_records VALUES ('T2', 'channel_id of T2: „12“ ''a''
😀', 'key of T2: „12“ ''a''
😀', 12, '{"z": [4.0, null, true], "a": {"\u00fc": "\u201e\u201c \ud83d\ude00"}}');
INSERT INTO public.audit VALUES (1, 'T1', 'who of T1: „1“ ''a''
😀', 'purged', '2026-11-19 11:00:00.654321+00', 'channel_id of T1: „1“ ''a''
😀', 'user_id of T1: „1“ ''a''
😀', 1, 1);
INSERT INTO public.audit VALUES (2, 'T1', 'who of T1: „2“ ''a''
😀', 'purged', '2026-11-19 10:00:00.654321+00', 'channel_id of T1: „2“ ''a''
😀', 'user_id of T1: „2“ ''a''
😀', 2, 2);
INSERT INTO public.audit VALUES (11, 'T2', 'who of T2: „11“ ''a''
😀', 'purged', '2026-11-19 01:00:00.654321+00', 'channel_id of T2: „11“ ''a''
😀', 'user_id of T2: „11“ ''a''
😀', 11, 11);
INSERT INTO public.audit VALUES (12, 'T2', 'who of T2: „12“ ''a''
😀', 'purged', '2026-11-19 00:00:00.654321+00', 'channel_id of T2: „12“ ''a''
😀', 'user_id of T2: „12“ ''a''
😀', 12, 12);
INSERT INTO public.cases VALUES (1, 'T1', 'key of T1: „1“ ''a''
😀', 'channel_id of T1: „1“ ''a''
😀', 'requester_id of T1: „1“ ''a''
😀', 'requester_name of T1: „1“ ''a''
😀', 'source of T1: „1“ ''a''
😀', 'rubric of T1: „1“ ''a''
😀', 'visibility of T1: „1“ ''a''
😀', 'delivered', 1, '2026-11-19 11:00:00.654321+00', 1, 1, 1, 1, 1, 1, 1, 1, false, false, 'message_ts of T1: „1“ ''a''
😀', 'parent_ts of T1: „1“ ''a''
😀', 'author_id of T1: „1“ ''a''
😀', 'thread_ts of T1: „1“ ''a''
😀', 'reply_ts of T1: „1“ ''a''
😀', 'lease_owner of T1: „1“ ''a''
😀', 'blocked_by of T1: „1“ ''a''
😀', 'excluded of T1: „1“ ''a''
😀', 'shows of T1: „1“ ''a''
😀', 'unread of T1: „1“ ''a''
😀', 0.3333333333333333, 'blocker of T1: „1“ ''a''
😀', 'response_url of T1: „1“ ''a''
😀', 'question_source of T1: „1“ ''a''
😀', 'question_ts of T1: „1“ ''a''
😀', 'question_author_id of T1: „1“ ''a''
😀', 'question_hash of T1: „1“ ''a''
😀', 'question of T1: „1“ ''a''
😀', 'response_hash of T1: „1“ ''a''
😀', 'response of T1: „1“ ''a''
😀', '2026-11-19 11:00:00.654321+00', '2026-11-19 11:00:00.654321+00', 'model of T1: „1“ ''a''
😀', 'escalation of T1: „1“ ''a''
😀', 'rubric_version of T1: „1“ ''a''
😀', 'judge_version of T1: „1“ ''a''
😀', NULL, 'unscored_detail of T1: „1“ ''a''
😀', 1, 1, 1, 0.3333333333333333, 0.3333333333333333, 0.3333333333333333, 'justification of T1: „1“ ''a''
😀', '{"z": [0.3333333333333333, null, true], "a": {"\u00fc": "\u201e\u201c \ud83d\ude00"}}', 1, 1, 1, 1, 1, 0.3333333333333333, '{"z": [0.3333333333333333, null, true], "a": {"\u00fc": "\u201e\u201c \ud83d\ude00"}}', '2026-11-19 11:00:00.654321+00', '2026-11-19 11:00:00.654321+00', '2026-11-19 11:00:00.654321+00', false);
INSERT INTO public.cases VALUES (2, 'T1', 'key of T1: „2“ ''a''
😀', 'channel_id of T1: „2“ ''a''
😀', 'requester_id of T1: „2“ ''a''
😀', 'requester_name of T1: „2“ ''a''
😀', 'source of T1: „2“ ''a''
😀', 'rubric of T1: „2“ ''a''
😀', 'visibility of T1: „2“ ''a''
😀', 'delivered', 2, '2026-11-19 10:00:00.654321+00', 2, 2, 2, 2, 2, 2, 2, 2, true, true, 'message_ts of T1: „2“ ''a''
😀', 'parent_ts of T1: „2“ ''a''
😀', 'author_id of T1: „2“ ''a''
😀', 'thread_ts of T1: „2“ ''a''
😀', 'reply_ts of T1: „2“ ''a''
😀', 'lease_owner of T1: „2“ ''a''
😀', 'blocked_by of T1: „2“ ''a''
😀', 'excluded of T1: „2“ ''a''
😀', 'shows of T1: „2“ ''a''
😀', 'unread of T1: „2“ ''a''
😀', 0.6666666666666666, 'blocker of T1: „2“ ''a''
😀', 'response_url of T1: „2“ ''a''
😀', 'question_source of T1: „2“ ''a''
😀', 'question_ts of T1: „2“ ''a''
😀', 'question_author_id of T1: „2“ ''a''
😀', 'question_hash of T1: „2“ ''a''
😀', 'question of T1: „2“ ''a''
😀', 'response_hash of T1: „2“ ''a''
😀', 'response of T1: „2“ ''a''
😀', '2026-11-19 10:00:00.654321+00', '2026-11-19 10:00:00.654321+00', 'model of T1: „2“ ''a''
😀', 'escalation of T1: „2“ ''a''
😀', 'rubric_version of T1: „2“ ''a''
😀', 'judge_version of T1: „2“ ''a''
😀', NULL, 'unscored_detail of T1: „2“ ''a''
😀', 2, 2, 2, 0.6666666666666666, 0.6666666666666666, 0.6666666666666666, 'justification of T1: „2“ ''a''
😀', '{"z": [0.6666666666666666, null, true], "a": {"\u00fc": "\u201e\u201c \ud83d\ude00"}}', 2, 2, 2, 2, 2, 0.6666666666666666, '{"z": [0.6666666666666666, null, true], "a": {"\u00fc": "\u201e\u201c \ud83d\ude00"}}', '2026-11-19 10:00:00.654321+00', '2026-11-19 10:00:00.654321+00', '2026-11-19 10:00:00.654321+00', true);
INSERT INTO public.cases VALUES (11, 'T2', 'key of T2: „11“ ''a''
😀', 'channel_id of T2: „11“ ''a''
😀', 'requester_id of T2: „11“ ''a''
😀', 'requester_name of T2: „11“ ''a''
😀', 'source of T2: „11“ ''a''
😀', 'rubric of T2: „11“ ''a''
😀', 'visibility of T2: „11“ ''a''
😀', 'delivered', 11, '2026-11-19 01:00:00.654321+00', 11, 11, 11, 11, 11, 11, 11, 11, false, false, 'message_ts of T2: „11“ ''a''
😀', 'parent_ts of T2: „11“ ''a''
😀', 'author_id of T2: „11“ ''a''
😀', 'thread_ts of T2: „11“ ''a''
😀', 'reply_ts of T2: „11“ ''a''
😀', 'lease_owner of T2: „11“ ''a''
😀', 'blocked_by of T2: „11“ ''a''
😀', 'excluded of T2: „11“ ''a''
😀', 'shows of T2: „11“ ''a''
😀', 'unread of T2: „11“ ''a''
😀', 3.6666666666666665, 'blocker of T2: „11“ ''a''
😀', 'response_url of T2: „11“ ''a''
😀', 'question_source of T2: „11“ ''a''
😀', 'question_ts of T2: „11“ ''a''
😀', 'question_author_id of T2: „11“ ''a''
😀', 'question_hash of T2: „11“ ''a''
😀', 'question of T2: „11“ ''a''
😀', 'response_hash of T2: „11“ ''a''
😀', 'response of T2: „11“ ''a''
😀', '2026-11-19 01:00:00.654321+00', '2026-11-19 01:00:00.654321+00', 'model of T2: „11“ ''a''
😀', 'escalation of T2: „11“ ''a''
😀', 'rubric_version of T2: „11“ ''a''
😀', 'judge_version of T2: „11“ ''a''
😀', NULL, 'unscored_detail of T2: „11“ ''a''
😀', 11, 11, 11, 3.6666666666666665, 3.6666666666666665, 3.6666666666666665, 'justification of T2: „11“ ''a''
😀', '{"z": [3.6666666666666665, null, true], "a": {"\u00fc": "\u201e\u201c \ud83d\ude00"}}', 11, 11, 11, 11, 11, 3.6666666666666665, '{"z": [3.6666666666666665, null, true], "a": {"\u00fc": "\u201e\u201c \ud83d\ude00"}}', '2026-11-19 01:00:00.654321+00', '2026-11-19 01:00:00.654321+00', '2026-11-19 01:00:00.654321+00', false);
INSERT INTO public.cases VALUES (12, 'T2', 'key of T2: „12“ ''a''
😀', 'channel_id of T2: „12“ ''a''
😀', 'requester_id of T2: „12“ ''a''
😀', 'requester_name of T2: „12“ ''a''
😀', 'source of T2: „12“ ''a''
😀', 'rubric of T2: „12“ ''a''
😀', 'visibility of T2: „12“ ''a''
😀', 'delivered', 12, '2026-11-19 00:00:00.654321+00', 12, 12, 12, 12, 12, 12, 12, 12, true, true, 'message_ts of T2: „12“ ''a''
😀', 'parent_ts of T2: „12“ ''a''
😀', 'author_id of T2: „12“ ''a''
😀', 'thread_ts of T2: „12“ ''a''
😀', 'reply_ts of T2: „12“ ''a''
😀', 'lease_owner of T2: „12“ ''a''
😀', 'blocked_by of T2: „12“ ''a''
😀', 'excluded of T2: „12“ ''a''
😀', 'shows of T2: „12“ ''a''
😀', 'unread of T2: „12“ ''a''
😀', 4, 'blocker of T2: „12“ ''a''
😀', 'response_url of T2: „12“ ''a''
😀', 'question_source of T2: „12“ ''a''
😀', 'question_ts of T2: „12“ ''a''
😀', 'question_author_id of T2: „12“ ''a''
😀', 'question_hash of T2: „12“ ''a''
😀', 'question of T2: „12“ ''a''
😀', 'response_hash of T2: „12“ ''a''
😀', 'response of T2: „12“ ''a''
😀', '2026-11-19 00:00:00.654321+00', '2026-11-19 00:00:00.654321+00', 'model of T2: „12“ ''a''
😀', 'escalation of T2: „12“ ''a''
😀', 'rubric_version of T2: „12“ ''a''
😀', 'judge_version of T2: „12“ ''a''
😀', NULL, 'unscored_detail of T2: „12“ ''a''
😀', 12, 12, 12, 4, 4, 4, 'justification of T2: „12“ ''a''
😀', '{"z": [4.0, null, true], "a": {"\u00fc": "\u201e\u201c \ud83d\ude00"}}', 12, 12, 12, 12, 12, 4, '{"z": [4.0, null, true], "a": {"\u00fc": "\u201e\u201c \ud83d\ude00"}}', '2026-11-19 00:00:00.654321+00', '2026-11-19 00:00:00.654321+00', '2026-11-19 00:00:00.654321+00', true);
INSERT INTO public.causes VALUES ('T1', 'channel_id of T1: „1“ ''a''
😀', 'week of T1: „1“ ''a''
😀', 1, 'name of T1: „1“ ''a''
😀');
INSERT INTO public.causes VALUES ('T1', 'channel_id of T1: „2“ ''a''
😀', 'week of T1: „2“ ''a''
😀', 2, 'name of T1: „2“ ''a''
😀');
INSERT INTO public.causes VALUES ('T2', 'channel_id of T2: „11“ ''a''
😀', 'week of T2: „11“ ''a''
😀', 11, 'name of T2: „11“ ''a''
😀');
INSERT INTO public.causes VALUES ('T2', 'channel_id of T2: „12“ ''a''
😀', 'week of T2: „12“ ''a''
😀', 12, 'name of T2: „12“ ''a''
😀');
INSERT INTO public.channels VALUES ('T1', 'channel_id of T1: „1“ ''a''
😀', false, 'digest_day of T1: „1“ ''a''
😀', 'digest_time of T1: „1“ ''a''
😀', 'digest_tz of T1: „1“ ''a''
😀', 'score_reaction of T1: „1“ ''a''
😀', 'rubric of T1: „1“ ''a''
😀', 'rubric_version of T1: „1“ ''a''
😀', 'judge_model of T1: „1“ ''a''
😀', '2026-11-19 11:00:00.654321+00', 1, 'reference of T1: „1“ ''a''
😀');
INSERT INTO public.channels VALUES ('T1', 'channel_id of T1: „2“ ''a''
😀', true, 'digest_day of T1: „2“ ''a''
😀', 'digest_time of T1: „2“ ''a''
😀', 'digest_tz of T1: „2“ ''a''
😀', 'score_reaction of T1: „2“ ''a''
😀', 'rubric of T1: „2“ ''a''
😀', 'rubric_version of T1: „2“ ''a''
😀', 'judge_model of T1: „2“ ''a''
😀', '2026-11-19 10:00:00.654321+00', 2, 'reference of T1: „2“ ''a''
😀');
INSERT INTO public.channels VALUES ('T2', 'channel_id of T2: „11“ ''a''
😀', false, 'digest_day of T2: „11“ ''a''
😀', 'digest_time of T2: „11“ ''a''
😀', 'digest_tz of T2: „11“ ''a''
😀', 'score_reaction of T2: „11“ ''a''
😀', 'rubric of T2: „11“ ''a''
😀', 'rubric_version of T2: „11“ ''a''
😀', 'judge_model of T2: „11“ ''a''
😀', '2026-11-19 01:00:00.654321+00', 11, 'reference of T2: „11“ ''a''
😀');
INSERT INTO public.channels VALUES ('T2', 'channel_id of T2: „12“ ''a''
😀', true, 'digest_day of T2: „12“ ''a''
😀', 'digest_time of T2: „12“ ''a''
😀', 'digest_tz of T2: „12“ ''a''
😀', 'score_reaction of T2: „12“ ''a''
😀', 'rubric of T2: „12“ ''a''
😀', 'rubric_version of T2: „12“ ''a''
😀', 'judge_model of T2: „12“ ''a''
😀', '2026-11-19 00:00:00.654321+00', 12, 'reference of T2: „12“ ''a''
😀');
INSERT INTO public.digests VALUES ('T1', 'channel_id of T1: „1“ ''a''
😀', 'week of T1: „1“ ''a''
😀', 'delivered', '2026-11-19 11:00:00.654321+00', 'message_ts of T1: „1“ ''a''
😀');
INSERT INTO public.digests VALUES ('T1', 'channel_id of T1: „2“ ''a''
😀', 'week of T1: „2“ ''a''
😀', 'delivered', '2026-11-19 10:00:00.654321+00', 'message_ts of T1: „2“ ''a''
😀');
INSERT INTO public.digests VALUES ('T2', 'channel_id of T2: „11“ ''a''
😀', 'week of T2: „11“ ''a''
😀', 'delivered', '2026-11-19 01:00:00.654321+00', 'message_ts of T2: „11“ ''a''
😀');
INSERT INTO public.digests VALUES ('T2', 'channel_id of T2: „12“ ''a''
😀', 'week of T2: „12“ ''a''
😀', 'delivered', '2026-11-19 00:00:00.654321+00', 'message_ts of T2: „12“ ''a''
😀');
INSERT INTO public.executions VALUES ('T1', 'id of T1: „1“ ''a''
😀', 1, false, '2026-11-19 11:00:00.654321+00');
INSERT INTO public.executions VALUES ('T1', 'id of T1: „2“ ''a''
😀', 2, true, '2026-11-19 10:00:00.654321+00');
INSERT INTO public.executions VALUES ('T2', 'id of T2: „11“ ''a''
😀', 11, false, '2026-11-19 01:00:00.654321+00');
INSERT INTO public.executions VALUES ('T2', 'id of T2: „12“ ''a''
😀', 12, true, '2026-11-19 00:00:00.654321+00');
INSERT INTO public.installations VALUES ('T1', 'app_id of T1: „1“ ''a''
😀', 'name of T1: „1“ ''a''
😀', '2026-11-19 11:00:00.654321+00', 'token of T1: „1“ ''a''
😀', '2026-11-19 11:00:00.654321+00');
INSERT INTO public.installations VALUES ('T1', 'app_id of T1: „2“ ''a''
😀', 'name of T1: „2“ ''a''
😀', '2026-11-19 10:00:00.654321+00', 'token of T1: „2“ ''a''
😀', '2026-11-19 10:00:00.654321+00');
INSERT INTO public.installations VALUES ('T2', 'app_id of T2: „11“ ''a''
😀', 'name of T2: „11“ ''a''
😀', '2026-11-19 01:00:00.654321+00', 'token of T2: „11“ ''a''
😀', '2026-11-19 01:00:00.654321+00');
INSERT INTO public.installations VALUES ('T2', 'app_id of T2: „12“ ''a''
😀', 'name of T2: „12“ ''a''
😀', '2026-11-19 00:00:00.654321+00', 'token of T2: „12“ ''a''
😀', '2026-11-19 00:00:00.654321+00');
INSERT INTO public.judge_requests VALUES (1, 'T1', 'channel_id of T1: „1“ ''a''
😀', 'user_id of T1: „1“ ''a''
😀', 'aim of T1: „1“ ''a''
😀', 'delivered', '2026-11-19 11:00:00.654321+00', 'rubric of T1: „1“ ''a''
😀', 'rubric_version of T1: „1“ ''a''
😀', 'judge_model of T1: „1“ ''a''
😀', 'message_channel of T1: „1“ ''a''
😀', 'message_ts of T1: „1“ ''a''
😀', 'prompt of T1: „1“ ''a''
😀', '{"z": [0.3333333333333333, null, true], "a": {"\u00fc": "\u201e\u201c \ud83d\ude00"}}');
INSERT INTO public.judge_requests VALUES (2, 'T1', 'channel_id of T1: „2“ ''a''
😀', 'user_id of T1: „2“ ''a''
😀', 'aim of T1: „2“ ''a''
😀', 'delivered', '2026-11-19 10:00:00.654321+00', 'rubric of T1: „2“ ''a''
😀', 'rubric_version of T1: „2“ ''a''
😀', 'judge_model of T1: „2“ ''a''
😀', 'message_channel of T1: „2“ ''a''
😀', 'message_ts of T1: „2“ ''a''
😀', 'prompt of T1: „2“ ''a''
😀', '{"z": [0.6666666666666666, null, true], "a": {"\u00fc": "\u201e\u201c \ud83d\ude00"}}');
INSERT INTO public.judge_requests VALUES (11, 'T2', 'channel_id of T2: „11“ ''a''
😀', 'user_id of T2: „11“ ''a''
😀', 'aim of T2: „11“ ''a''
😀', 'delivered', '2026-11-19 01:00:00.654321+00', 'rubric of T2: „11“ ''a''
😀', 'rubric_version of T2: „11“ ''a''
😀', 'judge_model of T2: „11“ ''a''
😀', 'message_channel of T2: „11“ ''a''
😀', 'message_ts of T2: „11“ ''a''
😀', 'prompt of T2: „11“ ''a''
😀', '{"z": [3.6666666666666665, null, true], "a": {"\u00fc": "\u201e\u201c \ud83d\ude00"}}');
INSERT INTO public.judge_requests VALUES (12, 'T2', 'channel_id of T2: „12“ ''a''
😀', 'user_id of T2: „12“ ''a''
😀', 'aim of T2: „12“ ''a''
😀', 'delivered', '2026-11-19 00:00:00.654321+00', 'rubric of T2: „12“ ''a''
😀', 'rubric_version of T2: „12“ ''a''
😀', 'judge_model of T2: „12“ ''a''
😀', 'message_channel of T2: „12“ ''a''
😀', 'message_ts of T2: „12“ ''a''
😀', 'prompt of T2: „12“ ''a''
😀', '{"z": [4.0, null, true], "a": {"\u00fc": "\u201e\u201c \ud83d\ude00"}}');
INSERT INTO public.keys VALUES ('name of T1: „1“ ''a''
😀', 'value of T1: „1“ ''a''
😀');
INSERT INTO public.keys VALUES ('name of T1: „2“ ''a''
😀', 'value of T1: „2“ ''a''
😀');
INSERT INTO public.keys VALUES ('name of T2: „11“ ''a''
😀', 'value of T2: „11“ ''a''
😀');
INSERT INTO public.keys VALUES ('name of T2: „12“ ''a''
😀', 'value of T2: „12“ ''a''
😀');
INSERT INTO public.label_assignments VALUES ('T1', 'user_id of T1: „1“ ''a''
😀', 1, 0.3333333333333333, '2026-11-19 11:00:00.654321+00', 'outcome of T1: „1“ ''a''
😀');
INSERT INTO public.label_assignments VALUES ('T1', 'user_id of T1: „2“ ''a''
😀', 2, 0.6666666666666666, '2026-11-19 10:00:00.654321+00', 'outcome of T1: „2“ ''a''
😀');
INSERT INTO public.label_assignments VALUES ('T2', 'user_id of T2: „11“ ''a''
😀', 11, 3.6666666666666665, '2026-11-19 01:00:00.654321+00', 'outcome of T2: „11“ ''a''
😀');
INSERT INTO public.label_assignments VALUES ('T2', 'user_id of T2: „12“ ''a''
😀', 12, 4, '2026-11-19 00:00:00.654321+00', 'outcome of T2: „12“ ''a''
😀');
INSERT INTO public.labels VALUES ('T1', 1, 'user_id of T1: „1“ ''a''
😀', 'channel_id of T1: „1“ ''a''
😀', 1, '2026-11-19 11:00:00.654321+00', '2026-11-19 11:00:00.654321+00', 'reason of T1: „1“ ''a''
😀', 0.3333333333333333, false);
INSERT INTO public.labels VALUES ('T1', 2, 'user_id of T1: „2“ ''a''
😀', 'channel_id of T1: „2“ ''a''
😀', 2, '2026-11-19 10:00:00.654321+00', '2026-11-19 10:00:00.654321+00', 'reason of T1: „2“ ''a''
😀', 0.6666666666666666, true);
INSERT INTO public.labels VALUES ('T2', 11, 'user_id of T2: „11“ ''a''
😀', 'channel_id of T2: „11“ ''a''
😀', 11, '2026-11-19 01:00:00.654321+00', '2026-11-19 01:00:00.654321+00', 'reason of T2: „11“ ''a''
😀', 3.6666666666666665, false);
INSERT INTO public.labels VALUES ('T2', 12, 'user_id of T2: „12“ ''a''
😀', 'channel_id of T2: „12“ ''a''
😀', 12, '2026-11-19 00:00:00.654321+00', '2026-11-19 00:00:00.654321+00', 'reason of T2: „12“ ''a''
😀', 4, true);
INSERT INTO public.notices VALUES ('T1', 'channel_id of T1: „1“ ''a''
😀', 'author_id of T1: „1“ ''a''
😀', 'name of T1: „1“ ''a''
😀', 'recipient of T1: „1“ ''a''
😀', 'day of T1: „1“ ''a''
😀', '2026-11-19 11:00:00.654321+00', '2026-11-19 11:00:00.654321+00', false);
INSERT INTO public.notices VALUES ('T1', 'channel_id of T1: „2“ ''a''
😀', 'author_id of T1: „2“ ''a''
😀', 'name of T1: „2“ ''a''
😀', 'recipient of T1: „2“ ''a''
😀', 'day of T1: „2“ ''a''
😀', '2026-11-19 10:00:00.654321+00', '2026-11-19 10:00:00.654321+00', true);
INSERT INTO public.notices VALUES ('T2', 'channel_id of T2: „11“ ''a''
😀', 'author_id of T2: „11“ ''a''
😀', 'name of T2: „11“ ''a''
😀', 'recipient of T2: „11“ ''a''
😀', 'day of T2: „11“ ''a''
😀', '2026-11-19 01:00:00.654321+00', '2026-11-19 01:00:00.654321+00', false);
INSERT INTO public.notices VALUES ('T2', 'channel_id of T2: „12“ ''a''
😀', 'author_id of T2: „12“ ''a''
😀', 'name of T2: „12“ ''a''
😀', 'recipient of T2: „12“ ''a''
😀', 'day of T2: „12“ ''a''
😀', '2026-11-19 00:00:00.654321+00', '2026-11-19 00:00:00.654321+00', true);
INSERT INTO public.oauth_states VALUES ('state of T1: „1“ ''a''
😀', '2026-11-19 11:00:00.654321+00');
INSERT INTO public.oauth_states VALUES ('state of T1: „2“ ''a''
😀', '2026-11-19 10:00:00.654321+00');
INSERT INTO public.oauth_states VALUES ('state of T2: „11“ ''a''
😀', '2026-11-19 01:00:00.654321+00');
INSERT INTO public.oauth_states VALUES ('state of T2: „12“ ''a''
😀', '2026-11-19 00:00:00.654321+00');
INSERT INTO public.people VALUES ('T1', 'user_id of T1: „1“ ''a''
😀', 'visibility of T1: „1“ ''a''
😀', false, '2026-11-19 11:00:00.654321+00');
INSERT INTO public.people VALUES ('T1', 'user_id of T1: „2“ ''a''
😀', 'visibility of T1: „2“ ''a''
😀', true, '2026-11-19 10:00:00.654321+00');
INSERT INTO public.people VALUES ('T2', 'user_id of T2: „11“ ''a''
😀', 'visibility of T2: „11“ ''a''
😀', false, '2026-11-19 01:00:00.654321+00');
INSERT INTO public.people VALUES ('T2', 'user_id of T2: „12“ ''a''
😀', 'visibility of T2: „12“ ''a''
😀', true, '2026-11-19 00:00:00.654321+00');
INSERT INTO public.quotes VALUES ('T1', 1, 'channel_id of T1: „1“ ''a''
😀', 'ts of T1: „1“ ''a''
😀');
INSERT INTO public.quotes VALUES ('T1', 2, 'channel_id of T1: „2“ ''a''
😀', 'ts of T1: „2“ ''a''
😀');
INSERT INTO public.quotes VALUES ('T2', 11, 'channel_id of T2: „11“ ''a''
😀', 'ts of T2: „11“ ''a''
😀');
INSERT INTO public.quotes VALUES ('T2', 12, 'channel_id of T2: „12“ ''a''
😀', 'ts of T2: „12“ ''a''
😀');
INSERT INTO public.ratings VALUES ('T1', 1, 1, 'justification of T1: „1“ ''a''
😀', 'raw of T1: „1“ ''a''
😀', NULL, 'model of T1: „1“ ''a''
😀', 'served of T1: „1“ ''a''
😀', 1, 0.3333333333333333, 0.3333333333333333, 1, 1, 1, 1, 0.3333333333333333, '{"z": [0.3333333333333333, null, true], "a": {"\u00fc": "\u201e\u201c \ud83d\ude00"}}', '{"z": [0.3333333333333333, null, true], "a": {"\u00fc": "\u201e\u201c \ud83d\ude00"}}');
INSERT INTO public.ratings VALUES ('T1', 2, 2, 'justification of T1: „2“ ''a''
😀', 'raw of T1: „2“ ''a''
😀', NULL, 'model of T1: „2“ ''a''
😀', 'served of T1: „2“ ''a''
😀', 2, 0.6666666666666666, 0.6666666666666666, 2, 2, 2, 2, 0.6666666666666666, '{"z": [0.6666666666666666, null, true], "a": {"\u00fc": "\u201e\u201c \ud83d\ude00"}}', '{"z": [0.6666666666666666, null, true], "a": {"\u00fc": "\u201e\u201c \ud83d\ude00"}}');
INSERT INTO public.ratings VALUES ('T2', 11, 11, 'justification of T2: „11“ ''a''
😀', 'raw of T2: „11“ ''a''
😀', NULL, 'model of T2: „11“ ''a''
😀', 'served of T2: „11“ ''a''
😀', 11, 3.6666666666666665, 3.6666666666666665, 11, 11, 11, 11, 3.6666666666666665, '{"z": [3.6666666666666665, null, true], "a": {"\u00fc": "\u201e\u201c \ud83d\ude00"}}', '{"z": [3.6666666666666665, null, true], "a": {"\u00fc": "\u201e\u201c \ud83d\ude00"}}');
INSERT INTO public.ratings VALUES ('T2', 12, 12, 'justification of T2: „12“ ''a''
😀', 'raw of T2: „12“ ''a''
😀', NULL, 'model of T2: „12“ ''a''
😀', 'served of T2: „12“ ''a''
😀', 12, 4, 4, 12, 12, 12, 12, 4, '{"z": [4.0, null, true], "a": {"\u00fc": "\u201e\u201c \ud83d\ude00"}}', '{"z": [4.0, null, true], "a": {"\u00fc": "\u201e\u201c \ud83d\ude00"}}');
INSERT INTO public.releases VALUES (1, 'T1', 'channel_id of T1: „1“ ''a''
😀', 'author_id of T1: „1“ ''a''
😀', 'set_by of T1: „1“ ''a''
😀', '2026-11-19 11:00:00.654321+00', 'note of T1: „1“ ''a''
😀', 1, '2026-11-19 11:00:00.654321+00');
INSERT INTO public.releases VALUES (2, 'T1', 'channel_id of T1: „2“ ''a''
😀', 'author_id of T1: „2“ ''a''
😀', 'set_by of T1: „2“ ''a''
😀', '2026-11-19 10:00:00.654321+00', 'note of T1: „2“ ''a''
😀', 2, '2026-11-19 10:00:00.654321+00');
INSERT INTO public.releases VALUES (11, 'T2', 'channel_id of T2: „11“ ''a''
😀', 'author_id of T2: „11“ ''a''
😀', 'set_by of T2: „11“ ''a''
😀', '2026-11-19 01:00:00.654321+00', 'note of T2: „11“ ''a''
😀', 11, '2026-11-19 01:00:00.654321+00');
INSERT INTO public.releases VALUES (12, 'T2', 'channel_id of T2: „12“ ''a''
😀', 'author_id of T2: „12“ ''a''
😀', 'set_by of T2: „12“ ''a''
😀', '2026-11-19 00:00:00.654321+00', 'note of T2: „12“ ''a''
😀', 12, '2026-11-19 00:00:00.654321+00');
INSERT INTO public.replies VALUES ('T1', 'channel_id of T1: „1“ ''a''
😀', 'ts of T1: „1“ ''a''
😀', 'author_id of T1: „1“ ''a''
😀', 'day of T1: „1“ ''a''
😀', 0.3333333333333333, 'parent_ts of T1: „1“ ''a''
😀', 'last_ts of T1: „1“ ''a''
😀', 'ended_ts of T1: „1“ ''a''
😀', 'outcome of T1: „1“ ''a''
😀', 'text_hash of T1: „1“ ''a''
😀', '2026-11-19 11:00:00.654321+00');
INSERT INTO public.replies VALUES ('T1', 'channel_id of T1: „2“ ''a''
😀', 'ts of T1: „2“ ''a''
😀', 'author_id of T1: „2“ ''a''
😀', 'day of T1: „2“ ''a''
😀', 0.6666666666666666, 'parent_ts of T1: „2“ ''a''
😀', 'last_ts of T1: „2“ ''a''
😀', 'ended_ts of T1: „2“ ''a''
😀', 'outcome of T1: „2“ ''a''
😀', 'text_hash of T1: „2“ ''a''
😀', '2026-11-19 10:00:00.654321+00');
INSERT INTO public.replies VALUES ('T2', 'channel_id of T2: „11“ ''a''
😀', 'ts of T2: „11“ ''a''
😀', 'author_id of T2: „11“ ''a''
😀', 'day of T2: „11“ ''a''
😀', 3.6666666666666665, 'parent_ts of T2: „11“ ''a''
😀', 'last_ts of T2: „11“ ''a''
😀', 'ended_ts of T2: „11“ ''a''
😀', 'outcome of T2: „11“ ''a''
😀', 'text_hash of T2: „11“ ''a''
😀', '2026-11-19 01:00:00.654321+00');
INSERT INTO public.replies VALUES ('T2', 'channel_id of T2: „12“ ''a''
😀', 'ts of T2: „12“ ''a''
😀', 'author_id of T2: „12“ ''a''
😀', 'day of T2: „12“ ''a''
😀', 4, 'parent_ts of T2: „12“ ''a''
😀', 'last_ts of T2: „12“ ''a''
😀', 'ended_ts of T2: „12“ ''a''
😀', 'outcome of T2: „12“ ''a''
😀', 'text_hash of T2: „12“ ''a''
😀', '2026-11-19 00:00:00.654321+00');
INSERT INTO public.rubrics VALUES ('T1', 'channel_id of T1: „1“ ''a''
😀', 'name of T1: „1“ ''a''
😀', 1, 'version of T1: „1“ ''a''
😀', 'saved_by of T1: „1“ ''a''
😀', 'prompt of T1: „1“ ''a''
😀', '2026-11-19 11:00:00.654321+00');
INSERT INTO public.rubrics VALUES ('T1', 'channel_id of T1: „2“ ''a''
😀', 'name of T1: „2“ ''a''
😀', 2, 'version of T1: „2“ ''a''
😀', 'saved_by of T1: „2“ ''a''
😀', 'prompt of T1: „2“ ''a''
😀', '2026-11-19 10:00:00.654321+00');
INSERT INTO public.rubrics VALUES ('T2', 'channel_id of T2: „11“ ''a''
😀', 'name of T2: „11“ ''a''
😀', 11, 'version of T2: „11“ ''a''
😀', 'saved_by of T2: „11“ ''a''
😀', 'prompt of T2: „11“ ''a''
😀', '2026-11-19 01:00:00.654321+00');
INSERT INTO public.rubrics VALUES ('T2', 'channel_id of T2: „12“ ''a''
😀', 'name of T2: „12“ ''a''
😀', 12, 'version of T2: „12“ ''a''
😀', 'saved_by of T2: „12“ ''a''
😀', 'prompt of T2: „12“ ''a''
😀', '2026-11-19 00:00:00.654321+00');
INSERT INTO public.spent VALUES (1, 'T1', 'requester_id of T1: „1“ ''a''
😀', 1, '2026-11-19 11:00:00.654321+00');
INSERT INTO public.spent VALUES (2, 'T1', 'requester_id of T1: „2“ ''a''
😀', 2, '2026-11-19 10:00:00.654321+00');
INSERT INTO public.spent VALUES (11, 'T2', 'requester_id of T2: „11“ ''a''
😀', 11, '2026-11-19 01:00:00.654321+00');
INSERT INTO public.spent VALUES (12, 'T2', 'requester_id of T2: „12“ ''a''
😀', 12, '2026-11-19 00:00:00.654321+00');
INSERT INTO public.thumbs VALUES ('T1', 'channel_id of T1: „1“ ''a''
😀', 'ts of T1: „1“ ''a''
😀', 'user_id of T1: „1“ ''a''
😀', false, false, '2026-11-19 11:00:00.654321+00');
INSERT INTO public.thumbs VALUES ('T1', 'channel_id of T1: „2“ ''a''
😀', 'ts of T1: „2“ ''a''
😀', 'user_id of T1: „2“ ''a''
😀', true, true, '2026-11-19 10:00:00.654321+00');
INSERT INTO public.thumbs VALUES ('T2', 'channel_id of T2: „11“ ''a''
😀', 'ts of T2: „11“ ''a''
😀', 'user_id of T2: „11“ ''a''
😀', false, false, '2026-11-19 01:00:00.654321+00');
INSERT INTO public.thumbs VALUES ('T2', 'channel_id of T2: „12“ ''a''
😀', 'ts of T2: „12“ ''a''
😀', 'user_id of T2: „12“ ''a''
😀', true, true, '2026-11-19 00:00:00.654321+00');
INSERT INTO public.turns VALUES ('T1', 1, 1, 'channel_id of T1: „1“ ''a''
😀', 'part of T1: „1“ ''a''
😀', 'ts of T1: „1“ ''a''
😀', 'role of T1: „1“ ''a''
😀', 'text_hash of T1: „1“ ''a''
😀', 'author_id of T1: „1“ ''a''
😀', 'text of T1: „1“ ''a''
😀');
INSERT INTO public.turns VALUES ('T1', 2, 2, 'channel_id of T1: „2“ ''a''
😀', 'part of T1: „2“ ''a''
😀', 'ts of T1: „2“ ''a''
😀', 'role of T1: „2“ ''a''
😀', 'text_hash of T1: „2“ ''a''
😀', 'author_id of T1: „2“ ''a''
😀', 'text of T1: „2“ ''a''
😀');
INSERT INTO public.turns VALUES ('T2', 11, 11, 'channel_id of T2: „11“ ''a''
😀', 'part of T2: „11“ ''a''
😀', 'ts of T2: „11“ ''a''
😀', 'role of T2: „11“ ''a''
😀', 'text_hash of T2: „11“ ''a''
😀', 'author_id of T2: „11“ ''a''
😀', 'text of T2: „11“ ''a''
😀');
INSERT INTO public.turns VALUES ('T2', 12, 12, 'channel_id of T2: „12“ ''a''
😀', 'part of T2: „12“ ''a''
😀', 'ts of T2: „12“ ''a''
😀', 'role of T2: „12“ ''a''
😀', 'text_hash of T2: „12“ ''a''
😀', 'author_id of T2: „12“ ''a''
😀', 'text of T2: „12“ ''a''
😀');
INSERT INTO public.watches VALUES ('T1', 'channel_id of T1: „1“ ''a''
😀', 'author_id of T1: „1“ ''a''
😀', 'shows of T1: „1“ ''a''
😀', 0.3333333333333333, 1, '2026-11-19 11:00:00.654321+00', 'U1,C1', 0.3333333333333333, '2026-11-19 11:00:00.654321+00', '2026-11-19 11:00:00.654321+00', '2026-11-19 11:00:00.654321+00', 'not_read of T1: „1“ ''a''
😀', 'judge_version of T1: „1“ ''a''
😀');
INSERT INTO public.watches VALUES ('T1', 'channel_id of T1: „2“ ''a''
😀', 'author_id of T1: „2“ ''a''
😀', 'shows of T1: „2“ ''a''
😀', 0.6666666666666666, 2, '2026-11-19 10:00:00.654321+00', 'U2,C2', 0.6666666666666666, '2026-11-19 10:00:00.654321+00', '2026-11-19 10:00:00.654321+00', '2026-11-19 10:00:00.654321+00', 'not_read of T1: „2“ ''a''
😀', 'judge_version of T1: „2“ ''a''
😀');
INSERT INTO public.watches VALUES ('T2', 'channel_id of T2: „11“ ''a''
😀', 'author_id of T2: „11“ ''a''
😀', 'shows of T2: „11“ ''a''
😀', 3.6666666666666665, 11, '2026-11-19 01:00:00.654321+00', 'U11,C11', 3.6666666666666665, '2026-11-19 01:00:00.654321+00', '2026-11-19 01:00:00.654321+00', '2026-11-19 01:00:00.654321+00', 'not_read of T2: „11“ ''a''
😀', 'judge_version of T2: „11“ ''a''
😀');
INSERT INTO public.watches VALUES ('T2', 'channel_id of T2: „12“ ''a''
😀', 'author_id of T2: „12“ ''a''
😀', 'shows of T2: „12“ ''a''
😀', 4, 12, '2026-11-19 00:00:00.654321+00', 'U12,C12', 4, '2026-11-19 00:00:00.654321+00', '2026-11-19 00:00:00.654321+00', '2026-11-19 00:00:00.654321+00', 'not_read of T2: „12“ ''a''
😀', 'judge_version of T2: „12“ ''a''
😀');
SELECT pg_catalog.setval('public.audit_id_seq', 1, false);
SELECT pg_catalog.setval('public.cases_id_seq', 1, false);
SELECT pg_catalog.setval('public.judge_requests_id_seq', 1, false);
SELECT pg_catalog.setval('public.releases_id_seq', 1, false);
SELECT pg_catalog.setval('public.spent_id_seq', 1, false);
ALTER TABLE ONLY public.alembic_version
    ADD CONSTRAINT pk_alembic_version PRIMARY KEY (version_num);
ALTER TABLE ONLY public.align_records
    ADD CONSTRAINT pk_align_records PRIMARY KEY (team_id, channel_id, key);
ALTER TABLE ONLY public.audit
    ADD CONSTRAINT pk_audit PRIMARY KEY (id);
ALTER TABLE ONLY public.cases
    ADD CONSTRAINT pk_cases PRIMARY KEY (id);
ALTER TABLE ONLY public.causes
    ADD CONSTRAINT pk_causes PRIMARY KEY (team_id, channel_id, week, case_id);
ALTER TABLE ONLY public.channels
    ADD CONSTRAINT pk_channels PRIMARY KEY (team_id, channel_id);
ALTER TABLE ONLY public.digests
    ADD CONSTRAINT pk_digests PRIMARY KEY (team_id, channel_id, week);
ALTER TABLE ONLY public.executions
    ADD CONSTRAINT pk_executions PRIMARY KEY (team_id, id);
ALTER TABLE ONLY public.installations
    ADD CONSTRAINT pk_installations PRIMARY KEY (team_id, app_id);
ALTER TABLE ONLY public.judge_requests
    ADD CONSTRAINT pk_judge_requests PRIMARY KEY (id);
ALTER TABLE ONLY public.keys
    ADD CONSTRAINT pk_keys PRIMARY KEY (name);
ALTER TABLE ONLY public.label_assignments
    ADD CONSTRAINT pk_label_assignments PRIMARY KEY (team_id, user_id, case_id);
ALTER TABLE ONLY public.labels
    ADD CONSTRAINT pk_labels PRIMARY KEY (team_id, case_id, user_id);
ALTER TABLE ONLY public.notices
    ADD CONSTRAINT pk_notices PRIMARY KEY (team_id, channel_id, author_id, name, recipient);
ALTER TABLE ONLY public.oauth_states
    ADD CONSTRAINT pk_oauth_states PRIMARY KEY (state);
ALTER TABLE ONLY public.people
    ADD CONSTRAINT pk_people PRIMARY KEY (team_id, user_id);
ALTER TABLE ONLY public.processes
    ADD CONSTRAINT pk_processes PRIMARY KEY (id);
ALTER TABLE ONLY public.quotes
    ADD CONSTRAINT pk_quotes PRIMARY KEY (team_id, case_id, channel_id, ts);
ALTER TABLE ONLY public.ratings
    ADD CONSTRAINT pk_ratings PRIMARY KEY (team_id, case_id, "position");
ALTER TABLE ONLY public.releases
    ADD CONSTRAINT pk_releases PRIMARY KEY (id);
ALTER TABLE ONLY public.replies
    ADD CONSTRAINT pk_replies PRIMARY KEY (team_id, channel_id, ts);
ALTER TABLE ONLY public.rubrics
    ADD CONSTRAINT pk_rubrics PRIMARY KEY (team_id, channel_id, name, number);
ALTER TABLE ONLY public.spent
    ADD CONSTRAINT pk_spent PRIMARY KEY (id);
ALTER TABLE ONLY public.thumbs
    ADD CONSTRAINT pk_thumbs PRIMARY KEY (team_id, channel_id, ts, user_id, is_up);
ALTER TABLE ONLY public.turns
    ADD CONSTRAINT pk_turns PRIMARY KEY (team_id, case_id, "position");
ALTER TABLE ONLY public.watches
    ADD CONSTRAINT pk_watches PRIMARY KEY (team_id, channel_id, author_id);
ALTER TABLE ONLY public.cases
    ADD CONSTRAINT uq_cases_team_id_id UNIQUE (team_id, id);
ALTER TABLE ONLY public.cases
    ADD CONSTRAINT uq_cases_team_id_key UNIQUE (team_id, key);
ALTER TABLE ONLY public.judge_requests
    ADD CONSTRAINT uq_judge_requests_team_id_channel_id_aim UNIQUE (team_id, channel_id, aim);
CREATE INDEX ix_align_records_team_id_case_id ON public.align_records USING btree (team_id, case_id);
CREATE INDEX ix_audit_at ON public.audit USING btree (at);
CREATE INDEX ix_cases_created_at ON public.cases USING btree (created_at);
CREATE INDEX ix_cases_figures ON public.cases USING btree (team_id, channel_id, judged_at, lowest, highest, score, author_id, requester_id, thread_ts, unscored_reason, model, judge_version, input_tokens, output_tokens, cost_usd, skipped_ratings, unread, message_ts, visibility, blocker, blocked_by, excluded, probability) WHERE ((message_ts IS NOT NULL) AND ((visibility)::text = 'thread'::text) AND (blocker IS NULL) AND (blocked_by IS NULL) AND (excluded IS NULL) AND (probability IS NULL));
CREATE INDEX ix_cases_repeated ON public.cases USING btree (team_id, channel_id, judged_at, message_ts, attempt, visibility, blocker, blocked_by, excluded, probability) WHERE (attempt > 1);
CREATE INDEX ix_cases_stale ON public.cases USING btree (id) WHERE is_stale;
CREATE INDEX ix_cases_team_id_author_id ON public.cases USING btree (team_id, author_id) WHERE (author_id IS NOT NULL);
CREATE INDEX ix_cases_team_id_channel_id_judged_at ON public.cases USING btree (team_id, channel_id, judged_at);
CREATE INDEX ix_cases_team_id_channel_id_message_ts ON public.cases USING btree (team_id, channel_id, message_ts);
CREATE INDEX ix_cases_team_id_channel_id_question_ts ON public.cases USING btree (team_id, channel_id, question_ts) WHERE (question_ts IS NOT NULL);
CREATE INDEX ix_cases_team_id_channel_id_thread_ts ON public.cases USING btree (team_id, channel_id, thread_ts) WHERE (thread_ts IS NOT NULL);
CREATE INDEX ix_cases_team_id_judged_at ON public.cases USING btree (team_id, judged_at);
CREATE INDEX ix_cases_team_id_question_author_id ON public.cases USING btree (team_id, question_author_id) WHERE (question_author_id IS NOT NULL);
CREATE INDEX ix_cases_team_id_requester_id_created_at ON public.cases USING btree (team_id, requester_id, created_at);
CREATE INDEX ix_cases_unsettled ON public.cases USING btree (team_id, channel_id, requester_id, status) WHERE ((status)::text <> 'delivered'::text);
CREATE INDEX ix_cases_watched ON public.cases USING btree (team_id, channel_id, judged_at, lowest, highest, score, author_id, requester_id, thread_ts, unscored_reason, model, judge_version, input_tokens, output_tokens, cost_usd, skipped_ratings, unread, probability, excluded) WHERE ((probability IS NOT NULL) AND (excluded IS NULL));
CREATE INDEX ix_causes_team_id_case_id ON public.causes USING btree (team_id, case_id);
CREATE INDEX ix_executions_waiting ON public.executions USING btree (case_id) WHERE (completed_at IS NULL);
CREATE INDEX ix_labels_figures ON public.labels USING btree (team_id, channel_id, case_id, score);
CREATE INDEX ix_releases_team_id_channel_id ON public.releases USING btree (team_id, channel_id);
CREATE INDEX ix_replies_figures ON public.replies USING btree (team_id, channel_id, author_id, day, outcome);
CREATE INDEX ix_replies_team_id_channel_id_parent_ts ON public.replies USING btree (team_id, channel_id, parent_ts);
CREATE INDEX ix_replies_waiting ON public.replies USING btree (team_id, rests_at) WHERE (outcome IS NULL);
CREATE INDEX ix_spent_created_at ON public.spent USING btree (created_at);
CREATE INDEX ix_thumbs_taken_back ON public.thumbs USING btree (changed_at) WHERE (NOT is_given);
CREATE INDEX ix_thumbs_team_id_user_id ON public.thumbs USING btree (team_id, user_id);
CREATE INDEX ix_turns_team_id_author_id ON public.turns USING btree (team_id, author_id);
CREATE INDEX ix_turns_team_id_channel_id_ts ON public.turns USING btree (team_id, channel_id, ts);
ALTER TABLE ONLY public.align_records
    ADD CONSTRAINT fk_align_records_cases FOREIGN KEY (team_id, case_id) REFERENCES public.cases(team_id, id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE ONLY public.causes
    ADD CONSTRAINT fk_causes_cases FOREIGN KEY (team_id, case_id) REFERENCES public.cases(team_id, id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE ONLY public.label_assignments
    ADD CONSTRAINT fk_label_assignments_cases FOREIGN KEY (team_id, case_id) REFERENCES public.cases(team_id, id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE ONLY public.labels
    ADD CONSTRAINT fk_labels_cases FOREIGN KEY (team_id, case_id) REFERENCES public.cases(team_id, id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE ONLY public.quotes
    ADD CONSTRAINT fk_quotes_cases FOREIGN KEY (team_id, case_id) REFERENCES public.cases(team_id, id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE ONLY public.ratings
    ADD CONSTRAINT fk_ratings_cases FOREIGN KEY (team_id, case_id) REFERENCES public.cases(team_id, id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE ONLY public.turns
    ADD CONSTRAINT fk_turns_cases FOREIGN KEY (team_id, case_id) REFERENCES public.cases(team_id, id) ON UPDATE CASCADE ON DELETE CASCADE;
