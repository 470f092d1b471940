-- A store as version 1 made it, with something in every table. Never changed: it stands for the files people have.
create table workspace(version integer not null, revision bigint not null);
insert into workspace values (1, 41);
create table datasets(
    dataset integer not null, name varchar not null, task varchar not null, n bigint not null,
    fingerprint varchar not null, source varchar not null, first bigint not null);
insert into datasets values (1, 'stories', 'spans', 2, 'abc', 'stories.jsonl', 1);
create table samples(
    sample bigint not null, id varchar not null, text varchar not null using compression uncompressed,
    length integer not null, emotion varchar, valence varchar, label_set integer not null, record varchar not null);
insert into samples values
    (1, 's1', 'I slammed the door.', 19, 'angry', 'negative', 0, '{"id":"s1"}'),
    (2, 's2', 'We danced all night.', 20, 'happy', 'positive', 1, '{"id":"s2"}');
create table label_sets(
    dataset integer not null, label_set integer not null, emotions varchar[] not null, valences varchar[] not null);
insert into label_sets values (1, 0, ['angry'], ['negative']), (1, 1, ['happy'], ['positive']);
create table runs(
    number integer not null, run varchar not null, identity varchar not null, task varchar not null,
    model varchar not null, dataset integer not null, config varchar not null, state varchar not null,
    started varchar not null, finished varchar, n bigint not null, done bigint not null, failed bigint not null,
    error varchar);
insert into runs values
    (1, 'old-run', 'identity', 'spans', 'embedded', 1, '{"style":"retrieve"}', 'stopped',
     '2026-01-02T03:04:05.678+00:00', '2026-01-02T03:04:06.000+00:00', 2, 1, 0, null);
create sequence output_ids;
create table outputs(
    output bigint not null, run integer not null, sample bigint not null, repeat integer not null,
    attempt integer not null, prompt varchar, raw varchar, error varchar, seconds double not null);
insert into outputs values (nextval('output_ids'), 1, 1, 0, 0, 'prompt', 'slammed the door', null, 0.25);
create sequence prediction_ids;
create table predictions(
    prediction bigint not null, output bigint not null, run integer not null, sample bigint not null,
    repeat integer not null, current boolean not null, record varchar not null);
insert into predictions values (nextval('prediction_ids'), 1, 1, 1, 0, true, '{"spans":["slammed the door"]}');
create sequence score_ids;
create table scores(
    score bigint not null, output bigint not null, run integer not null, sample bigint not null,
    repeat integer not null, current boolean not null, convention varchar not null, f1 double, sim double,
    marks integer not null, detail varchar not null);
insert into scores values (nextval('score_ids'), 1, 1, 1, 0, true, 'words', 0.8, null, 3, '{"f1":0.8}');
create sequence annotation_ids;
create table annotations(
    annotation bigint not null, kind varchar not null, sample bigint, annotator varchar not null,
    payload varchar not null, undoes bigint, made varchar not null);
insert into annotations values
    (nextval('annotation_ids'), 'spans', 1, 'ada', '[[2,9]]', null, '2026-01-02T03:04:07.000+00:00');
create table settings(key varchar not null, value varchar not null);
insert into settings values ('theme', '"dark"');
