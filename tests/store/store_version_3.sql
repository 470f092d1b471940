-- A store as version 3 made it: four tasks, 100,000 scores with the two figures that every score had. Never changed: it
-- stands for the files people have. Every seventh score is superseded, every fifth has no sim, every eleventh no f1.
create table workspace(version integer not null, revision bigint not null);
insert into workspace values (3, 9);
create table datasets(
    dataset integer not null, name varchar not null, task varchar not null, n bigint not null,
    fingerprint varchar not null, source varchar not null, first bigint not null, added varchar, room bigint);
insert into datasets values
    (1, 'stories', 'spans', 40000, 'a', 'a.jsonl', 1, '2026-01-02T03:04:05.678+00:00', null),
    (2, 'scenes', 'scenes', 20000, 'b', 'b.jsonl', 40001, null, null),
    (3, 'words', 'masked', 20000, 'c', 'c.jsonl', 60001, null, null),
    (4, 'texts', 'rephrase', 20000, 'd', 'd.jsonl', 80001, null, 30000);
create table samples(
    sample bigint not null, id varchar not null, text varchar not null using compression uncompressed,
    length integer not null, emotion varchar, valence varchar, label_set integer not null, record varchar not null);
insert into samples
    select i, 's' || i, 'text ' || i, length('text ' || i), 'angry', 'negative', 0, '{"id":"s' || i || '"}'
    from range(1, 100001) t(i);
create table label_sets(
    dataset integer not null, label_set integer not null, emotions varchar[] not null, valences varchar[] not null);
insert into label_sets values (1, 0, ['angry'], ['negative']);
create table runs(
    number integer not null, run varchar not null, identity varchar not null, task varchar not null,
    model varchar not null, dataset integer not null, config varchar not null, state varchar not null,
    started varchar not null, finished varchar, n bigint not null, done bigint not null, failed bigint not null,
    error varchar);
insert into runs
    select dataset, task || '-run', 'identity', task, 'embedded', dataset, '{}', 'done',
        '2026-01-02T03:04:05.678+00:00', '2026-01-02T03:04:06.000+00:00', n, n, 0, null
    from datasets;
create sequence output_ids start with 100001;
create table outputs(
    output bigint not null, run integer not null, sample bigint not null, repeat integer not null,
    attempt integer not null, prompt varchar, raw varchar, error varchar, seconds double not null);
create temp table kept as
    select i, case when i <= 40000 then 1 when i <= 60000 then 2 when i <= 80000 then 3 else 4 end::integer as run
    from range(1, 100001) t(i);
insert into outputs select i, run, i, 0, 0, 'prompt', 'raw ' || i, null, 0.25 from kept;
create sequence prediction_ids start with 100001;
create table predictions(
    prediction bigint not null, output bigint not null, run integer not null, sample bigint not null,
    repeat integer not null, current boolean not null, record varchar not null);
insert into predictions select i, i, run, i, 0, i % 7 != 0, '{"spans":["slammed the door"]}' from kept;
create sequence score_ids start with 100001;
create table scores(
    score bigint not null, output bigint not null, run integer not null, sample bigint not null,
    repeat integer not null, current boolean not null, convention varchar not null, f1 double, sim double,
    marks integer not null, detail varchar not null);
insert into scores
    select i, i, run, i, 0, i % 7 != 0, 'rule of run ' || run,
        case when i % 11 != 0 then (i % 1000) / 1000.0 end,
        case when run = 1 and i % 5 != 0 then (i % 100) / 100.0 end, i % 64, '{"id":"s' || i || '","f1":0.5}'
    from kept;
drop table kept;
create sequence annotation_ids;
create table annotations(
    annotation bigint not null, kind varchar not null, sample bigint, annotator varchar not null,
    payload varchar not null, undoes bigint, made varchar not null);
create table settings(key varchar not null, value varchar not null);
