-- A store as version 4 made it: four tasks, 100,000 scores of named values. Never changed: it stands for the files people
-- have. Every seventh score is superseded, every eleventh has no first value.
create table workspace(version integer not null, revision bigint not null);
insert into workspace values (4, 9);
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
    select i, 's' || i, 'text ' || i, length('text ' || i), 'angry', 'negative', 0,
        '{"id":"s' || i || '","text":"text ' || i || '","spans":[[0,4]]}'
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
insert into predictions
    select i, i, run, i, 0, i % 7 != 0,
        case run when 1 then '{"spans":["text"],"offsets":[[0,4]],"labels":["angry"],"strengths":[0.5]}' else '{}' end
    from kept;
create sequence score_ids start with 100001;
create table metric_sets(metric_set integer not null, names varchar[] not null);
insert into metric_sets values (1, ['f1', 'sim', 'precision', 'recall']), (2, ['vector_f1']), (3, ['f1_v']), (4, ['accuracy']);
create table scores(
    score bigint not null, output bigint not null, run integer not null, sample bigint not null,
    repeat integer not null, current boolean not null, convention varchar not null, marks integer not null,
    detail varchar not null, metric_set integer not null,
    value_1 double, value_2 double, value_3 double, value_4 double, further double[]);
insert into scores
    select i, i, run, i, 0, i % 7 != 0, 'rule of run ' || run, i % 64, '{"id":"s' || i || '","f1":0.5}', run,
        case when i % 11 != 0 then (i % 1000) / 1000.0 end,
        case when run = 1 then (i % 100) / 100.0 end, case when run = 1 then 0.5 end, case when run = 1 then 0.25 end,
        null
    from kept;
drop table kept;
create view score_values as
    select score, unnest(names) as name,
        unnest(list_concat([value_1, value_2, value_3, value_4], further)[:len(names)]) as value
    from scores join metric_sets using (metric_set);
create sequence annotation_ids;
create table annotations(
    annotation bigint not null, kind varchar not null, sample bigint, annotator varchar not null,
    payload varchar not null, undoes bigint, made varchar not null);
create table settings(key varchar not null, value varchar not null);
