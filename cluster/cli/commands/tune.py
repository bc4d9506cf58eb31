"""Command that searches for the best options of a recipe: `tune`."""

from typing import Annotated

import typer

from bitcipher.files import storage
from bitcipher.redaction import redact
from cluster.cli.dependencies import require_extra
from cluster.cli.interrupts import CHECKPOINTS, resumable
from cluster.cli.options import ConcurrentTrials, GpusPerTrial, Settings
from cluster.cli.verbosity import with_verbosity
from cluster.metavars import NAME_OR_PATH, PATH


@with_verbosity
def tune(
    recipe: Annotated[str, typer.Argument(help="YAML file, or name of a built-in recipe.", metavar=NAME_OR_PATH)],
    *,
    out: Annotated[
        str,
        typer.Option(
            help="Folder or URI of the search, visible to all workers: new, or of a search to resume.", metavar=PATH
        ),
    ],
    search: Annotated[
        list[str],
        typer.Option(
            help="Option of the recipe to vary, with a list of values, such as 'loop.batch_size=[16, 32]', or a range: "
            "{uniform: [LOW, HIGH]} or {loguniform: [LOW, HIGH]}. Repeat it for several options.",
            metavar="NAME=VALUES",
        ),
    ],
    budget: Annotated[str, typer.Option(help="Steps or tokens of each trial, such as 500steps or 2Mtokens.")],
    trials: Annotated[
        int, typer.Option(min=1, help="Number of combinations of options; the first one is that of the recipe.")
    ] = 16,
    init: Annotated[
        list[str] | None,
        typer.Option(
            help="Train each combination of options from these embeddings: random, cipher or, repeated, both.",
            show_default="that of the recipe",
            metavar="random|cipher",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Seed of the combinations of options.")] = 0,
    settings: Settings = None,
    max_concurrent_trials: ConcurrentTrials = 0,
    gpus: GpusPerTrial = 0,
) -> None:
    """Search for the options of a recipe with the lowest loss. An interrupted search resumes.

    Trains the recipe with each combination of options for the same number of steps or tokens, and writes a table
    (trials.md, trials.json) and the best recipe (best.yaml), which `bitcipher train` runs. Run the command again with
    more trials to run only the additional ones.

    For example: bitcipher tune masked --out tuned --search loop.batch_size=[16,32] --budget 500steps
    """
    require_extra("training", "`bitcipher tune`")
    from cluster.cli.display.console import OUT
    from cluster.cli.display.markdown import print_markdown
    from pipelines.runtime.progress import StageProgress
    from training.runs.recipe import find_recipe, read_recipe
    from training.search.trials import TrialResources
    from training.search.tune.options import SearchOptions
    from training.search.tune.search import launch_search

    folder, resources = storage.absolute(out), TrialResources(max_concurrent_trials, gpus)
    options = SearchOptions(
        recipe=read_recipe(find_recipe(recipe), settings or []),
        search=tuple(search),
        budget=budget,
        trials=trials,
        inits=tuple(init or ()),
        seed=seed,
    )
    with resumable(CHECKPOINTS), StageProgress() as progress:
        table = launch_search(options, folder, resources, progress)
    print_markdown(table)
    OUT.print(f"The best recipe is best.yaml in {redact(folder)}, with trials.md and trials.json.")
