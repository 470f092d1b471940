"""What `emotui import` does with files of other hands: says what it took them for, shows them, brings them in."""

from collections.abc import Sequence

from emotui.commands.output import print_json, say, warn
from emotui.commands.program_options import open_workspace
from emotui.formats.beside import lifted
from emotui.formats.json_document import present
from emotui.formats.rows import literal
from emotui.workbench.datasets.foreign import Foreign, Wish, import_foreign, read_foreign
from emotui.workbench.datasets.importing import SHOWN, described, first_records, save_mapping


def bring_in(
    files: Sequence[str],
    wish: Wish,
    name: str | None,
    save_map: str | None,
    *,
    dry_run: bool,
    skip_bad: bool,
    db: str | None,
    as_json: bool,
) -> None:
    """Read the files, and import them where it is no dry run; print what they were taken for."""
    if dry_run:
        found = read_foreign(files, wish, skip_bad=skip_bad)
        for line in found.skipped:
            warn(f"skipped {line}")
        document: dict[str, object] = {"dataset": None}
    else:
        dataset, found = import_foreign(open_workspace(db).store, files, wish, name, skip_bad=skip_bad, warn=warn)
        document = {"dataset": dataset.name, "fingerprint": dataset.fingerprint}
    if save_map is not None:
        save_mapping(save_map, found)
    if as_json:
        print_json(document | _document(found))
        return
    for line in described(found):
        say(line)
    if dry_run:
        for record in first_records(found):
            say(record)
        say(f"{len(found.samples):,} samples of {found.task.files.kind}; nothing was written")
    else:
        say(literal(f"{dataset.name}: {dataset.n} samples"))


def _document(found: Foreign) -> dict[str, object]:
    return {
        "task": found.task.name,
        "kind": found.task.files.kind,
        "n": len(found.samples),
        "files": [
            {
                "file": str(taken.path),
                "format": taken.layout.name,
                "why": taken.why,
                "columns": dict(taken.options.columns),
                "delimiter": taken.options.delimiter,
                "encoding": taken.options.encoding,
            }
            for taken in found.taken
        ],
        "skipped": list(found.skipped),
        "notes": list(found.notes),
        "first": [lifted(type(sample), present(sample)) for sample in found.samples[:SHOWN]],
    }
