-- A store as version 6 made it: gold in its second version, a file's predictions beside it, an entry in the log, a note
-- and a slice. Never changed: it stands for the files people have.
create table workspace(version integer not null, revision bigint not null);
insert into workspace values (6, 7);
create table datasets(
    dataset integer not null, name varchar not null, task varchar not null, n bigint not null,
    fingerprint varchar not null, source varchar not null, first bigint not null, added varchar, room bigint,
    gold integer default 1, deleted varchar, asked varchar);
insert into datasets values
    (1, 'stories', 'spans', 2, 'b', 'b.jsonl', 1, '2026-01-02T03:04:05.678+00:00', null, 2, null, 'asked');
create table samples(
    sample bigint not null, id varchar not null, text varchar not null using compression uncompressed,
    length integer not null, emotion varchar, valence varchar, label_set integer not null, record varchar not null);
insert into samples values
    (1, 's1', 'I wept.', 7, 'sad', 'negative', 0, '{"id":"s1","text":"I wept.","spans":[[2,6]]}'),
    (2, 's2', 'It rained.', 10, null, null, 1, '{"id":"s2","text":"It rained.","spans":[]}');
create table label_sets(
    dataset integer not null, label_set integer not null, emotions varchar[] not null, valences varchar[] not null);
insert into label_sets values (1, 0, ['sad'], ['negative']), (1, 1, [], []);
create table runs(
    number integer not null, run varchar not null, identity varchar not null, task varchar not null,
    model varchar not null, dataset integer not null, config varchar not null, state varchar not null,
    started varchar not null, finished varchar, n bigint not null, done bigint not null, failed bigint not null,
    error varchar, source varchar default 'model', deleted varchar);
insert into runs values
    (1, 'run-1', 'identity', 'spans', 'theirs', 1, '{}', 'done', '2026-01-02T03:04:06.000+00:00',
     '2026-01-02T03:04:07.000+00:00', 2, 2, 0, null, 'file', null);
create sequence output_ids start with 3;
create table outputs(
    output bigint not null, run integer not null, sample bigint not null, repeat integer not null,
    attempt integer not null, prompt varchar, raw varchar, error varchar, seconds double not null);
insert into outputs values (1, 1, 1, 0, 0, null, null, null, 0.0), (2, 1, 2, 0, 0, null, null, null, 0.0);
create sequence prediction_ids start with 3;
create table predictions(
    prediction bigint not null, output bigint not null, run integer not null, sample bigint not null,
    repeat integer not null, current boolean not null, record varchar not null);
insert into predictions values (1, 1, 1, 1, 0, true, '{"spans":["wept"]}'), (2, 2, 1, 2, 0, true, '{"spans":[]}');
create sequence score_ids start with 3;
create table metric_sets(metric_set integer not null, names varchar[] not null);
insert into metric_sets values (1, ['f1', 'sim']);
create table scores(
    score bigint not null, output bigint not null, run integer not null, sample bigint not null,
    repeat integer not null, current boolean not null, convention varchar not null, marks integer not null,
    detail varchar not null, metric_set integer not null,
    value_1 double, value_2 double, value_3 double, value_4 double, further double[], gold integer default 1);
insert into scores values
    (1, 1, 1, 1, 0, true, 'rule', 0, '{}', 1, 1.0, null, null, null, null, 2),
    (2, 2, 1, 2, 0, true, 'rule', 0, '{}', 1, 1.0, null, null, null, null, 2);
create view score_values as
    select score, unnest(names) as name,
        unnest(list_concat([value_1, value_2, value_3, value_4], further)[:len(names)]) as value
    from scores join metric_sets using (metric_set);
create sequence annotation_ids start with 2;
create table annotations(
    annotation bigint not null, kind varchar not null, sample bigint, annotator varchar not null,
    payload varchar not null, undoes bigint, made varchar not null);
insert into annotations values (1, 'spans', 1, 'ada', '[[2,6]]', null, '2026-01-02T03:04:07.000+00:00');
create table settings(key varchar not null, value varchar not null);
create table gold_versions(
    dataset integer not null, version integer not null, fingerprint varchar not null, source varchar not null,
    made varchar);
insert into gold_versions values (1, 1, 'a', 'a.jsonl', null), (1, 2, 'b', 'b.jsonl', null);
create table former_gold(
    dataset integer not null, version integer not null, sample bigint not null, record varchar not null);
create sequence note_ids start with 2;
create table notes(
    entry bigint not null, kind varchar not null, dataset integer not null, sample bigint,
    annotator varchar not null, text varchar not null, codes varchar[] not null, undoes bigint,
    made varchar not null);
insert into notes values (1, 'note', 1, 1, 'ada', 'why', ['a'], null, '2026-01-02T03:04:08.000+00:00');
create table slices(
    dataset integer not null, name varchar not null, conditions varchar not null, made varchar not null);
insert into slices values (1, 'sad', 'emotion=sad', '2026-01-02T03:04:09.000+00:00');
