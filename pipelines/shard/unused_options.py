"""Rules and searches of document shards that had no input."""

from pipelines.shard.accounts import Accounts
from pipelines.shard.clean_record import EMPTY
from pipelines.shard.options import ShardOptions


def describe_unused(options: ShardOptions, accounts: Accounts) -> str | None:
    """Return a sentence about the options that need the host of a document and had none, or None.

    Args:
        options: options of the document shards.
        accounts: what became of the records.
    """
    users = ["the rule `blocklist`"] * any(rule.rule == "blocklist" for rule in options.rules)
    users += ["`host_lines`"] * (options.duplicates.host_lines is not None)
    if not users or not accounts.without_host:
        return None
    documents = accounts.kept + sum(accounts.dropped.values()) - accounts.dropped.get(EMPTY, 0)
    lacking = accounts.without_host
    number = "No document has a" if lacking == documents else f"{lacking:,} of {documents:,} documents have no"
    verb = "does" if len(users) == 1 else "do"
    which = "" if lacking == documents else " with them"
    return (
        f"{number} URL with a host, so {' and '.join(users)} {verb} nothing{which}: if a field holds it, set "
        "`url_field` (`--url-field`)."
    )
